#include "sim/import/import_nccl_xml.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "imported_texts.h"

namespace headway {

Importer import_nccl_xml;

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// What the README beside the samples says of a file.
struct Stated {
  const char* file;
  std::size_t gpus;
  std::size_t nics;
  std::size_t ports;
  BytesPerSecond rate;  ///< of each port
  int links;
};
const Stated kStated[] = {
    {"nccl_topo_xml/aws-p4d-a100.xml", 8, 4, 0, {}, 0},
    {"nccl_topo_xml/aws-p4de-a100.xml", 8, 4, 0, {}, 0},
    {"nccl_topo_xml/azure-ndv2-v100.xml", 8, 1, 0, {}, 0},
    {"nccl_topo_xml/azure-ndv4-a100.xml", 8, 8, 0, {}, 0},
    {"nccl_topo_xml/azure-ndv5-h100.xml", 8, 8, 0, {}, 0},
    {"nccl_topo_xml/oci-a100-b4.xml", 8, 8, 0, {}, 0},
    {"nccl_topo_xml/dump-small-node.xml", 2, 1, 2, 100_Gbps, 13},
    {"nccl_topo_xml/oci-h100.xml", 8, 8, 16, 180_Gbps, 144},
    {"nccl_topo_xml/rccl-16p-mi250.xml", 16, 8, 8, 200_Gbps, 112},
    {"nccl_topo_xml/rccl-8p-mi300.xml", 8, 8, 8, 400_Gbps, 56},
    {"nccl_topo_xml/rccl-8p-pcie.xml", 8, 1, 1, 100_Gbps, 0},
    {"node/nccl-oci-a100-flattened.xml", 8, 8, 0, {}, 0},
    {"node/rccl-8p-rome-4nics.xml", 8, 4, 4, 200_Gbps, 24},
    {"node/rccl-collnet-n4.xml", 8, 4, 4, 200_Gbps, 24},
};

TEST_F(ThirdPartyDump, NcclTopologiesHoldWhatTheirReadmeStates) {
  for (const Stated& stated : kStated) {
    SCOPED_TRACE(stated.file);
    Diagnostics diagnostics;
    const auto system = read_nccl_system(folder() + "/" + stated.file, diagnostics);
    ASSERT_TRUE(system);
    EXPECT_EQ(system->gpus.size(), stated.gpus);
    EXPECT_EQ(system->nics.size(), stated.nics);
    EXPECT_EQ(system->links, stated.links);
    std::size_t ports = 0;
    for (const NcclSystem::Nic& nic : system->nics) {
      ports += nic.ports.size();
      for (const NcclSystem::Port& port : nic.ports) {
        EXPECT_NEAR(port.bandwidth / stated.rate, 1.0, 1e-12);
      }
    }
    EXPECT_EQ(ports, stated.ports);
    // With what they leave out given, all make a node type.
    const Imported imported =
        imported_files(import_nccl_xml, {.paths = {folder() + "/" + stated.file},
                                         .bandwidth = 400_Gbps,
                                         .scale_up_bandwidth = 450_GBps});
    EXPECT_TRUE(imported.topology) << imported.problems;
  }
}

TEST_F(ThirdPartyDump, AFileThatNamesNoGpuIsRefused) {
  EXPECT_THAT(
      imported_files(import_nccl_xml, {.paths = {folder() + "/nccl_topo_xml/aws-g5-a10g.xml"}})
          .problems,
      HasSubstr("nothing in the file says that it is a GPU"));
}

/// Two GPUs, each behind a switch of its own with a network card.
std::string two_gpus(const std::string& links, const std::string& speed = "200000") {
  std::string text = R"(<system version="1"><cpu numaid="0">)";
  for (const int i : {1, 0}) {  // numbered against their order
    text += fmt::format(
        R"(<pci busid="s{0}" class="0x060400">
<pci busid="g{0}" class="0x030200" device="0x20b2" link_speed="16.0 GT/s PCIe" link_width="16">
<gpu dev="{0}" sm="80">{1}</gpu></pci>
<pci busid="n{0}" class="0x020700"><nic><net name="mlx5_{0}" speed="{2}" guid="0x{0}1"/></nic></pci>
</pci>)",
        i, links, speed);
  }
  return text + "</cpu></system>";
}

TEST(ImportNcclXml, LinksCardsAndNearnessMakeANodeType) {
  // 12 links of 25 GB/s. GPU 1 comes first in the file and so does its card.
  const Imported imported =
      imported_texts(import_nccl_xml, {two_gpus(R"(<nvlink target="x" count="12"/>)")});
  ASSERT_TRUE(imported.topology) << imported.problems;
  const nlohmann::json& type = *imported.topology;
  EXPECT_EQ(type["accelerator"], "a100-sxm-80gb");
  EXPECT_EQ(type["accelerators"], 2);
  EXPECT_EQ(type["scale_up"]["bandwidth"], "300 GB/s");
  EXPECT_EQ(type["nics"]["count"], 2);
  EXPECT_EQ(type["nics"]["bandwidth"], "25 GB/s");
  EXPECT_EQ(type["nics"]["nearest"], nlohmann::json({1, 0}));
}

TEST(ImportNcclXml, WithoutLinksOfTheirOwnGpusTalkOverPcie) {
  // NCCL: 16 lanes of 8 GT/s are 12 GB/s, so 16 of 16 GT/s are 24.
  const Imported imported = imported_texts(import_nccl_xml, {two_gpus("")});
  EXPECT_EQ((*imported.topology)["scale_up"]["bandwidth"], "24 GB/s");
  EXPECT_THAT(imported.problems, HasSubstr("they talk over PCIe"));
}

TEST(ImportNcclXml, NoPortHasTwoHundredTerabits) {
  // libfabric's ports of Slingshot: 200,000,000 kb/s.
  const Imported imported = imported_texts(import_nccl_xml, {two_gpus("", "200000000")});
  ASSERT_TRUE(imported.topology) << imported.problems;
  EXPECT_EQ((*imported.topology)["nics"]["bandwidth"], "25 GB/s");
  EXPECT_THAT(imported.problems, HasSubstr("are taken to be in kb/s"));
}

TEST(ImportNcclXml, WhatTheUserSaysWins) {
  const Imported imported = imported_texts(
      import_nccl_xml, {two_gpus("")},
      {.accelerator = "mine", .bandwidth = 400_Gbps, .scale_up_bandwidth = 100_GBps});
  EXPECT_EQ((*imported.topology)["accelerator"], "mine");
  EXPECT_EQ((*imported.topology)["nics"]["bandwidth"], "50 GB/s");
  EXPECT_EQ((*imported.topology)["scale_up"]["bandwidth"], "100 GB/s");
}

TEST(ImportNcclXml, WhatIsBrokenIsNamedWithItsLine) {
  const auto problems = [](const std::string& text) {
    return imported_texts(import_nccl_xml, {text}).problems;
  };
  EXPECT_THAT(problems("<system><cpu>\n</system>"), HasSubstr("the file is no XML"));
  EXPECT_THAT(problems("<graphs/>"), HasSubstr("no topology of NCCL or RCCL"));
  EXPECT_THAT(problems(two_gpus("", "-5")), HasSubstr("a port has a \"speed\" in Mb/s"));
  EXPECT_THAT(problems(two_gpus(R"(<nvlink count="-3"/>)")),
              testing::AllOf(HasSubstr("a nvlink has a count of links"), HasSubstr(":3:")));
  std::string deep = "<system>";
  for (int i = 0; i < 20'000; ++i) deep += "<pci>";
  for (int i = 0; i < 20'000; ++i) deep += "</pci>";
  EXPECT_THAT(problems(deep + "</system>"), HasSubstr("nested more than 64 deep"));
}

}  // namespace
}  // namespace headway
