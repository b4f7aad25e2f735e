#pragma once

#include "sim/base/units.h"
#include "sim/network/fabrics/clos_shape.h"
#include "sim/network/fabrics/fabric.h"
#include "sim/network/latency_defaults.h"
#include "sim/network/topology.h"

namespace headway {

/// The switches of one tier and the cables below them.
struct ClosTier {
  BytesPerSecond bandwidth;
  Seconds cable_latency = kLeafCableLatency;
  Seconds switch_latency = kSwitchLatency;
};
inline constexpr ClosTier kSpineTier{.cable_latency = kSpineCableLatency};
inline constexpr ClosTier kCoreTier{.cable_latency = kCoreCableLatency};

struct ClosPlan {
  ClosShape shape;
  ClosTier leaf;
  ClosTier spine;
  ClosTier core;
};

/// Builds the graph whose numbering ClosShape computes. Names, all counted from 0: "node7/nic3",
/// "leaf/unit2/rail3" ("leaf/unit2" without rails), "spine/5" ("spine/pod1/5", "spine/pod1/rail3/5"
/// where there are pods, "spine/rail3/5" where nothing joins the rails), "core/plane4/1". Ports
/// keep the numbers of the full design where nodes, units or pods are left out.
[[nodiscard]] Topology clos_topology(const ClosPlan& plan);

/// That graph with all its endpoints and the shape that routings need.
[[nodiscard]] Fabric clos_fabric(const ClosPlan& plan);

/// Cables of that graph; a double, because the plan may ask for too many.
[[nodiscard]] double clos_cables(const ClosShape& shape);

}  // namespace headway
