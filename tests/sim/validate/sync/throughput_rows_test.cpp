// Rows that publish throughput over accelerators: what is made of them, and what they lack.
#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "sim/files/json_document.h"
#include "sim/validate/sync/sync_kind.h"

namespace headway {
namespace {

std::vector<SyncRow> throughput_rows(const std::vector<nlohmann::json>& list) {
  const nlohmann::json rows = list;
  Diagnostics diagnostics;
  const auto document = JsonDocument::parse("rows.json", rows.dump(), diagnostics);
  auto read = read_sync_rows(JsonCursor(document), diagnostics);
  EXPECT_EQ(diagnostics.all().size(), 0U);
  return read;
}

SyncOutcome outcome_of(const std::vector<SyncRow>& rows, std::size_t index) {
  const SyncKind* const kind = sync_kind_of(rows[index]);
  if (kind == nullptr) return refused("of no kind");
  return kind->predict({.row = rows[index], .known = rows});
}

nlohmann::json way_row(const std::string& how, const std::string& network = "10GbE with TCP/IP") {
  return {{"id", how},
          {"source", "a survey"},
          {"hardware", "4 GPUs per node, RTX 2080 Ti; network: " + network},
          {"model", "ResNet-50"},
          {"conditions", "BS = 64 (per GPU); " + how},
          {"value", {{"1", {{"mean", 250.0}}}, {"8", {{"mean", 1500.0}}}}}};
}

double rate_of_way(const std::string& how, const std::string& network = "10GbE with TCP/IP") {
  const SyncOutcome outcome = outcome_of(throughput_rows({way_row(how, network)}), 0);
  EXPECT_EQ(outcome.refused, "") << how;
  return outcome.refused.empty() ? outcome.values.front().predicted : 0.0;
}

// 64 images take an accelerator 256 ms, and 25,557,032 gradients of 4 bytes cross either NIC once
// at least, in 81.8 ms at 10 Gb/s: 8 accelerators reach 1,516 images a second at most where nothing
// is hidden, and 2,000 where all of it is.
TEST(GradientWays, BehindTheBackwardPassAllOfTheExchangeIsSeen) {
  const double behind = rate_of_way("all-reduce after the whole backward pass");
  EXPECT_LT(behind, 1516.0);
  const double beside = rate_of_way("wait-free back-propagation, one all-reduce per tensor");
  EXPECT_GT(beside, behind);
  EXPECT_LT(beside, 2000.0);
  EXPECT_GE(rate_of_way("merged-gradient wait-free back-propagation"), beside);
  EXPECT_GT(rate_of_way("all-reduce after the whole backward pass", "100GbIB with RDMA"), behind);
}

TEST(GradientWays, GoByServersToo) {
  const double behind = rate_of_way("BytePS parameter server, fusion threshold 536870912 bytes");
  EXPECT_LT(behind, 1516.0);
  EXPECT_GT(rate_of_way("BytePS parameter server, fusion threshold 0"), behind);
}

// What servers would add up is cut into 25 parts of 4,096,000 bytes on one machine, too, each with
// an overhead of its own.
TEST(GradientWays, HaveTheirPartsOnOneMachineToo) {
  const auto rate = [](const std::string& how) {
    nlohmann::json row = way_row(how);
    row["value"] = {{"1", {{"mean", 250.0}}}, {"4", {{"mean", 900.0}}}};
    const SyncOutcome outcome = outcome_of(throughput_rows({row}), 0);
    EXPECT_EQ(outcome.refused, "") << how;
    return outcome.refused.empty() ? outcome.values.front().predicted : 0.0;
  };
  const double whole = rate("all-reduce after the whole backward pass");
  const double in_parts = rate("BytePS parameter server, fusion threshold 536870912 bytes");
  EXPECT_LT(in_parts, whole);
  EXPECT_GT(in_parts, 0.98 * whole);
}

TEST(GradientWays, SayWhatARowLacks) {
  const auto why = [](nlohmann::json row) {
    return outcome_of(throughput_rows({std::move(row)}), 0).refused;
  };
  EXPECT_EQ(why(way_row("ByteScheduler on Horovod all-reduce")),
            "its scheduler of messages (ByteScheduler, by priority) is not described");
  EXPECT_EQ(why(way_row("all-reduce after the whole backward pass", "a fast one")),
            "the row does not say batch, GPUs per node and network");
  nlohmann::json without_one = way_row("all-reduce after the whole backward pass");
  without_one["value"].erase("1");
  EXPECT_EQ(why(without_one), "the row does not tell what one accelerator reaches");
}

// What a model is trained on stands behind it, and tells which of its name it is.
TEST(GenerationRows, NameTheirModelInTwoPlaces) {
  const auto row = [](const std::string& model) {
    return nlohmann::json{
        {"id", model},
        {"kind", "hetero_measured"},
        {"source", "a scheduler"},
        {"set-up", model + " (batch size 64), PyTorch DDP, 1 worker(s); Transformer "
                           "Multi30k, ResNet-18 CIFAR-10"},
        {"value", {{"v100", 10.0}, {"p100", 5.0}}}};
  };
  const SyncOutcome outcome = outcome_of(throughput_rows({row("Transformer")}), 0);
  EXPECT_EQ(outcome.refused, "");
  ASSERT_EQ(outcome.values.size(), 2U);
  EXPECT_GT(outcome.values[1].predicted, outcome.values[0].predicted);  // in alphabetical order
  EXPECT_TRUE(outcome_of(throughput_rows({row("CycleGAN")}), 0)
                  .refused.starts_with("it names no model of the table"));
}

nlohmann::json served_row(int accelerators, double rate, const std::string& data = "synthetic") {
  return {{"id", data + std::to_string(accelerators)},
          {"source", "a report"},
          {"hardware", "Piz Daint, 1 Tesla P100 per node"},
          {"model", "InceptionV3"},
          {"conditions",
           "parameter servers: 1, co-located with workers; " + data + " data; batch 64 per GPU"},
          {"gpus", accelerators},
          {"unit", "Img/s"},
          {"value", rate}};
}

// One accelerator is as published; two, one of them with a server, are no faster than two of it.
TEST(ServedImages, ScaleFromOneAccelerator) {
  const auto rows =
      throughput_rows({served_row(1, 140.0), served_row(2, 270.0), served_row(2, 260.0, "real")});
  const SyncOutcome one = outcome_of(rows, 0);
  EXPECT_TRUE(one.calibrates);
  EXPECT_NEAR(one.values.front().predicted, 140.0, 0.2);
  const SyncOutcome two = outcome_of(rows, 1);
  ASSERT_EQ(two.refused, "");
  EXPECT_GT(two.values.front().predicted, 200.0);
  EXPECT_LE(two.values.front().predicted, 280.0);
  EXPECT_EQ(outcome_of(rows, 2).refused, "no row of its source tells what one accelerator reaches");
}

nlohmann::json compressed_row(const std::string& id, const std::string& how) {
  return {{"id", id},
          {"kind", "compression"},
          {"source", "same"},
          {"set-up", "BERT-Large, V100, 16 samples a GPU, 10 Gb Ethernet, 4 nodes x 4" + how},
          {"metric", "speed-up in the stage"},
          {"value", {3.0}}};
}

// An iperf rate of 1 Gb/s on 10 binds a ring to one connection. What compresses is never guessed.
TEST(CompressedRows, GoByTheMethodTheyName) {
  const auto speed_up = [](const std::string& id, const std::string& how) {
    const SyncOutcome outcome = outcome_of(throughput_rows({compressed_row(id, how)}), 0);
    EXPECT_EQ(outcome.refused, "") << id << how;
    return outcome.refused.empty() ? outcome.values.front().predicted : 0.0;
  };
  const double one_bit = speed_up("onebit-a", "");
  EXPECT_GT(one_bit, 1.0);
  EXPECT_LT(one_bit, 16.0);  // 1 bit for 16
  EXPECT_NE(speed_up("a", ", top-k 1 %"), one_bit);
  EXPECT_GT(speed_up("onebit-a", " whose iperf rate is 1 Gb/s"), one_bit);
  EXPECT_EQ(outcome_of(throughput_rows({compressed_row("a", "")}), 0).refused,
            "the row says neither 1-bit, nor \"top-k 1 %\", nor \"rank 4\"");
}

nlohmann::json submission(const std::string& accelerator, const std::vector<double>& medians) {
  nlohmann::json row = {{"id", accelerator},
                        {"benchmark", "ResNet-50 v1.5 ImageNet, MLPerf Training v3.0"},
                        {"number_of_nodes", "1"},
                        {"accelerators_per_node", "8"},
                        {"accelerator", accelerator},
                        {"interconnect", "NVLINK 4.0"},
                        {"host_networking", ""},
                        {"global_batch_size", 3200},
                        {"runs", nlohmann::json::array()}};
  for (const double median : medians) row["runs"].push_back({{"throughput_median", median}});
  return row;
}

TEST(MlperfSubmissions, CountByTheMedianOfTheirRuns) {
  const auto rows =
      throughput_rows({submission("NVIDIA H100-SXM-80GB", {5.0, 1.0, 3.0}),
                       submission("Habana Gaudi2", {1.0}), submission("NVIDIA L40", {})});
  const SyncOutcome outcome = outcome_of(rows, 0);
  ASSERT_EQ(outcome.refused, "");
  EXPECT_EQ(outcome.values.front().published, 3.0);
  EXPECT_GT(outcome.values.front().predicted, 8.0 * 1000.0);
  EXPECT_TRUE(outcome_of(rows, 1).refused.starts_with("it names no accelerator"));
  EXPECT_TRUE(rows[2].value->is_null());
}

// Half the batch has the same to exchange in half the time, and sockets take longer for it: what is
// predicted lies between what both may make of it. A batch that is said leaves nothing open.
TEST(OverlapRows, SayBetweenWhatItLiesWhereTheBatchIsNotSaid) {
  const auto row = [](const std::string& batch) {
    return nlohmann::json{{"id", "overlap" + batch},
                          {"kind", "ddp_overlap"},
                          {"source", "a paper"},
                          {"set-up", "ResNet-50 on 4 servers of 8 V100, 100 Gb/s, NCCL" + batch},
                          {"metric", "gained"},
                          {"value", {38.0}}};
  };
  const auto rows = throughput_rows({row(""), row(", batch 32 per GPU")});
  const SyncOutcome open = outcome_of(rows, 0);
  ASSERT_EQ(open.refused, "");
  ASSERT_EQ(open.assumed.size(), 2U);
  int least = 0;
  int most = 0;
  ASSERT_EQ(std::sscanf(open.assumed[1].c_str(), "ResNet 50: %d to %d %%", &least, &most), 2);
  EXPECT_LT(least, 100.0 * open.values.front().predicted);
  EXPECT_GT(most, 100.0 * open.values.front().predicted);
  const SyncOutcome said = outcome_of(rows, 1);
  ASSERT_EQ(said.refused, "");
  EXPECT_EQ(said.assumed.size(), 1U);
  EXPECT_EQ(said.values.front().predicted, open.values.front().predicted);
}

// Variance is that of the least batch, 100: 4,000 samples are 2,000. Steps go with 1 + 2,000 / B:
// 11 parts at 200, 21 at 100, 6 at 400. What the least batch says of its own noise does not count.
TEST(StatisticsRows, TakeTheNoiseOfTheSecondBatch) {
  const auto run = [](double steps, double noise) {
    return nlohmann::json{{"last_iteration", steps}, {"mid_noise_scale", noise}};
  };
  const nlohmann::json row = {
      {"id", "noise"},
      {"kind", "statistical_efficiency"},
      {"source", "a paper"},
      {"set-up", "a network"},
      {"metric", "iterations"},
      {"value", {{"100", run(1000, 1)}, {"200", run(550, 4000)}, {"400", run(290, 1e9)}}}};
  const SyncOutcome outcome = outcome_of(throughput_rows({row}), 0);
  ASSERT_EQ(outcome.refused, "");
  ASSERT_EQ(outcome.values.size(), 2U);
  EXPECT_EQ(outcome.values[0].published, 1000.0);
  EXPECT_NEAR(outcome.values[0].predicted, 1050.0, 1e-9);
  EXPECT_EQ(outcome.values[1].published, 290.0);
  EXPECT_NEAR(outcome.values[1].predicted, 300.0, 1e-9);
}

// Two servers whose network has a name and no rate have 400 Gb/s an accelerator; one that has no
// name is not guessed. Twice as many accelerators take less than twice as many images.
TEST(MlperfSubmissions, HaveTheUsualNetworkWhereItsRateIsNotSaid) {
  nlohmann::json one = submission("NVIDIA H100-SXM-80GB", {1.0});
  one["global_batch_size"] = 1600;
  nlohmann::json two = submission("NVIDIA H100-SXM-80GB", {1.0});
  two["number_of_nodes"] = "2";
  two["host_networking"] = "Infiniband, Ethernet";
  nlohmann::json unnamed = two;
  unnamed["host_networking"] = "Ethernet";
  const auto rows = throughput_rows({one, two, unnamed});
  const SyncOutcome both = outcome_of(rows, 1);
  ASSERT_EQ(both.refused, "");
  ASSERT_EQ(both.assumed.size(), 2U);
  EXPECT_EQ(both.assumed[1], "50 GB/s an accelerator between nodes, which is not said");
  const double alone = outcome_of(rows, 0).values.front().predicted;
  EXPECT_LT(both.values.front().predicted, 2.0 * alone);
  EXPECT_GT(both.values.front().predicted, 1.5 * alone);
  EXPECT_EQ(outcome_of(rows, 2).refused, "the row does not say the network of several nodes");
}

/// Images a second or scaling of "servers x accelerators" over a link of 25 Gbit/s.
nlohmann::json image_row(const std::string& id, const std::string& set_up, double value,
                         const std::string& metric) {
  return {{"id", id},         {"kind", "ddp_measured"}, {"source", "a paper"},
          {"set-up", set_up}, {"metric", metric},       {"value", value}};
}

// Sergeev and Del Balso 2018 (arXiv:1802.05799), figure 6: 512 P100 on 128 servers reach 90, 90 and
// 68 % of what as many alone would.
TEST(ScalingRows, KeepTheOrderOfNetworksWithMoreToExchange) {
  const auto scaling = [](const char* network, double published) {
    const SyncOutcome outcome =
        outcome_of(throughput_rows({image_row("horovod-x",
                                              std::string("128 servers x 4 P100, 512 GPUs, "
                                                          "25 Gbit/s; ") +
                                                  network,
                                              published, "scaling efficiency, %")}),
                   0);
    EXPECT_EQ(outcome.refused, "") << network;
    if (!outcome.refused.empty()) return 0.0;
    EXPECT_TRUE(outcome.values.front().is_share);
    EXPECT_NEAR(outcome.values.front().predicted, published / 100.0, 0.10) << network;
    return outcome.values.front().predicted;
  };
  const double inception = scaling("Inception V3", 90.0);
  const double vgg = scaling("VGG 16", 68.0);
  EXPECT_GT(inception, vgg);
}

TEST(ScalingRows, NeedServersAndALink) {
  const auto told = [](const std::string& set_up) {
    return outcome_of(throughput_rows({image_row("horovod-x", set_up, 90.0, "scaling, %")}), 0)
        .refused;
  };
  EXPECT_EQ(told("P100, 512 GPUs, 25 Gbit/s; Inception V3"),
            "the row does not say \"128 servers x 4\" and \"25 Gbit/s\"");
  EXPECT_EQ(told("128 servers x 4 P100, 25 Gbit/s; Inception V3"),
            "the row does not say \"8 GPUs\"");
  EXPECT_NE(told("128 servers, 512 GPUs, 25 Gbit/s; Inception V3"), "");
}

// Batches are told of all networks at once, or of one beside the rest.
TEST(ScalingRows, TakeTheBatchOfTheirNetwork) {
  const auto images = [](const char* batches) {
    const std::string set_up = std::string("P100; synthetic, batch ") + batches + "; AlexNet; ";
    const auto rows =
        throughput_rows({image_row("tfbench-alexnet-1", set_up + "1 GPUs", 2500.0, "images/s"),
                         image_row("tfbench-alexnet-4", set_up + "4 GPUs", 9000.0, "images/s")});
    const SyncOutcome outcome = outcome_of(rows, 1);
    EXPECT_EQ(outcome.refused, "") << batches;
    return !outcome.refused.empty() ? 0.0 : outcome.values.front().predicted;
  };
  const double of_all = images("64/64/32/512/32");
  EXPECT_GT(of_all, 2500.0);
  EXPECT_DOUBLE_EQ(images("64 (AlexNet 512)"), of_all);
  EXPECT_LT(images("64"), of_all);  // as many gradients for fewer images
}

}  // namespace
}  // namespace headway
