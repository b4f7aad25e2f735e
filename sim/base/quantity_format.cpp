#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "sim/base/quantity_text.h"
#include "sim/base/quantity_units.h"

namespace headway {
namespace {

/// A number in minutes or in powers of 1024 is written so if it takes no more digits than this.
constexpr std::size_t kFewDigits = 4;

/// The shortest decimal form of a number: 0.DDD... * 10^point.
struct Decimal {
  bool negative = false;
  std::string digits;
  int point = 0;
};

Decimal shortest_decimal(double value) {
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(value),
                                 std::chars_format::scientific)
                       .ptr;
  const std::string text(buffer.data(), end);
  const std::size_t e = text.find('e');
  Decimal decimal{std::signbit(value), "", std::stoi(text.substr(e + 1)) + 1};
  std::copy_if(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(e),
               std::back_inserter(decimal.digits), [](char c) { return c != '.'; });
  return decimal;
}

std::string zeros(int count) { return std::string(static_cast<std::size_t>(count), '0'); }

std::string written(const Decimal& decimal) {
  const int count = static_cast<int>(decimal.digits.size());
  const int point = decimal.point;
  const std::string sign = decimal.negative ? "-" : "";
  const auto split_after = [&](int whole) {
    const auto at = static_cast<std::size_t>(whole);
    const std::string rest = decimal.digits.substr(at);
    return fmt::format("{}{}{}{}", sign, decimal.digits.substr(0, at), rest.empty() ? "" : ".",
                       rest);
  };
  if (point > 15 || point < -5) return fmt::format("{}e{}", split_after(1), point - 1);
  if (point <= 0) return fmt::format("{}0.{}{}", sign, zeros(-point), decimal.digits);
  if (point < count) return split_after(point);
  return fmt::format("{}{}{}", sign, decimal.digits, zeros(point - count));
}

/// Units of powers of ten, smallest first.
std::vector<Unit> decimal_units(Dimension dimension) {
  std::vector<Unit> units;
  for (const Unit& unit : all_units()) {
    if (unit.dimension == dimension && unit.is_decimal()) units.push_back(unit);
  }
  return units;
}

/// The others (minutes and hours, or powers of 1024), smallest first; bits are never written.
std::vector<Unit> other_units(Dimension dimension) {
  std::vector<Unit> units;
  for (const Unit& unit : all_units()) {
    if (unit.dimension == dimension && !unit.is_decimal() && !unit.counts_bits())
      units.push_back(unit);
  }
  return units;
}

std::string base_symbol(Dimension dimension) {
  for (const Unit& unit : decimal_units(dimension)) {
    if (unit.decimal_exponent == 0) return std::string(unit.symbol);
  }
  return "";
}

std::string with_symbol(const std::string& number, std::string_view symbol) {
  return fmt::format("{} {}", number, symbol);
}

/// A decimal unit only moves the point of the shortest form, and reading moves it back, so nothing
/// is lost.
std::string exact_decimal_text(double value, Dimension dimension) {
  Decimal decimal = shortest_decimal(value);
  const std::vector<Unit> units = decimal_units(dimension);
  Unit chosen = units.front();
  for (const Unit& unit : units) {
    if (decimal.point - unit.decimal_exponent >= 1) chosen = unit;
  }
  decimal.point -= chosen.decimal_exponent;
  return with_symbol(written(decimal), chosen.symbol);
}

std::string exact(double value, Dimension dimension) {
  if (value == 0.0 || !std::isfinite(value)) {
    return with_symbol(fmt::format("{}", value == 0.0 ? 0.0 : value), base_symbol(dimension));
  }
  std::string best = exact_decimal_text(value, dimension);
  if (dimension != Dimension::size && dimension != Dimension::time) return best;
  for (const Unit& unit : other_units(dimension)) {
    const double number = value / unit.multiplier;
    if (std::abs(number) < 1.0 || number * unit.multiplier != value) continue;
    const Decimal shown = shortest_decimal(number);
    if (shown.digits.size() > kFewDigits) continue;
    const std::string text = with_symbol(written(shown), unit.symbol);
    // 512 KB is not to become 500 KiB.
    const bool is_longer = dimension == Dimension::size && text.find(' ') > best.find(' ');
    if (!is_longer) best = text;
  }
  return best;
}

/// Rounded to what people read at a glance, without trailing zeros.
std::string short_number(double value, Dimension dimension) {
  const double magnitude = std::abs(value);
  // Sizes get a fourth digit: 131.3 GiB of 141 GB memory is how they are compared.
  const int decimals = magnitude < 9.995   ? 2
                       : magnitude < 99.95 ? 1
                                           : (dimension == Dimension::size ? 1 : 0);
  if (magnitude >= 1e5 || magnitude < 0.01) return fmt::format("{:.3g}", value);
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

double factor(const Unit& unit) { return unit.multiplier * std::pow(10.0, unit.decimal_exponent); }

/// The largest of `units` in which the rounded number is at least 1.
std::string short_in(double value, const std::vector<Unit>& units, Dimension dimension) {
  for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
    const double number = value / factor(*unit);
    const bool is_last = std::next(unit) == units.rend();
    const double step = is_last ? 0.0 : factor(*unit) / factor(*std::next(unit));
    // A number that the next smaller unit would round up to a whole step belongs here: 1 ms, not
    // 1000 us.
    const double rounds_up = dimension == Dimension::size ? 0.05 : 0.5;
    if (is_last || std::abs(number) * step >= step - rounds_up) {
      return with_symbol(short_number(number, dimension), unit->symbol);
    }
  }
  return "";
}

std::string shortened(double value, Dimension dimension) {
  if (value == 0.0 || !std::isfinite(value)) {
    return with_symbol(fmt::format("{}", value == 0.0 ? 0.0 : value), base_symbol(dimension));
  }
  std::vector<Unit> units = decimal_units(dimension);
  if (dimension == Dimension::size) {
    units = {units.front()};
    for (const Unit& unit : other_units(dimension)) units.push_back(unit);
  } else if (dimension == Dimension::time) {
    // Minutes, hours and days only from two of them on: "94.2 s" reads better than "1.57 min".
    for (const Unit& unit : other_units(dimension)) {
      if (std::abs(value) >= 2.0 * unit.multiplier) units = {unit};
    }
  }
  return short_in(value, units, dimension);
}

}  // namespace

std::string exact_text(Seconds value) { return exact(value.count(), Dimension::time); }
std::string exact_text(Bytes value) { return exact(value.count(), Dimension::size); }
std::string exact_text(BytesPerSecond value) { return exact(value.count(), Dimension::bandwidth); }
std::string exact_text(Flops value) { return exact(value.count(), Dimension::work); }
std::string exact_text(FlopsPerSecond value) {
  return exact(value.count(), Dimension::compute_rate);
}

std::string short_text(Seconds value) { return shortened(value.count(), Dimension::time); }
std::string short_text(Bytes value) { return shortened(value.count(), Dimension::size); }
std::string short_text(BytesPerSecond value) {
  return shortened(value.count(), Dimension::bandwidth);
}
std::string short_text(Flops value) { return shortened(value.count(), Dimension::work); }
std::string short_text(FlopsPerSecond value) {
  return shortened(value.count(), Dimension::compute_rate);
}

std::string grouped_digits(long long value) {
  std::string digits = fmt::format("{}", value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
  return digits;
}

std::string plural(long long count, std::string_view thing) {
  if (count == 1) return std::string(thing);
  return fmt::format("{}{}", thing, thing.ends_with("ch") ? "es" : "s");
}

std::string_view agreeing(long long count, std::string_view of_one, std::string_view of_several) {
  return count == 1 ? of_one : of_several;
}

std::string counted(long long count, std::string_view thing) {
  return fmt::format("{} {}", grouped_digits(count), plural(count, thing));
}

}  // namespace headway
