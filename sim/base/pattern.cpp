#include "sim/base/pattern.h"

#include <regex>
#include <stdexcept>

namespace headway {
namespace {

using Found = std::match_results<std::string_view::const_iterator>;

Pattern::Match match_of(const Found& found) {
  Pattern::Match match;
  for (const auto& part : found) {
    match.push_back(part.matched ? std::string_view(part.first, part.second) : std::string_view());
  }
  return match;
}

}  // namespace

struct Pattern::Compiled {
  std::regex expression;
};

Pattern::Pattern(const std::string& expression, Letters letters) {
  auto flags = std::regex::ECMAScript | std::regex::optimize;
#ifdef __GLIBCXX__
  flags |= std::regex_constants::__polynomial;  // it tries all of the 2^n ways of (a*)* otherwise
#endif
  if (letters == Letters::small_or_capital) flags |= std::regex::icase;
  try {
    compiled_ = std::make_shared<const Compiled>(Compiled{std::regex(expression, flags)});
  } catch (const std::regex_error& error) {
    throw std::invalid_argument(error.what());
  }
}

std::size_t Pattern::group_count() const { return compiled_->expression.mark_count(); }

std::optional<Pattern::Match> Pattern::first_in(std::string_view text) const {
  Found found;
  if (!std::regex_search(text.begin(), text.end(), found, compiled_->expression)) return {};
  return match_of(found);
}

std::vector<Pattern::Match> Pattern::all_in(std::string_view text) const {
  std::vector<Match> matches;
  using Each = std::regex_iterator<std::string_view::const_iterator>;
  for (auto each = Each(text.begin(), text.end(), compiled_->expression); each != Each(); ++each) {
    matches.push_back(match_of(*each));
  }
  return matches;
}

}  // namespace headway
