#include "sim/programs/perturbation/counter_draw.h"

namespace headway {
namespace {

/// SplitMix64's output function (Steele, Lea, Flood 2014): a bijection that mixes all bits.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

std::uint64_t counter_stream(std::uint64_t seed, std::uint64_t a) { return mixed(mixed(seed) ^ a); }

double counter_draw(std::uint64_t stream, std::uint64_t b) {
  const std::uint64_t bits = mixed(stream ^ b);
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1.0p-52;  // exact, so never 0 or 1
}

double counter_draw(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
  return counter_draw(counter_stream(seed, a), b);
}

}  // namespace headway
