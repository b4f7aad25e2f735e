#include <gmock/gmock.h>

#include "imported_texts.h"
#include "sim/network/analysis/fabric_analysis.h"
#include "tests/support/scratch_folder.h"
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

TEST(ImportLldp, PortsKeepTheirNames) {
  const Imported imported = import_samples({"leaf1.json", "leaf2.json", "leaf3.json"});
  ASSERT_TRUE(imported.topology) << imported.problems;
  bool is_found = false;
  for (const auto& cable : (*imported.topology)["fabric"]["cables"]) {
    is_found |= cable.value("from_port_name", "") == "swp51" && cable["from"] == "leaf2" &&
                cable.value("to_port_name", "") == "swp2" && cable["to"] == "spine1";
  }
  EXPECT_TRUE(is_found);
}

// leaf1 knows its host by an address only; the host is called by name where leaf2 sees it.
constexpr const char* kLeafOne = R"({"lldp": {"interface": {"swp1": {
    "chassis": {"id": {"type": "mac", "value": "02:00:00:00:00:01"}},
    "port": {"id": {"type": "mac", "value": "02:00:00:00:00:0a"}}}}}})";
constexpr const char* kLeafTwo = R"({"lldp": {"interface": {"swp1": {
    "chassis": {"gpu01": {"id": {"type": "mac", "value": "02:00:00:00:00:01"}}},
    "port": {"id": {"type": "ifname", "value": "ens2"}}}}}})";
constexpr const char* kHost = R"({"lldp": {"interface": [
    {"ens1": {"chassis": {"leaf1": {"id": {"type": "mac", "value": "02:00:00:00:00:02"}}},
              "port": {"id": {"type": "ifname", "value": "swp1"}}}},
    {"ens2": {"chassis": {"leaf2": {"id": {"type": "mac", "value": "02:00:00:00:00:03"}}},
              "port": {"id": {"type": "ifname", "value": "swp1"}}}}]}})";

TEST(ImportLldp, WhatIsKnownByItsAddressIsJoinedToTheNamed) {
  const ScratchFolder scratch;
  const Imported imported = imported_files(
      import_lldp,
      {.paths = {scratch.write("leaf1.json", kLeafOne), scratch.write("leaf2.json", kLeafTwo),
                 scratch.write("gpu01.json", kHost)},
       .bandwidth = 400_Gbps});
  ASSERT_TRUE(imported.topology) << imported.problems;
  const nlohmann::json& fabric = (*imported.topology)["fabric"];
  EXPECT_EQ(fabric["cables"].size(), 2U);
  EXPECT_EQ(fabric["endpoints"].size(), 2U);
  EXPECT_THAT(fabric.dump(), testing::Not(HasSubstr("02:00")));
}

constexpr const char* kSonicTable =
    R"(Capability codes: (R) Router, (B) Bridge, (O) Other
LocalPort    RemoteDevice    RemotePortID       Capability    RemotePortDescr
-----------  --------------  -----------------  ------------  -----------------
Ethernet0    gpu01           ens1               O
Ethernet4    gpu02           02:00:00:00:00:0b  O             ens1
Ethernet8    leaf2           Ethernet8          BR            Ethernet8
eth0         mgmt            0c:69:cf:50:00:00  BR            eth0
--------------------------------------------------
Total entries displayed:  4
)";

constexpr const char* kSonicNeighbours =
    R"(-------------------------------------------------------------------------------
LLDP neighbors:
-------------------------------------------------------------------------------
Interface:    Ethernet8, via: LLDP, RID: 1, Time: 0 day, 00:00:11
  Chassis:
    ChassisID:    mac 02:00:00:00:00:02
    SysName:      leaf1
    Capability:   Bridge, on
  Port:
    PortID:       local Ethernet8
    PortDescr:    uplink
-------------------------------------------------------------------------------
Interface:    Ethernet0, via: LLDP, RID: 2, Time: 0 day, 00:00:11
  Chassis:
    ChassisID:    mac 02:00:00:00:00:04
    SysName:      gpu03
  Port:
    PortID:       mac 02:00:00:00:00:0c
    PortDescr:    ens1
-------------------------------------------------------------------------------
)";

TEST(ImportLldp, SwitchesOfSonicPrintTablesAndLists) {
  const ScratchFolder scratch;
  const Imported imported =
      imported_files(import_lldp, {.paths = {scratch.write("leaf1.txt", kSonicTable),
                                             scratch.write("leaf2.txt", kSonicNeighbours)},
                                   .bandwidth = 400_Gbps});
  ASSERT_TRUE(imported.topology) << imported.problems;
  const auto cluster = cluster_of(imported.topology->dump());
  EXPECT_EQ(cluster->nodes, 3);
  EXPECT_EQ(cluster->topology.switch_count(), 2);
  EXPECT_EQ(cluster->topology.cable_count(), 4);
  EXPECT_THAT((*imported.topology)["fabric"].dump(), testing::Not(HasSubstr("mgmt")));
}

TEST(ImportLldp, ATextThatIsNoneIsRefusedWithTheReason) {
  EXPECT_THAT(imported_texts(import_lldp, {"nothing\n"}).problems,
              HasSubstr("the file is no dump of LLDP neighbours"));
  EXPECT_THAT(imported_texts(import_lldp, {"LocalPort  RemoteDevice\n"}).problems,
              HasSubstr("the table has no column RemotePortID"));
}

}  // namespace
}  // namespace headway
