#include "sim/costs/product_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

/// Between which two nodes a size lies, and how far from the first to the second.
struct Between {
  std::size_t first = 0;
  double share = 0.0;
};

Between between_nodes(const std::vector<double>& nodes, double size) {
  const double held = std::clamp(size, nodes.front(), nodes.back());
  const auto above = std::upper_bound(nodes.begin() + 1, nodes.end() - 1, held);
  const auto first = static_cast<std::size_t>(above - nodes.begin()) - 1;
  return {first, std::log(held / nodes[first]) / std::log(nodes[first + 1] / nodes[first])};
}

}  // namespace

double product_factor(const ProductTable& table, const GemmShape& shape) {
  const auto& [m, n, k] = table.nodes;
  HEADWAY_CHECK(std::min({m.size(), n.size(), k.size()}) >= 2, "a table without nodes");
  const Between rows = between_nodes(m, shape.m);
  const Between columns = between_nodes(n, shape.n);
  const Between terms = between_nodes(k, shape.k);
  double log_factor = 0.0;
  for (const std::size_t i : {0U, 1U}) {
    for (const std::size_t j : {0U, 1U}) {
      for (const std::size_t l : {0U, 1U}) {
        const double weight = (i == 1 ? rows.share : 1.0 - rows.share) *
                              (j == 1 ? columns.share : 1.0 - columns.share) *
                              (l == 1 ? terms.share : 1.0 - terms.share);
        const std::size_t node =
            ((rows.first + i) * n.size() + columns.first + j) * k.size() + terms.first + l;
        log_factor += weight * table.log_factors[node];
      }
    }
  }
  return std::exp(log_factor);
}

}  // namespace headway
