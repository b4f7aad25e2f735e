#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "imported_texts.h"

namespace headway {

Importer import_topo_matrix;

namespace {

using testing::HasSubstr;

Imported import_matrix(const std::string& text) {
  return imported_texts(import_topo_matrix, {text}, {.bandwidth = 200_Gbps});
}

TEST(ImportTopoMatrix, GpusOnASwitchShowAllTheirLinksToEachPeer) {
  // NV12 to three peers would be 36 links, more than any GPU has: 12 links of 25 GB/s.
  const Imported imported = import_matrix(
      "\tGPU0\tGPU1\tGPU2\tGPU3\tmlx5_0\tmlx5_1\tCPU Affinity\tNUMA Affinity\n"
      "GPU0\t X \tNV12\tNV12\tNV12\tSYS\tPXB\t0-15\t0\n"
      "GPU1\tNV12\t X \tNV12\tNV12\tSYS\tPXB\t0-15\t0\n"
      "GPU2\tNV12\tNV12\t X \tNV12\tPXB\tSYS\t16-31\t1\n"
      "GPU3\tNV12\tNV12\tNV12\t X \tPXB\tSYS\t16-31\t1\n"
      "mlx5_0\tSYS\tSYS\tPXB\tPXB\t X \tSYS\n"
      "mlx5_1\tPXB\tPXB\tSYS\tSYS\tSYS\t X \n\n"
      "Legend:\n\n  X    = Self\n");
  ASSERT_TRUE(imported.topology) << imported.problems;
  const nlohmann::json& type = *imported.topology;
  EXPECT_EQ(type["accelerators"], 4);
  EXPECT_EQ(type["scale_up"]["bandwidth"], "300 GB/s");
  EXPECT_EQ(type["nics"]["count"], 2);
  EXPECT_EQ(type["nics"]["nearest"], nlohmann::json({1, 1, 0, 0}));
}

TEST(ImportTopoMatrix, DirectLinksAddUp) {
  // Four A100 with four links to each other: 12 in all.
  const Imported imported = import_matrix(
      "     GPU0 GPU1 GPU2 GPU3 CPU Affinity\n"
      "GPU0  X   NV4  NV4  NV4  0\nGPU1 NV4   X   NV4  NV4  0\n"
      "GPU2 NV4  NV4   X   NV4  0\nGPU3 NV4  NV4  NV4   X   0\n");
  ASSERT_TRUE(imported.topology) << imported.problems;
  EXPECT_EQ((*imported.topology)["scale_up"]["bandwidth"], "300 GB/s");
  EXPECT_THAT(imported.problems, HasSubstr("network cards are not in the file"));
}

TEST(ImportTopoMatrix, WhatIsNoneIsRefusedWithTheLine) {
  EXPECT_THAT(import_matrix("GPU0 GPU1\nGPU0 X OK\nGPU1 OK X\n").problems,
              testing::AllOf(HasSubstr("not how they are joined"), HasSubstr(":2:")));
  EXPECT_THAT(import_matrix("GPU0 GPU1\nGPU0 X\n").problems,
              HasSubstr("the row has 1 entries for 2 devices"));
  EXPECT_THAT(import_matrix("GPU0 GPU1\nGPU0 X FAST\n").problems,
              HasSubstr("\"FAST\" is nothing that stands between two devices"));
  EXPECT_THAT(import_matrix("GPU0 GPU1\nGPU0 X SYS\n").problems, HasSubstr("GPU1 has no row"));
  EXPECT_THAT(import_matrix("hello\n").problems, HasSubstr("no line names GPUs"));
}

TEST_F(ThirdPartyDump, MatricesImportOrAreRefusedWithTheReason) {
  // Per GPU: 2 links, none, 12 and 18 of them; the others tell who may read whom.
  const std::vector<std::pair<const char*, const char*>> expected = {
      {"topo_m_01_ml-engineering", "50 GB/s"},  {"topo_m_02_ml-engineering", "12 GB/s"},
      {"topo_m_03_ml-engineering", "300 GB/s"}, {"topo_m_04_ml-engineering", "450 GB/s"},
      {"topo_m_05_ml-engineering", ""},         {"topo_m_06_ml-engineering", ""},
      {"topo_m_07_ml-engineering", "450 GB/s"}, {"topo_m_08_nccl", ""}};
  for (const auto& [file, bandwidth] : expected) {
    const Imported imported =
        imported_files(import_topo_matrix,
                       {.paths = {folder() + "/topo_m/" + file + ".txt"}, .bandwidth = 400_Gbps});
    ASSERT_EQ(imported.topology.has_value(), *bandwidth != '\0') << imported.problems;
    if (imported.topology) {
      EXPECT_EQ((*imported.topology)["scale_up"]["bandwidth"], bandwidth);
    } else {
      EXPECT_THAT(imported.problems, HasSubstr("not how they are joined"));
    }
  }
}

}  // namespace
}  // namespace headway
