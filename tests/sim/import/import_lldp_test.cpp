#include <gmock/gmock.h>

#include "imported_texts.h"
#include "sim/network/analysis/fabric_analysis.h"
#include "tests/support/source_folder.h"

namespace headway {

Importer import_lldp;

namespace {

using testing::HasSubstr;

std::string sample(const std::string& name) {
  return source_folder() + "/tests/samples/lldp/" + name;
}

Imported import_samples(const std::vector<std::string>& names) {
  ImportRequest request{.bandwidth = 400_Gbps};
  for (const std::string& name : names) request.paths.push_back(sample(name));
  return imported_files(import_lldp, request);
}

// The README beside the samples: leaf swp51 to spine1, swp52 to spine2; gpu N on leaves N and
// N mod 3 + 1.
TEST(ImportLldp, ADumpOfEveryDeviceIsTheWholeFabric) {
  const Imported imported =
      import_samples({"gpu01.json", "gpu02.json", "gpu03.json", "leaf1.json", "leaf2.json",
                      "leaf3.json", "spine1.json", "spine2.json"});
  ASSERT_TRUE(imported.topology) << imported.problems;
  const auto cluster = cluster_of(imported.topology->dump());
  ASSERT_NE(cluster, nullptr);
  EXPECT_EQ(cluster->topology.switch_count(), 5);
  EXPECT_EQ(cluster->nodes, 3);
  EXPECT_EQ(cluster->node_type.nics, 2);
  const FabricAnalysis analysis = analysed(*cluster);
  EXPECT_EQ(analysis.links.at("switch_switch").at("50 GB/s"), 6);
  EXPECT_EQ(analysis.links.at("hca_switch").at("50 GB/s"), 6);
  // ens1f0np0 of gpu02 hangs on leaf2, ens2f0np0 on leaf3.
  const Topology& topology = cluster->topology;
  const auto leaf_of = [&](std::string_view port) {
    return topology.name(topology.link(topology.links_from(topology.find(port)).front()).to);
  };
  EXPECT_EQ(leaf_of("gpu02/ens1f0np0"), "leaf2");
  EXPECT_EQ(leaf_of("gpu02/ens2f0np0"), "leaf3");
}

TEST(ImportLldp, DevicesThatWereNotDumpedAreKnownByTheirNeighbours) {
  // The leaves see every cable.
  const Imported imported = import_samples({"leaf1.json", "leaf2.json", "leaf3.json"});
  ASSERT_TRUE(imported.topology) << imported.problems;
  EXPECT_EQ((*imported.topology)["fabric"]["switches"].size(), 5U);
  EXPECT_EQ((*imported.topology)["fabric"]["cables"].size(), 12U);
}

TEST(ImportLldp, BothFormsOfJsonSayTheSame) {
  const Imported one = import_samples({"leaf1.json"});
  const Imported other = import_samples({"leaf1.json0.json"});
  ASSERT_TRUE(one.topology && other.topology);
  EXPECT_EQ((*one.topology)["fabric"], (*other.topology)["fabric"]);
}

TEST(ImportLldp, ALoneNeighbourIsAnObject) {
  const Imported imported = import_samples({"gpu03.one-port-down.json", "leaf3.json"});
  ASSERT_TRUE(imported.topology) << imported.problems;
  EXPECT_THAT((*imported.topology)["fabric"].dump(), HasSubstr("gpu03/ens1f0np0"));
  EXPECT_THAT((*imported.topology)["fabric"].dump(),
              testing::Not(HasSubstr("gpu03.one-port-down")));
}

TEST(ImportLldp, ARateThatNobodyToldIsAssumed) {
  const Imported imported = imported_files(import_lldp, {.paths = {sample("leaf1.json")}});
  EXPECT_THAT(imported.problems, HasSubstr("LLDP tells no rate of a link: 100 Gb/s is taken"));
  EXPECT_THAT((*imported.topology)["source"].get<std::string>(), HasSubstr("100 Gb/s is taken"));
}

TEST(ImportLldp, WhatIsNoneIsRefusedWithThePlace) {
  EXPECT_THAT(imported_texts(import_lldp, {"{\"a\": 1}"}).problems,
              HasSubstr("the file is no dump of LLDP neighbours"));
  EXPECT_THAT(imported_texts(import_lldp, {"{\"lldp\": {\"interface\": 3}}"}).problems,
              HasSubstr("/lldp/interface"));
  EXPECT_THAT(imported_texts(import_lldp, {"{\"lldp\": {}}"}).problems,
              HasSubstr("no host was found"));
  const std::string unnamed =
      R"({"lldp": {"interface": {"swp1": {"chassis": {}, "port": {"descr": "eth0"}}}}})";
  EXPECT_THAT(imported_texts(import_lldp, {unnamed}).problems,
              HasSubstr("the neighbour has neither a name nor an id"));
}

}  // namespace
}  // namespace headway
