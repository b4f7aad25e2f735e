#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace headway {

/// What may be expanded of all host lists of a file: two characters can stand for millions.
struct HostlistBudget {
  std::size_t hosts;
  std::size_t characters;  ///< of their names
};

/// The budget of the hosts that limits() allow, whose names are short: 64 characters each on
/// average.
[[nodiscard]] HostlistBudget hostlist_budget();

/// Why a host list was not expanded.
struct HostlistProblem {
  std::string message;  ///< a clause that follows the list: "is no host list"
  std::string help;
};

/// The names that a Slurm host list stands for: "r[1-2]n[01-03],login" is r1n01, r1n02, ... Ranges
/// keep their leading zeros. Counts first: a list that stands for more than is left of the budget
/// takes no memory. What is expanded is taken off the budget.
[[nodiscard]] std::variant<std::vector<std::string>, HostlistProblem> expanded_hostlist(
    std::string_view text, HostlistBudget& budget);

}  // namespace headway
