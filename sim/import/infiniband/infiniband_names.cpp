#include "sim/import/infiniband/infiniband_names.h"

#include <fmt/format.h>

#include <algorithm>

namespace headway {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "mlx5_0", "hfi1_0", "qib0".
bool is_device_name(std::string_view word) {
  for (const std::string_view family : {"mlx4_", "mlx5_", "hfi1_", "mthca", "qib", "ibp"}) {
    if (word.starts_with(family) && is_digit(word.back())) return true;
  }
  return false;
}

/// Takes the number at the front of `text`, without its leading zeros.
std::string_view take_digits(std::string_view& text) {
  const std::size_t length =
      static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
  std::string_view digits = text.substr(0, length);
  text.remove_prefix(length);
  while (digits.starts_with('0')) digits.remove_prefix(1);
  return digits;
}

}  // namespace

std::string guid_text(std::uint64_t guid) { return fmt::format("0x{:016x}", guid); }

std::string host_name(const InfiniBandNode& adapter) {
  const std::string_view description = adapter.description;
  const std::string_view word = description.substr(0, description.find(' '));
  if (is_device_name(word)) return "";
  // What the firmware says before a host has set a name: "MT25408 ConnectX Mellanox Technologies".
  const bool is_of_firmware = word.starts_with("MT") && word.size() > 2 && is_digit(word[2]) &&
                              description.find("Mellanox") != std::string_view::npos;
  return is_of_firmware ? "" : std::string(word);
}

bool comes_before(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a;
  const std::string_view whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view number_a = take_digits(a);
      const std::string_view number_b = take_digits(b);
      if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
      if (number_a != number_b) return number_a < number_b;
      continue;
    }
    if (a.front() != b.front()) return a.front() < b.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  if (a.size() != b.size()) return a.size() < b.size();
  return whole_a < whole_b;
}

std::string UniqueNames::name(const std::string& wanted, std::uint64_t guid,
                              const std::string& suffix) {
  const std::string base = wanted.empty() ? "unnamed" : wanted;
  std::string name = base + suffix;
  if (!taken_.insert(name).second) {
    name = base + " " + guid_text(guid) + suffix;
    while (!taken_.insert(name).second) name += "'";
  }
  return name;
}

}  // namespace headway
