#include "sim/base/suggestion.h"

#include <algorithm>
#include <cctype>

namespace headway {
namespace {

/// Names longer than this are never compared: nobody mistypes them, and the cost is quadratic.
constexpr std::size_t kLongestName = 100;

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

/// Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_above(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], two_above[j - 2] + 1);
      }
    }
    std::swap(two_above, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

std::optional<std::string> closest(std::string_view name,
                                   const std::vector<std::string_view>& candidates) {
  if (name.empty() || name.size() > kLongestName) return std::nullopt;
  const std::string wanted = lower_case(name);
  std::optional<std::string> best;
  std::size_t least = 0;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > kLongestName) continue;
    const std::size_t distance = edit_distance(wanted, lower_case(candidate));
    // One edit in three characters: "tp" is not "pp", but "nodes_per_rak" is "nodes_per_rack".
    if (distance > std::max(name.size(), candidate.size()) / 3) continue;
    if (!best || distance < least) {
      best = std::string(candidate);
      least = distance;
    }
  }
  return best;
}

}  // namespace headway
