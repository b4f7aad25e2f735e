#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "imported_texts.h"

namespace headway {

Importer import_graphml;
Importer import_infiniband;
Importer import_lldp;
Importer import_nccl_xml;
Importer import_slurm;
Importer import_topo_matrix;

namespace {

using testing::HasSubstr;
using testing::Not;

/// The problems of `headway import FORMAT` with a file of this text.
std::string problems_of(std::string_view format, const std::string& text) {
  const auto found = std::ranges::find(import_formats(), format, &ImportFormat::name);
  const std::string path = testing::TempDir() + "headway_foreign_" + std::to_string(getpid());
  std::ofstream(path, std::ios::binary) << text;
  ImportRequest request;
  request.name = "imported";
  request.paths = {path};
  Diagnostics diagnostics;
  EXPECT_FALSE(imported(*found, request, diagnostics)) << format << ": " << text;
  std::filesystem::remove(path);
  std::string problems;
  for (const Diagnostic& problem : diagnostics.all()) problems += rendered(problem);
  return problems;
}

constexpr const char* kFabricStart = "# Topology file: generated on Fri\nvendid=0x2c9\n";
constexpr const char* kTablesStart = "Unicast lids [0-6] of switch Lid 2 guid 0x10 ('a'):\n";
constexpr const char* kNeighbourList = "{\"lldp\": {\"interface\": []}}";
constexpr const char* kSlurmTree = "SwitchName=leaf1 Nodes=n[1-8]\n";
constexpr const char* kNcclSystem = "<system version=\"1\"><cpu numaid=\"0\"></cpu></system>";
constexpr const char* kEmptyGraph = "<graphml><graph/></graphml>";
constexpr const char* kDistanceMatrix =
    "\tGPU0\tGPU1\tCPU Affinity\nGPU0\tX\tSYS\t0\nGPU1\tSYS\tX\t0\n";

TEST(ForeignDumps, AreNamedWithTheFormatThatReadsThem) {
  struct Case {
    const char* text;
    const char* reads_it;            ///< the import that does
    std::vector<const char*> fails;  ///< those that say so
  };
  const Case cases[] = {
      {kFabricStart,
       "import ibnetdiscover",
       {"lldp", "sonic", "slurm", "graphml", "nccl-xml", "topo-matrix"}},
      {kTablesStart,
       "import ibnetdiscover",
       {"lldp", "slurm", "graphml", "nccl-xml", "topo-matrix"}},
      {kNeighbourList,
       "import lldp",
       {"ibnetdiscover", "iblinkinfo", "slurm", "graphml", "topo-matrix"}},
      {kSlurmTree, "import slurm", {"ibnetdiscover", "lldp", "graphml", "nccl-xml", "topo-matrix"}},
      {kNcclSystem, "import nccl-xml", {"lldp", "slurm", "graphml", "topo-matrix"}},
      {kEmptyGraph,
       "import graphml",
       {"ibnetdiscover", "lldp", "slurm", "nccl-xml", "topo-matrix"}},
      {kDistanceMatrix,
       "import topo-matrix",
       {"ibnetdiscover", "lldp", "slurm", "graphml", "nccl-xml"}},
  };
  for (const Case& each : cases) {
    for (const char* const format : each.fails) {
      const std::string problems = problems_of(format, each.text);
      EXPECT_THAT(problems, HasSubstr(std::string("which \"") + format + "\" does not read"));
      EXPECT_THAT(problems, HasSubstr(std::string("help: `headway ") + each.reads_it + " "));
      EXPECT_EQ(std::ranges::count(problems, '\n'), 3) << problems;  // message, place, help
    }
  }
}

TEST(ForeignDumps, WhatIsNoTextIsNotReadByLines) {
  for (const char* const format : {"ibnetdiscover", "lldp", "slurm", "topo-matrix"}) {
    EXPECT_THAT(problems_of(format, "\xff\xfeG P U "),
                HasSubstr("it is text in UTF-16, as PowerShell's > writes it"));
    EXPECT_THAT(problems_of(format, "PK\x03\x04"), HasSubstr("it is a zip archive"));
  }
}

TEST(ForeignDumps, AFileOfTheFormatKeepsItsOwnProblems) {
  EXPECT_THAT(problems_of("ibnetdiscover", kTablesStart), HasSubstr("no host has a cable"));
  EXPECT_THAT(problems_of("iblinkinfo", kNcclSystem), Not(HasSubstr("does not read")));
  EXPECT_THAT(problems_of("slurm", "SwitchName=leaf1\n"), HasSubstr("neither nodes nor switches"));
}

TEST(BrokenDumps, SayHowToMendThem) {
  struct Case {
    const char* format;
    std::string text;
  };
  const std::string node = "Ca\t1 \"H-0000000000000020\"\t\t# \"a mlx5_0\"\n";
  const Case cases[] = {
      {"ibnetdiscover", ""},
      {"ibnetdiscover", kFabricStart + node + "ibwarn: [7] mad_rpc: timed out\n"},
      {"ibnetdiscover", kFabricStart + node + "[1](21) \t\"S-xyz\"[1]\n"},
      {"ibnetdiscover", "CA     5  1 0x94 4x EDR - SW     6\n"},
      {"ibnetdiscover", std::string(kTablesStart) + "0x0002 1e3 # Channel Adapter\n"},
      {"iblinkinfo", "CA: a mlx5_0:\n      0x94      5    1[  ] ==( 4X\n"},
      {"opensm-subnet", "{ CA Ports:01 SystemGUID:94 NodeGUID:94 PortGUID:95\n"},
      {"slurm", ""},
      {"slurm", "SwitchName=a\n"},
      {"slurm", "Nodes=n[1-8]\n"},
      {"slurm", "SwitchName=a Nodes=n[1-\n"},
      {"slurm", "SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n"},
      {"slurm", "SwitchName=a Switches=b\n"},
      {"slurm", "SwitchName=a Speed=4\n"},
      {"slurm", "BlockName=a Nodes=n1\nBlockName=b Nodes=n1\n"},
      {"lldp", ""},
      {"lldp", "{\"lldp\": {\"interface\": 1}}"},
      {"sonic", "LocalPort    RemoteDevice\n-----------\nEthernet0    a\n"},
      {"nccl-xml", ""},
      {"nccl-xml", "<system><cpu>"},
      {"nccl-xml", "GPU0"},
      {"graphml", "<graphml><graph><edge source=\"a\" target=\"b\"/></graph></graphml>"},
      {"graphml", "<graphml><graph><node/></graph></graphml>"},
      {"topo-matrix", ""},
      {"topo-matrix", "\tGPU0\tGPU1\nGPU0\tX\n"},
      {"topo-matrix", "\tGPU0\tGPU1\nGPU0\tX\tFAST\n"},
      {"topo-matrix", "\tGPU0\tGPU1\nGPU0\tX\tSYS\n"},
  };
  for (const Case& each : cases) {
    const std::string problems = problems_of(each.format, each.text);
    EXPECT_THAT(problems, HasSubstr("  help: ")) << each.format << ": " << each.text;
  }
}

}  // namespace
}  // namespace headway
