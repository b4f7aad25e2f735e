#include "sim/base/quantity_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "sim/base/quantity_units.h"
#include "sim/base/utf8.h"

namespace headway {
namespace {

constexpr Seconds kLongestTime(1e12);
constexpr int kFarthestExponent = 1'000'000'000;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string_view example_text_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::time:
      return "1.5 us";
    case Dimension::size:
      return "80 GiB";
    case Dimension::bandwidth:
      return "400 Gb/s";
    case Dimension::work:
      return "10 TFLOP";
    case Dimension::compute_rate:
      return "989 TFLOP/s";
  }
  return "";
}

/// The K, M, G, T or P that the user wrote, in either case, or `fallback`.
char prefix_letter(std::string_view unit, char fallback) {
  if (unit.empty()) return fallback;
  const bool is_lower = unit[0] >= 'a' && unit[0] <= 'z';
  const char letter = static_cast<char>(is_lower ? unit[0] - 'a' + 'A' : unit[0]);
  return std::string_view("KMGTP").find(letter) != std::string_view::npos ? letter : fallback;
}

/// The unit of time that was meant by another spelling of it, or nothing.
std::string_view time_unit_like(std::string_view unit) {
  constexpr std::pair<std::string_view, std::string_view> kSpellings[] = {
      {"\xC2\xB5s", "us"}, {"\xCE\xBCs", "us"},  // the micro sign and the Greek letter
      {"micro", "us"},     {"usec", "us"},      {"milli", "ms"}, {"msec", "ms"},
      {"nano", "ns"},      {"nsec", "ns"},      {"sec", "s"},    {"minute", "min"},
      {"mins", "min"},     {"hour", "h"},       {"hr", "h"},     {"day", "d"}};
  for (const auto& [start, symbol] : kSpellings) {
    if (unit.starts_with(start)) return symbol;
  }
  return "";
}

/// How to write `number` with a unit of `dimension`; `unit` is the failed attempt at one.
std::string how_to_write(Dimension dimension, std::string_view number, std::string_view unit) {
  const char prefix = prefix_letter(unit, 'G');
  switch (dimension) {
    case Dimension::time: {
      const std::string_view meant = time_unit_like(unit);
      if (!meant.empty()) return fmt::format("write \"{} {}\"", number, meant);
      return fmt::format("write \"{0} us\", \"{0} ms\" or \"{0} s\" (also ns, min, h, d)", number);
    }
    case Dimension::size:
      return fmt::format("write \"{0} {1}B\" (powers of 1000) or \"{0} {1}iB\" (powers of 1024)",
                         number, prefix == 'P' ? 'T' : prefix);
    case Dimension::bandwidth:
      return fmt::format(
          "write \"{0} {1}b/s\" (bits, as NICs are sold) or \"{0} {1}B/s\" (bytes); they differ "
          "by 8",
          number, prefix);
    case Dimension::work:
      return fmt::format("write \"{} {}FLOP\"", number, prefix_letter(unit, 'T'));
    case Dimension::compute_rate:
      return fmt::format("write \"{} {}FLOP/s\"", number, prefix_letter(unit, 'T'));
  }
  return "";
}

std::string such_as(Dimension dimension) {
  return fmt::format("write {} such as \"{}\"", dimension_name(dimension),
                     example_text_of(dimension));
}

QuantityProblem wrong_dimension(std::string_view text, std::string_view number, const Unit& found,
                                Dimension wanted) {
  QuantityProblem problem{fmt::format("{} is {}, not {}", in_quotes(text),
                                      dimension_name(found.dimension), dimension_name(wanted)),
                          such_as(wanted)};
  const std::string rate = std::string(found.symbol) + "/s";
  const std::string amount(found.symbol.substr(0, found.symbol.find('/')));
  for (const std::string& symbol : {rate, amount}) {
    const auto other = find_unit(symbol);
    const bool fits = other && other->dimension == wanted;
    if (fits && (wanted != Dimension::size || !other->counts_bits())) {
      problem.help = fmt::format("write \"{} {}\"", number, symbol);
    }
  }
  return problem;
}

/// Memory and messages are counted in bytes everywhere in this field, so "80 Gb" is a slip of the
/// shift key far more often than it is meant, and taking it literally is a silent factor of 8.
QuantityProblem size_in_bits(std::string_view text, std::string_view number, const Unit& found) {
  std::string bytes(found.symbol);
  bytes.back() = 'B';
  return {fmt::format("{} counts bits; a size is written in bytes", in_quotes(text)),
          fmt::format("write \"{} {}\" (B is byte, b is bit)", number, bytes)};
}

QuantityProblem not_a_number(std::string_view text, Dimension wanted) {
  return {fmt::format("{} does not start with a number", in_quotes(text)), such_as(wanted)};
}

/// Digits, perhaps after a sign and a point: not "inf", which from_chars would take.
bool starts_with_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.starts_with('.')) text.remove_prefix(1);
  return !text.empty() && text[0] >= '0' && text[0] <= '9';
}

std::variant<double, QuantityProblem> parse(std::string_view original, Dimension wanted) {
  const std::string_view text = trimmed(original);
  if (!starts_with_number(text)) return not_a_number(text, wanted);

  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto length = static_cast<std::size_t>(end - text.data());
  const std::string_view number = text.substr(0, length);
  const std::string_view symbol = trimmed(text.substr(length));
  if (symbol.starts_with(',') || symbol.starts_with('_')) {
    return QuantityProblem{fmt::format("the number in {} has separators", in_quotes(text)),
                           "write the digits without separators, with a point for decimals"};
  }
  if (symbol.empty()) {
    return QuantityProblem{fmt::format("{} needs a unit", dimension_name(wanted)),
                           how_to_write(wanted, number, "")};
  }
  const auto unit = find_unit(symbol);
  if (!unit) {
    return QuantityProblem{fmt::format("unknown unit {}", in_quotes(symbol)),
                           how_to_write(wanted, number, symbol)};
  }
  if (unit->dimension != wanted) return wrong_dimension(text, number, *unit, wanted);
  if (wanted == Dimension::size && unit->counts_bits()) {
    return size_in_bits(text, number, *unit);
  }

  // Read the decimal part of the unit as part of the number: "0.1 us" is then the double nearest
  // to 1e-7, which 0.1 * 1e-6 is not.
  const std::size_t e = number.find_first_of("eE");
  int exponent = 0;
  if (e != std::string_view::npos) {
    const std::size_t digits = e + (number[e + 1] == '+' ? 2 : 1);
    std::from_chars(number.data() + digits, number.data() + number.size(), exponent);
    // Farther away only 0 is a number ("0e2147483647"), and the unit's exponent has to fit beside.
    exponent = std::clamp(exponent, -kFarthestExponent, kFarthestExponent);
  }
  const std::string scaled =
      fmt::format("{}e{}", number.substr(0, e), exponent + unit->decimal_exponent);
  const auto result = std::from_chars(scaled.data(), scaled.data() + scaled.size(), value);
  value *= unit->multiplier;
  if (error != std::errc() || result.ec != std::errc() || !std::isfinite(value)) {
    return QuantityProblem{fmt::format("{} is beyond what a number can hold", in_quotes(text)),
                           such_as(wanted)};
  }
  if (wanted == Dimension::time && std::abs(value) > kLongestTime.count()) {
    return QuantityProblem{fmt::format("{} is more than 30,000 years", in_quotes(text)),
                           such_as(wanted)};
  }
  return value;
}

}  // namespace

template <class Q>
ParsedQuantity<Q> parse_quantity(std::string_view text) {
  const auto parsed = parse(text, DimensionOf<Q>::value);
  if (const auto* problem = std::get_if<QuantityProblem>(&parsed)) return *problem;
  return Q(std::get<double>(parsed));
}

template <class Q>
std::string_view dimension_name() {
  return dimension_name(DimensionOf<Q>::value);
}

template <class Q>
std::string_view example_text() {
  return example_text_of(DimensionOf<Q>::value);
}

#define HEADWAY_INSTANTIATE(Q)                                    \
  template ParsedQuantity<Q> parse_quantity<Q>(std::string_view); \
  template std::string_view dimension_name<Q>();                  \
  template std::string_view example_text<Q>();

HEADWAY_INSTANTIATE(Seconds)
HEADWAY_INSTANTIATE(Bytes)
HEADWAY_INSTANTIATE(BytesPerSecond)
HEADWAY_INSTANTIATE(Flops)
HEADWAY_INSTANTIATE(FlopsPerSecond)

#undef HEADWAY_INSTANTIATE

}  // namespace headway
