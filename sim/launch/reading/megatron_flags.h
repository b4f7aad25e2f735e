#pragma once

#include <span>
#include <string_view>

namespace headway {

/// What a flag of Megatron-LM brings along where nobody says otherwise
/// (megatron/training/arguments.py, core_r0.13).
struct ImpliedFlag {
  std::string_view flag;
  std::string_view value;  ///< that it has for this; empty: any
  std::string_view implied;
  std::string_view implied_value;
};

/// In an order in which what is implied may imply more.
[[nodiscard]] std::span<const ImpliedFlag> megatron_implied_flags();

/// Whether a flag is no matter of speed or memory, or of none that the model of it knows.
[[nodiscard]] bool is_no_matter_to_megatron(std::string_view flag);

}  // namespace headway
