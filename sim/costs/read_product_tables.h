#pragma once

#include <map>
#include <optional>
#include <string>

#include "sim/costs/product_table.h"
#include "sim/files/input_files.h"

namespace headway {

/// What was measured of one kind of accelerator and published.
struct PublishedKernels {
  std::map<Precision, ProductTable> products;  ///< not empty
  std::string source;
};

/// The file that the member "kernels" of a profile names, of `calibrate/profiles/kernels`; nothing
/// where there is no such member, or where the file cannot be read (reported). Format:
/// sim/costs/README.md.
[[nodiscard]] std::optional<PublishedKernels> read_kernels_of(const JsonCursor& profile,
                                                              InputFiles& files);

}  // namespace headway
