#include "sim/plan/pareto.h"

#include <cstddef>

namespace headway {
namespace {

/// Nowhere worse.
bool is_as_good(const std::vector<double>& a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
  }
  return true;
}

}  // namespace

std::vector<bool> pareto_front(const std::vector<std::vector<double>>& points) {
  std::vector<bool> front(points.size(), true);
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = 0; j < points.size() && front[i]; ++j) {
      const bool comes_first = points[i] != points[j] || j < i;
      if (i != j && comes_first && is_as_good(points[j], points[i])) front[i] = false;
    }
  }
  return front;
}

}  // namespace headway
