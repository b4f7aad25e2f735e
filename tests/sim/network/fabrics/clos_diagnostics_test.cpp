#include <gtest/gtest.h>

#include "tests/sim/network/read_text.h"

namespace headway {
namespace {

TEST(ClosDiagnostics, AnOversubscriptionThatLeavesAFractionOfAnUplink) {
  EXPECT_EQ(problem_of(with_fabric("\"fabric\": {\"kind\": \"clos\", \"attach\": \"rack\",\n"
                                   "\"nodes_per_unit\": 32, \"leaf\": {\n"
                                   "\"oversubscription\": 3},\n"
                                   "\"spine\": {\"switches\": 5}}")),
            "error: the oversubscription leaves a fraction of an uplink\n"
            "  --> t.json:6:21   /fabric/leaf/oversubscription\n"
            "   |\n"
            " 6 | \"oversubscription\": 3},\n"
            "   |                     ^ 32 ports down at 3:1 need 10.67 uplinks\n"
            "  help: write \"uplinks\": 10 (3.2:1) or 11 (2.909:1)\n");
}

TEST(ClosDiagnostics, AnOversubscriptionThatIsNotThatOfTheUplinks) {
  EXPECT_EQ(problem_of(with_fabric("\"fabric\": {\"kind\": \"clos\", \"attach\": \"rack\",\n"
                                   "\"nodes_per_unit\": 8, \"leaf\": {\"uplinks\": 4,\n"
                                   "\"oversubscription\": 3},\n"
                                   "\"spine\": {}}")),
            "error: the oversubscription is not what the uplinks make\n"
            "  --> t.json:6:21   /fabric/leaf/oversubscription\n"
            "   |\n"
            " 6 | \"oversubscription\": 3},\n"
            "   |                     ^ 8 ports down and 4 uplinks make 2:1\n"
            "  help: leave one of the two out\n");
}

TEST(ClosDiagnostics, UplinksThatDoNotDivideOverTheSpines) {
  EXPECT_EQ(problem_of(with_fabric("\"fabric\": {\"kind\": \"clos\", \"attach\": \"rack\",\n"
                                   "\"nodes_per_unit\": 8, \"leaf\": {}, \"spine\": {\n"
                                   "\"switches\": 3}}")),
            "error: the uplinks of a leaf do not divide evenly\n"
            "  --> t.json:6:13   /fabric/spine/switches\n"
            "   |\n"
            " 6 | \"switches\": 3}}}\n"
            "   |             ^ 3 does not divide 8\n"
            "  help: use 2, or another number of uplinks\n");
}

TEST(ClosDiagnostics, SpinesThatAreNotWhatTheCablesMake) {
  EXPECT_EQ(problem_of(with_fabric("\"fabric\": {\"kind\": \"clos\", \"attach\": \"rack\",\n"
                                   "\"nodes_per_unit\": 8, \"leaf\": {}, \"spine\": {\n"
                                   "\"switches\": 4, \"cables_per_pair\": 4}}")),
            "error: the number of switches is not what the cables make\n"
            "  --> t.json:6:13   /fabric/spine/switches\n"
            "   |\n"
            " 6 | \"switches\": 4, \"cables_per_pair\": 4}}}\n"
            "   |             ^ 8 uplinks, 4 to a switch, lead to 2\n"
            "  help: leave \"switches\" or \"cables_per_pair\" out\n");
}

TEST(ClosDiagnostics, CoresThatDoNotMakePlanes) {
  EXPECT_EQ(
      problem_of(with_fabric("\"fabric\": {\"kind\": \"clos\", \"attach\": \"rack\",\n"
                             "\"nodes_per_unit\": 4, \"units_per_pod\": 4, \"leaf\": {},\n"
                             "\"spine\": {}, \"core\": {\n"
                             "\"switches\": 12}}")),
      "error: the core switches do not make planes\n"
      "  --> t.json:7:13   /fabric/core/switches\n"
      "   |\n"
      " 7 | \"switches\": 12}}}\n"
      "   |             ^^ not 4 (cores that a spine leads to) times a divisor of 4 (spines)\n");
}

TEST(ClosDiagnostics, ASwitchWithTooFewPorts) {
  EXPECT_EQ(problem_of(with_fabric("\"fabric\": {\"kind\": \"clos\", \"attach\": \"rack\",\n"
                                   "\"nodes_per_unit\": 32, \"spine\": {}, \"leaf\": {\n"
                                   "\"ports\": 40}}")),
            "error: the switch has too few ports\n"
            "  --> t.json:6:10   /fabric/leaf/ports\n"
            "   |\n"
            " 6 | \"ports\": 40}}}\n"
            "   |          ^^ it needs 32 down and 32 up\n");
}

TEST(ClosDiagnostics, CorePortsAreCountedForTheWholeDesign) {
  // 4 pods of 1 spine group of 4 spines in planes of their own: 4 ports down on each core, though
  // only one pod is built.
  EXPECT_EQ(problem_of(with_fabric("\"fabric\": {\"kind\": \"clos\", \"attach\": \"rack\",\n"
                                   "\"nodes_per_unit\": 4, \"units_per_pod\": 4, \"pods\": 4,\n"
                                   "\"leaf\": {}, \"spine\": {}, \"core\": {\n"
                                   "\"ports\": 2}}")),
            "error: the switch has too few ports\n"
            "  --> t.json:7:10   /fabric/core/ports\n"
            "   |\n"
            " 7 | \"ports\": 2}}}\n"
            "   |          ^ it needs 4 down and 0 up\n");
}

TEST(ClosDiagnostics, MoreNodesThanTheDesignHasRoomFor) {
  EXPECT_EQ(problem_of(with_fabric("\"fabric\": {\"kind\": \"clos\", \"attach\": \"rack\",\n"
                                   "\"nodes_per_unit\": 4, \"leaf\": {}, \"spine\": {},\n"
                                   "\"units\": 8}"),
                       33),
            "error: the fabric has room for 32 nodes, not 33\n"
            "  --> t.json:6:10   /fabric/units\n"
            "   |\n"
            " 6 | \"units\": 8}}\n"
            "   |          ^ 8 units of 4 nodes\n");
}

TEST(ClosDiagnostics, RoomThatFollowsFromAWrongNumberIsNotSpokenOf) {
  EXPECT_EQ(problem_of(with_fabric("\"fabric\": {\"kind\": \"clos\", \"attach\": \"rack\",\n"
                                   "\"nodes_per_unit\": 4, \"leaf\": {}, \"spine\": {},\n"
                                   "\"units\": 0}"),
                       33),
            "error: units must be between 1 and 1048576\n"
            "  --> t.json:6:10   /fabric/units\n"
            "   |\n"
            " 6 | \"units\": 0}}\n"
            "   |          ^ 0\n"
            "  help: for example \"units\": 1\n");
}

TEST(ClosDiagnostics, TheSwitchesOfTheDesignNeedNotHoldMoreThanItsNodes) {
  // Eight leaves with a cable to each spine: 8 ports do.
  EXPECT_EQ(problem_of(with_fabric("\"fabric\": {\"kind\": \"clos\", \"attach\": \"rack\",\n"
                                   "\"nodes_per_unit\": 4, \"leaf\": {\"uplinks\": 4},\n"
                                   "\"spine\": {\"switches\": 4, \"ports\": 8}, \"units\": 8}"),
                       100),
            "error: the fabric has room for 32 nodes, not 100\n"
            "  --> t.json:6:48   /fabric/units\n"
            "   |\n"
            " 6 | \"spine\": {\"switches\": 4, \"ports\": 8}, \"units\": 8}}\n"
            "   |                                                ^ 8 units of 4 nodes\n");
}

TEST(ClosDiagnostics, PodsWithoutACore) {
  EXPECT_EQ(problem_of(with_fabric("\"fabric\": {\"kind\": \"clos\", \"attach\": \"rack\",\n"
                                   "\"nodes_per_unit\": 4, \"leaf\": {}, \"spine\": {},\n"
                                   "\"pods\": 8}")),
            "error: pods need a \"core\" tier that joins them\n"
            "  --> t.json:6:9   /fabric/pods\n"
            "   |\n"
            " 6 | \"pods\": 8}}\n"
            "   |         ^ pods needs core\n"
            "  help: leave it out\n");
}

TEST(ClosDiagnostics, AMisspeltFieldOfTheFabric) {
  EXPECT_EQ(problem_of(with_fabric("\"fabric\": {\n"
                                   "\"kind\": \"clos\", \"attach\": \"rack\", \"leaf\": {},"
                                   "\"spine\": {},\n"
                                   "\"nodes_per_unt\": 4}")),
            "error: missing field \"nodes_per_unit\"\n"
            "  --> t.json:4:11   /fabric\n"
            "   |\n"
            " 4 | \"fabric\": {\n"
            "   |           ^\n"
            "  help: for example \"nodes_per_unit\": 1\n"
            "error: unknown field \"nodes_per_unt\"\n"
            "  --> t.json:6:1   /fabric/nodes_per_unt\n"
            "  help: did you mean \"nodes_per_unit\"?\n");
}

TEST(ClosDiagnostics, MoreCablesThanAnyoneMeans) {
  // 1,000,000 to endpoints, and as many leaves with 50 uplinks each.
  EXPECT_EQ(
      problem_of(with_fabric("\"fabric\": {\n"
                             "\"kind\": \"clos\", \"attach\": \"rack\", \"nodes_per_unit\": 1,"
                             "\"leaf\": {\"uplinks\": 50}, \"spine\": {}}",
                             "\"nodes\": 1000000,")),
      "error: the fabric would have 51,000,000 cables; at most 4,000,000 are built\n"
      "  --> t.json:4:11   /fabric\n"
      "   |\n"
      " 4 | \"fabric\": {\n"
      "   |           ^\n"
      "  help: --limit cables=NUMBER allows more\n");
}

}  // namespace
}  // namespace headway
