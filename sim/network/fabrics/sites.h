#pragma once

#include "sim/network/fabrics/fabric.h"

namespace headway {

/// Sites that are alike, each a fabric of its own, and the long links that join their routers.
struct Sites {
  enum class Shape { mesh, ring };
  int count = 1;
  BytesPerSecond bandwidth;  ///< of a cable between two sites
  double kilometres = 0.0;   ///< of fibre, 5 us each
  int cables_per_pair = 1;
  Shape shape = Shape::mesh;
};

/// Of the object that says how they are joined.
[[nodiscard]] const FieldTable<Sites>& site_fields();

/// As many copies of a fabric as there are sites, each with a router that is cabled to the site's
/// highest switches, so wide that it is never the narrowest. Endpoints come site by site and are
/// named as if there were one; the names of switches begin with "site1/". Requires a fabric with
/// switches whose endpoints stand in the order of nodes and NICs.
[[nodiscard]] Fabric in_sites(const Fabric& site, const Sites& sites, int nics);

}  // namespace headway
