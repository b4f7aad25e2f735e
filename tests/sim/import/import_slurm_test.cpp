#include <fmt/format.h>
#include <gmock/gmock.h>

#include "imported_texts.h"
#include "sim/import/slurm/hostlist.h"

namespace headway {

Importer import_slurm;

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The names, or none.
std::vector<std::string> names_of(std::string_view text, HostlistBudget budget) {
  auto names = expanded_hostlist(text, budget);
  const auto* const expanded = std::get_if<std::vector<std::string>>(&names);
  return expanded == nullptr ? std::vector<std::string>{} : *expanded;
}
std::string problem_of(std::string_view text, HostlistBudget budget) {
  auto names = expanded_hostlist(text, budget);
  const auto* const problem = std::get_if<HostlistProblem>(&names);
  return problem == nullptr ? "" : problem->message;
}

constexpr HostlistBudget kRoomy{.hosts = 1 << 20, .characters = 1 << 26};

TEST(HostList, RangesKeepTheirZerosAndMultiply) {
  EXPECT_THAT(names_of("login,n[08-10],r[1-2]c[1,3]", kRoomy),
              ElementsAre("login", "n08", "n09", "n10", "r1c1", "r1c3", "r2c1", "r2c3"));
}

TEST(HostList, WhatIsNoneIsRefused) {
  for (const char* text : {"", "a,,b", "n[1-", "n]1[", "n[3-1]", "n[a-b]", "n[]", "n[1,]",
                           "n[0-99999999]", "a[0-2000]b[0-2000]", "n[[1]]"}) {
    EXPECT_NE(problem_of(text, kRoomy), "") << text;
  }
}

TEST(HostList, TheLargestNumbersAreHostsLikeAnyOther) {
  // 2^64 - 1: one more would be 0 again.
  EXPECT_THAT(names_of("n[18446744073709551614-18446744073709551615]", kRoomy),
              ElementsAre("n18446744073709551614", "n18446744073709551615"));
  EXPECT_THAT(names_of("n[18446744073709551615]", kRoomy), ElementsAre("n18446744073709551615"));
}

/// Each of these was gigabytes or minutes, though no longer than a line.
TEST(HostList, WhatIsTooMuchIsCountedAndNotExpanded) {
  std::string many_ranges = "n[0-1000000";
  std::string many_brackets = "n";
  std::string long_chain = "n[0-999999]";
  for (int i = 0; i < 4000; ++i) {
    many_ranges += ",0-1000000";
    many_brackets += "[0-9]";
    long_chain += "[0]";
  }
  const std::string wide = "n[" + std::string(60'000, '0') + "1-1000000]";
  for (const std::string& text : {std::string("n[0-18446744073709551615]"),
                                  std::string("a[0-2000]b[0-2000]"), many_ranges + "]"}) {
    EXPECT_THAT(problem_of(text, kRoomy), HasSubstr("stands for more hosts")) << text.substr(0, 40);
  }
  for (const std::string& text : {wide, many_brackets, long_chain}) {
    EXPECT_EQ(problem_of(text, kRoomy), "makes names of more than 255 characters");
  }
}

TEST(HostList, AllListsOfAFileShareOneBudget) {
  HostlistBudget budget{.hosts = 10, .characters = 100};
  EXPECT_EQ(std::get<0>(expanded_hostlist("n[1-6]", budget)).size(), 6U);
  EXPECT_EQ(budget.hosts, 4U);
  EXPECT_EQ(std::get<1>(expanded_hostlist("m[1-6]", budget)).message,
            "stands for more hosts than are left of those that a file may name: 4");
}

TEST(ImportSlurm, ALongChainOfSwitchesTakesNoTimeThatGrowsWithItsSquare) {
  std::string text = "SwitchName=s0 Nodes=n[1-2]\n";
  constexpr int kSwitches = 30'000;
  for (int i = 1; i < kSwitches; ++i) {
    text += fmt::format("SwitchName=s{} Switches=s{}\n", i, i - 1);
  }
  const Imported imported = imported_texts(
      import_slurm, {text}, {.bandwidth = 100_Gbps, .nics = 1, .oversubscription = 1.0});
  ASSERT_TRUE(imported.topology) << imported.problems.substr(0, 1000);
  EXPECT_EQ((*imported.topology)["fabric"]["switches"].size(), std::size_t{kSwitches});
}

constexpr const char* kTree = R"(# eight nodes on two leaves
SwitchName=leaf1 Nodes=n[1-4]
switchname=leaf2 nodes=n[5-8] LinkSpeed=4
SwitchName=top Switches=leaf[1-2]
)";

TEST(ImportSlurm, ATreeHasOneCableUpAsWideAsTheHostsBelow) {
  const Imported imported = imported_texts(import_slurm, {kTree}, {.bandwidth = 100_Gbps});
  ASSERT_TRUE(imported.topology) << imported.problems;
  const auto cluster = cluster_of(imported.topology->dump());
  ASSERT_NE(cluster, nullptr);
  EXPECT_EQ(cluster->nodes, 8);
  EXPECT_EQ(cluster->topology.switch_count(), 3);
  EXPECT_EQ(cluster->topology.cable_count(), 8 + 2);
  const Topology& topology = cluster->topology;
  const VertexId leaf = topology.find("leaf1");
  // 4 hosts of 12.5 GB/s.
  for (const LinkId id : topology.links_from(leaf)) {
    const Link& link = topology.link(id);
    EXPECT_EQ(link.capacity, topology.is_switch(link.to) ? 50_GBps : 12.5_GBps);
  }
  EXPECT_THAT(imported.problems, HasSubstr("LinkSpeed has no unit and is not used"));
}

TEST(ImportSlurm, OversubscriptionNarrowsEveryTier) {
  // Leaves: 4 x 2 NICs x 12.5 / 2 = 50 GB/s; the middle: 4 x 2 x 12.5 / 4 = 25 GB/s.
  const Imported imported = imported_texts(
      import_slurm,
      {"SwitchName=leaf Nodes=n[1-4]\nSwitchName=mid Switches=leaf\nSwitchName=top Switches=mid\n"},
      {.bandwidth = 100_Gbps, .nics = 2, .oversubscription = 2.0});
  ASSERT_TRUE(imported.topology) << imported.problems;
  std::map<std::string, std::string> up;
  for (const auto& cable : (*imported.topology)["fabric"]["cables"]) {
    up[cable["from"]] = cable["bandwidth"];
  }
  EXPECT_EQ(up["leaf"], "50 GB/s");
  EXPECT_EQ(up["mid"], "25 GB/s");
  EXPECT_EQ((*imported.topology)["fabric"]["endpoints"].size(), 8U);
}

/// Bandwidths of cables between switches, "leaf up to top" as "leaf top".
std::map<std::string, std::string> trunks(const nlohmann::json& topology) {
  std::map<std::string, std::string> found;
  for (const auto& cable : topology["fabric"]["cables"]) {
    const std::string from = cable["from"];
    if (from.find("/nic") != std::string::npos) continue;
    found[from + " " + cable["to"].get<std::string>()] = cable["bandwidth"];
  }
  return found;
}

TEST(ImportSlurm, ALeafBelowTwoSpinesSharesItsCablesOutToThem) {
  // Four hosts of 12.5 GB/s a leaf: 25 GB/s to each spine. A spine has half of eight below it.
  const Imported imported = imported_texts(import_slurm,
                                           {"SwitchName=l1 Nodes=n[1-4]\n"
                                            "SwitchName=l2 Nodes=n[5-8]\n"
                                            "SwitchName=s1 Switches=l[1-2]\n"
                                            "SwitchName=s2 Switches=l[1-2]\n"
                                            "SwitchName=top Switches=s[1-2]\n"},
                                           {.bandwidth = 100_Gbps});
  ASSERT_TRUE(imported.topology) << imported.problems;
  const auto found = trunks(*imported.topology);
  EXPECT_EQ(found.at("l1 s1"), "25 GB/s");
  EXPECT_EQ(found.at("l2 s2"), "25 GB/s");
  EXPECT_EQ(found.at("s1 top"), "50 GB/s");
  EXPECT_THAT(imported.problems, HasSubstr("switches below several others"));
}

TEST(ImportSlurm, ANodeBelowTwoSwitchesHasANicOnEach) {
  const Imported imported =
      imported_texts(import_slurm,
                     {"SwitchName=rail0 Nodes=n[1-2]\nSwitchName=rail1 Nodes=n[1-2]\n"
                      "SwitchName=top Switches=rail[0-1]\n"},
                     {.bandwidth = 100_Gbps});
  ASSERT_TRUE(imported.topology) << imported.problems;
  const auto cluster = cluster_of(imported.topology->dump());
  EXPECT_EQ(cluster->nodes, 2);
  EXPECT_EQ(cluster->node_type.nics, 2);
}

TEST(ImportSlurm, TreesOfAForestAreJoined) {
  const Imported imported = imported_texts(
      import_slurm, {"SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n"}, {.bandwidth = 100_Gbps});
  ASSERT_TRUE(imported.topology) << imported.problems;
  EXPECT_EQ((*imported.topology)["fabric"]["switches"].size(), 3U);
  EXPECT_EQ(trunks(*imported.topology).at("a above all trees"), "12.5 GB/s");
  EXPECT_THAT(imported.problems, HasSubstr("2 trees have nothing in common"));
}

constexpr const char* kYaml = R"(---
# two ways to see one cluster
- topology: fabric
  cluster_default: true
  tree:
    switches:
      - switch: top
        children: leaf[1-2]
      - switch: leaf1
        nodes: n[1-2]
      - switch: "leaf2"
        nodes: 'n[3-5]'
- topology: racks
  block:
    block_sizes:
      - 2
      - 4
    blocks:
      - block: r1
        nodes: n[1-2]
      - block: r2
        nodes: n[3-5]
- topology: all
  flat: true
)";

TEST(ImportSlurm, BlocksAreScaleUpDomains) {
  const Imported imported = imported_texts(import_slurm, {kYaml}, {.bandwidth = 100_Gbps});
  ASSERT_TRUE(imported.topology) << imported.problems;
  const auto cluster = cluster_of(imported.topology->dump());
  ASSERT_NE(cluster, nullptr);
  EXPECT_EQ(cluster->topology.switch_count(), 3);
  EXPECT_EQ(cluster->nodes, 5);
  EXPECT_EQ(cluster->scale_up_domain, 3);  // room for the larger rack
  EXPECT_EQ(cluster->domain_of(0), cluster->domain_of(1));
  EXPECT_NE(cluster->domain_of(1), cluster->domain_of(2));
  EXPECT_EQ(cluster->domain_of(2), cluster->domain_of(4));
}

TEST(ImportSlurm, BlocksAloneStandOnOneSwitch) {
  const Imported imported = imported_texts(import_slurm,
                                           {"BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\n"
                                            "BlockSizes=2,4\n"},
                                           {.bandwidth = 100_Gbps});
  ASSERT_TRUE(imported.topology) << imported.problems;
  EXPECT_EQ((*imported.topology)["fabric"]["switches"].size(), 1U);
  EXPECT_THAT(imported.problems, HasSubstr("blocks do not say how they are cabled"));
  EXPECT_EQ((*imported.topology)["fabric"]["endpoints"][3]["scale_up_domain"], "b2");
}

TEST(ImportSlurm, WhatIsNoTreeIsRefusedWithTheReason) {
  const auto problems = [](const std::string& text) {
    return imported_texts(import_slurm, {text}).problems;
  };
  EXPECT_THAT(problems("SwitchName=a Switches=b\n"), HasSubstr("no line describes the switch"));
  EXPECT_THAT(problems("SwitchName=a Switches=b\nSwitchName=b Switches=a\n"),
              HasSubstr("is below itself"));
  EXPECT_THAT(problems("SwitchName=r Nodes=n1\nSwitchName=a Switches=b\nSwitchName=b Switches=a\n"),
              HasSubstr("is below itself"));
  EXPECT_THAT(problems("SwitchName=a Nodes=n1,n1\n"), HasSubstr("\"a\" has a node twice"));
  EXPECT_THAT(problems("BlockName=b1 Nodes=n1\nBlockName=b2 Nodes=n1\n"),
              HasSubstr("the node \"n1\" is in two blocks"));
  EXPECT_THAT(problems("SwitchName=a\n"), HasSubstr("neither nodes nor switches below it"));
  EXPECT_THAT(problems("\n"), HasSubstr("the file describes neither a switch nor a block"));
  EXPECT_THAT(problems("- topology: t\n  tree:\n    switches: {switch: s, nodes: n1}\n"),
              HasSubstr("write one key on a line"));
  EXPECT_THAT(problems("- topology: t\n  ring:\n"),
              HasSubstr("\"ring\" is nothing that topology.yaml knows"));
}

}  // namespace
}  // namespace headway
