#include "sim/costs/read_product_tables.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "sim/costs/read_estimate.h"
#include "sim/files/json_reader.h"

namespace headway {
namespace {

constexpr std::array<std::string_view, 3> kSizes = {"m", "n", "k"};
constexpr double kMostFactor = 1e4;

/// An array of numbers above zero; those that are none are reported.
std::vector<double> read_numbers(ObjectReader& reader, std::string_view key) {
  std::vector<double> numbers;
  if (!reader.required_part(key)) return numbers;
  for (const JsonCursor& element : reader.elements(key)) {
    const double number = element.number().value_or(0.0);
    if (!(number > 0.0) || !std::isfinite(number)) {
      reader.diagnostics().add(
          element.problem(fmt::format("\"{}\" holds numbers above zero", key)));
    }
    numbers.push_back(number);
  }
  return numbers;
}

std::vector<double> read_nodes(ObjectReader& reader, std::string_view key) {
  std::vector<double> nodes = read_numbers(reader, key);
  if (!reader.has(key)) return nodes;
  if (nodes.size() < 2) {
    reader.report(key, fmt::format("\"{}\" needs at least two sizes", key));
  }
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    if (nodes[i] > nodes[i - 1]) continue;
    reader.report(key, "the sizes of a table must rise", fmt::format("{} is not", nodes[i]));
    break;
  }
  return nodes;
}

ProductTable read_table(const JsonCursor& part, Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  ProductTable table;
  table.efficiency = reader.number("efficiency", kShareOfPeak);
  table.quantisation = reader.number("quantisation", between(0.0, 1.0));
  table.spread = reader.number("spread", between(0.0, 1.0));
  std::size_t count = 1;
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    table.nodes[i] = read_nodes(reader, kSizes[i]);
    count *= table.nodes[i].size();
  }
  for (const double factor : read_numbers(reader, "factors")) {
    if (factor > kMostFactor) {
      reader.report("factors", fmt::format("a factor of {} on a product's time", factor));
    }
    table.log_factors.push_back(std::log(factor));
  }
  if (reader.has("factors") && table.log_factors.size() != count) {
    reader.report("factors", "a table needs a factor for every m, n and k",
                  fmt::format("{} of {}", table.log_factors.size(), count));
  }
  reader.text("held_out");  // for those who read the file
  reader.report_unknown();
  return table;
}

}  // namespace

std::optional<PublishedKernels> read_kernels_of(const JsonCursor& profile, InputFiles& files) {
  const auto named = profile.member("kernels");
  if (!named) return std::nullopt;
  const auto root = files.follow(*named, "calibrate/profiles/kernels");
  if (!root) return std::nullopt;
  const std::size_t problems_before = files.diagnostics().errors();
  ObjectReader reader(*root, files.diagnostics());
  if (!read_schema(reader, "headway/kernels/1")) return std::nullopt;
  PublishedKernels kernels;
  kernels.source = read_source(reader);
  reader.text("licence");
  reader.required_part("products");
  for (const auto& [name, member] : reader.members("products")) {
    const auto precision = value_named<Precision>(name);
    if (!precision) {
      files.diagnostics().add(
          member.key_problem(fmt::format("unknown precision \"{}\"", name), precision_help(name)));
      continue;
    }
    kernels.products[*precision] = read_table(member, files.diagnostics());
  }
  reader.report_unknown();
  if (kernels.products.empty() && files.diagnostics().errors() == problems_before) {
    reader.report("products", "a file of kernels needs the products of a precision", "empty");
  }
  if (files.diagnostics().errors() != problems_before) return std::nullopt;
  return kernels;
}

}  // namespace headway
