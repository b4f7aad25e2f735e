// What words of published rows name, and what they do not.
#include "sim/validate/sync/row_words.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

std::string profile_in(const std::string& text) {
  const auto read = named_accelerator(text);
  const auto* named = std::get_if<NamedAccelerator>(&read);
  return named == nullptr ? "" : named->profile;
}

std::string model_in(const std::string& text) {
  const auto read = named_model(text);
  const auto* named = std::get_if<NamedModel>(&read);
  return named == nullptr ? "" : named->words;
}

TEST(NamedAccelerator, IsFoundHoweverItIsSpelt) {
  for (const char* text : {"8xV100", "8 x Tesla V100-SXM2 32GB", "nvidia v100s", "p3.16xlarge",
                           "DGX-1 V100 32GB, 8 GPU(s)", "DGX 2"}) {
    EXPECT_EQ(profile_in(text), "v100_sxm") << text;
  }
  EXPECT_EQ(profile_in("NVIDIA A100-SXM-80GB CTS"), "a100_sxm_80gb");
  EXPECT_EQ(profile_in("DGX A100, 1 GPU(s), small 15 GB model"), "a100_sxm_80gb");
  EXPECT_EQ(profile_in("Apollo with A100 40GB"), "a100_sxm_40gb");
  EXPECT_EQ(profile_in("8 x GB200 (2 trays)"), "gb200");
  EXPECT_EQ(profile_in("4 x RTX3090"), "rtx_3090");
  EXPECT_EQ(profile_in("GeForce RTX 2080 Ti"), "rtx_2080_ti");
  EXPECT_EQ(profile_in("8x RTX4090"), "rtx_4090");
  EXPECT_EQ(profile_in("4 x NVIDIA L4"), "l4");
}

// What stands in the name of a machine says nothing more; what stands beside it does.
TEST(NamedAccelerator, BesideItsMachineIsTheMachines) {
  const auto read = named_accelerator("NVIDIA DGX-1, 8x P100");
  const auto& named = std::get<NamedAccelerator>(read);
  EXPECT_EQ(named.profile, "p100_sxm");
  EXPECT_EQ(named.per_server, 8);
  EXPECT_EQ(named.scale_up, 80_GBps);
  // Seven peers of a cube mesh, of which three are two links away: 150 / (10 / 7) GB/s.
  const auto cube = named_accelerator("DGX-1 V100 32GB");
  EXPECT_EQ(std::get<NamedAccelerator>(cube).all_to_all, 105_GBps);
}

// Public clouds have P100 as cards in slots.
TEST(NamedAccelerator, OfACloudMayBeAnother) {
  const auto pascal = std::get<NamedAccelerator>(named_accelerator("8 x P100"));
  EXPECT_EQ(pascal.rented_profile, "p100_pcie");
  EXPECT_EQ(pascal.rented_name, "p100-pcie");
  EXPECT_EQ(pascal.rented_scale_up, 16_GBps);
  const auto volta = std::get<NamedAccelerator>(named_accelerator("8 x V100"));
  EXPECT_EQ(volta.rented_profile, volta.profile);
  EXPECT_EQ(profile_in("4 x P100 PCIe"), "p100_pcie");
}

TEST(NamedAccelerator, OfAnotherNameIsNone) {
  for (const char* text : {"4 x RTX 3090 Ti", "8 x H100 NVL", "2 x Xeon SPR", "start 4 nodes",
                           "8 x RTX 4080", "V1000"}) {
    EXPECT_EQ(profile_in(text), "") << text;
  }
  EXPECT_EQ(std::get<std::string>(named_accelerator("8 x V100 beside 8 x P100")),
            "it names several accelerators, V100 and P100");
  EXPECT_TRUE(std::get<std::string>(named_accelerator("a GPU"))
                  .starts_with("it names no accelerator with a profile that ships (A100, "));
}

TEST(NamedAccelerator, CountsWhatStandsBeforeIt) {
  const auto count_in = [](const std::string& text) {
    return std::get<NamedAccelerator>(named_accelerator(text)).count;
  };
  EXPECT_EQ(count_in("16 x DGX H100 (Eos)"), 16);
  EXPECT_EQ(count_in("32 V100 (4 servers of 8)"), 32);
  EXPECT_EQ(count_in("with 8x NVIDIA B200"), 8);
  EXPECT_EQ(count_in("on V100"), std::nullopt);
}

TEST(NamedModel, IsFoundHoweverItIsSpelt) {
  EXPECT_EQ(model_in("resnet50, synthetic images"), "ResNet 50");
  EXPECT_EQ(model_in("InceptionV3; 8 GPUs"), "Inception V3");
  EXPECT_EQ(model_in("VGG16"), "VGG 16");
  EXPECT_EQ(model_in("minGPT-175B"), "minGPT 175B");
  EXPECT_EQ(model_in("Deep Speech 2 on CMU-ARCTIC"), "Deep Speech 2");
  // Said more exactly behind.
  EXPECT_EQ(model_in("ResNet-18 (batch 32); ResNet-18 CIFAR-10"), "ResNet 18 CIFAR 10");
}

TEST(NamedModel, OfAnotherNameIsNone) {
  for (const char* text : {"VGG-13", "ResNet-1001", "BERT-tiny", "MobileNet", "OPT-66B"}) {
    EXPECT_EQ(model_in(text), "") << text;
  }
}

TEST(NetworkRate, IsInBits) {
  const auto rate_in = [](const char* text) {
    return network_rate(text).value_or(BytesPerSecond(0.0)).count();
  };
  EXPECT_EQ(rate_in("50 Gb/s Ethernet (TCP)"), 6.25e9);
  EXPECT_EQ(rate_in("network: 10GbE with TCP/IP"), 1.25e9);
  EXPECT_EQ(rate_in("100GbIB with RDMA"), 12.5e9);
  EXPECT_EQ(rate_in("RoCE-capable 25 Gbit/s"), 3.125e9);
  EXPECT_EQ(rate_in("a 2Tb/s RoCE network"), 2.5e11);
  EXPECT_EQ(rate_in("100Gbps"), 12.5e9);
  EXPECT_EQ(rate_in("4 x T4 16 GB a node, Ethernet of 3 GB/s"), 3e9);
  EXPECT_EQ(rate_in("NVLink 900 GB/s, 32 GB"), 0.0);
}

TEST(SaidBatch, TellsWhoseItIs) {
  EXPECT_EQ(said_batch("GPUs a node: 2+2; 40 samples a GPU").of_each, 40.0);
  EXPECT_EQ(said_batch("batch 64k a GPU").of_each, 64'000.0);
  EXPECT_EQ(said_batch("per-GPU batch size 32").of_each, 32.0);
  EXPECT_EQ(said_batch("global batch of 65,536").of_all, 65'536.0);
  EXPECT_EQ(said_batch("LM (batch size 80)").plain, 80.0);
  EXPECT_EQ(said_batch("batch " + std::string(400, '9') + " a GPU").of_each, 1e9);
  EXPECT_EQ(said_batch("micro-batch 4").plain, std::nullopt);
  EXPECT_EQ(said_batch("217 images/s on a T4, 3 cores a GPU").of_each, std::nullopt);
}

TEST(SaidPrecision, IsOneOfTheFields) {
  EXPECT_EQ(said_precision("FP16 training"), "fp16");
  EXPECT_EQ(said_precision("mixed precision"), "fp16");
  EXPECT_EQ(said_precision("in TF32"), "tf32");
  EXPECT_EQ(said_precision("GPT-Neo 2.7B"), std::nullopt);
}

}  // namespace
}  // namespace headway
