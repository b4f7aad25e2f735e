#include "calibrate/measure/shuffled_order.h"

#include <numeric>
#include <random>
#include <utility>

namespace headway {

std::vector<std::size_t> shuffled_order(std::size_t count, std::uint64_t seed) {
  // Fisher-Yates; std::shuffle may draw its numbers differently in every standard library.
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(seed);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

}  // namespace headway
