#pragma once

#include <string>
#include <vector>

#include "sim/programs/stage_costs/attention_shapes.h"
#include "sim/programs/stage_costs/product_shapes.h"
#include "sim/reference/catalog.h"

namespace headway {

// What `headway list` prints, as text and as the document "headway/list/1".

[[nodiscard]] std::string catalog_text(const std::vector<CatalogEntry>& entries,
                                       std::size_t columns);
[[nodiscard]] std::string catalog_json_text(const std::string& kind,
                                            const std::vector<CatalogEntry>& entries);

/// What of a job can be measured by itself.
struct JobShapes {
  std::vector<ProductShape> products;
  std::vector<AttentionShape> attention;
};

/// A line a shape, as headway-calibrate reads it.
[[nodiscard]] std::string shapes_text(const JobShapes& shapes);
[[nodiscard]] std::string shapes_json_text(const JobShapes& shapes);

}  // namespace headway
