#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/refuse.h"
#include "sim/cli/options/option.h"

namespace headway {

/// A command line as its command's table understood it. Asking for an option that the table does
/// not have is a bug.
class Arguments {
 public:
  /// One use of an option, in the order of the command line. A switch has an empty value.
  struct Use {
    std::string option;
    std::string value;
  };

  Arguments(const std::vector<Option>& table, std::vector<Use> uses,
            std::vector<std::string> positional);

  [[nodiscard]] const std::vector<std::string>& positional() const { return positional_; }
  [[nodiscard]] const std::vector<Use>& uses() const { return uses_; }

  [[nodiscard]] bool has(std::string_view option) const;
  [[nodiscard]] std::optional<std::string> value(std::string_view option) const;
  [[nodiscard]] std::vector<std::string> values(std::string_view option) const;
  /// A whole number in [least, most]; throws InputError if it is anything else.
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view option, std::int64_t least,
                                                    std::int64_t most) const;

 private:
  std::vector<std::string> known_;
  std::vector<Use> uses_;
  std::vector<std::string> positional_;
};

/// The whole number that `text` is, if it is one in [least, most].
[[nodiscard]] std::optional<std::int64_t> whole_number_in(std::string_view text, std::int64_t least,
                                                          std::int64_t most);

}  // namespace headway
