#pragma once

#include <vector>

namespace headway {

/// Which points are on the Pareto front, less being better in everything: those for which no other
/// is as good in all and better in one. Of equal points the first is. Points have the same number
/// of coordinates; infinite ones are allowed.
[[nodiscard]] std::vector<bool> pareto_front(const std::vector<std::vector<double>>& points);

}  // namespace headway
