#include "sim/import/hostlist.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>

namespace headway {
namespace {

std::optional<std::uint64_t> number_of(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// Appends what stands in brackets, "1,3-5", to each prefix.
bool append_ranges(std::string_view ranges, std::vector<std::string>& names) {
  std::vector<std::string> endings;
  while (true) {
    const std::size_t comma = ranges.find(',');
    const std::string_view range = ranges.substr(0, comma);
    const std::size_t dash = range.find('-');
    const std::string_view low = range.substr(0, dash);
    const auto first = number_of(low);
    const auto last = dash == std::string_view::npos ? first : number_of(range.substr(dash + 1));
    if (!first || !last || *last < *first || *last - *first >= kMostListedHosts) return false;
    for (std::uint64_t value = *first; value <= *last; ++value) {
      endings.push_back(fmt::format("{:0{}}", value, low.size()));
    }
    if (comma == std::string_view::npos) break;
    ranges.remove_prefix(comma + 1);
  }
  if (names.size() * endings.size() > kMostListedHosts) return false;
  std::vector<std::string> longer;
  longer.reserve(names.size() * endings.size());
  for (const std::string& name : names) {
    for (const std::string& ending : endings) longer.push_back(name + ending);
  }
  names = std::move(longer);
  return true;
}

/// One part between commas outside brackets.
bool append_part(std::string_view part, std::vector<std::string>& hosts) {
  if (part.empty()) return false;
  std::vector<std::string> names{""};
  while (!part.empty()) {
    const std::size_t open = part.find('[');
    for (std::string& name : names) name += part.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = part.find(']', open);
    if (close == std::string_view::npos) return false;
    if (!append_ranges(part.substr(open + 1, close - open - 1), names)) return false;
    part.remove_prefix(close + 1);
  }
  if (hosts.size() + names.size() > kMostListedHosts) return false;
  hosts.insert(hosts.end(), names.begin(), names.end());
  return true;
}

}  // namespace

std::optional<std::vector<std::string>> expanded_hostlist(std::string_view text) {
  std::vector<std::string> hosts;
  std::size_t begin = 0;
  bool is_inside = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && !is_inside)) {
      if (is_inside || !append_part(text.substr(begin, i - begin), hosts)) return std::nullopt;
      begin = i + 1;
    } else if (text[i] == '[' || text[i] == ']') {
      if (is_inside == (text[i] == '[')) return std::nullopt;
      is_inside = !is_inside;
    }
  }
  return hosts;
}

}  // namespace headway
