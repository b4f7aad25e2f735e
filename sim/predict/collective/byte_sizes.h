#pragma once

#include <string_view>
#include <vector>

#include "sim/base/units.h"

namespace headway {

/// The message sizes that --bytes names: "4 MiB", "1KiB,64KiB", or a range "1KiB..1GiB", which
/// doubles; "1KiB..1GiB*4" takes another whole factor. Throws InputError for anything else.
[[nodiscard]] std::vector<Bytes> byte_sizes(std::string_view text);

}  // namespace headway
