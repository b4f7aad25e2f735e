#include "sim/costs/accelerators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/costs/read_profile.h"
#include "sim/files/input_files.h"

namespace headway {
namespace {

TEST(Accelerators, EachHasAProfileOfItsName) {
  EXPECT_GE(accelerators().size(), 10U);
  for (const Accelerator& accelerator : accelerators()) {
    Diagnostics diagnostics;
    InputFiles files({}, data_folders(), diagnostics);
    const nlohmann::json part = {{"profile", accelerator.profile}};
    const JsonCursor root(JsonDocument::parse("p", part.dump(), diagnostics));
    const auto read = read_profile(*root.member("profile"), files);
    for (const Diagnostic& problem : diagnostics.all()) ADD_FAILURE() << problem.message;
    ASSERT_TRUE(read) << accelerator.profile;
    EXPECT_EQ(read->profile->accelerator, accelerator.name);
    EXPECT_GT(accelerator.scale_up_bandwidth, BytesPerSecond(0.0));
  }
}

TEST(Accelerators, NoTwoAreCalledTheSame) {
  std::set<std::string> names;
  for (const Accelerator& accelerator : accelerators()) {
    for (const std::string& name : accelerator.published_as) {
      EXPECT_TRUE(names.insert(name).second) << name;
    }
    for (const std::string& device : accelerator.pci_devices) {
      EXPECT_TRUE(names.insert(device).second) << device;
    }
  }
  EXPECT_TRUE(names.contains("H100"));
  EXPECT_TRUE(names.contains("0x74a1"));  // MI300X in pci.ids
}

/// A profile read with these overrides, by name.
std::optional<ReadProfile> read_with(const std::vector<Override>& overrides,
                                     Diagnostics& diagnostics) {
  InputFiles files(overrides, data_folders(), diagnostics);
  const JsonCursor root(JsonDocument::parse("p", R"({"profile": "h100_sxm"})", diagnostics));
  auto read = read_profile(*root.member("profile"), files);
  files.report_unused_overrides();
  return read;
}

TEST(Accelerators, WhatTheSoftwareGivesCanBeSetToo) {
  Diagnostics diagnostics;
  const auto read =
      read_with({{"/profile/kernel_families/fused/memory_traffic/value", "2.5"}}, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors());
  ASSERT_TRUE(read);
  const Estimate& traffic = read->profile->kernel_families.at("fused").memory_traffic;
  EXPECT_EQ(traffic.value, 2.5);
  EXPECT_FALSE(traffic.source.empty());  // still the software's
  EXPECT_TRUE(read->profile->kernel_families.contains("jax"));
}

TEST(Accelerators, AProblemInTheSoftwareIsShownThere) {
  Diagnostics diagnostics;
  EXPECT_FALSE(read_with({{"/profile/kernel_families/fused/memory_trafic", "1"}}, diagnostics));
  ASSERT_FALSE(diagnostics.all().empty());
  EXPECT_TRUE(diagnostics.all().front().location.file.starts_with("--set"));
}

TEST(Accelerators, UnknownSoftwareIsAProblem) {
  Diagnostics diagnostics;
  EXPECT_FALSE(read_with({{"/profile/software", "publishd"}}, diagnostics));
  ASSERT_FALSE(diagnostics.all().empty());
  EXPECT_EQ(diagnostics.all().front().message, "cannot find \"publishd\"");
}

TEST(Accelerators, TheSoftwareIsAFileOfItsOwn) {
  Diagnostics diagnostics;
  EXPECT_FALSE(read_with({{"/profile/software", "{}"}}, diagnostics));
  ASSERT_EQ(diagnostics.all().size(), 1U);
  const Diagnostic& problem = diagnostics.all().front();
  EXPECT_EQ(problem.message, "the software of a profile is a file");
  EXPECT_EQ(problem.label, "an object");
  EXPECT_EQ(problem.help, "write it into a file, and name that here");
}

}  // namespace
}  // namespace headway
