#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "sim/base/units.h"

namespace headway {

/// Why a text is not a quantity, in words that fit a diagnostic: `problem` is what is wrong
/// ("unknown unit \"GBit\""), `help` how to mend it ("write \"400 Gb/s\" (bits, ...) or ...").
struct QuantityProblem {
  std::string problem;
  std::string help;
};

template <class Q>
using ParsedQuantity = std::variant<Q, QuantityProblem>;

/// Reads "400 Gb/s", "80 GiB", "1.5 us", "989 TFLOP/s", "30 d" as the quantity Q. Space between
/// number and unit is optional. Numbers are finite decimals ("inf" and "nan" are refused); `b` is
/// bit, `B` byte; K/M/G/T/P are powers of 1000, Ki/Mi/Gi/Ti powers of 1024; times are ns us ms s
/// min h d, up to 30,000 years; work and compute rates also take E, Z, Y. A text of another
/// dimension ("5 ms" for a bandwidth) is named as such, and a size in bits ("80 Gb") is refused as
/// the slip it mostly is. Specialised for Seconds, Bytes, BytesPerSecond, Flops, FlopsPerSecond.
template <class Q>
[[nodiscard]] ParsedQuantity<Q> parse_quantity(std::string_view text);

/// What Q measures, for messages: "a time", "a size", "a bandwidth", "an amount of work",
/// "a compute rate"; and an example text of it.
template <class Q>
[[nodiscard]] std::string_view dimension_name();
template <class Q>
[[nodiscard]] std::string_view example_text();

/// The shortest text that `parse_quantity` reads back to the same value, in the largest unit that
/// leaves a number of at least 1: "50 GB/s", "1.5 us", "80 GiB" (binary units where they are
/// exact to a few digits, else decimal). Used in resolved scenarios.
[[nodiscard]] std::string exact_text(Seconds value);
[[nodiscard]] std::string exact_text(Bytes value);
[[nodiscard]] std::string exact_text(BytesPerSecond value);
[[nodiscard]] std::string exact_text(Flops value);
[[nodiscard]] std::string exact_text(FlopsPerSecond value);

/// For people: three or four significant digits and a fitting unit: "6.94 s", "31.8 GiB",
/// "47.1 GB/s", "432 TFLOP/s". Zero is "0 s" and so on.
[[nodiscard]] std::string short_text(Seconds value);
[[nodiscard]] std::string short_text(Bytes value);
[[nodiscard]] std::string short_text(BytesPerSecond value);
[[nodiscard]] std::string short_text(Flops value);
[[nodiscard]] std::string short_text(FlopsPerSecond value);

/// "16,777,216": digits grouped by thousands.
[[nodiscard]] std::string grouped_digits(long long value);

/// "server" of 1, "servers" of any other count.
[[nodiscard]] std::string plural(long long count, std::string_view thing);
/// The form of a verb that goes with a count: "is" or "are".
[[nodiscard]] std::string_view agreeing(long long count, std::string_view of_one,
                                        std::string_view of_several);
/// "1 server", "1,024 servers".
[[nodiscard]] std::string counted(long long count, std::string_view thing);

}  // namespace headway
