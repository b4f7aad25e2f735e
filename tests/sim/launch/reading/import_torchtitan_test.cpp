// Jobs of torchtitan, and scripts that start it, as scenarios.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/launch/launch_files.h"
#include "sim/launch/reading/toml_settings.h"
#include "sim/launch/reading/torchtitan_settings.h"
#include "tests/sim/launch/reading/imported_job.h"
#include "tests/support/file_content.h"

namespace headway {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kLlama = "[model]\nname = \"llama3\"\nflavor = \"8B\"\n";

Imported torchtitan_job(const std::string& text, int nodes = 2) {
  return imported_text("torchtitan", text,
                       {.topology = "dgx_h100_superpod", .profile = "h100_sxm", .nodes = nodes});
}

/// A strategy of tables behind the model's.
json torchtitan_strategy(const std::string& tables, int nodes = 2) {
  const Imported job = torchtitan_job(kLlama + tables, nodes);
  EXPECT_THAT(job.told, Not(HasSubstr("error: "))) << job.told;
  return job.scenario.is_null() ? json::object() : job.scenario.at("strategy");
}

TEST(ImportTorchtitan, ReadsWhatTheJobIs) {
  const Imported job =
      torchtitan_job(std::string(kLlama) +
                     "[optimizer]\nname = \"AdamW\"\nlr = 3e-4\n"
                     "[training]\nlocal_batch_size = 2\nseq_len = 4096\n"
                     "steps = 1_000\n"
                     "[parallelism]\ntensor_parallel_degree = 4\n"
                     "[activation_checkpoint]\nmode = \"full\"\n"
                     "[compile]\nenable = true\ncomponents = [\"model\", \"loss\"]\n"
                     "[checkpoint]\nenable = false\n");
  EXPECT_EQ(job.told, "");
  EXPECT_EQ(job.scenario.at("model"), "llama3_8b");
  EXPECT_EQ(job.scenario.at("cluster"), json({{"topology", "dgx_h100_superpod"}, {"nodes", 2}}));
  const json expected = {{"preset", "torchtitan"}, {"tensor_parallel", 4}, {"micro_batch", 2},
                         {"global_batch", 8},      {"precision", "bf16"},  {"recompute", "full"},
                         {"sequence_length", 4096}};
  EXPECT_EQ(job.scenario.at("strategy"), expected);
}

TEST(ImportTorchtitan, DoesUnaskedWhatItDoes) {
  const json said = torchtitan_strategy("[training]\n");
  EXPECT_EQ(said.at("micro_batch"), 8);
  EXPECT_EQ(said.at("global_batch"), 128);
  EXPECT_EQ(said.at("sequence_length"), 2048);
  EXPECT_EQ(said.at("preset"), "torchtitan-eager");
  // Every second of 32 layers.
  EXPECT_EQ(said.at("recompute"), "full");
  EXPECT_EQ(said.at("recompute_layers"), 16);
}

TEST(ImportTorchtitan, ReadsOlderReleases) {
  const json said = torchtitan_strategy(
      "[training]\nbatch_size = 1\nseq_len = 8192\ncompile = true\n"
      "data_parallel_shard_degree = -1\ntensor_parallel_degree = 2\n"
      "[experimental]\ncontext_parallel_degree = 2\n"
      "[activation_checkpoint]\nmode = 'selective'\nselective_ac_option = 'op'\n"
      "[float8]\nenable_float8_linear = true\n");
  const json expected = {{"preset", "torchtitan"},
                         {"tensor_parallel", 2},
                         {"context_parallel", 2},
                         {"micro_batch", 1},
                         {"global_batch", 4},
                         {"precision", "fp8_current"},
                         {"quantised_parameter_gathers", false},
                         {"recompute", "every_second_product"}};
  EXPECT_EQ(said, expected);
  EXPECT_EQ(torchtitan_strategy("[training]\ndata_parallel_degree = -1\n").at("global_batch"), 128);
}

TEST(ImportTorchtitan, ReadsDegrees) {
  const json hybrid = torchtitan_strategy(
      "[parallelism]\ndata_parallel_replicate_degree = 2\ndata_parallel_shard_degree = 8\n");
  EXPECT_EQ(hybrid.at("shard_group"), 8);
  EXPECT_FALSE(hybrid.contains("zero_stage"));  // the preset's
  const json replicated = torchtitan_strategy(
      "[parallelism]\ndata_parallel_replicate_degree = 16\ndata_parallel_shard_degree = 1\n");
  EXPECT_EQ(replicated.at("zero_stage"), 0);
  EXPECT_THAT(
      torchtitan_job(std::string(kLlama) + "[parallelism]\ndata_parallel_shard_degree = 8\n").told,
      HasSubstr("parallelism.data_parallel_shard_degree: 16 ranks are not 8 x 1 replicas "
                "of 1\n  --> "));
  EXPECT_THAT(torchtitan_job(std::string(kLlama) + "[parallelism]\ntensor_parallel_degree = 8\n"
                                                   "data_parallel_replicate_degree = 3\n")
                  .told,
              HasSubstr("16 ranks are no multiple of 3 replicas of 8"));
  // Degrees that leave nothing open say how large the job is.
  const Imported job =
      imported_text("torchtitan", std::string(kLlama) +
                                      "[parallelism]\ndata_parallel_shard_degree = 8\n"
                                      "tensor_parallel_degree = 4\n");
  EXPECT_EQ(job.scenario.at("cluster").at("nodes"), 4) << job.told;
  EXPECT_THAT(imported_text("torchtitan", kLlama).told,
              HasSubstr("how many nodes the job runs on is not in the file"));
}

TEST(ImportTorchtitan, ReadsPipelines) {
  const auto pipeline = [](const std::string& more) {
    return torchtitan_strategy(
        "[training]\nlocal_batch_size = 16\n[activation_checkpoint]\nmode = \"none\"\n"
        "[parallelism]\npipeline_parallel_degree = 4\n" +
        more);
  };
  const json plain = pipeline("");
  EXPECT_EQ(plain.at("micro_batch"), 1);
  EXPECT_EQ(plain.at("global_batch"), 64);
  EXPECT_EQ(plain.at("layer_placement"), "embedding_and_loss_as_layers");
  EXPECT_EQ(plain.at("reshard_after_forward"), false);
  EXPECT_FALSE(plain.contains("virtual_stages"));
  EXPECT_EQ(pipeline("pipeline_parallel_microbatch_size = 2\n").at("micro_batch"), 2);
  EXPECT_EQ(pipeline("pipeline_parallel_microbatches = 8\n").at("micro_batch"), 2);
  EXPECT_EQ(pipeline("pipeline_parallel_schedule = \"Interleaved1F1B\"\n").at("virtual_stages"), 2);
  EXPECT_EQ(pipeline("pipeline_parallel_schedule = \"interleaved_1f1b\"\n"
                     "pipeline_parallel_layers_per_stage = 3\n")
                .at("virtual_stages"),
            3);
  EXPECT_EQ(pipeline("pipeline_parallel_schedule = \"LoopedBFS\"\n").at("schedule"),
            "breadth_first");
  EXPECT_EQ(pipeline("pipeline_parallel_schedule = \"ZBVZeroBubble\"\n").at("schedule"), "zb_v");
  EXPECT_EQ(pipeline("pipeline_parallel_split_points = \"layers.7,layers.16, layers.25\"\n")
                .at("layers_per_stage"),
            json({7, 9, 9, 7}));
  const auto told = [](const std::string& more) {
    return torchtitan_job(std::string(kLlama) +
                          "[training]\nlocal_batch_size = 16\n"
                          "[parallelism]\npipeline_parallel_degree = 4\n" +
                          more)
        .told;
  };
  EXPECT_THAT(told("pipeline_parallel_schedule = \"DualPipeV\"\n"),
              HasSubstr("DualPipeV is not modelled; ZBVZeroBubble is predicted"));
  EXPECT_THAT(told("pipeline_parallel_schedule = \"Mine\"\n"),
              HasSubstr("error: parallelism.pipeline_parallel_schedule: \"Mine\" is not modelled"));
  EXPECT_THAT(told("pipeline_parallel_layers_per_stage = 5\n"),
              HasSubstr("makes 7 parts of 32 layers, which 4 stages do not share evenly"));
  EXPECT_THAT(told("pipeline_parallel_layers_per_stage = 3\n"),
              HasSubstr("3 parts of the model on each stage are not for 1F1B"));
  EXPECT_THAT(told("pipeline_parallel_split_points = \"layers.7,norm\"\n"),
              HasSubstr("\"layers.7,norm\" splits no 32 layers"));
}

TEST(ImportTorchtitan, OverlapsWhatIsCompiled) {
  const std::string asynchronous =
      "[parallelism]\nenable_async_tensor_parallel = true\nexpert_parallel_degree = 1\n";
  const std::string compiled = asynchronous + "tensor_parallel_degree = 2\n[compile]\nenable = ";
  EXPECT_FALSE(torchtitan_strategy(asynchronous).contains("tensor_parallel_overlap"));
  EXPECT_FALSE(torchtitan_strategy(compiled + "false\n").contains("tensor_parallel_overlap"));
  EXPECT_EQ(torchtitan_strategy(compiled + "true\n").at("tensor_parallel_overlap"), true);
  // Of a model that is not compiled the loss may be.
  EXPECT_EQ(torchtitan_strategy("[compile]\nenable = true\ncomponents = [\"loss\"]\n").at("preset"),
            "torchtitan-eager");
}

TEST(ImportTorchtitan, ReadsConverters) {
  const auto said = [](const std::string& converters, const std::string& more = "") {
    return torchtitan_job("[model]\nname = \"llama3\"\nflavor = \"8B\"\nconverters = " +
                          converters + "\n[compile]\nenable = true\n" + more)
        .scenario.at("strategy");
  };
  EXPECT_EQ(said("[\"quantize.linear.float8\"]").at("precision"), "fp8_current");
  EXPECT_EQ(said("\"float8\"", "[float8]\nrecipe_name = \"rowwise\"\n").at("precision"),
            "fp8_rowwise");
  EXPECT_EQ(said("[\"quantize.linear.mx\"]").at("precision"), "mxfp8");
  EXPECT_THAT(said("[\"quantize.linear.float8\"]",
                   "[quantize.linear.float8]\nenable_fsdp_float8_all_gather = true\n")
                  .value("quantised_parameter_gathers", true),
              true);
}

TEST(ImportTorchtitan, SaysWhatItDoesNotRead) {
  const Imported job = torchtitan_job(
      "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nenable_cpu_offload = true\n"
      "[activation_checkpoint]\nmode = \"memory_budget\"\n[my_own]\nswitch = \"on\"\n"
      "off = false\n");
  EXPECT_FALSE(job.scenario.is_null());
  EXPECT_THAT(job.told, HasSubstr("warning: not read: training.enable_cpu_offload = true\n  --> "));
  EXPECT_THAT(job.told, HasSubstr("job.txt:5:1\n"));
  EXPECT_THAT(job.told, HasSubstr("not read: activation_checkpoint.mode = memory_budget"));
  EXPECT_THAT(job.told, HasSubstr("not read: my_own.switch = on"));
  EXPECT_THAT(job.told, Not(HasSubstr("my_own.off")));
}

TEST(ImportTorchtitan, SaysWhichModelsItKnows) {
  const std::string told = torchtitan_job("[model]\nname = \"llama3\"\nflavor = \"1B\"\n").told;
  EXPECT_THAT(told, HasSubstr("the model \"llama3\" of flavor \"1B\" is not in the library, which "
                              "has 8B, 70B, 405B of llama3\n  --> "));
  EXPECT_THAT(told, HasSubstr("job.txt:3:1"));
  EXPECT_THAT(told, HasSubstr("say it: --model NAME"));
  const Imported other = imported_text("torchtitan", "[model]\nflavor = \"1B\"\n[training]\n",
                                       {.model = "llama2_7b", .nodes = 1});
  EXPECT_EQ(other.scenario.at("model"), "llama2_7b");
  // Its models predict one token.
  const Imported mixture = torchtitan_job(
      "[model]\nname = \"deepseek_v3\"\nflavor = \"671B\"\n[training]\nlocal_batch_size = 1\n"
      "[parallelism]\nexpert_parallel_degree = 64\n",
      64);
  EXPECT_EQ(mixture.scenario.at("model").at("layers"), 61) << mixture.told;
  EXPECT_FALSE(mixture.scenario.at("model").contains("multi_token_prediction_layers"));
}

TEST(ImportTorchtitan, EveryModelIsInTheLibrary) {
  for (const auto& [name, flavor] :
       std::vector<std::pair<std::string, std::string>>{{"llama2", "7B"},
                                                        {"llama2", "13B"},
                                                        {"llama2", "70B"},
                                                        {"llama3", "8B_flex"},
                                                        {"llama3", "70b"},
                                                        {"llama3", "405B"},
                                                        {"llama4", "17bx16e"},
                                                        {"llama4", "17bx128e"},
                                                        {"deepseek_v3", "236B"},
                                                        {"deepseek_v3", "671B"},
                                                        {"qwen3", "30B-A3B"},
                                                        {"qwen3", "235B-A22B"},
                                                        {"gpt_oss", "20b"},
                                                        {"gpt_oss", "120b"}}) {
    const std::string model = torchtitan_model(name, flavor);
    EXPECT_NE(content_of(source_folder() + "/scenarios/models/" + model + ".json"), "") << model;
  }
  EXPECT_EQ(torchtitan_model("llama3", "debugmodel"), "");
}

TEST(ImportTorchtitan, ReadsScriptsWithWhatTheyOverride) {
  const ScratchFolder scratch;
  scratch.write("job.toml", std::string(kLlama) +
                                "[training]\nlocal_batch_size = 2\n[compile]\nenable = true\n");
  const std::string script =
      scratch.write("run.sh",
                    "NGPU=${NGPU:-\"8\"}\nCONFIG_FILE=${CONFIG_FILE:-\"./job.toml\"}\n"
                    "torchrun --nnodes 4 --nproc_per_node=${NGPU} -m torchtitan.train \\\n"
                    "  --job.config_file ${CONFIG_FILE} --training.local-batch-size=4 \\\n"
                    "  --parallelism.tensor_parallel_degree 2 --compile.no-enable \"$@\"\n");
  const json job = imported_from("torchtitan", script, {}).scenario;
  EXPECT_EQ(job.at("cluster").at("nodes"), 4);
  EXPECT_EQ(job.at("strategy").at("micro_batch"), 4);
  EXPECT_EQ(job.at("strategy").at("tensor_parallel"), 2);
  EXPECT_EQ(job.at("strategy").at("preset"), "torchtitan-eager");
  // What a shell tells that says what it does (set -x), in the log of the run.
  const std::string log = scratch.write(
      "run.log",
      "+ torchrun --nnodes 2 --nproc_per_node=8 -m torchtitan.train --job.config_file ./job.toml "
      "--training.local_batch_size 3\n[rank0]: INFO - Starting job: it's a small one\n");
  EXPECT_EQ(imported_from("torchtitan", log, {}).scenario.at("strategy").at("global_batch"), 48);
  // run_train.sh of torchtitan is told by variables.
  const std::string line = scratch.write(
      "line.sh", "NGPU=8 CONFIG_FILE=job.toml ./run_train.sh --training.seq_len 4096\n");
  const json alone = imported_from("torchtitan", line, {}).scenario;
  EXPECT_EQ(alone.at("cluster").at("nodes"), 1);
  EXPECT_EQ(alone.at("strategy").at("sequence_length"), 4096);
  EXPECT_THAT(
      imported_text("torchtitan", "torchrun -m torchtitan.train --job.config_file none.toml\n")
          .told,
      HasSubstr("the configuration \"none.toml\" is neither beside the script nor where it says"));
  EXPECT_THAT(imported_text("torchtitan", "echo hello\n").told,
              HasSubstr("there are no settings of a job of torchtitan in this"));
}

TEST(ImportTorchtitan, SaysWhereTomlBreaks) {
  const std::string told = torchtitan_job("[model]\nname = \"llama3\nflavor = 8\n").told;
  EXPECT_THAT(told, HasSubstr("error: this is no TOML: "));
  EXPECT_THAT(told, HasSubstr("job.txt:2:"));
}

TEST(Toml, IsReadAsSettings) {
  Diagnostics diagnostics;
  const GivenSettings settings = settings_of_toml(
      "a.toml", "[a.b]\nc = 1_000\nd = [\"x\", 2]\ne = { f = 1e-8 }\n", 10, diagnostics);
  EXPECT_EQ(settings.value("a.b.c"), "1000");
  EXPECT_THAT(settings.find("a.b.d")->values, ElementsAre("x", "2"));
  EXPECT_EQ(settings.number("a.b.e.f"), 1e-8);
  EXPECT_EQ(settings.find("a.b.c")->place.line, 12);
  EXPECT_FALSE(diagnostics.has_errors());
}

/// Fields that the script of a job says, and that torchtitan does unasked, as they were.
TEST(ImportTorchtitan, ReadsBackWhatLaunchFilesSay) {
  const std::vector<std::vector<Override>> jobs = {
      {},
      {{"/strategy/tensor_parallel", "4"}, {"/strategy/recompute", "full"}},
      {{"/strategy/shard_group", "16"}, {"/strategy/reshard_after_forward", "false"}},
      {{"/strategy/context_parallel", "2"}, {"/strategy/sequence_length", "16384"}},
      {{"/strategy/precision", "fp8_rowwise"}},
      {{"/strategy/precision", "fp8_current"}, {"/strategy/quantised_parameter_gathers", "false"}},
      {{"/strategy/precision", "fp8_current"}, {"/strategy/tensor_parallel", "2"}},
      {{"/strategy/recompute", "every_second_product"}},
      {{"/strategy/zero_stage", "0"}, {"/strategy/tensor_parallel", "1"}},
      {{"/strategy/preset", "torchtitan-eager"}, {"/strategy/tensor_parallel", "2"}},
      {{"/strategy/pipeline_parallel", "2"}},
      {{"/strategy/pipeline_parallel", "4"},
       {"/strategy/virtual_stages", "4"},
       {"/strategy/micro_batch", "2"}},
      {{"/strategy/pipeline_parallel", "2"},
       {"/strategy/schedule", "zb_v"},
       {"/strategy/virtual_stages", "2"},
       {"/strategy/layer_placement", "embedding_and_loss_as_layers"}},
      {{"/strategy/pipeline_parallel", "2"}, {"/strategy/schedule", "gpipe"}},
  };
  for (std::vector<Override> overrides : jobs) {
    for (const Override& override : std::vector<Override>(overrides)) {
      if (override.pointer != "/strategy/pipeline_parallel") continue;
      overrides.push_back({"/strategy/reshard_after_forward", "false"});
    }
    if (overrides.empty() || overrides.front().pointer != "/strategy/preset") {
      overrides.push_back({"/strategy/preset", "torchtitan"});
    }
    const JsonValue before = shipped_scenario("llama3_8b_64", overrides);
    const LaunchFile script = launch_script(before, LaunchFramework::torchtitan);
    const ImportRequest request{.topology = "dgx_h100_superpod",
                                .profile = "h100_sxm",
                                .preset = before->at("strategy").at("preset"),
                                .model = "llama3_8b"};
    const Imported job = imported_text("torchtitan", script.text, request);
    ASSERT_FALSE(job.scenario.is_null()) << job.told << script.text;
    EXPECT_EQ(job.told, "") << script.text;
    const json after = scenario_of(job.scenario).resolved->at("strategy");
    for (const std::string& field : said_fields(before, LaunchFramework::torchtitan)) {
      EXPECT_EQ(after.value(field, json()), before->at("strategy").at(field)) << field << "\n"
                                                                              << script.text;
    }
  }
}

}  // namespace
}  // namespace headway
