#include "sim/validate/validation_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/base/parse_number.h"
#include "sim/base/suggestion.h"
#include "sim/base/utf8.h"

namespace headway {
namespace {

const RowProperty& property_named(std::string_view name) {
  const auto found = std::ranges::find(row_properties(), name, &RowProperty::name);
  HEADWAY_CHECK(found != row_properties().end(), "rows have no such property");
  return *found;
}

Diagnostic problem(std::string message, std::string help) {
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.help = std::move(help);
  return diagnostic;
}

std::string known_words(const std::string& wanted, const std::set<std::string>& words) {
  const std::vector<std::string_view> candidates(words.begin(), words.end());
  if (const auto meant = closest(wanted, candidates)) {
    return fmt::format("did you mean \"{}\"?", *meant);
  }
  constexpr std::size_t kMostShown = 12;
  std::string list;
  for (std::size_t i = 0; i < std::min(kMostShown, candidates.size()); ++i) {
    list += (i == 0 ? "" : ", ") + printable(candidates[i]);
  }
  return "rows have " + list + (candidates.size() > kMostShown ? ", ..." : "");
}

void check_words(const std::string& name, const std::vector<std::string>& wanted,
                 const std::vector<ValidationRow>& rows, Diagnostics& diagnostics) {
  const RowProperty& property = property_named(name);
  std::set<std::string> words;
  for (const ValidationRow& row : rows) words.insert(property.of(row));
  for (const std::string& word : wanted) {
    if (words.contains(word)) continue;
    diagnostics.add(problem(fmt::format("no row has {} {}", property.title, in_quotes(word)),
                            known_words(word, words)));
  }
}

void check_prefixes(const std::vector<std::string>& prefixes,
                    const std::vector<ValidationRow>& rows, Diagnostics& diagnostics) {
  std::set<std::string> ids;
  for (const ValidationRow& row : rows) ids.insert(row.id);
  for (const std::string& prefix : prefixes) {
    const auto next = ids.lower_bound(prefix);
    if (next != ids.end() && next->starts_with(prefix)) continue;
    const std::vector<std::string_view> candidates(ids.begin(), ids.end());
    const auto meant = closest(prefix, candidates);
    diagnostics.add(problem(fmt::format("no row's id begins with {}", in_quotes(prefix)),
                            meant ? fmt::format("did you mean \"{}\"?", *meant)
                                  : "`headway validate --json` shows ids"));
  }
}

std::optional<std::int64_t> bound(std::string_view text, std::int64_t unbounded) {
  if (text.empty()) return unbounded;
  const auto value = parse_number<std::int64_t>(text);
  return value && *value > 0 ? value : std::nullopt;
}

}  // namespace

ScaleRange scale_range(std::string_view text) {
  const ScaleRange all;
  const std::size_t dots = text.find("..");
  const bool is_one = dots == std::string_view::npos;
  const auto least = bound(text.substr(0, dots), all.least);
  const auto most = bound(is_one ? text : text.substr(dots + 2), all.most);
  if (least && most && *least <= *most && text != ".." && !text.empty()) return {*least, *most};
  throw InputError(problem(
      fmt::format("--scale needs a number of accelerators or a range, not {}", in_quotes(text)),
      "write 64, ..64, 65..1024 or 1025.."));
}

bool is_kept(const ValidationRow& row, const ValidationFilter& filter) {
  const bool id_fits = filter.id_prefixes.empty() ||
                       std::ranges::any_of(filter.id_prefixes, [&](const std::string& prefix) {
                         return row.id.starts_with(prefix);
                       });
  const bool scale_fits =
      filter.scales.empty() || std::ranges::any_of(filter.scales, [&](const ScaleRange& range) {
        return range.least <= row.accelerators && row.accelerators <= range.most;
      });
  return id_fits && scale_fits && std::ranges::all_of(filter.words, [&](const auto& part) {
           return part.second.empty() ||
                  std::ranges::find(part.second, property_named(part.first).of(row)) !=
                      part.second.end();
         });
}

void check_filter(const ValidationFilter& filter, const std::vector<ValidationRow>& rows) {
  Diagnostics diagnostics;
  check_prefixes(filter.id_prefixes, rows, diagnostics);
  for (const auto& [name, wanted] : filter.words) check_words(name, wanted, rows, diagnostics);
  diagnostics.throw_if_errors();
  if (std::ranges::none_of(rows, [&](const auto& row) { return is_kept(row, filter); })) {
    throw InputError(problem("no row of the file has all that is asked for",
                             "each filter allows some rows, but none the same ones"));
  }
}

}  // namespace headway
