// The program from end to end on a machine that is not there: with devices that work, and with ones
// that do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/calibrate/cli/run_program.h"
#include "tests/calibrate/fake_cuda/law.h"

namespace headway {
namespace {

using ::testing::HasSubstr;

/// A calibration that is over in a second: one pass of what is asked for.
constexpr const char* kQuick = "--backend cuda --quick --passes 1 ";

/// Without the eight devices of the tests that run in this process.
constexpr const char* kAlone = "env -u FAKE_CUDA_DEVICES ";

class FakeCuda : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name = "gpu.json") const {
    return (folder_.path() / name).string();
  }
  [[nodiscard]] nlohmann::json profile() const { return nlohmann::json::parse(content(path())); }
  [[nodiscard]] std::string provenance(const std::string& key) const {
    return profile()["provenance"][key];
  }
  /// Whatever was measured, and however it ended: the points that were written give the profile.
  [[nodiscard]] Outcome calibrate(const std::string& environment,
                                  const std::string& arguments) const {
    const std::string points = path("points.json");
    Outcome outcome =
        run(kQuick + arguments + " --points " + points + " -o " + path(), kAlone + environment);
    if (std::filesystem::exists(points)) {
      const Outcome again = refit(points);
      EXPECT_EQ(again.out, content(path())) << again.err;
      EXPECT_EQ(again.code, provenance("verdict") == "aborted" ? 3 : 0) << again.err;
    }
    return outcome;
  }
  /// The environment of a machine with so many devices, of which processes see each other.
  [[nodiscard]] std::string all_of(int devices) const {
    return "FAKE_CUDA_DEVICES=" + std::to_string(devices) + " FAKE_CUDA_SHARED=" + path("shared");
  }
  /// `ranks` processes with a device each; `of_rank_1` is the environment of that one instead of
  /// the number of its device.
  [[nodiscard]] Outcome calibrate_together(int ranks, const std::string& arguments,
                                           const std::string& of_rank_1 = "") const {
    std::string line = "export MASTER_ADDR=localhost FAKE_CUDA_SHARED=" + path("shared") +
                       " WORLD_SIZE=" + std::to_string(ranks) +
                       " MASTER_PORT=" + std::to_string(30000 + getpid() % 20000) + "; ";
    for (int rank = ranks - 1; rank >= 0; --rank) {
      const std::string number = std::to_string(rank);
      const bool is_other = rank == 1 && !of_rank_1.empty();
      line += std::string(kAlone) + "RANK=" + number + " LOCAL_RANK=" + number + " " +
              (is_other ? of_rank_1 : "FAKE_CUDA_FIRST=" + number) + " " HEADWAY_CALIBRATE " " +
              kQuick + arguments + " -o " + path() +
              (rank == 0 ? "; code=$?; wait; exit $code" : " & ");
    }
    return run_line("(" + line + ")");
  }

  ScratchFolder folder_;
};

TEST_F(FakeCuda, OneDeviceGivesACompleteProfile) {
  const Outcome outcome = calibrate("", "");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(problems(path()), rendered(std::vector<Diagnostic>(), ""));
  const nlohmann::json all = profile();
  EXPECT_EQ(all["accelerator"], "h100-sxm");
  EXPECT_EQ(all["provenance"]["verdict"], "ok");
  EXPECT_EQ(all["provenance"]["results"], "17 kernels and 17 products agree with plain C++");
  for (const char* part : {"experts", "cuda_graphs"}) EXPECT_TRUE(all.contains(part)) << part;
  EXPECT_TRUE(all["kernel_families"].contains("fused"));
  EXPECT_EQ(all["device"]["peak_flops_per_s"]["bf16"]["value"], 989e12);  // the data sheet's
  EXPECT_NEAR(
      all["device"]["host_bandwidth_bytes_per_s"]["value"].get<double>() / fake_cuda::kHostRate,
      1.0, 0.01);
  EXPECT_NEAR(
      all["kernel_families"]["measured"]["launch_gap_s"]["value"].get<double>() / fake_cuda::kGap,
      1.0, 0.01);
  EXPECT_THAT(provenance("measured_fields"), HasSubstr("gemm_efficiency"));
  EXPECT_THAT(provenance("published_fields"), HasSubstr("experts"));
  // At first 1.1 times what lasts; both stand there.
  EXPECT_THAT(provenance("boost_and_sustained"), HasSubstr("at 1980 MHz and 690 W at first"));
  EXPECT_THAT(provenance("boost_and_sustained"), HasSubstr("at 1800 MHz and 690 W after 2 s"));
  EXPECT_THAT(provenance("clocks"), HasSubstr("1800 MHz"));  // after the boost of the first seconds
  // A minute without a pause costs another part of the clock, which predictions go by.
  EXPECT_NEAR(all["device"]["sustained_rate"]["value"], fake_cuda::kHot, 0.004);
  EXPECT_THAT(provenance("sustained"), HasSubstr("TFLOP/s 1710 MHz 690 W, 0.9"));
}

/// Block scales, gradients that are added up, experts, casts and the loss, by the law.
TEST_F(FakeCuda, ADeviceOfBlackwellIsMeasuredInWhatTrainingRunsOnIt) {
  const Outcome outcome =
      calibrate("FAKE_CUDA_NAME='NVIDIA B200'", "--only training --only memory");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(problems(path()), rendered(std::vector<Diagnostic>(), ""));
  const auto all = profile();
  EXPECT_EQ(all["accelerator"], "b200-sxm");
  EXPECT_EQ(provenance("results"), "17 kernels and 22 products agree with plain C++");
  const auto& device = all["device"];
  EXPECT_NEAR(device["rate_by_recipe"]["mxfp8"]["value"], fake_cuda::kBlockScaledRate, 0.01);
  EXPECT_NEAR(device["gradient_accumulation_bytes_per_weight"]["value"],
              fake_cuda::kAccumulationBytes, 0.3);
  EXPECT_THAT(provenance("own_kernels"),
              HasSubstr("casting an element to 8 bits with its transpose 4 B"));
  EXPECT_NEAR(all["kernel_families"]["measured"]["loss_traffic"]["value"], 4.0 / 18.0, 0.005);
  EXPECT_THAT(content(path()), HasSubstr("\"precision\":\"fp4\""));
  // The law is not of the formula's form: inner sizes of few rows cost each product its start.
  EXPECT_THAT(provenance("fit_residuals"), HasSubstr("experts formula: 18 points"));
  for (const char* field : {"experts.grouped_efficiency", "rate_by_recipe", "fp4 products"}) {
    EXPECT_THAT(provenance("measured_fields"), HasSubstr(field));
  }
  EXPECT_THAT(provenance("published_fields"), HasSubstr("experts.exchange_seen"));
}

TEST_F(FakeCuda, EightDevicesOfOneProcessMeasureCollectivesAndABlockAfterThem) {
  const Outcome outcome =
      calibrate("FAKE_CUDA_DEVICES=8", "--only all_reduce --block --single-process");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(problems(path()), rendered(std::vector<Diagnostic>(), ""));
  EXPECT_THAT(provenance("transformer_block"), HasSubstr("8 x 1024 positions"));
  EXPECT_THAT(provenance("processes"), HasSubstr("one, which drives all devices"));
  const auto published = profile()["scale_up"]["collectives"];
  int measured = 0;
  for (const auto& one : published) {
    measured += one["source"].get<std::string>().starts_with("measured") ? 1 : 0;
  }
  EXPECT_EQ(measured, 3);  // all-reduces of 2, 4 and 8; the others stay published
  EXPECT_EQ(published.size(), 9U);
}

TEST_F(FakeCuda, AProcessForEachOfTwoDevicesFindsTheTruthToo) {
  const Outcome outcome = calibrate_together(2, "--only all_reduce");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const auto& one : profile()["scale_up"]["collectives"]) {
    if (!one["source"].get<std::string>().starts_with("measured")) continue;
    for (const auto& point : one["points"]) {
      // Among two: two steps, and all of the message over each link once.
      const double bytes = point["message_bytes"];
      EXPECT_NEAR(point["time_s"].get<double>() / fake_cuda::collective_time(bytes, 1.0, 2.0), 1.0,
                  bytes >= 65536 ? 0.05 : 0.10)
          << bytes;
    }
  }
}

TEST_F(FakeCuda, SeveralDevicesGetAProcessEachThatAllReadTheInput) {
  const Outcome outcome =
      run_line("echo bf16 2048 3072 1024 | " + std::string(kAlone) + all_of(8) +
               " " HEADWAY_CALIBRATE " " + kQuick + "--only all_reduce --shapes - -o " + path());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(problems(path()), rendered(std::vector<Diagnostic>(), ""));
  EXPECT_EQ(provenance("verdict"), "ok");
  EXPECT_EQ(provenance("processes"), "8, one for each device");
  EXPECT_THAT(content(path()), HasSubstr("\"m\":2048,\"n\":3072,\"k\":1024"));
  // All devices computed at once: their differences were measured.
  EXPECT_THAT(profile()["variation"]["device_speed"]["source"].get<std::string>(),
              HasSubstr("measured: products on all devices at once"));
}

TEST_F(FakeCuda, ARankOfItsOwnThatIsLostEndsTheOthersWithWhatWasMeasured) {
  for (const char* fault : {"exit:60000@1", "ecc:60000@1", "kill:60000@1", "hang:60000@1"}) {
    const Outcome outcome = calibrate(all_of(2) + " FAKE_CUDA_FAULT=" + fault, "--only all_reduce");
    EXPECT_NE(outcome.code, 0) << fault << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("rank 1 is gone")) << fault;
    EXPECT_EQ(provenance("verdict"), "aborted") << fault;
  }
}

TEST_F(FakeCuda, ARankThatIsLostEndsTheOthersWithWhatWasMeasured) {
  const Outcome outcome =
      calibrate_together(2, "--only all_reduce", "FAKE_CUDA_FIRST=1 FAKE_CUDA_FAULT=exit:60000");
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_EQ(provenance("verdict"), "aborted");
  EXPECT_THAT(provenance("not_measured"), HasSubstr("(in part)"));
}

TEST_F(FakeCuda, TwoProcessesOnOneDeviceAreRefused) {
  const Outcome outcome = calibrate_together(2, "", "FAKE_CUDA_FIRST=0");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("ranks 0 and 1 have the same device"));
}

TEST_F(FakeCuda, ADeviceThatAnotherProgramUsesIsRefused) {
  const Outcome outcome = calibrate("FAKE_CUDA_OTHERS=1", "");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.err,
            "error: device 0 (0000:00:00.0) is in use by 1 other process, which would be measured "
            "too; `nvidia-smi` lists them, and CUDA_VISIBLE_DEVICES chooses other devices\n");
}

TEST_F(FakeCuda, SwitchesWithoutTheirManagerAreNamed) {
  const Outcome outcome = calibrate("FAKE_CUDA_FAULT=not_ready", "");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err,
              HasSubstr("system not yet initialized; devices behind NVLink switches wait"));
}

/// Copies that would go by the host's memory, and a neighbour that takes no second process.
TEST_F(FakeCuda, CopiesToANeighbourThatCannotBeReachedAreRefused) {
  for (const auto& [fault, reason] :
       {std::pair("no_peers", "device 0 does not reach the memory of device 1"),
        std::pair("taken", "device 1 takes no memory of this process")}) {
    const Outcome outcome = calibrate("FAKE_CUDA_DEVICES=2 FAKE_CUDA_FAULT=" + std::string(fault),
                                      "--only copies --single-process");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(provenance("refused"), HasSubstr(reason));
    EXPECT_EQ(provenance("verdict"), "ok");
  }
}

TEST_F(FakeCuda, WhatNcclSaysOfAFailureIsInTheMessage) {
  const Outcome outcome = calibrate("FAKE_CUDA_DEVICES=2 FAKE_CUDA_FAULT=no_shared_memory",
                                    "--only all_reduce --single-process");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("Error while creating shared memory segment"));
  EXPECT_EQ(provenance("verdict"), "aborted");
}

TEST_F(FakeCuda, ACudnnThatDoesNotStartRefusesAttentionAloneAndSaysWhy) {
  const Outcome outcome = calibrate("FAKE_CUDA_FAULT=no_cudnn", "--only attention --only launch");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(provenance("refused"), HasSubstr("libcudnn_graph.so.9 was not found (attention"));
  EXPECT_EQ(provenance("verdict"), "ok");
}

TEST_F(FakeCuda, NoDeviceIsSaidInOneLine) {
  const Outcome outcome = calibrate("FAKE_CUDA_DEVICES=0", "");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.err, "error: no CUDA device can be used: no CUDA-capable device is detected\n");
}

TEST_F(FakeCuda, APrecisionWithoutKernelsIsRowsWithTheReason) {
  const Outcome outcome = calibrate("FAKE_CUDA_FAULT=refuse_bf16", "--only launch");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(provenance("refused"),
              HasSubstr("cuBLASLt has no kernel: CUBLAS_STATUS_NOT_SUPPORTED"));
  EXPECT_THAT(provenance("refused"), HasSubstr("gemm bf16 nn"));
  EXPECT_EQ(provenance("verdict"), "ok");
}

TEST_F(FakeCuda, AShapeThatALibraryRefusesIsARowWithTheReason) {
  const std::string shapes = folder_.write("shapes", "fp8 4096 4096 1000\nbf16 4096 4096 1000\n");
  const Outcome outcome = calibrate("", "--only launch --shapes " + shapes);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr("refused: 3 points: cuBLASLt has no kernel: "
                        "CUBLAS_STATUS_NOT_SUPPORTED (gemm fp8 nn 4096 x 4096 x 1000"));
  EXPECT_THAT(content(path()),
              HasSubstr("\"precision\":\"bf16\",\"m\":4096,\"n\":4096,\"k\":1000"));
}

TEST_F(FakeCuda, ASliceOfADeviceIsNotTakenForTheWholeOne) {
  const Outcome outcome = calibrate(
      "FAKE_CUDA_MEMORY=5e9 FAKE_CUDA_NAME='NVIDIA H100 80GB HBM3 MIG 1g.5gb'", "--only memory");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(problems(path()), rendered(std::vector<Diagnostic>(), ""));
  EXPECT_EQ(profile()["accelerator"], "h100-80gb-hbm3-mig-1g.5gb");
  EXPECT_FALSE(profile()["provenance"].contains("published_fields"));
}

TEST_F(FakeCuda, ADeviceWithLittleMemoryRefusesWhatDoesNotFit) {
  const Outcome outcome = calibrate("FAKE_CUDA_MEMORY=2e9", "--only copies");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(provenance("refused"), HasSubstr("out of memory"));
}

TEST_F(FakeCuda, MemoryThatOthersTakeMeanwhileRefusesWhatComesAfterAndKeepsTheRest) {
  const Outcome outcome = calibrate("FAKE_CUDA_FAULT=no_memory:60000", "--only copies");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(problems(path()), rendered(std::vector<Diagnostic>(), ""));
  EXPECT_THAT(provenance("refused"), HasSubstr("out of memory"));
  EXPECT_FALSE(profile()["device"]["gemm_table"]["points"].empty());
}

TEST_F(FakeCuda, ADeviceThatComputesWronglyIsNotMeasured) {
  const Outcome outcome = calibrate("FAKE_CUDA_FAULT=wrong", "");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("the device or its libraries compute wrongly"));
  EXPECT_THAT(problems(path()), HasSubstr("there is no file"));
}

/// What ends a run in the middle, and the words for it.
struct Fault {
  const char* environment;
  const char* says;
};
class FakeCudaFault : public FakeCuda, public ::testing::WithParamInterface<Fault> {};

TEST_P(FakeCudaFault, EndsTheRunAndKeepsWhatWasMeasured) {
  const Outcome outcome = calibrate(GetParam().environment, "--only copies");
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().says));
  EXPECT_EQ(problems(path()), rendered(std::vector<Diagnostic>(), ""));
  EXPECT_EQ(provenance("verdict"), "aborted");
  EXPECT_THAT(provenance("not_measured"), HasSubstr("copies: not reached"));
}

INSTANTIATE_TEST_SUITE_P(
    All, FakeCudaFault,
    ::testing::Values(Fault{"FAKE_CUDA_FAULT=illegal_address:60000", "cudaErrorIllegalAddress"},
                      Fault{"FAKE_CUDA_FAULT=ecc:60000", "uncorrectable ECC error"},
                      Fault{"FAKE_CUDA_FAULT=hang:60000",
                            "an operation on the device did not end within 60 s"}));

TEST_F(FakeCuda, AGroupThatDoesNotConnectEndsAfterTheDeadline) {
  const Outcome outcome = calibrate("FAKE_CUDA_DEVICES=2 FAKE_CUDA_FAULT=no_connection",
                                    "--only all_reduce --single-process");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("setting up a collective did not end within 60 s"));
  EXPECT_EQ(provenance("verdict"), "aborted");
}

}  // namespace
}  // namespace headway
