#include "sim/predict/input/page_cache.h"

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace headway {
namespace {

constexpr std::size_t kPages = 8192;
constexpr int kSettlingEpochs = 4;
constexpr int kCountedEpochs = 8;

}  // namespace

double read_share(const CachedReading& reading) {
  const auto places =
      static_cast<std::size_t>(std::llround(reading.cached_share * static_cast<double>(kPages)));
  if (places == 0) return 1.0;
  if (places >= kPages) return 0.0;
  const auto read = std::max<std::size_t>(
      1, static_cast<std::size_t>(std::llround(reading.part * static_cast<double>(kPages))));
  // Where a small part is read, it takes many epochs until a page comes again.
  const auto rounds = static_cast<int>(std::min<std::size_t>(64, kPages / read));
  boost::random::mt19937_64 random(1);
  const auto below = [&](std::size_t count) {
    return boost::random::uniform_int_distribution<std::size_t>(0, count - 1)(random);
  };
  std::vector<std::size_t> cached(places);
  std::iota(cached.begin(), cached.end(), std::size_t{0});
  std::vector<bool> is_cached(kPages, false);
  for (const std::size_t page : cached) is_cached[page] = true;
  std::vector<std::vector<std::size_t>> orders(static_cast<std::size_t>(reading.jobs),
                                               std::vector<std::size_t>(kPages));
  for (auto& order : orders) std::iota(order.begin(), order.end(), std::size_t{0});

  std::size_t missed = 0;
  for (int epoch = 0; epoch < rounds * (kSettlingEpochs + kCountedEpochs); ++epoch) {
    for (auto& order : orders) {
      for (std::size_t i = kPages; i > 1; --i) std::swap(order[i - 1], order[below(i)]);
    }
    for (std::size_t i = 0; i < read; ++i) {
      for (const auto& order : orders) {
        const std::size_t page = order[i];
        if (is_cached[page]) continue;
        if (epoch >= rounds * kSettlingEpochs) ++missed;
        const std::size_t place = below(places);
        is_cached[cached[place]] = false;
        cached[place] = page;
        is_cached[page] = true;
      }
    }
  }
  return static_cast<double>(missed) / static_cast<double>(read) / (rounds * kCountedEpochs) /
         static_cast<double>(reading.jobs);
}

}  // namespace headway
