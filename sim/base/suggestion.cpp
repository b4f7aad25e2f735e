#include "sim/base/suggestion.h"

#include <algorithm>
#include <limits>
#include <set>

#include "sim/base/letter_case.h"
#include "sim/base/utf8.h"

namespace headway {
namespace {

/// Names longer than this are never compared: nobody mistypes them, and the cost is quadratic.
constexpr std::size_t kLongestName = 100;
/// More names than this that have the words of another one do not say which was meant.
constexpr std::size_t kMostAlike = 6;
/// A shorter name is an abbreviation or a slip: its letters are not looked for as a word.
constexpr std::size_t kShortestWord = 3;

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

bool parts_words(char c) { return c == '_' || c == '-' || c == '.' || c == '/' || c == ' '; }

/// Whether the words of `part` stand in `name`, in a row: "h100" in "dgx_h100_superpod".
bool has_words(std::string_view name, std::string_view part) {
  for (std::size_t at = name.find(part); at != std::string_view::npos;
       at = name.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    const bool begins_word = at == 0 || parts_words(name[at - 1]);
    if (begins_word && (end == name.size() || parts_words(name[end]))) return true;
  }
  return false;
}

/// "tp" of "tensor_parallel".
std::string initials(std::string_view name) {
  std::string letters;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (!parts_words(name[i]) && (i == 0 || parts_words(name[i - 1]))) letters += name[i];
  }
  return letters;
}

/// What was typed, against the names there are.
class Guess {
 public:
  Guess(std::string_view name, const std::vector<std::string_view>& candidates)
      : name_(lower_case(name)) {
    std::set<std::string_view> known;
    for (const std::string_view candidate : candidates) {
      if (candidate.size() <= kLongestName && known.insert(candidate).second) {
        names_.push_back(candidate);
      }
    }
  }

  /// The first that takes the fewest edits, if those are at most one in so many characters.
  [[nodiscard]] std::vector<std::string> by_edits(std::size_t characters) const {
    std::vector<std::string> best;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (const std::string_view name : names_) {
      const std::size_t distance = edit_distance(name_, lower_case(name));
      if (distance >= least || distance > std::max(name_.size(), name.size()) / characters)
        continue;
      best = {std::string(name)};
      least = distance;
    }
    return best;
  }

  /// Those whose words have all of this one's among them.
  [[nodiscard]] std::vector<std::string> longer() const {
    if (name_.size() < kShortestWord) return {};
    return those([&](const std::string& name) { return has_words(name, name_); });
  }

  /// The longest whose words are among this one's, if they are half of it.
  [[nodiscard]] std::vector<std::string> shorter() const {
    std::vector<std::string> found = those([&](const std::string& name) {
      return name.size() >= kShortestWord && 2 * name.size() >= name_.size() &&
             has_words(name_, name);
    });
    const auto longest = std::ranges::max_element(found, {}, &std::string::size);
    return longest == found.end() ? found : std::vector<std::string>{*longest};
  }

  [[nodiscard]] std::vector<std::string> abbreviated() const {
    if (name_.size() < 2) return {};
    return those([&](const std::string& name) { return initials(name) == name_; });
  }

 private:
  template <class Holds>
  [[nodiscard]] std::vector<std::string> those(Holds holds) const {
    std::vector<std::string> found;
    for (const std::string_view name : names_) {
      if (holds(lower_case(name))) found.emplace_back(name);
    }
    return found;
  }

  std::string name_;
  std::vector<std::string_view> names_;
};

}  // namespace

std::vector<std::string> alike(std::string_view name,
                               const std::vector<std::string_view>& candidates) {
  if (name.empty() || name.size() > kLongestName) return {};
  const Guess guess(name, candidates);
  // One edit in three characters: "tp" is not "pp", but "nodes_per_rak" is "nodes_per_rack". Words
  // say more than that many edits do: "b200" is "b200_sxm", not "gb200".
  constexpr std::size_t kSlip = 6;
  constexpr std::size_t kLoose = 3;
  std::vector<std::string> found = guess.by_edits(kSlip);
  if (found.empty()) found = guess.longer();
  if (found.empty()) found = guess.shorter();
  if (found.empty()) found = guess.abbreviated();
  if (found.empty()) found = guess.by_edits(kLoose);
  return found.size() > kMostAlike ? std::vector<std::string>{} : found;
}

std::optional<std::string> closest(std::string_view name,
                                   const std::vector<std::string_view>& candidates) {
  const std::vector<std::string> found = alike(name, candidates);
  return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
}

std::string meant_text(std::string_view name, const std::vector<std::string_view>& candidates) {
  const std::vector<std::string> found = alike(name, candidates);
  std::string text;
  for (std::size_t i = 0; i < found.size(); ++i) {
    text += i == 0 ? "did you mean " : i + 1 == found.size() ? " or " : ", ";
    text += in_quotes(found[i]);
  }
  return text.empty() ? text : text + "?";
}

}  // namespace headway
