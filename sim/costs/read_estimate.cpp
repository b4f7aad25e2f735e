#include "sim/costs/read_estimate.h"

#include <fmt/format.h>

#include <vector>

#include "sim/base/suggestion.h"

namespace headway {
namespace {

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

Estimate estimate_at(const JsonCursor& at, std::string_view name, Range range,
                     Diagnostics& diagnostics) {
  if (at.number()) {
    diagnostics.add(at.problem(fmt::format("\"{}\" needs its spread and its source", name),
                               "a number alone",
                               R"(write {"value": ..., "spread": ..., "source": "..."})"));
    return {};
  }
  ObjectReader reader(at, diagnostics);
  Estimate estimate;
  estimate.value = reader.number("value", range);
  estimate.spread = reader.number("spread", between(0.0, 1.0));
  estimate.source = read_source(reader);
  reader.report_unknown();
  return estimate;
}

}  // namespace

std::string precision_help(std::string_view name) {
  std::vector<std::string_view> names;
  std::string list;
  for (const auto& [word, precision] : kWords<Precision>) {
    names.push_back(word);
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", names.back());
  }
  const auto meant = closest(name, names);
  return (meant ? fmt::format("did you mean \"{}\"? It", *meant) : "it") + " is one of " + list;
}

std::string read_source(ObjectReader& reader) {
  std::string source = reader.text("source");
  const auto member = reader.cursor().member("source");
  if (member && member->text() && is_blank(source)) {
    reader.report("source", "a number needs a source", "empty",
                  "name the measurement, the data sheet or the publication that it is from");
  }
  return source;
}

Estimate read_estimate(ObjectReader& reader, std::string_view key, Range range) {
  const auto part = reader.required_part(key);
  return part ? estimate_at(*part, key, range, reader.diagnostics()) : Estimate{};
}

std::map<Precision, Estimate> read_estimates_by_precision(ObjectReader& reader,
                                                          std::string_view key, Range range) {
  std::map<Precision, Estimate> estimates;
  if (!reader.required_part(key)) return estimates;
  for (const auto& [name, member] : reader.members(key)) {
    if (const auto precision = value_named<Precision>(name)) {
      estimates[*precision] = estimate_at(member, name, range, reader.diagnostics());
    } else {
      reader.diagnostics().add(
          member.key_problem(fmt::format("unknown precision \"{}\"", name), precision_help(name)));
    }
  }
  return estimates;
}

}  // namespace headway
