#include "sim/layers/work.h"

#include <algorithm>
#include <cmath>

#include "sim/base/diagnostic.h"
#include "sim/layers/flops.h"
#include "sim/layers/tables.h"

namespace headway {
namespace {

constexpr double kSumPasses = 3.0;  ///< both terms are read, their sum written

/// A share of positions that comes to a whole number is one, in spite of rounding: what is cut into
/// tiles would take one more.
double share_of(double positions, double share) {
  constexpr double kRounding = 1e-9;
  const double part = share * positions;
  const double whole = std::round(part);
  return std::abs(part - whole) <= kRounding * whole ? whole : part;
}

LinearWork linear_work(const Product& product, const Layer& layer, const RankShape& shape) {
  const double rows = share_of(row_count(product.rows, layer, shape), product.rows_each);
  const double parts = shape.tensor_parallel;
  const bool by_columns = product.split == Split::outputs;
  const GemmShape forward{
      .m = rows,
      .n = by_columns ? product.outputs / parts : product.outputs,
      .k = product.split == Split::inputs ? product.inputs / parts : product.inputs};
  // What is gathered in 8 bits each rank has cast before, of its own tokens.
  const bool casts_own =
      product.gathered && shape.sequence_parallel && shape.gathered_bytes < shape.element_bytes;
  return {
      .name = product.name,
      .forward = forward,
      .input_elements = product.quantised ? forward.m * forward.k / (casts_own ? parts : 1.0) : 0.0,
      .frozen = shape.frozen,
      .wide = product.wide,
      .column_parallel = by_columns,
      .input_gradient = product.input_gradient,
      .splits_terms = product.splits_terms || product.rows_each > 1.0,
      .turns = product.in_turns ? shape.sequence_length : 1.0,
      .reuse = product.reuse,
      .filtering = product.filtering,
      .target = product.target,
      .again = product.again};
}

GroupedWork grouped_work(const Product& product, const Layer& layer, const RankShape& shape) {
  const double local = product.copies / shape.expert_parallel;
  return {.name = product.name,
          .experts = local,
          .forward = {.m = row_count(product.rows, layer, shape) / local,
                      .n = outputs_on_rank(product, shape),
                      .k = inputs_on_rank(product, shape)},
          .alone = shape.expert_precision,
          .again = product.again};
}

/// With context parallelism each rank holds 1/context_parallel of the queries and sees every key;
/// the usual zigzag cut gives each the same share of the causal half (Llama 3, 2024, section
/// 3.3.2). Where heads are scattered, it has every query of 1/context_parallel of the heads (Jacobs
/// et al. 2023, section 3.1). Blocks are dealt out whole.
AttentionShape attention_shape(const AttentionCore& core, const RankShape& shape) {
  const bool scatters = shape.scattered_heads && core.block == 0.0;
  const double head_parts = shape.tensor_parallel * (scatters ? shape.context_parallel : 1.0);
  const double query_parts = shape.scattered_heads ? 1.0 : shape.context_parallel;
  if (core.block > 0.0) {
    return {.sequences = shape.tokens() * core.queries / core.block,
            .query_length = core.block,
            .key_length = core.block,
            .query_heads = core.heads / head_parts,
            .key_heads = core.key_heads / head_parts,
            .head_size = core.head_size,
            .causal = core.causal};
  }
  return {.sequences = shape.micro_batch * shape.sequence_length / shape.attention_length(),
          .query_length = share_of(shape.attention_length(), core.queries) / query_parts,
          .key_length = share_of(shape.attention_length(), core.keys),
          .query_heads = core.heads / head_parts,
          .key_heads = core.key_heads / head_parts,
          .head_size = core.head_size,
          .value_head_size = core.values_differ ? core.value_head_size : 0.0,
          .causal = core.causal,
          .window = core.window,
          .sinks = core.sinks};
}

/// Backward like fused attention: two products for one, and some of those in front made again.
ActivationWork activation_work(const ActivationProduct& product, const RankShape& shape) {
  const double each = shape.tokens() / shape.parts(product.cut);
  const double length = shape.attention_length();
  return {.name = product.name,
          .forward = Flops(each * forward_flops(product, length)),
          .backward = Flops(each * fused_operations(Pass::backward) *
                            forward_flops(product, length, product.trained)),
          .inputs = product.inputs,
          .again = product.again};
}

ScanWork scan_work(const StateScan& scan, const RankShape& shape) {
  const double tokens = shape.tokens() / shape.parts(scan.cut);
  const double bytes = tokens * shape.bytes(Stored::working) / kWorkingElement;
  return {.name = scan.name,
          .forward = Flops(tokens * scan.forward),
          .backward = Flops(tokens * scan.backward),
          .forward_moved = Bytes(bytes * scan.moved.forward),
          .backward_moved = Bytes(bytes * scan.moved.backward),
          .again = scan.again};
}

/// Bytes of an element of 16 bits that becomes one of fp32, and one of 16 bits again.
constexpr double kCastAndBack = (2.0 + 4.0) + (4.0 + 2.0);

/// Two narrow products and a sum beside a matrix. Tensor parallelism cuts A where it cuts the
/// matrix's outputs, and B where it cuts its inputs.
void add_adapter(Work& work, const LinearWork& beside, double rank, const RankShape& shape) {
  const auto [m, n, k] = beside.forward;
  const double parts = shape.tensor_parallel;
  work.linears.push_back(
      {.name = "adapter_a",
       .forward = {.m = m, .n = beside.column_parallel ? rank / parts : rank, .k = k},
       .wide = true});
  work.linears.push_back(
      {.name = "adapter_b",
       .forward = {.m = m, .n = beside.column_parallel ? n : n / parts, .k = rank},
       .wide = true});
  work.passes.push_back({.name = "adapter_sum",
                         .forward = Bytes(kSumPasses * m * n * kWorkingElement),
                         .backward = Bytes(kSumPasses * m * k * kWorkingElement),
                         .merged = false});
  if (!shape.wide_adapters) return;
  const Bytes casts(kCastAndBack * m * k);
  work.passes.push_back(
      {.name = "adapter_casts", .forward = casts, .backward = casts, .merged = false});
}

/// Whether such rows are in fp32 while they are worked on, whatever passes between layers.
bool are_single(Rows rows, const RankShape& shape) {
  return rows == Rows::routed && shape.expert_precision.has_value();
}

/// Bytes of an element of such rows while it is worked on.
double element_bytes(Rows rows, const RankShape& shape) {
  return shape.bytes(are_single(rows, shape) ? Stored::single : Stored::working);
}

MovedBytes bytes_of_row(const MemoryPass& pass, const RankShape& shape) {
  if (pass.wide && shape.has_wide_stream() && !are_single(pass.rows, shape)) return *pass.wide;
  const double wider = element_bytes(pass.rows, shape) / kWorkingElement;
  return {wider * pass.forward, wider * pass.backward};
}

}  // namespace

std::vector<const Product*> adapted_products(const Layer& layer,
                                             const std::vector<AdapterTarget>& targets) {
  std::vector<const Product*> products;
  for (const AdapterTarget target : targets) {
    const std::size_t before = products.size();
    for (const Product& product : layer.products) {
      if (product.target == target) products.push_back(&product);
    }
    HEADWAY_CHECK(products.size() > before, "a layer without the adapter's matrix");
  }
  return products;
}

Work work(const Layer& layer, const RankShape& shape, double adapter_rank) {
  Work work;
  for (const Product& product : layer.products) {
    if (product.copies > 1.0) {
      work.grouped.push_back(grouped_work(product, layer, shape));
    } else {
      work.linears.push_back(linear_work(product, layer, shape));
    }
  }
  if (layer.attention) {
    const AttentionCore& core = *layer.attention;
    work.attention = {attention_shape(core, shape), core.again, core.dropout};
  }
  for (const ActivationProduct& product : layer.activation_products) {
    work.activation_products.push_back(activation_work(product, shape));
  }
  for (const StateScan& scan : layer.scans) work.scans.push_back(scan_work(scan, shape));
  for (const MemoryPass& pass : layer.passes) {
    if (!shape.holds(pass.when) || !shape.holds(pass.operators)) continue;
    const MovedBytes moved = bytes_of_row(pass, shape);
    const double rows = row_count(pass.rows, layer, shape) / shape.parts(pass.cut);
    work.passes.push_back({pass.name, Bytes(rows * moved.forward), Bytes(rows * moved.backward),
                           pass.again, pass.merged,
                           shape.framework_images ? pass.forward_rate : 1.0,
                           shape.framework_images ? pass.backward_rate : 1.0});
  }
  if (!layer.tables.empty()) {
    const RankTables tables = tables_on_rank(layer, shape);
    work.tables = {.name = "tables", .forward = tables.forward, .backward = tables.backward};
  }
  if (layer.routing) {
    work.masks = expert_mask_shape(*layer.routing, shape);
    if (work.masks.groups == 0.0) {
      work.permuted_elements = row_count(Rows::routed, layer, shape) * layer.routing->width *
                               (element_bytes(Rows::routed, shape) / shape.element_bytes);
    }
    work.permuted_again = layer.routing->again;
  }
  if (adapter_rank > 0.0) {
    for (const Product* product : adapted_products(layer, shape.adapters)) {
      add_adapter(work, linear_work(*product, layer, shape), adapter_rank, shape);
    }
  }
  return work;
}

double adapter_parameters_on_rank(const Layer& layer, const RankShape& shape, double adapter_rank) {
  double sides = 0.0;
  for (const Product* product : adapted_products(layer, shape.adapters))
    sides += product->inputs + product->outputs;
  return adapter_rank * sides / shape.tensor_parallel;
}

}  // namespace headway
