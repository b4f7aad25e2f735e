#include <gmock/gmock.h>

#include "imported_texts.h"

namespace headway {

Importer import_graphml;

namespace {

using testing::HasSubstr;

constexpr const char* kThreePlaces = R"(<?xml version="1.0"?>
<graphml>
  <key attr.name="Latitude" for="node" id="d1"/>
  <key attr.name="Longitude" for="node" id="d2"/>
  <key attr.name="label" for="node" id="d3"/>
  <key attr.name="LinkSpeedRaw" for="edge" id="d4"/>
  <graph>
    <node id="0"><data key="d3">Pole</data><data key="d1">90</data><data key="d2">0</data></node>
    <node id="1"><data key="d3">Equator</data><data key="d1">0</data><data key="d2">7</data></node>
    <node id="2"><data key="d3">Nowhere</data></node>
    <edge source="0" target="1"><data key="d4">10000000000.0</data></edge>
    <edge source="1" target="2"><data key="d4">40000000000.0</data></edge>
  </graph>
</graphml>)";

TEST(ImportGraphMl, FibreIsAsLongAsTheWayOverTheGround) {
  const Imported imported = imported_texts(import_graphml, {kThreePlaces});
  ASSERT_TRUE(imported.topology) << imported.problems;
  const auto cluster = cluster_of(imported.topology->dump());
  ASSERT_NE(cluster, nullptr);
  EXPECT_EQ(cluster->nodes, 3);
  const Topology& topology = cluster->topology;
  // From a pole to the equator: a quarter of 2 pi 6371 km = 10,007.54 km, 5 us each.
  const LinkId trunk = 0;
  EXPECT_EQ(topology.name(topology.link(trunk).from), "Pole");
  EXPECT_EQ(topology.link(trunk).capacity, 10_Gbps);
  EXPECT_NEAR(topology.latency(trunk).count(), 10007.54 * 5e-6 + 200e-9, 1e-6);
  // A place without coordinates is 0 km away; a host is as wide as what leads to its place.
  EXPECT_EQ(topology.latency(2), 200_ns);
  const VertexId equator = topology.find("Equator/nic0");
  EXPECT_EQ(topology.link(topology.links_from(equator).front()).capacity, 50_Gbps);
  EXPECT_THAT(imported.problems, HasSubstr("taken as 0 km long: 1"));
}

TEST(ImportGraphMl, WhatIsBrokenIsNamedWithItsLine) {
  std::string text = kThreePlaces;
  text.replace(text.find("target=\"2\""), 10, "target=\"7\"");
  EXPECT_THAT(imported_texts(import_graphml, {text}).problems,
              testing::AllOf(HasSubstr("an edge joins two nodes of the file"), HasSubstr(":12:")));
  EXPECT_THAT(imported_texts(import_graphml, {"<gexf/>"}).problems,
              HasSubstr("the outermost element of GraphML is <graphml>"));
  EXPECT_THAT(imported_texts(import_graphml, {"<graphml/>"}).problems,
              HasSubstr("no host was found"));
}

}  // namespace
}  // namespace headway
