#include "sim/result/words/fabric_remark.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/result/number_text.h"

namespace headway {

std::string fabric_remark(const Prediction& prediction) {
  const FabricUse& fabric = prediction.fabric;
  if (fabric.cables.empty()) return "";
  int highest_tier = 0;
  int reached = -1;
  double fullest = 0.0;
  for (const FabricUse::Cables& cables : fabric.cables) {
    highest_tier = std::max(highest_tier, cables.upper);
    if (cables.up.carried + cables.down.carried <= Bytes(0.0)) continue;
    reached = std::max(reached, cables.upper);
    fullest = std::max({fullest, cables.up.highest, cables.down.highest});
  }
  if (reached < 0) {
    return "nothing of this job crosses the fabric: all that it exchanges stays inside its nodes";
  }
  std::string used =
      fmt::format("the fullest link is used {} % of the iteration", percent(fullest));
  if (reached == highest_tier) return used;
  return fmt::format("nothing of this job goes above the {}, and below them {}",
                     fabric.tiers[static_cast<std::size_t>(reached)].name, used);
}

bool is_of_fabric(const std::string& pointer) { return pointer.starts_with("/cluster/topology"); }

}  // namespace headway
