// Tables of embeddings, and how vectors that were looked up meet.
#include <fmt/format.h>

#include "sim/models/dlrm.h"
#include "sim/models/listed/layer_operators.h"
#include "sim/models/lstm.h"

namespace headway {
namespace {

constexpr Range kTableRows = between(1, 1'000'000'000'000);
constexpr Range kRowWidths = between(1, 10'000'000);

struct EmbeddingFields {
  std::int64_t rows = 1;
  std::int64_t width = 1;
};

const FieldTable<EmbeddingFields>& embedding_fields() {
  static const FieldTable<EmbeddingFields> kFields(
      {{"rows", whole(&EmbeddingFields::rows, kTableRows).required(),
        "Rows of an embedding's table: words of a vocabulary."},
       {"width", whole(&EmbeddingFields::width, kRowWidths).required(),
        "Elements of a row of a table."}});
  return kFields;
}

SampleShape add_embedding(const EmbeddingFields& fields, ObjectReader&, const SampleShape& in,
                          LayerWriter& layer) {
  const auto width = static_cast<double>(fields.width);
  const double moved = kLookupBytes * width * static_cast<double>(in.front());
  layer.keep_no_input();
  layer.weights(Part::embedding, static_cast<double>(fields.rows) * width);
  layer.pass("lookup", moved, moved);
  return {in.front(), fields.width};
}

struct BagFields {
  std::vector<std::int64_t> table_rows = {};
  std::vector<std::int64_t> lookups = {1};
  double distinct_lookups = 1.0;
  std::int64_t width = 1;
};

const FieldTable<BagFields>& bag_fields() {
  static const FieldTable<BagFields> kFields(
      {{"table_rows", wholes(&BagFields::table_rows, kTableRows).required(),
        "Rows of each table of embedding bags."},
       {"lookups", wholes(&BagFields::lookups, between(1, 1'000'000)),
        "Rows of each table that a sample looks up and sums up; one number is that of all."},
       {"distinct_lookups",
        number(&BagFields::distinct_lookups, {.least = 0.0, .most = 1.0, .open = true}),
        "Share of the rows that a step looks up which are not one popular row again."},
       {"width", whole(&BagFields::width, kRowWidths).required(),
        "Elements of a row of a table."}});
  return kFields;
}

/// A vector a table, behind the one that came in, where one did.
SampleShape add_bags(const BagFields& fields, ObjectReader& reader, const SampleShape& in,
                     LayerWriter& layer) {
  const std::size_t tables = fields.table_rows.size();
  if (tables == 0 && reader.has("table_rows")) {
    reader.report("table_rows", "embedding bags have a table at least");
  }
  if (fields.lookups.size() != 1 && fields.lookups.size() != tables) {
    reader.report("lookups", "\"lookups\" has a number for each table",
                  fmt::format("{} numbers for {} tables", fields.lookups.size(), tables));
    return in;
  }
  if (!in.empty() && in.front() != fields.width) {
    reader.report("width", "a vector that comes in is as wide as a row of the tables",
                  fmt::format("{} and {}", in.front(), fields.width));
  }
  const auto width = static_cast<double>(fields.width);
  for (std::size_t i = 0; i < tables; ++i) {
    const std::int64_t lookups = fields.lookups[fields.lookups.size() == 1 ? 0 : i];
    layer.layer().tables.push_back({static_cast<double>(fields.table_rows[i]), width,
                                    static_cast<double>(lookups), fields.distinct_lookups});
  }
  layer.keep_no_input();
  layer.kernels(kTableKernels.forward, kTableKernels.backward);
  const auto vectors = static_cast<std::int64_t>(tables) + (in.empty() ? 0 : 1);
  return {vectors, fields.width};
}

struct InteractionFields {};

const FieldTable<InteractionFields>& interaction_fields() {
  static const FieldTable<InteractionFields> kFields({});
  return kFields;
}

/// Products of all pairs, behind the first of the vectors (Naumov et al. 2019, section 2).
SampleShape add_interaction(const InteractionFields&, ObjectReader&, const SampleShape& in,
                            LayerWriter& layer) {
  const std::int64_t vectors = in.front();
  const SampleShape out = {vectors * (vectors - 1) / 2 + in.back()};
  const MemoryPass pairs = pairs_pass(element_count(in), element_count(out));
  layer.keep_input("vectors", element_count(in));
  layer.pass(pairs.name, pairs.forward, pairs.backward);
  return out;
}

}  // namespace

std::vector<LayerOperator> table_operators() {
  return {operator_of({.name = "embedding",
                       .what = "a row of a table for each position",
                       .takes = "[positions], which a first layer need not say",
                       .fits = [](const SampleShape& in) { return in.size() == 1; }},
                      embedding_fields, add_embedding),
          operator_of({.name = "embedding_bag",
                       .what = "sums of rows of several tables, which a job places over its ranks",
                       .takes = "[width], which stands in front of the vectors; or nothing",
                       .fits = [](const SampleShape& in) { return in.size() <= 1; },
                       .rows = OperatorRows::samples},
                      bag_fields, add_bags),
          operator_of({.name = "interaction",
                       .what = "products of all pairs of vectors",
                       .takes = "[vectors, width]",
                       .fits = [](const SampleShape& in) { return in.size() == 2; },
                       .rows = OperatorRows::samples},
                      interaction_fields, add_interaction)};
}

}  // namespace headway
