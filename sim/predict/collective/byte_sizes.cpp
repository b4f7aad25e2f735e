#include "sim/predict/collective/byte_sizes.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "sim/base/diagnostic.h"
#include "sim/base/parse_number.h"
#include "sim/base/quantity_text.h"
#include "sim/base/refuse.h"
#include "sim/base/utf8.h"

namespace headway {
namespace {

constexpr std::size_t kMostSizes = 1000;

Bytes byte_size(std::string_view text) {
  const ParsedQuantity<Bytes> parsed = parse_quantity<Bytes>(text);
  if (const auto* problem = std::get_if<QuantityProblem>(&parsed)) {
    refuse(fmt::format("--bytes {}: {}", printable(text), problem->problem), problem->help);
  }
  const Bytes size = std::get<Bytes>(parsed);
  if (size.count() >= 1.0 && size.count() == std::floor(size.count())) return size;
  refuse(
      fmt::format("--bytes {}: a message has at least one byte, and whole ones", printable(text)),
      "");
}

/// The sizes from `low` on, each `factor` times the one before, none above `high`.
void append_range(std::vector<Bytes>& sizes, Bytes low, Bytes high, double factor) {
  for (Bytes size = low; size <= high && sizes.size() <= kMostSizes; size *= factor) {
    sizes.push_back(size);
  }
}

void append_part(std::vector<Bytes>& sizes, std::string_view part) {
  const std::size_t dots = part.find("..");
  if (dots == std::string_view::npos) {
    sizes.push_back(byte_size(part));
    return;
  }
  const std::string_view rest = part.substr(dots + 2);
  const std::size_t star = rest.find('*');
  const Bytes low = byte_size(part.substr(0, dots));
  const Bytes high = byte_size(rest.substr(0, star));
  if (high < low) {
    refuse(fmt::format("--bytes {}: the range is empty", printable(part)),
           "write the smaller size first");
  }
  double factor = 2.0;
  if (star != std::string_view::npos) {
    const int whole = parse_number<int>(rest.substr(star + 1)).value_or(0);
    if (whole < 2 || whole > 1 << 20) {
      refuse(fmt::format("--bytes {}: the factor is a whole number from 2 on", printable(part)),
             "1KiB..1GiB*4 is every fourth power of two");
    }
    factor = whole;
  }
  append_range(sizes, low, high, factor);
}

}  // namespace

std::vector<Bytes> byte_sizes(std::string_view text) {
  std::vector<Bytes> sizes;
  while (true) {
    const std::size_t comma = text.find(',');
    append_part(sizes, text.substr(0, comma));
    if (sizes.size() > kMostSizes) refuse(fmt::format("more than {} sizes", kMostSizes), "");
    if (comma == std::string_view::npos) return sizes;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace headway
