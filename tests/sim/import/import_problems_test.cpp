#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "imported_texts.h"
#include "infiniband_samples.h"

namespace headway {
namespace {

using testing::HasSubstr;
using testing::Not;

Imported import_texts(const std::vector<std::string>& texts) {
  return imported_texts(import_infiniband, texts);
}

constexpr const char* kTwoHosts = R"(switchguid=0x10(10)
Switch	36 "S-0000000000000010"		# "sw" base port 0 lid 1 lmc 0
[1]	"H-0000000000000020"[1](21) 		# "a mlx5_0" lid 2 4xHDR
[2]	"H-0000000000000030"[1](31) 		# "b mlx5_0" lid 3 4xHDR
)";

TEST(ImportProblems, PeersWithoutABlockAreKeptWithAWarning) {
  const Imported imported = import_texts({kTwoHosts});
  EXPECT_THAT(imported.problems,
              HasSubstr("warning: cables that one end only tells of, which are kept: 2"));
  EXPECT_THAT(imported.problems, HasSubstr("warning: no forwarding tables were given"));
  ASSERT_TRUE(imported.topology);
  EXPECT_THAT((*imported.topology)["source"].get<std::string>(),
              HasSubstr("cables that one end only tells of"));
  const auto cluster = cluster_of(imported.topology->dump());
  EXPECT_EQ(cluster->nodes, 2);
  EXPECT_EQ(cluster->node_type.nic_bandwidth, 200_Gbps);
}

constexpr const char* kOtherPlane = R"(switchguid=0x11(11)
Switch	36 "S-0000000000000011"		# "other" base port 0 lid 1 lmc 0
[1]	"H-0000000000000020"[2](22) 		# "a mlx5_0" lid 2 4xHDR
[2]	"H-0000000000000030"[2](32) 		# "b mlx5_0" lid 3 4xHDR
)";
constexpr const char* kTablesOfBoth =
    R"(Unicast lids [0x0-0x3] of switch DR path slid 0; dlid 0; 0 guid 0x10 (sw):
0x0002 001 : (Channel Adapter portguid 0x21: 'a mlx5_0')
0x0003 002 : (Channel Adapter portguid 0x31: 'b mlx5_0')
2 valid lids dumped
Unicast lids [0x0-0x3] of switch DR path slid 0; dlid 0; 0 guid 0x11 (other):
0x0002 001 : (Channel Adapter portguid 0x22: 'a mlx5_0')
0x0003 002 : (Channel Adapter portguid 0x32: 'b mlx5_0')
2 valid lids dumped
)";

TEST(ImportProblems, PlanesAreJoinedByTheirHosts) {
  const Imported imported = import_texts({kTwoHosts, kOtherPlane, kTablesOfBoth});
  ASSERT_TRUE(imported.topology) << imported.problems;
  const nlohmann::json& fabric = (*imported.topology)["fabric"];
  EXPECT_EQ(fabric["switches"].size(), 2U);
  ASSERT_EQ(fabric["endpoints"].size(), 4U);  // two ports each of hosts a and b
  EXPECT_EQ(fabric["endpoints"][1]["node"], "a");
  // Both planes use the LIDs 2 and 3: a switch has entries for the ports of its own plane only.
  EXPECT_EQ((*imported.topology)["routing"]["rows"], nlohmann::json({"01000200", "00010002"}));
}

TEST(ImportProblems, AnotherDumpOfTheSameSubnetIsRefused) {
  EXPECT_THAT(import_texts({kTwoHosts, kTwoHosts}).problems,
              HasSubstr("the same node is described before"));
}

TEST(ImportProblems, ASecondDumpOfATableIsOneProblemASwitch) {
  const std::string problems =
      import_texts({kTwoHosts, kOtherPlane, kTablesOfBoth, kTablesOfBoth}).problems;
  EXPECT_THAT(problems, HasSubstr("the table of the same switch was read before"));
  EXPECT_THAT(problems, HasSubstr("help: give one dump of the tables of each subnet"));
  EXPECT_THAT(problems, Not(HasSubstr("stands below no switch")));
}

TEST(ImportProblems, ATableHasAsManyEntriesAsItsDumpCounts) {
  std::string cut = kTablesOfBoth;
  const std::string entry = "0x0003 002 : (Channel Adapter portguid 0x31: 'b mlx5_0')\n";
  cut.erase(cut.find(entry), entry.size());
  EXPECT_THAT(import_texts({kTwoHosts, kOtherPlane, cut}).problems,
              HasSubstr("warning: the table has 1 entries, where 2 were dumped"));
}

TEST(ImportProblems, APortOfATableIsAWholeNumber) {
  std::string broken = kTablesOfBoth;
  broken.replace(broken.find("0x0003 002"), 10, "0x0003 1e308");
  EXPECT_THAT(import_texts({kTwoHosts, kOtherPlane, broken}).problems,
              HasSubstr("error: an entry is a LID and a port: 0x0001 035"));
}

TEST(ImportProblems, TheLidsOfATableGoUp) {
  // Two lines that changed places with the other table's leave each with one LID twice.
  std::string mixed = kTablesOfBoth;
  mixed.replace(mixed.find("0x0003 002"), 6, "0x0002");
  EXPECT_THAT(import_texts({kTwoHosts, kOtherPlane, mixed}).problems,
              HasSubstr("warning: the LIDs of the table do not go up; of one that stands twice"));
}

TEST(ImportProblems, EntriesThatLeadNowhereAreCounted) {
  // OpenSM's dump ends with its highest LID, which says nothing of how many entries there are.
  const std::string tables =
      "Unicast lids [0-3] of switch Lid 1 guid 0x10 ('sw'):\n"
      "0x0002 009 # Channel Adapter portguid 0x21: 'a mlx5_0'\n"
      "3 lids dumped\n"
      "Unicast lids [0-3] of switch Lid 1 guid 0x11 ('other'):\n"
      "0x0002 001 # Channel Adapter portguid 0x22: 'a mlx5_0'\n"
      "0x0003 002 # Channel Adapter portguid 0x32: 'b mlx5_0'\n"
      "3 lids dumped\n";
  const std::string problems = import_texts({kTwoHosts, kOtherPlane, tables}).problems;
  EXPECT_THAT(problems,
              HasSubstr("warning: entries of tables that lead to a port without a cable: 1"));
  EXPECT_THAT(import_texts({kTwoHosts, kOtherPlane, kTablesOfBoth}).problems,
              Not(HasSubstr("of tables that lead")));
}

TEST(ImportProblems, AByteOrderMarkIsNoPartOfADump) {
  const Imported marked = import_texts({"\xEF\xBB\xBF" + std::string(kTwoHosts)});
  ASSERT_TRUE(marked.topology) << marked.problems;
  EXPECT_EQ((*marked.topology)["fabric"], (*import_texts({kTwoHosts}).topology)["fabric"]);
}

TEST(ImportProblems, ALidThatLeadsNowhereIsNoEntry) {
  // As `dump_fts -a` prints those that nobody has.
  std::string all = kTablesOfBoth;
  const std::size_t place = all.find("0x0002 001");
  all.insert(place, "0x0001 255 : (UNKNOWN)\n");
  const Imported imported = import_texts({kTwoHosts, kOtherPlane, all});
  ASSERT_TRUE(imported.topology) << imported.problems;
  EXPECT_EQ((*imported.topology)["routing"]["rows"], nlohmann::json({"01000200", "00010002"}));
}

TEST(ImportProblems, NamesOfASiteReplaceDescriptions) {
  const Imported imported =
      import_texts({kTwoHosts, "# site\n0x20 \"login1 mlx5_0\"\n0x99 \"gone\"\n"});
  ASSERT_TRUE(imported.topology) << imported.problems;
  EXPECT_EQ((*imported.topology)["fabric"]["endpoints"][1]["node"], "login1");
  EXPECT_THAT(imported.problems, HasSubstr("warning: names of GUIDs that were not discovered: 1"));
  EXPECT_THAT(import_texts({kTwoHosts, "0x20 \"a\"\n0x20 \"b\"\n"}).problems,
              HasSubstr("the GUID is named twice"));
}

constexpr const char* kHostXml = R"(<system version="1"><cpu>
<pci busid="1" class="0x030200" device="0x2330"><gpu dev="0" sm="90">
  <nvlink target="2" count="18"/></gpu></pci>
<pci busid="2" class="0x020700"><nic><net name="mlx5_0" speed="200000" guid="0x2100000000000000"/>
</nic></pci></cpu></system>)";

TEST(ImportProblems, AHostThatNcclDescribesIsFoundByItsPorts) {
  // 0x21 with its bytes the other way round is 0x2100000000000000.
  const Imported imported = import_texts({kTwoHosts, kHostXml});
  ASSERT_TRUE(imported.topology) << imported.problems;
  EXPECT_EQ((*imported.topology)["node"]["accelerator"], "h100-sxm");
  std::string stranger = kHostXml;
  stranger.replace(stranger.find("0x21"), 4, "0x77");
  EXPECT_THAT(import_texts({kTwoHosts, stranger}).problems,
              HasSubstr("no port of the file is on the fabric"));
}

TEST(ImportProblems, ABrokenLineIsNamedWithItsReason) {
  const Imported imported = import_texts({std::string(kTwoHosts) + "[3]\t\"S-xyz\"[1]\n"});
  EXPECT_THAT(imported.problems,
              HasSubstr("error: a port is [number], the GUID of the peer in quotes, [its port]"));
  EXPECT_THAT(imported.problems, HasSubstr(":5:1"));
}

TEST(ImportProblems, APortWithTwoPeersIsRefused) {
  const Imported imported =
      import_texts({std::string(kTwoHosts) +
                    "[2]\t\"H-0000000000000040\"[1](41) \t# \"c mlx5_0\" lid 4 4xHDR\n"});
  EXPECT_THAT(imported.problems, HasSubstr("error: the port is described twice"));
}

TEST(ImportProblems, AnUnknownRateIsRefused) {
  std::string text = kTwoHosts;
  text.replace(text.find("4xHDR"), 5, "4x???");
  EXPECT_THAT(import_texts({text}).problems,
              HasSubstr("error: the line gives no rate such as 4xHDR"));
}

TEST(ImportProblems, AFileOfAnotherKindIsRefused) {
  EXPECT_THAT(import_texts({"{\"a\": 1}\n"}).problems,
              HasSubstr("error: the file is no dump that is known"));
  EXPECT_THAT(import_texts({""}).problems, HasSubstr("error: the file is empty"));
  EXPECT_THAT(import_texts({std::string("\x1f\x8b\x08\x00garbage", 11)}).problems,
              HasSubstr("error: cannot read"));
}

TEST(ImportProblems, LoopsAndHolesOfTablesAreUnreachablePairs) {
  // The switches send what is for b to each other; sw1 has no entry for c.
  const std::string fabric =
      R"(Switch	36 "S-0000000000000010"		# "sw0" base port 0 lid 1 lmc 0
[1]	"H-0000000000000020"[1](21) 		# "a mlx5_0" lid 2 4xHDR
[9]	"S-0000000000000011"[9]		# "sw1" lid 5 4xHDR

Switch	36 "S-0000000000000011"		# "sw1" base port 0 lid 5 lmc 0
[1]	"H-0000000000000030"[1](31) 		# "b mlx5_0" lid 3 4xHDR
[2]	"H-0000000000000040"[1](41) 		# "c mlx5_0" lid 4 4xHDR
[9]	"S-0000000000000010"[9]		# "sw0" lid 1 4xHDR
)";
  const std::string tables = R"(Unicast lids [0-5] of switch Lid 1 guid 0x10 ('sw0'):
0x0002 001 # a
0x0003 009 # b
0x0004 009 # c
3 lids dumped
Unicast lids [0-5] of switch Lid 5 guid 0x11 ('sw1'):
0x0002 009 # a
0x0003 009 # b
2 lids dumped
)";
  const Imported imported = import_texts({fabric, tables});
  ASSERT_TRUE(imported.topology);
  const auto cluster = cluster_of(imported.topology->dump());
  std::vector<LinkShare> route;
  const auto vertex = [&](const char* name) { return cluster->topology.find(name); };
  for (const char* lost : {"b mlx5_0/1", "c mlx5_0/1"}) {
    EXPECT_THROW(cluster->routing->append_route(vertex("a mlx5_0/1"), vertex(lost), 0, route),
                 UnreachableError);
    EXPECT_TRUE(route.empty());
    cluster->routing->append_route(vertex(lost), vertex("a mlx5_0/1"), 0, route);
    EXPECT_EQ(route.size(), 3U);
    route.clear();
  }
}

TEST(ImportDialects, ExtendedAndPortListFormsAreTheSameFabric) {
  const std::string samples = kInfiniBandSamples;
  const auto plain = imported_cluster({samples + "/tiny-2switch/ibnetdiscover.txt"});
  const auto extended = imported_cluster({samples + "/tiny-2switch/ibnetdiscover-f.txt",
                                          samples + "/tiny-2switch/opensm-lfts.minhop.dump"});
  ASSERT_TRUE(plain && extended);
  EXPECT_EQ(plain->topology.cable_count(), extended->topology.cable_count());
  const nlohmann::json truth = sample_json(samples + "/tiny-2switch/truth.json");
  for (const nlohmann::json& route : truth["routes"]) {
    EXPECT_EQ(hops_of(*extended, port_name(route, "src"), port_name(route, "dst")), route["hops"]);
  }
  const auto listed = imported_cluster({samples + "/degraded-mixed/ibnetdiscover-p.txt",
                                        samples + "/degraded-mixed/dump_fts.minhop.txt"});
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->topology.cable_count(), 57);
  EXPECT_EQ(listed->site.hosts, 35);
  for (const nlohmann::json& route :
       sample_json(samples + "/degraded-mixed/truth.json")["routes"]) {
    EXPECT_EQ(hops_of(*listed, port_name(route, "src"), port_name(route, "dst")).size(),
              route["hops"].size());
  }
}

TEST_F(ThirdPartyDump, AGb200UnitHasItsSwitchesAndAdapters) {
  const auto cluster = imported_cluster({folder() + "/ibnetdiscover/topograph-example.out"});
  ASSERT_NE(cluster, nullptr);
  EXPECT_EQ(cluster->topology.switch_count(), 40);
  EXPECT_EQ(cluster->site.host_ports.size(), 542U);
}

TEST_F(ThirdPartyDump, IbsimsOwnFormatIsRefusedWithTheReason) {
  Diagnostics diagnostics;
  EXPECT_FALSE(import_infiniband(
      {.paths = {folder() + "/ibnetdiscover/ibsim-net.2sw2path4hca"}, .name = "x"}, diagnostics));
  ASSERT_TRUE(diagnostics.has_errors());
  EXPECT_GT(diagnostics.all().front().location.line, 0);
}

}  // namespace
}  // namespace headway
