#include "sim/network/changed_cluster.h"

#include <gtest/gtest.h>

#include "sim/network/read_topology.h"
#include "tests/support/cluster_text.h"

namespace headway {
namespace {

std::shared_ptr<const Cluster> two_nodes() {
  Diagnostics diagnostics;
  InputFiles files({}, {}, diagnostics);
  const auto text = JsonDocument::parse("cluster", ClusterText{}.text(), diagnostics);
  return read_topology(JsonCursor(text), files, std::nullopt)->cluster;
}

TEST(ChangedCluster, RoutesAsTheOriginalOverLinksOfItsOwn) {
  auto original = two_nodes();
  const BytesPerSecond before = original->topology.link(0).capacity;
  const auto changed = changed_cluster(original, [](Cluster& cluster) {
    Link& link = cluster.topology.link(0);
    link.capacity = 2.0 * link.capacity;
  });
  EXPECT_EQ(changed->topology.link(0).capacity, 2.0 * before);
  EXPECT_EQ(original->topology.link(0).capacity, before);
  EXPECT_EQ(changed->accelerators(), original->accelerators());

  std::vector<LinkShare> expected;
  original->routing->append_route(original->endpoints[0], original->endpoints[1], 0, expected);
  original.reset();  // the copy keeps what it routes by
  std::vector<LinkShare> route;
  changed->routing->append_route(changed->endpoints[0], changed->endpoints[1], 0, route);
  EXPECT_EQ(route, expected);
  EXPECT_EQ(changed->routing->efficiency(), 1.0);
}

}  // namespace
}  // namespace headway
