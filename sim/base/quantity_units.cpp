#include "sim/base/quantity_units.h"

namespace headway {
namespace {

constexpr double kKi = 1024.0;
constexpr double kMi = 1024.0 * kKi;
constexpr double kGi = 1024.0 * kMi;
constexpr double kTi = 1024.0 * kGi;
constexpr double kBit = 1.0 / 8.0;  ///< bytes

constexpr Unit kUnits[] = {
    {"ns", Dimension::time, -9},
    {"us", Dimension::time, -6},
    {"ms", Dimension::time, -3},
    {"s", Dimension::time},
    {"min", Dimension::time, 0, 60.0},
    {"h", Dimension::time, 0, 3600.0},
    {"d", Dimension::time, 0, 86400.0},

    {"B", Dimension::size},
    {"kB", Dimension::size, 3},  // as SI spells it; what is written is the later one
    {"KB", Dimension::size, 3},
    {"MB", Dimension::size, 6},
    {"GB", Dimension::size, 9},
    {"TB", Dimension::size, 12},
    {"PB", Dimension::size, 15},
    {"KiB", Dimension::size, 0, kKi},
    {"MiB", Dimension::size, 0, kMi},
    {"GiB", Dimension::size, 0, kGi},
    {"TiB", Dimension::size, 0, kTi},
    {"b", Dimension::size, 0, kBit},
    {"kb", Dimension::size, 3, kBit},
    {"Kb", Dimension::size, 3, kBit},
    {"Mb", Dimension::size, 6, kBit},
    {"Gb", Dimension::size, 9, kBit},
    {"Tb", Dimension::size, 12, kBit},
    {"Pb", Dimension::size, 15, kBit},

    {"B/s", Dimension::bandwidth},
    {"kB/s", Dimension::bandwidth, 3},
    {"KB/s", Dimension::bandwidth, 3},
    {"MB/s", Dimension::bandwidth, 6},
    {"GB/s", Dimension::bandwidth, 9},
    {"TB/s", Dimension::bandwidth, 12},
    {"PB/s", Dimension::bandwidth, 15},
    {"KiB/s", Dimension::bandwidth, 0, kKi},
    {"MiB/s", Dimension::bandwidth, 0, kMi},
    {"GiB/s", Dimension::bandwidth, 0, kGi},
    {"TiB/s", Dimension::bandwidth, 0, kTi},
    {"b/s", Dimension::bandwidth, 0, kBit},
    {"kb/s", Dimension::bandwidth, 3, kBit},
    {"Kb/s", Dimension::bandwidth, 3, kBit},
    {"Mb/s", Dimension::bandwidth, 6, kBit},
    {"Gb/s", Dimension::bandwidth, 9, kBit},
    {"Tb/s", Dimension::bandwidth, 12, kBit},
    {"Pb/s", Dimension::bandwidth, 15, kBit},

    {"FLOP", Dimension::work},
    {"KFLOP", Dimension::work, 3},
    {"MFLOP", Dimension::work, 6},
    {"GFLOP", Dimension::work, 9},
    {"TFLOP", Dimension::work, 12},
    {"PFLOP", Dimension::work, 15},
    {"EFLOP", Dimension::work, 18},
    {"ZFLOP", Dimension::work, 21},
    {"YFLOP", Dimension::work, 24},

    {"FLOP/s", Dimension::compute_rate},
    {"KFLOP/s", Dimension::compute_rate, 3},
    {"MFLOP/s", Dimension::compute_rate, 6},
    {"GFLOP/s", Dimension::compute_rate, 9},
    {"TFLOP/s", Dimension::compute_rate, 12},
    {"PFLOP/s", Dimension::compute_rate, 15},
    {"EFLOP/s", Dimension::compute_rate, 18},
};

}  // namespace

std::span<const Unit> all_units() { return kUnits; }

std::optional<Unit> find_unit(std::string_view symbol) {
  for (const Unit& unit : kUnits) {
    if (unit.symbol == symbol) return unit;
  }
  return std::nullopt;
}

std::string_view dimension_name(Dimension dimension) {
  switch (dimension) {
    case Dimension::time:
      return "a time";
    case Dimension::size:
      return "a size";
    case Dimension::bandwidth:
      return "a bandwidth";
    case Dimension::work:
      return "an amount of work";
    case Dimension::compute_rate:
      return "a compute rate";
  }
  return "a quantity";
}

}  // namespace headway
