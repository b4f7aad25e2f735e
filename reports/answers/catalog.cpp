#include "reports/answers/catalog.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/join_words.h"
#include "sim/base/text_table.h"
#include "sim/files/json_output.h"

namespace headway {

std::string catalog_text(const std::vector<CatalogEntry>& entries, std::size_t columns) {
  TextTable table({{"name"}, {"what it is"}});
  for (const CatalogEntry& entry : entries) table.add_row({entry.name, entry.about});
  return table.text(0, columns);
}

std::string catalog_json_text(const std::string& kind, const std::vector<CatalogEntry>& entries) {
  nlohmann::json list = nlohmann::json::array();
  for (const CatalogEntry& entry : entries) {
    list.push_back({{"name", entry.name},
                    {"about", entry.about},
                    {"path", entry.path.empty() ? nlohmann::json() : nlohmann::json(entry.path)}});
  }
  return json_document_text(
      {{"schema", "headway/list/1"}, {"kind", kind}, {"entries", std::move(list)}});
}

std::string shapes_text(const JobShapes& shapes) {
  std::string text;
  for (const ProductShape& product : shapes.products) {
    text +=
        fmt::format("{} {:.0f} {:.0f} {:.0f}  # {}\n", word_of(product.precision), product.shape.m,
                    product.shape.n, product.shape.k, join_words(product.uses, ", "));
  }
  for (const AttentionShape& shape : shapes.attention) {
    text += fmt::format(
        "attention {:.0f} {:.0f} {:.0f} {:.0f} {:.0f} {}  # sequences, positions, heads of "
        "queries and of keys, their size\n",
        shape.sequences, shape.query_length, shape.query_heads, shape.key_heads, shape.head_size,
        shape.causal ? "causal" : "full");
  }
  return text;
}

std::string shapes_json_text(const JobShapes& shapes) {
  nlohmann::json attention = nlohmann::json::array();
  for (const AttentionShape& shape : shapes.attention) {
    attention.push_back({{"sequences", shape.sequences},
                         {"length", shape.query_length},
                         {"query_heads", shape.query_heads},
                         {"key_heads", shape.key_heads},
                         {"head_size", shape.head_size},
                         {"causal", shape.causal}});
  }
  nlohmann::json list = nlohmann::json::array();
  for (const ProductShape& product : shapes.products) {
    list.push_back({{"precision", word_of(product.precision)},
                    {"m", product.shape.m},
                    {"n", product.shape.n},
                    {"k", product.shape.k},
                    {"uses", product.uses}});
  }
  return json_document_text({{"schema", "headway/list/1"},
                             {"kind", "shapes"},
                             {"entries", std::move(list)},
                             {"attention", std::move(attention)}});
}

}  // namespace headway
