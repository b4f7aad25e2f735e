#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"
#include "sim/files/json_reader.h"
#include "sim/files/json_text.h"
#include "sim/files/json_value_text.h"

namespace headway {
namespace {

/// Whole numbers up to here are exact in a double.
constexpr double kLargestExact = 9007199254740992.0;  // 2^53

bool contains(const Range& range, double value) {
  const bool above = range.open ? value > range.least : value >= range.least;
  return above && value <= range.most;
}

std::string plain(double value) {
  return std::abs(value) <= kLargestExact && std::floor(value) == value
             ? fmt::format("{}", static_cast<std::int64_t>(value))
             : fmt::format("{}", value);
}

/// "must be between 1 and 8"; `shown` writes a bound.
template <class Shown>
std::string requirement(const Range& range, Shown shown) {
  const bool has_least = std::isfinite(range.least);
  const bool has_most = std::isfinite(range.most);
  if (has_least && has_most && !range.open) {
    return fmt::format("must be between {} and {}", shown(range.least), shown(range.most));
  }
  std::string text = "must be";
  if (has_least) {
    text += fmt::format(" {} {}", range.open ? "greater than" : "at least", shown(range.least));
  }
  if (has_most) text += fmt::format("{} at most {}", has_least ? " and" : "", shown(range.most));
  return text;
}

/// "between 1 and 8", as `requirement` has it; empty if there is none.
template <class Shown>
std::string allowed(const Range& range, Shown shown) {
  constexpr std::string_view kMustBe = "must be";
  const std::string text = requirement(range, shown).substr(kMustBe.size());
  return text.empty() ? text : text.substr(1);
}

/// How to mend a field: with its default, which stands in what was resolved until the field is
/// read, or by an example. What stands there outside of the range follows from other fields.
std::string remedy(std::string_view key, bool required, const nlohmann::json& resolved,
                   std::string_view example, const Range& range = {}) {
  if (required) return fmt::format("for example \"{}\": {}", key, example);
  const auto fallback = resolved.find(std::string(key));
  if (fallback == resolved.end()) return "leave it out for no limit";
  const bool is_settled = fallback->is_number() && !contains(range, fallback->get<double>());
  return is_settled ? "leave it out" : fmt::format("leave it out for {}", compact_json(*fallback));
}

/// What to write where another type was: the number that stands in quotes, or one that is allowed.
std::string number_help(const nlohmann::json& value, std::string_view what,
                        const std::string& allowed, const std::string& remedy) {
  if (value.is_string()) {
    const auto quoted = nlohmann::json::parse(value.get_ref<const std::string&>(), nullptr, false);
    if (quoted.is_number()) return fmt::format("write {} without quotes", compact_json(quoted));
  }
  const char* const joint = remedy.starts_with("leave") ? "or " : "";
  return fmt::format("write {}{}{}, {}{}", what, allowed.empty() ? "" : " ", allowed, joint,
                     remedy);
}

/// A value within the range to go on with once a problem is reported.
double stand_in(const Range& range) {
  if (!std::isfinite(range.least)) return std::min(0.0, range.most);
  if (!range.open) return range.least;
  return std::isfinite(range.most) ? (range.least + range.most) / 2 : range.least + 1;
}

/// The same for a whole number.
std::int64_t whole_stand_in(const Range& range) {
  if (!std::isfinite(range.least))
    return static_cast<std::int64_t>(std::min(0.0, std::floor(range.most)));
  const double least = std::ceil(range.least);
  return static_cast<std::int64_t>(range.open && least == range.least ? least + 1 : least);
}

}  // namespace

std::optional<std::int64_t> ObjectReader::read_integer(std::string_view key, const Range& range,
                                                       bool required) {
  const std::string example = fmt::format("{}", std::max<std::int64_t>(whole_stand_in(range), 1));
  const auto member = take(key, required, example);
  if (!member) return std::nullopt;
  const nlohmann::json& value = member->value();
  const std::string mended = remedy(key, required, *resolved_, example, range);
  const double number = value.is_number() ? value.get<double>() : 0.5;
  if (std::floor(number) != number) {
    diagnostics_.add(
        member->problem(fmt::format("\"{}\" must be a whole number", key),
                        value.is_number() ? value_text(value) : kind_text(value),
                        number_help(value, "a whole number", allowed(range, plain), mended)));
    return std::nullopt;
  }
  const bool is_held = value.is_number_float() ? std::abs(number) <= kLargestExact
                       : value.is_number_unsigned()
                           ? value.get<std::uint64_t>() <= std::uint64_t{INT64_MAX}
                           : true;
  if (!is_held && contains(range, number)) {
    diagnostics_.add(member->problem(
        fmt::format("{} is too large", key), value_text(value),
        fmt::format("write at most {}", grouped_digits(static_cast<std::int64_t>(kLargestExact)))));
    return std::nullopt;
  }
  if (!contains(range, number)) {
    diagnostics_.add(member->problem(fmt::format("{} {}", key, requirement(range, plain)),
                                     value_text(value), mended));
    return std::nullopt;
  }
  return value.is_number_float() ? static_cast<std::int64_t>(number) : value.get<std::int64_t>();
}

std::int64_t ObjectReader::integer(std::string_view key, Range range) {
  const std::int64_t value = read_integer(key, range, true).value_or(whole_stand_in(range));
  (*resolved_)[std::string(key)] = value;
  return value;
}

std::int64_t ObjectReader::integer(std::string_view key, Range range, std::int64_t fallback) {
  (*resolved_)[std::string(key)] = fallback;
  const std::int64_t value = read_integer(key, range, false).value_or(fallback);
  (*resolved_)[std::string(key)] = value;
  return value;
}

std::optional<double> ObjectReader::read_number(std::string_view key, const Range& range,
                                                bool required) {
  const std::string example =
      plain(contains(range, 1.0) ? 1.0 : std::max(stand_in(range), std::min(1.0, range.most)));
  const auto member = take(key, required, example);
  if (!member) return std::nullopt;
  const nlohmann::json& value = member->value();
  const std::string mended = remedy(key, required, *resolved_, example, range);
  if (!value.is_number()) {
    diagnostics_.add(
        member->problem(fmt::format("\"{}\" must be a number", key), kind_text(value),
                        number_help(value, "a number", allowed(range, plain), mended)));
    return std::nullopt;
  }
  const double number = value.get<double>();
  if (!contains(range, number)) {
    diagnostics_.add(member->problem(fmt::format("{} {}", key, requirement(range, plain)),
                                     value_text(value), mended));
    return std::nullopt;
  }
  return number;
}

double ObjectReader::number(std::string_view key, Range range) {
  const double value = read_number(key, range, true).value_or(stand_in(range));
  (*resolved_)[std::string(key)] = value;
  return value;
}

double ObjectReader::number(std::string_view key, Range range, double fallback) {
  if (std::isfinite(fallback)) (*resolved_)[std::string(key)] = fallback;
  const double value = read_number(key, range, false).value_or(fallback);
  // JSON has no infinity: a default of "no limit" shows as an absent field.
  if (std::isfinite(value)) (*resolved_)[std::string(key)] = value;
  return value;
}

template <class Q>
std::optional<Q> ObjectReader::read_quantity(std::string_view key, const Range& range,
                                             bool required) {
  const auto member = take(key, required, fmt::format("\"{}\"", example_text<Q>()));
  if (!member) return std::nullopt;
  const nlohmann::json& value = member->value();
  if (!value.is_string() && !value.is_number()) {
    diagnostics_.add(
        member->problem(fmt::format("\"{}\" must be a text with a unit", key), kind_text(value),
                        fmt::format("for example \"{}\": \"{}\"", key, example_text<Q>())));
    return std::nullopt;
  }
  const std::string text = value.is_string() ? value.get<std::string>() : value_text(value);
  const auto parsed = parse_quantity<Q>(text);
  if (const auto* problem = std::get_if<QuantityProblem>(&parsed)) {
    diagnostics_.add(member->problem(problem->problem, "", problem->help));
    return std::nullopt;
  }
  const Q quantity = std::get<Q>(parsed);
  if (!contains(range, quantity.count())) {
    const auto shown = [](double bound) { return bound == 0.0 ? "0" : exact_text(Q(bound)); };
    diagnostics_.add(member->problem(
        fmt::format("{} {}", key, requirement(range, shown)), printable(text),
        remedy(key, required, *resolved_, fmt::format("\"{}\"", example_text<Q>()))));
    return std::nullopt;
  }
  return quantity;
}

template <class Q>
Q ObjectReader::quantity(std::string_view key, Range range) {
  const Q value = read_quantity<Q>(key, range, true).value_or(Q(stand_in(range)));
  (*resolved_)[std::string(key)] = exact_text(value);
  return value;
}

template <class Q>
Q ObjectReader::quantity(std::string_view key, Range range, Q fallback) {
  if (is_finite(fallback)) (*resolved_)[std::string(key)] = exact_text(fallback);
  const Q value = read_quantity<Q>(key, range, false).value_or(fallback);
  if (is_finite(value)) (*resolved_)[std::string(key)] = exact_text(value);
  return value;
}

#define HEADWAY_INSTANTIATE(Q)                                   \
  template Q ObjectReader::quantity<Q>(std::string_view, Range); \
  template Q ObjectReader::quantity<Q>(std::string_view, Range, Q);

HEADWAY_INSTANTIATE(Seconds)
HEADWAY_INSTANTIATE(Bytes)
HEADWAY_INSTANTIATE(BytesPerSecond)
HEADWAY_INSTANTIATE(Flops)
HEADWAY_INSTANTIATE(FlopsPerSecond)

#undef HEADWAY_INSTANTIATE

}  // namespace headway
