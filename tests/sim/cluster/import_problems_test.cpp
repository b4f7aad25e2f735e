#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "infiniband_samples.h"

namespace headway {
namespace {

using testing::HasSubstr;

struct Imported {
  std::optional<nlohmann::json> topology;
  std::string problems;  ///< rendered
};

/// What the importer makes of texts as the content of files.
Imported import_texts(const std::vector<std::string>& texts) {
  std::vector<std::string> paths;
  for (const std::string& text : texts) {
    paths.push_back(testing::TempDir() + "headway_dump_" + std::to_string(getpid()) + "_" +
                    std::to_string(paths.size()));
    std::ofstream(paths.back(), std::ios::binary) << text;
  }
  Diagnostics diagnostics;
  Imported imported{.topology = import_infiniband(paths, "imported", "", diagnostics)};
  for (const Diagnostic& problem : diagnostics.all()) {
    imported.problems += rendered(problem);
    EXPECT_TRUE(problem.location.line == 0 || !problem.location.file.empty());
  }
  EXPECT_NE(imported.topology.has_value(), diagnostics.has_errors()) << imported.problems;
  for (const std::string& path : paths) std::filesystem::remove(path);
  return imported;
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

/// Dumps of third parties, which do not stand in this repository.
class ThirdPartyDump : public testing::Test {
 protected:
  void SetUp() override {
    const char* samples = std::getenv("HEADWAY_SAMPLES");
    if (samples == nullptr) {
      GTEST_SKIP() << "$HEADWAY_SAMPLES does not name the folder of third-party dumps";
    }
    folder_ = std::string(samples) + "/ibnetdiscover/";
  }
  std::string folder_;
};

TEST_F(ThirdPartyDump, AGb200UnitHasItsSwitchesAndAdapters) {
  const auto cluster = imported_cluster({folder_ + "topograph-example.out"});
  ASSERT_NE(cluster, nullptr);
  EXPECT_EQ(cluster->topology.switch_count(), 40);
  EXPECT_EQ(cluster->site.host_ports.size(), 542U);
}

TEST_F(ThirdPartyDump, IbsimsOwnFormatIsRefusedWithTheReason) {
  Diagnostics diagnostics;
  EXPECT_FALSE(import_infiniband({folder_ + "ibsim-net.2sw2path4hca"}, "x", "", diagnostics));
  ASSERT_TRUE(diagnostics.has_errors());
  EXPECT_GT(diagnostics.all().front().location.line, 0);
}

/// Lines dropped, doubled, swapped or cut, bytes replaced: each dump is imported or refused.
TEST(ImportMutations, NoDumpBreaksTheImporter) {
  const std::string samples = kInfiniBandSamples;
  const std::vector<std::string> originals = {
      sample_text(samples + "/tiny-2switch/ibnetdiscover.txt"),
      sample_text(samples + "/tiny-2switch/dump_fts.minhop.txt"),
      sample_text(samples + "/degraded-mixed/ibnetdiscover-p.txt").substr(0, 4000)};
  std::mt19937 random(20240607);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  int imported = 0;
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const bool is_list = round % 4 == 3;
    std::vector<std::string> texts = {originals[is_list ? 2 : 0], originals[1]};
    std::string& text = texts[below(2)];
    const auto line_at = [&](std::size_t place) {
      const std::size_t begin = text.rfind('\n', place);
      return begin == std::string::npos ? 0 : begin;
    };
    for (std::size_t change = 1 + below(3); change > 0 && text.size() > 10; --change) {
      const std::size_t begin = line_at(below(text.size() - 1));
      const std::size_t end = std::min(text.find('\n', begin + 1), text.size());
      const std::string line = text.substr(begin, end - begin);
      switch (below(5)) {
        case 0:
          text.erase(begin, line.size());
          break;
        case 1:
          text.insert(begin, line);
          break;
        case 2:
          text.resize(below(text.size()));
          break;
        case 3:
          text[below(text.size())] = static_cast<char>(below(256));
          break;
        default:
          text.erase(begin, line.size()).insert(line_at(below(text.size() + 1)), line);
      }
    }
    const Imported result = import_texts(texts);
    if (!result.topology) continue;
    ++imported;
    const ReadText read = read_topology_text(
        result.topology->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    EXPECT_NE(read.topology.has_value(), !read.problems.empty());
  }
  EXPECT_GT(imported, 10);
}

}  // namespace
}  // namespace headway
