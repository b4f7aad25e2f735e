#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include "sim/import/infiniband/infiniband_fabric.h"

namespace headway {

/// "0xfc6a1c0300f00040".
[[nodiscard]] std::string guid_text(std::uint64_t guid);

/// The host of an adapter: the first word of its description ("hpc1 mlx5_0" is of hpc1). Empty if
/// the description names none: it is not set, or is that of the device alone.
[[nodiscard]] std::string host_name(const InfiniBandNode& adapter);

/// Order in which people count: "mlx5_9" before "mlx5_10".
[[nodiscard]] bool comes_before(std::string_view a, std::string_view b);

/// Gives out each name once.
class UniqueNames {
 public:
  /// `wanted` (or "unnamed") with `suffix`, and with the GUID between the two if others have it.
  [[nodiscard]] std::string name(const std::string& wanted, std::uint64_t guid,
                                 const std::string& suffix);

 private:
  std::unordered_set<std::string> taken_;
};

}  // namespace headway
