#include "sim/models/dlrm.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/models/families.h"
#include "sim/models/family_fields.h"

namespace headway {
namespace {

// Bytes of memory passes for each element, in tensors of 2 bytes; what libraries merge into the
// products around them is the kernel family's traffic. A rectifier with its bias reads and writes;
// backward gradient and output are read, one written.
constexpr double kMergedRectifierForward = 4.0;
constexpr double kMergedRectifierBackward = 6.0;
// x' = x0 (W V x + b) + x: x0, the product and x read, x' written; backward the gradient, x0 and
// the product read, the gradients of the product and of x0 written and the latter read, x' added to
// what V gives back (Wang et al. 2021, equation 2).
constexpr double kCrossForward = 8.0;
constexpr double kCrossBackward = 14.0;
constexpr double kElement = 2.0;

double as_real(std::int64_t size) { return static_cast<double>(size); }

void add_product(Layer& layer, std::string name, double in, double out, bool bias = true,
                 bool input_gradient = true) {
  layer.kept.push_back({.name = name + " input", .elements = in, .for_weights = true});
  layer.products.push_back({.name = std::move(name),
                            .part = Part::mlp,
                            .outputs = out,
                            .inputs = in,
                            .bias = bias,
                            .input_gradient = input_gradient,
                            .splits_terms = true});
  ++layer.launches.forward;
  layer.launches.backward += input_gradient ? 2.0 : 1.0;
}

void append_pass(Layer& layer, std::string name, double forward, double backward, bool merged) {
  layer.passes.push_back(
      {.name = std::move(name), .forward = forward, .backward = backward, .merged = merged});
}

/// A product, and a rectifier that is merged with it.
void add_rectified(Layer& layer, std::string name, double in, double out,
                   bool input_gradient = true) {
  append_pass(layer, name + " rectifier", kMergedRectifierForward * out,
              kMergedRectifierBackward * out, true);
  ++layer.launches.backward;
  add_product(layer, std::move(name), in, out, true, input_gradient);
}

Layer inputs_layer(const DlrmModel& fields) {
  const double width = as_real(fields.embedding_width);
  Layer layer{.name = "tables and bottom MLP", .input = as_real(fields.dense_features)};
  for (std::size_t i = 0; i < fields.table_rows.size(); ++i) {
    const double lookups = fields.lookups.empty() ? 1.0 : as_real(fields.lookups[i]);
    layer.tables.push_back(
        {as_real(fields.table_rows[i]), width, lookups, fields.distinct_lookups});
  }
  layer.launches = kTableKernels;
  double in = as_real(fields.dense_features);
  for (std::size_t i = 0; i < fields.bottom_mlp.size(); ++i) {
    const double out = as_real(fields.bottom_mlp[i]);
    add_rectified(layer, fmt::format("bottom {}", i + 1), in, out, i > 0);
    in = out;
  }
  layer.output = (as_real(std::ssize(fields.table_rows)) + 1.0) * width;
  return layer;
}

Layer dot_layer(const DlrmModel& fields) {
  const double vectors = as_real(std::ssize(fields.table_rows)) + 1.0;
  const double input = vectors * as_real(fields.embedding_width);
  const double output = vectors * (vectors - 1.0) / 2.0 + as_real(fields.embedding_width);
  Layer layer{.name = "dot products", .input = input, .output = output};
  layer.passes.push_back(pairs_pass(input, output));
  layer.kept.push_back({.name = "vectors", .elements = input});
  layer.launches = {1.0, 1.0};
  return layer;
}

Layer cross_layer(double elements, double rank) {
  Layer layer{.name = "cross layer", .input = elements, .output = elements};
  add_product(layer, "to low rank", elements, rank, false);
  add_product(layer, "from low rank", rank, elements);
  append_pass(layer, "cross", kCrossForward * elements, kCrossBackward * elements, false);
  layer.kept.push_back({.name = "product", .elements = elements});
  ++layer.launches.forward;
  layer.launches.backward += 2.0;
  return layer;
}

/// A sample is a click or none: binary cross-entropy over each output.
Layer head_of(double in, double out) {
  Layer layer{.name = "prediction", .input = in, .loss_classes = out};
  add_product(layer, "prediction", in, out);
  layer.products.back().part = Part::head;
  return layer;
}

}  // namespace

MemoryPass pairs_pass(double input, double output) {
  return {.name = "pairs",
          .forward = kElement * (input + output),
          .backward = kElement * (2.0 * input + output),
          .merged = false};
}

Model layers_of(const DlrmModel& fields) {
  Model model{.name = fields.name,
              .source = fields.source,
              .first = {.name = "features", .output = as_real(fields.dense_features)},
              .has_tokens = false,
              .tensor_limits = {{"table_rows",
                                 "a layer of a recommendation model (which is never "
                                 "split)",
                                 1}}};
  append_layers(model, inputs_layer(fields));
  double in = model.kinds.back().output;
  if (fields.interaction == Interaction::dot) {
    append_layers(model, dot_layer(fields));
    in = model.kinds.back().output;
  } else {
    append_layers(model, cross_layer(in, as_real(fields.cross_rank)),
                  static_cast<int>(fields.cross_layers));
  }
  for (std::size_t i = 0; i + 1 < fields.top_mlp.size(); ++i) {
    const double out = as_real(fields.top_mlp[i]);
    Layer layer{.name = fmt::format("top {}", i + 1), .input = in, .output = out};
    add_rectified(layer, "product", in, out);
    append_layers(model, std::move(layer));
    in = out;
  }
  model.last = head_of(in, as_real(fields.top_mlp.back()));
  return model;
}

namespace {

constexpr Range kSizes = between(1, 10'000'000);
constexpr Range kRows = between(1, 1'000'000'000'000);

const FieldTable<DlrmModel>& dlrm_fields() {
  static const FieldTable<DlrmModel> kFields(
      {{"table_rows", wholes(&DlrmModel::table_rows, kRows).required(),
        "Rows of each embedding table of a recommendation model."},
       {"lookups", wholes(&DlrmModel::lookups, between(1, 1'000'000)),
        R"(Rows of each table that a sample looks up and sums up (multi-hot features).
default: 1 each)"},
       {"distinct_lookups",
        number(&DlrmModel::distinct_lookups, {.least = 0.0, .most = 1.0, .open = true}),
        R"(Share of the rows that a step looks up which are not one popular row again: those are read and
updated once.)"},
       {"embedding_width", whole(&DlrmModel::embedding_width, between(1, 1'000'000)),
        "Elements of a row of an embedding table."},
       {"dense_features", whole(&DlrmModel::dense_features, kSizes),
        "Numbers that a sample has beside what it looks up."},
       {"bottom_mlp", wholes(&DlrmModel::bottom_mlp, kSizes),
        "Outputs of each layer that dense features pass; of the last one, the width of a row."},
       {"interaction", word(&DlrmModel::interaction),
        R"(How vectors meet: products of all pairs, or cross layers of low rank.
see: Naumov et al. 2019 (arXiv:1906.00091); Wang et al. 2021 (arXiv:2008.13535))"},
       {"cross_layers",
        whole(&DlrmModel::cross_layers, between(1, 10'000))
            .only_where(
                [](const DlrmModel& fields) { return fields.interaction == Interaction::cross; },
                {"interaction", "\"cross\"", "pairs meet in one kernel"}),
        "Cross layers."},
       {"cross_rank",
        whole(&DlrmModel::cross_rank, kSizes)
            .only_where(
                [](const DlrmModel& fields) { return fields.interaction == Interaction::cross; },
                {"interaction", "\"cross\"", "pairs meet in one kernel"}),
        "Inner size of the two factors of a cross layer's matrix."},
       {"top_mlp", wholes(&DlrmModel::top_mlp, kSizes),
        "Outputs of each layer behind the interaction."}});
  return kFields;
}

Model read_dlrm(ObjectReader& reader) {
  DlrmModel fields = read_family_fields(reader, dlrm_fields(), "recommendation model");
  if (fields.table_rows.empty()) {
    if (reader.has("table_rows")) {
      reader.report("table_rows", "a recommendation model has a table at least", "", "");
    }
    fields.table_rows = {1};
  }
  if (!fields.lookups.empty() && fields.lookups.size() != fields.table_rows.size()) {
    reader.report(
        "lookups", "\"lookups\" has a number for each table",
        fmt::format("{} numbers for {} tables", fields.lookups.size(), fields.table_rows.size()));
    fields.lookups.clear();
  }
  for (auto [name, sizes] :
       {std::pair("bottom_mlp", &fields.bottom_mlp), std::pair("top_mlp", &fields.top_mlp)}) {
    if (!sizes->empty()) continue;
    reader.report(name, fmt::format("\"{}\" has a layer at least", name), "", "");
    *sizes = {fields.embedding_width};
  }
  if (fields.bottom_mlp.back() != fields.embedding_width) {
    reader.report("bottom_mlp", "the last layer of the bottom MLP is as wide as a row of a table",
                  fmt::format("{} and {}", fields.bottom_mlp.back(), fields.embedding_width),
                  fmt::format("end it with {}", fields.embedding_width));
  }
  return layers_of(fields);
}

}  // namespace

ModelFamily dlrm() {
  return {.name = "dlrm",
          .what = "a recommendation model: embedding tables, dot products or cross layers (DCN v2)",
          .read = read_dlrm,
          .fields = [] { return dlrm_fields().described(); }};
}

}  // namespace headway
