#include <gmock/gmock.h>

#include "imported_texts.h"
#include "infiniband_samples.h"
#include "sim/network/analysis/fabric_analysis.h"

namespace headway {
namespace {

using testing::HasSubstr;

// One fabric in four words: hosts a and b on the switch "one", c on "two", two cables between the
// switches, of which one runs at a quarter of the rate.

constexpr const char* kLinkInfo = R"(CA: a mlx5_0:
      0x0000000000000021      2    1[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>       1    1[  ] "one" ( )
CA: b mlx5_0:
      0x0000000000000031      3    1[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>       1    2[  ] "one" ( )
CA: c mlx5_0:
      0x0000000000000041      4    1[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>       5    1[  ] "two" ( )
Switch: 0x0000000000000010 one:
           1    1[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>       2    1[  ] "a mlx5_0" ( )
           1    2[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>       3    1[  ] "b mlx5_0" ( )
           1    7[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>       5    7[  ] "two" ( )
           1    8[  ] ==( 1X        53.125 Gbps Active/  LinkUp)==>       5    8[  ] "two" (Could be 4X )
           1    9[  ] ==(                Down/ Polling)==>             [  ] "" ( )
Switch: 0x0000000000000011 two:
           5    1[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>       4    1[  ] "c mlx5_0" ( )
           5    7[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>       1    7[  ] "one" ( )
           5    8[  ] ==( 1X        53.125 Gbps Active/  LinkUp)==>       1    8[  ] "one" ( )
)";

constexpr const char* kLinkLines =
    R"(0x0000000000000021 "   a mlx5_0"      2    1[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>  0x0000000000000010      1    1[  ] "one" ( )
0x0000000000000031 "   b mlx5_0"      3    1[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>  0x0000000000000010      1    2[  ] "one" ( )
0x0000000000000041 "   c mlx5_0"      4    1[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>  0x0000000000000011      5    1[  ] "two" ( )
0x0000000000000010 "        one"      1    1[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>  0x0000000000000021      2    1[  ] "a mlx5_0" ( )
0x0000000000000010 "        one"      1    2[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>  0x0000000000000031      3    1[  ] "b mlx5_0" ( )
0x0000000000000010 "        one"      1    7[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>  0x0000000000000011      5    7[  ] "two" ( )
0x0000000000000010 "        one"      1    8[  ] ==( 1X        53.125 Gbps Active/  LinkUp)==>  0x0000000000000011      5    8[  ] "two" ( )
0x0000000000000010 "        one"      1    9[  ] ==(                Down/ Polling)==>             [  ] "" ( )
0x0000000000000011 "        two"      5    1[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>  0x0000000000000041      4    1[  ] "c mlx5_0" ( )
0x0000000000000011 "        two"      5    7[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>  0x0000000000000010      1    7[  ] "one" ( )
0x0000000000000011 "        two"      5    8[  ] ==( 1X        53.125 Gbps Active/  LinkUp)==>  0x0000000000000010      1    8[  ] "one" ( )
)";

/// A line of opensm-subnet.lst, from both ends.
std::string subnet_lines() {
  const auto end = [](const char* kind, const char* guid, const char* port_guid, const char* name,
                      const char* lid, const char* port) {
    return std::string("{ ") + kind + " Ports:24 SystemGUID:" + guid + " NodeGUID:" + guid +
           " PortGUID:" + port_guid + " VenID:0002C9 DevID:1017 Rev:000000A1 {" + name +
           "} LID:" + lid + " PN:" + port + " } ";
  };
  const auto one = [&](const char* port) { return end("SW", "10", "10", "one", "0001", port); };
  const auto two = [&](const char* port) { return end("SW", "11", "11", "two", "0005", port); };
  const std::string a = end("CA-SM", "20", "21", "a mlx5_0", "0002", "01");
  const std::string b = end("CA", "30", "31", "b mlx5_0", "0003", "01");
  const std::string c = end("CA", "40", "41", "c mlx5_0", "0004", "01");
  const std::string fast = "PHY=4x LOG=ACT SPD=50\n";
  const std::string slow = "PHY=1x LOG=ACT SPD=50\n";
  // Numbers are hexadecimal: the switches' last ports are 0x23 and 0x24.
  return a + one("01") + fast + one("01") + a + fast + b + one("02") + fast + one("02") + b + fast +
         c + two("01") + fast + two("01") + c + fast + one("23") + two("23") + fast + two("23") +
         one("23") + fast + one("24") + two("24") + slow + two("24") + one("24") + slow;
}

constexpr const char* kDiagnosis = R"(START_GENERAL
Version,1
END_GENERAL

START_NODES
NodeDesc,NumPorts,NodeType,ClassVersion,BaseVersion,SystemImageGUID,NodeGUID,PortGUID
"a mlx5_0",1,1,1,1,0x20,0x20,0x21
"b mlx5_0",1,1,1,1,0x30,0x30,0x31
"c mlx5_0",1,1,1,1,0x40,0x40,0x41
"one",36,2,1,1,0x10,0x10,0x10
"two, the other",36,2,1,1,0x11,0x11,0x11
END_NODES

START_PORTS
NodeGuid,PortGuid,PortNum,LID,LinkWidthActv,LinkSpeedActv,LMC
0x20,0x21,1,2,2,1024,0
0x30,0x31,1,3,2,1024,0
0x40,0x41,1,4,2,1024,0
0x10,0x10,0,1,0,0,0
0x10,0x10,1,1,2,1024,0
0x10,0x10,2,1,2,1024,0
0x10,0x10,7,1,2,1024,0
0x10,0x10,8,1,1,1024,0
0x11,0x11,1,5,2,1024,0
0x11,0x11,7,5,2,1024,0
0x11,0x11,8,5,1,1024,0
END_PORTS

START_LINKS
NodeGuid1,PortNum1,NodeGuid2,PortNum2
0x10,1,0x20,1
0x10,2,0x30,1
0x11,1,0x40,1
0x10,7,0x11,7
0x10,8,0x11,8
END_LINKS
)";

TEST(InfiniBandDumps, AllSayTheSame) {
  for (const std::string& text :
       {std::string(kLinkInfo), std::string(kLinkLines), subnet_lines(), std::string(kDiagnosis)}) {
    const Imported imported = imported_texts(import_infiniband, {text});
    ASSERT_TRUE(imported.topology) << imported.problems;
    const auto cluster = cluster_of(imported.topology->dump());
    ASSERT_NE(cluster, nullptr);
    EXPECT_EQ(cluster->nodes, 3);
    EXPECT_EQ(cluster->topology.switch_count(), 2);
    EXPECT_EQ(cluster->topology.cable_count(), 5);
    EXPECT_EQ(cluster->node_type.nic_bandwidth, 200_Gbps);
    EXPECT_EQ(cluster->node_type.transport.kind, TransportKind::infiniband);
    const FabricAnalysis analysis = analysed(*cluster);
    EXPECT_EQ(analysis.links.at("switch_switch").at("4xHDR"), 1) << text.substr(0, 40);
    EXPECT_EQ(analysis.links.at("switch_switch").at("1xHDR"), 1);
    EXPECT_EQ(analysis.links.at("hca_switch").at("4xHDR"), 3);
  }
}

TEST(InfiniBandDumps, SwitchesAloneKnowTheirHostsByLid) {
  const std::string text(kLinkInfo);
  const Imported imported = imported_texts(import_infiniband, {text.substr(text.find("Switch:"))});
  ASSERT_TRUE(imported.topology) << imported.problems;
  EXPECT_EQ(cluster_of(imported.topology->dump())->nodes, 3);
  EXPECT_THAT(imported.problems, HasSubstr("cables that one end only tells of"));
}

TEST(InfiniBandDumps, WhatIsBrokenIsRefusedWithItsPlace) {
  const auto problems = [](std::string text, const std::string& what, const std::string& by) {
    text.replace(text.find(what), what.size(), by);
    return imported_texts(import_infiniband, {text}).problems;
  };
  EXPECT_THAT(problems(kLinkInfo, "53.125", "51"), HasSubstr("the rate is none such as 4X"));
  EXPECT_THAT(problems(kLinkInfo, "1    1[  ] ==(", "x ==("),
              HasSubstr("a port is its LID and its number"));
  EXPECT_THAT(problems(kLinkInfo, "CA: a", "??: a"), HasSubstr("the file is no dump"));
  EXPECT_THAT(problems(kLinkInfo, "CA: b", "??: b"), HasSubstr("a node begins with its kind"));
  EXPECT_THAT(problems(kLinkLines, "1    2[  ] ==(", "1    1[  ] ==("),
              HasSubstr("the port is described twice"));
  EXPECT_THAT(problems(subnet_lines(), "SPD=50", "SPD=51"), HasSubstr("the rate is none such as"));
  EXPECT_THAT(problems(subnet_lines(), "LID:0001", "LID:"), HasSubstr("a line is both ends"));
  EXPECT_THAT(problems(kDiagnosis, "0x10,1,0x20,1", "0x10,1,0x77,1"),
              HasSubstr("the section NODES does not have this GUID"));
  EXPECT_THAT(problems(kDiagnosis, "0x10,1,0x20,1", "0x10,999,0x20,1"),
              HasSubstr("a cable is NodeGuid1, PortNum1"));
  EXPECT_THAT(problems(kDiagnosis, "0x10,2,0x30,1", "0x10,1,0x30,1"),
              HasSubstr("the port is described twice"));
  EXPECT_THAT(problems(kDiagnosis, "START_LINKS", "START_OTHER"),
              HasSubstr("the file has no section LINKS"));
}

using InfiniBandDumpsOfTools = ThirdPartyDump;

TEST_F(InfiniBandDumpsOfTools, CountAsTheTruthSays) {
  int dumps = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder() + "/infiniband")) {
    if (!entry.is_directory()) continue;
    const nlohmann::json truth = sample_json(entry.path() / "truth.json");
    for (const char* name : {"iblinkinfo.txt", "iblinkinfo-l.txt", "opensm-subnet.lst"}) {
      const std::string path = entry.path() / name;
      if (!std::filesystem::exists(path)) continue;
      ++dumps;
      const auto cluster = imported_cluster({path});
      ASSERT_NE(cluster, nullptr) << path;
      const FabricAnalysis analysis = analysed(*cluster);
      EXPECT_EQ(analysis.switches, truth["counts"]["switches"]) << path;
      EXPECT_EQ(analysis.host_ports, truth["counts"]["hca_ports_active"]) << path;
      EXPECT_EQ(cluster->topology.cable_count(), truth["links"]["total"]) << path;
      EXPECT_EQ(analysis.diameter_links, truth["diameter_links"].get<int>()) << path;
      EXPECT_EQ(analysis.bisection_links, truth["bisection"]["links"]) << path;
    }
  }
  EXPECT_GE(dumps, 8);
}

}  // namespace
}  // namespace headway
