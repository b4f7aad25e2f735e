#include "sim/network/analysis/bill_of_materials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/network/read_text.h"

namespace headway {
namespace {

using testing::ElementsAre;

TEST(BillOfMaterials, CountsWhatATreeIsBuiltOf) {
  // 4 nodes of 2 NICs, a rail each: 2 leaves of 4 ports down and 4 up, 4 cables a pair on 8 ports:
  // one spine. Cables: 8 of 2 m, 8 of 30 m; the latter are optical.
  const auto cluster = cluster_of(topology_text(
      4, 2, R"({"kind": "fat_tree", "attach": "rail", "ports": 8, "nodes_per_unit": 4})"));
  const BillOfMaterials bill = bill_of_materials(*cluster);
  EXPECT_EQ(bill.nodes, 4);
  EXPECT_EQ(bill.accelerators, 8);
  EXPECT_EQ(bill.nics, 8);
  EXPECT_THAT(bill.switches, ElementsAre(2, 1));
  ASSERT_EQ(bill.cables.size(), 2U);
  EXPECT_EQ(bill.cables[0].count, 8);
  EXPECT_EQ(bill.cables[0].metres, 2.0);
  EXPECT_EQ(bill.cables[0].kind, CableKind::copper);
  EXPECT_EQ(bill.cables[1].count, 8);
  EXPECT_EQ(bill.cables[1].metres, 30.0);
  EXPECT_EQ(bill.cables[1].kind, CableKind::multimode);
  EXPECT_EQ(bill.transceivers(), 16);
  EXPECT_EQ(bill.all_switches(), 3);
  EXPECT_EQ(bill.all_cables(), 16);
}

TEST(BillOfMaterials, ACableIsOfWhatReachesSoFar) {
  EXPECT_EQ(cable_kind(3.0), CableKind::copper);
  EXPECT_EQ(cable_kind(3.1), CableKind::active_copper);
  EXPECT_EQ(cable_kind(20.0), CableKind::multimode);
  EXPECT_EQ(cable_kind(50.1), CableKind::single_mode);
}

}  // namespace
}  // namespace headway
