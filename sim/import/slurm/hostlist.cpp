#include "sim/import/slurm/hostlist.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "sim/base/limits.h"
#include "sim/base/parse_number.h"

namespace headway {
namespace {

/// The longest name that the domain name system knows (RFC 1035, section 2.3.4).
constexpr std::size_t kLongestHostName = 255;

/// A part of a name: "r", or one of the numbers from `first` to `last`, with as many digits.
struct HostRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::size_t digits = 0;
};
struct HostPiece {
  std::string_view text;          ///< stands before the ranges
  std::vector<HostRange> ranges;  ///< none: the text is all
  std::uint64_t count = 1;        ///< of names that the piece alone makes
  std::size_t longest = 0;        ///< characters
};

/// a + b and a * b, or `most` + 1 where that is less.
std::uint64_t sum_up_to(std::uint64_t most, std::uint64_t a, std::uint64_t b) {
  return a > most || b > most - a ? most + 1 : a + b;
}
std::uint64_t product_up_to(std::uint64_t most, std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > most / b ? most + 1 : a * b;
}

/// What stands in brackets, "1,3-5". False if it is none.
bool read_ranges(std::string_view text, std::uint64_t most, HostPiece& piece) {
  piece.count = 0;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view range = text.substr(0, comma);
    const std::size_t dash = range.find('-');
    const std::string_view low = range.substr(0, dash);
    const auto first = parse_number<std::uint64_t>(low);
    const auto last = dash == std::string_view::npos
                          ? first
                          : parse_number<std::uint64_t>(range.substr(dash + 1));
    if (!first || !last || *last < *first) return false;
    piece.ranges.push_back({*first, *last, low.size()});
    const std::uint64_t others = std::min(*last - *first, most);
    piece.count = sum_up_to(most, piece.count, others + 1);
    piece.longest = std::max({piece.longest, low.size(), fmt::formatted_size("{}", *last)});
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  piece.longest += piece.text.size();
  return true;
}

/// One part between commas outside brackets; nothing if it is none.
std::optional<std::vector<HostPiece>> pieces_of(std::string_view part, std::uint64_t most) {
  std::vector<HostPiece> pieces;
  if (part.empty()) return std::nullopt;
  while (!part.empty()) {
    const std::size_t open = part.find('[');
    HostPiece& piece = pieces.emplace_back();
    piece.text = part.substr(0, open);
    piece.longest = piece.text.size();
    if (open == std::string_view::npos) break;
    const std::size_t close = part.find(']', open);
    if (close == std::string_view::npos) return std::nullopt;
    if (!read_ranges(part.substr(open + 1, close - open - 1), most, piece)) return std::nullopt;
    part.remove_prefix(close + 1);
  }
  return pieces;
}

/// Every name that the pieces make, the last one counting fastest.
void append_names(const std::vector<HostPiece>& pieces, std::size_t piece, std::string& name,
                  std::vector<std::string>& hosts) {
  if (piece == pieces.size()) {
    hosts.push_back(name);
    return;
  }
  const std::size_t length = name.size();
  name += pieces[piece].text;
  const std::size_t with_text = name.size();
  if (pieces[piece].ranges.empty()) append_names(pieces, piece + 1, name, hosts);
  for (const HostRange& range : pieces[piece].ranges) {
    for (std::uint64_t step = 0; step <= range.last - range.first; ++step) {
      name += fmt::format("{:0{}}", range.first + step, range.digits);
      append_names(pieces, piece + 1, name, hosts);
      name.resize(with_text);
    }
  }
  name.resize(length);
}

HostlistProblem no_host_list() {
  return {"is no host list", "write names with commas between, or ranges: node[1-8,11],login1"};
}

/// Nothing if all is well.
std::optional<HostlistProblem> append_part(std::string_view part, std::vector<std::string>& hosts,
                                           HostlistBudget& budget) {
  const auto pieces = pieces_of(part, budget.hosts);
  if (!pieces) return no_host_list();
  std::uint64_t count = 1;
  std::size_t longest = 0;
  for (const HostPiece& piece : *pieces) {
    count = product_up_to(budget.hosts, count, piece.count);
    longest += piece.longest;
  }
  if (longest > kLongestHostName) {
    return HostlistProblem{fmt::format("makes names of more than {} characters", kLongestHostName),
                           "give the names of hosts, without a domain that is repeated"};
  }
  const std::uint64_t characters = product_up_to(budget.characters, count, longest);
  if (count > budget.hosts || characters > budget.characters) {
    return HostlistProblem{
        fmt::format("stands for more hosts than are left of those that a file may name: {}",
                    budget.hosts),
        limit_help(&Limits::hosts)};
  }
  budget.hosts -= count;
  budget.characters -= characters;
  std::string name;
  append_names(*pieces, 0, name, hosts);
  return std::nullopt;
}

}  // namespace

HostlistBudget hostlist_budget() {
  const auto hosts = static_cast<std::size_t>(limits().hosts);
  return {.hosts = hosts, .characters = 64 * hosts};
}

std::variant<std::vector<std::string>, HostlistProblem> expanded_hostlist(std::string_view text,
                                                                          HostlistBudget& budget) {
  HostlistProblem none = no_host_list();
  std::vector<std::string> hosts;
  std::size_t begin = 0;
  bool is_inside = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && !is_inside)) {
      if (is_inside) return none;
      if (auto problem = append_part(text.substr(begin, i - begin), hosts, budget)) {
        return std::move(*problem);
      }
      begin = i + 1;
    } else if (text[i] == '[' || text[i] == ']') {
      if (is_inside == (text[i] == '[')) return none;
      is_inside = !is_inside;
    }
  }
  return hosts;
}

}  // namespace headway
