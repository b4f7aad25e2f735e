#include "sim/import/node_domains.h"

#include <gmock/gmock.h>

#include "imported_texts.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

/// What a file with that text tells; problems go into `problems`.
NodeDomains domains_of(const std::string& text, std::string* problems = nullptr) {
  const ScratchFolder scratch;
  Diagnostics diagnostics;
  const NodeDomains domains = read_domains({scratch.write("domains.txt", text)}, diagnostics);
  for (const Diagnostic& problem : diagnostics.all()) {
    if (problems != nullptr) *problems += rendered(problem);
  }
  return domains;
}

TEST(NodeDomains, HostsAndANameALine) {
  EXPECT_THAT(domains_of("# racks\nn[1-2] r1\nn3   r2\n"),
              ElementsAre(Pair("n1", "r1"), Pair("n2", "r1"), Pair("n3", "r2")));
}

TEST(NodeDomains, BlocksOfSlurm) {
  EXPECT_THAT(domains_of("BlockName=b Nodes=n[1-2]\nBlockSizes=2\n"),
              ElementsAre(Pair("n1", "b"), Pair("n2", "b")));
}

TEST(NodeDomains, CliquesOfNvLink) {
  // Two accelerators a host tell the same; a host whose fabric is not up is alone.
  const std::string text =
      "n1:             CliqueId                              : 1\n"
      "n1:             ClusterUUID                           : 5f-a\n"
      "n1:             CliqueId                              : 1\n"
      "n2:             ClusterUUID                           : 5f-a\n"
      "n2:             CliqueId                              : 2\n"
      "n3:             ClusterUUID                           : 00000000-0000\n"
      "n3:             CliqueId                              : 0\n";
  EXPECT_THAT(domains_of(text), ElementsAre(Pair("n1", "5f-a.1"), Pair("n2", "5f-a.2")));
}

TEST(NodeDomains, WhatContradictsItselfIsRefusedWithItsPlace) {
  const auto problems = [](const std::string& text) {
    std::string found;
    static_cast<void>(domains_of(text, &found));
    return found;
  };
  EXPECT_THAT(problems("n1 r1\nn[1-2] r2\n"),
              HasSubstr("the node \"n1\" is in two domains\n  --> "));
  EXPECT_THAT(problems("n1: CliqueId : 1\nn1: CliqueId : 2\n"), HasSubstr("are in two cliques"));
  EXPECT_THAT(problems("n1\n"), HasSubstr("a line is a list of hosts and the name"));
  EXPECT_THAT(problems("n[1- r1\n"), HasSubstr("n[1-"));
}

/// Four hosts on two leaves of one spine.
constexpr const char* kRacks =
    "SwitchName=rack7-leaf Nodes=n[1-2]\nSwitchName=rack8-leaf Nodes=n[3-4]\n"
    "SwitchName=spine Switches=rack7-leaf,rack8-leaf\n";

Imported imported_with(const ImportRequest& options) {
  const ScratchFolder scratch;
  ImportRequest request = options;
  request.name = "imported";
  request.bandwidth = 100_Gbps;
  request.paths = {scratch.write("topology.conf", kRacks)};
  Diagnostics diagnostics;
  Imported result;
  for (const ImportFormat& format : import_formats()) {
    if (format.name == "slurm") result.topology = imported(format, request, diagnostics);
  }
  for (const Diagnostic& problem : diagnostics.all()) result.problems += rendered(problem);
  return result;
}

TEST(NodeDomains, NamesOfLeavesTellRacks) {
  const Imported result = imported_with({.domain_pattern = "(rack[0-9]+)"});
  ASSERT_TRUE(result.topology) << result.problems;
  const auto cluster = cluster_of(result.topology->dump());
  EXPECT_EQ(cluster->domain_of(0), cluster->domain_of(1));
  EXPECT_NE(cluster->domain_of(1), cluster->domain_of(2));
  EXPECT_EQ((*result.topology)["fabric"]["endpoints"][2]["scale_up_domain"], "rack8");
}

TEST(NodeDomains, APatternThatTellsNothingIsRefused) {
  EXPECT_THAT(imported_with({.domain_pattern = "("}).problems,
              HasSubstr("is no pattern with a group"));
  EXPECT_THAT(imported_with({.domain_pattern = "rack"}).problems,
              HasSubstr("is no pattern with a group"));
  EXPECT_THAT(imported_with({.domain_pattern = "(row)"}).problems,
              HasSubstr("matches the name of no node and of no leaf switch"));
  EXPECT_THAT(imported_with({.domain_pattern = R"((rack[0-9]+)\1)"}).problems,
              HasSubstr("it may not refer back to it"));
}

}  // namespace
}  // namespace headway
