#include "sim/plan/strategy_space.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/jobs/memory.h"
#include "sim/jobs/strategy.h"
#include "sim/plan/leaders.h"
#include "tests/support/scenario_text.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

Scenario read(const std::string& path, const std::vector<Override>& overrides = {}) {
  ScenarioOptions options;
  options.overrides = overrides;
  Diagnostics diagnostics;
  return read_scenario(path, options, diagnostics);
}

/// What the reader makes of a choice, if it takes it.
std::optional<Strategy> read_choice(const std::string& path, const StrategySpace& space,
                                    const StrategyChoice& choice) {
  try {
    return *read(path, {{"/strategy", space.fields(choice).dump()}}).strategy;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

void expect_same(const Scenario& scenario, const Strategy& made, const Strategy& wanted) {
  EXPECT_EQ(made.ranks(), wanted.ranks());
  EXPECT_EQ(made.sequence_parallel, wanted.sequence_parallel);
  EXPECT_EQ(made.overlap_pipeline_transfers, wanted.overlap_pipeline_transfers);
  EXPECT_EQ(made.overlap_parameter_gather, wanted.overlap_parameter_gather);
  EXPECT_EQ(made.shard_ranks(), wanted.shard_ranks());
  const auto memory = stage_memory(scenario.model, made);
  const auto expected = stage_memory(scenario.model, wanted);
  ASSERT_EQ(memory.size(), expected.size());
  for (std::size_t i = 0; i < memory.size(); ++i) {
    EXPECT_EQ(memory[i].total(), expected[i].total());
  }
}

std::set<StrategyChoice> choices_of(const StrategySpace& space) {
  std::set<StrategyChoice> choices;
  space.for_each([&](const StrategyChoice& choice) {
    EXPECT_TRUE(choices.insert(choice).second) << space.fields(choice).dump();
  });
  return choices;
}

/// Four accelerators, 16 heads, 8 layers, batch 16: of all combinations of these values the space
/// has exactly those that a scenario may have. (Without a pipeline it has one schedule only, and of
/// a single replica one sharding.)
TEST(StrategySpace, HasWhatTheReaderTakesAndNothingElse) {
  const ScratchFolder scratch;
  const std::string path = scratch.write("scenario.json", small_scenario(2).dump());
  const Scenario scenario = read(path);
  const StrategySpace space(scenario, {});
  const std::set<StrategyChoice> inside = choices_of(space);
  int taken = 0;
  for (const int tensor : {1, 2, 4}) {
    for (const int context : {1, 2, 4}) {
      for (const int pipeline : {1, 2, 4}) {
        if (4 % (tensor * context * pipeline) != 0) continue;
        for (const Schedule& schedule : schedules()) {
          for (const int chunks : {1, 2, 3, 8}) {
            for (const std::int64_t micro_batch : {1, 2, 3}) {
              for (const Sharding sharding :
                   {Sharding::none, Sharding::optimizer, Sharding::full}) {
                StrategyChoice choice{.tensor_parallel = tensor,
                                      .context_parallel = context,
                                      .pipeline_parallel = pipeline,
                                      .data_parallel = 4 / (tensor * context * pipeline),
                                      .virtual_stages = chunks,
                                      .schedule = &schedule,
                                      .sharding = sharding,
                                      .micro_batch = micro_batch};
                if (pipeline == 1 && choice.schedule != schedule_named("1f1b")) continue;
                const std::optional<Strategy> wanted = read_choice(path, space, choice);
                const bool is_of_others =
                    wanted && wanted->replicas() == 1 && sharding != scenario.strategy->sharding;
                ASSERT_EQ(inside.contains(choice), wanted && !is_of_others)
                    << space.fields(choice).dump();
                if (!wanted || is_of_others) continue;
                ++taken;
                expect_same(scenario, space.strategy(choice), *wanted);
              }
            }
          }
        }
      }
    }
  }
  EXPECT_GT(taken, 100);
}

TEST(StrategySpace, KeptFieldsStay) {
  const ScratchFolder scratch;
  const Scenario scenario = read(scratch.write("scenario.json", small_scenario(2).dump()));
  const StrategySpace space(scenario, {"tensor_parallel", "schedule", "micro_batch"});
  for (const StrategyChoice& choice : choices_of(space)) {
    EXPECT_EQ(choice.tensor_parallel, 2);
    EXPECT_EQ(choice.schedule, schedule_named("1f1b"));
    EXPECT_EQ(choice.micro_batch, 1);
  }
  EXPECT_GT(choices_of(space).size(), 4U);
}

/// Gradients that are let go make room for a whole batch at once where sequences are short: nothing
/// holds less than the least of those that are looked through for what fits.
TEST(StrategySpace, TheLeastMemoryIsAmongTheThriftyOnes) {
  const ScratchFolder scratch;
  nlohmann::json text = small_scenario(2);
  text["strategy"]["sequence_length"] = 8;
  text["strategy"]["global_batch"] = 8;
  text["strategy"]["pipeline_parallel"] = 1;
  for (const bool freed : {false, true}) {
    text["strategy"]["memory"]["freed_gradients"] = freed;
    const Scenario scenario = read(scratch.write("scenario.json", text.dump()));
    const StrategySpace space(
        scenario, {"pipeline_parallel", "tensor_parallel", "context_parallel", "zero_stage"});
    const auto least = [&](auto visit_all) {
      Bytes smallest(1e30);
      std::int64_t micro_batch = 0;
      visit_all([&](const StrategyChoice& choice) {
        const Bytes memory = stage_memory(scenario.model, space.strategy(choice)).front().total();
        if (memory < smallest) micro_batch = choice.micro_batch;
        smallest = std::min(smallest, memory);
      });
      return std::pair(smallest, micro_batch);
    };
    const auto all = least([&](const auto& visit) { space.for_each(visit); });
    EXPECT_EQ(least([&](const auto& visit) { space.for_each_thrifty(visit); }), all);
    EXPECT_EQ(all.second > 1, freed);
  }
}

/// Neither eight layers nor a batch of 16, 16 heads or a sequence of 1024 divide by eleven.
TEST(StrategySpace, ClustersOfOtherSizesMayHaveNone) {
  const ScratchFolder scratch;
  nlohmann::json text = small_scenario(2);
  const Scenario scenario = read(scratch.write("scenario.json", text.dump()));
  EXPECT_TRUE(
      choices_of(StrategySpace(scenario, {})).contains(StrategySpace(scenario, {}).any().value()));
  const std::optional<StrategyChoice> eight = StrategySpace(scenario, {}, 8).any();
  ASSERT_TRUE(eight.has_value());
  EXPECT_EQ(eight->tensor_parallel * eight->context_parallel * eight->pipeline_parallel *
                eight->data_parallel,
            8);
  EXPECT_FALSE(StrategySpace(scenario, {}, 22).any().has_value());
}

/// What a framework is asked for is what it has a setting for, by the table of its flags.
TEST(StrategySpace, OfAFrameworkHasOnlyWhatItCanBeTold) {
  const ScratchFolder scratch;
  const Scenario scenario = read(scratch.write("scenario.json", small_scenario(4).dump()));
  const std::set<std::string> searched(searched_fields().begin(), searched_fields().end());
  const std::set<StrategyChoice> all = choices_of(StrategySpace(scenario, {}));
  for (const auto& [word, framework] : kWords<LaunchFramework>) {
    const StrategySpace space(scenario, {}, {}, framework);
    const std::set<StrategyChoice> told = choices_of(space);
    EXPECT_FALSE(told.empty()) << word;
    EXPECT_LT(told.size(), all.size()) << word;
    for (const StrategyChoice& choice : told) {
      const bool is_torchtitans = choice.sharding == Sharding::full && choice.pipeline_parallel > 1;
      EXPECT_TRUE(all.contains(choice) ||
                  (framework == LaunchFramework::torchtitan && is_torchtitans))
          << word;
      JsonValue resolved = scenario.resolved;
      (*resolved)["strategy"] = space.fields(choice);
      for (const UnsaidField& field : flags_of(resolved, framework).unsaid) {
        EXPECT_FALSE(searched.contains(field.field)) << word << ": " << field.field << field.value;
      }
    }
  }
}

/// Megatron-LM exits where settings do not go together, even those that are not searched: what they
/// ask for is not planned with.
TEST(StrategySpace, OfMegatronAsksForNothingThatItExitsOn) {
  const ScratchFolder scratch;
  nlohmann::json text = small_scenario(4);
  text["model"]["mixture_of_experts"] = {
      {"experts", 4}, {"experts_per_token", 2}, {"expert_hidden", 512}};
  text["strategy"]["preset"] = "megatron";
  text["strategy"]["expert_parallel"] = 2;
  text["strategy"]["overlap_expert_exchange"] = true;
  text["strategy"]["overlap_pipeline_transfers"] = false;
  text["strategy"]["overlap_gradient_reduce"] = false;
  text["strategy"]["overlap_parameter_gather"] = true;
  text["strategy"]["zero_stage"] = 1;
  text["strategy"]["cuda_graph"] = "layer";
  text["strategy"]["offload_layers"] = 1;
  const Scenario scenario = read(scratch.write("scenario.json", text.dump()));
  const auto count = [&](std::optional<LaunchFramework> framework, auto is_counted) {
    const StrategySpace space(scenario, {}, {}, framework);
    int counted = 0;
    space.for_each([&](const StrategyChoice& choice) {
      if (is_counted(space.strategy(choice))) ++counted;
    });
    return counted;
  };
  using Condition = bool (*)(const Strategy& made);
  constexpr Condition kRefused[] = {
      [](const Strategy& made) { return made.overlap_parameter_gather; },
      [](const Strategy& made) {
        return made.overlap_expert_exchange && made.recompute == Recompute::full;
      },
      [](const Strategy& made) {
        return made.overlap_expert_exchange && made.pipeline_parallel > 1 &&
               made.virtual_stages == 1;
      },
      [](const Strategy& made) {
        return made.cuda_graph != CudaGraph::none && made.recompute == Recompute::full;
      },
      [](const Strategy& made) {
        return !made.overlap_pipeline_transfers && made.pipeline_parallel == 2 &&
               made.virtual_stages > 1;
      },
      [](const Strategy& made) { return made.offload_layers > 0; }};  // beside the graphs
  for (const Condition is_refused : kRefused) {
    EXPECT_GT(count({}, is_refused), 0);
    EXPECT_EQ(count(LaunchFramework::megatron, is_refused), 0);
  }
  EXPECT_GT(count(LaunchFramework::megatron,
                  [](const Strategy& made) { return made.overlap_expert_exchange; }),
            0);
}

/// Activations wait in host memory where there is no pipeline.
TEST(StrategySpace, OfMegatronOffloadsNoLayersOfStages) {
  const ScratchFolder scratch;
  nlohmann::json text = small_scenario(4);
  text["strategy"]["offload_layers"] = 2;
  const Scenario scenario = read(scratch.write("scenario.json", text.dump()));
  const StrategySpace space(scenario, {"recompute"}, {}, LaunchFramework::megatron);
  space.for_each([&](const StrategyChoice& choice) {
    EXPECT_EQ(space.strategy(choice).offload_layers, choice.pipeline_parallel == 1 ? 2 : 0);
  });
}

/// torchtitan exits on whole replicas beside other degrees, and on experts that shards do not hold.
/// What it has for layers of stages and of experts is full sharding.
TEST(StrategySpace, OfTorchtitanShardsWhateverIsSplit) {
  const ScratchFolder scratch;
  for (const bool has_experts : {false, true}) {
    nlohmann::json text = small_scenario(4);
    if (has_experts) {
      text["model"]["mixture_of_experts"] = {
          {"experts", 8}, {"experts_per_token", 2}, {"expert_hidden", 512}};
    }
    text["strategy"] = {{"preset", "torchtitan"}, {"micro_batch", 1}, {"global_batch", 16}};
    const std::string path = scratch.write("scenario.json", text.dump());
    const Scenario scenario = read(path);
    const StrategySpace space(scenario, {}, {}, LaunchFramework::torchtitan);
    std::set<int> experts;
    int stages = 0;
    int number = 0;
    space.for_each([&](const StrategyChoice& choice) {
      const Strategy made = space.strategy(choice);
      const bool splits_layers = made.tensor_parallel * made.pipeline_parallel > 1;
      if (made.sharding != Sharding::full) {
        EXPECT_EQ(choice.data_parallel, 8) << space.fields(choice).dump();
      }
      EXPECT_TRUE(!splits_layers || made.replicas() > 1);
      const int within = made.tensor_parallel * made.context_parallel;
      EXPECT_TRUE(made.expert_parallel == 1 || made.expert_parallel % within == 0);
      experts.insert(made.expert_parallel);
      if (made.pipeline_parallel > 1) ++stages;
      EXPECT_EQ(made.reshard_after_forward, made.pipeline_parallel == 1);
      if (number++ % 23 != 0) return;
      EXPECT_TRUE(read_choice(path, space, choice).has_value()) << space.fields(choice).dump();
      EXPECT_EQ(read(path, choice_overrides(space, choice)).resolved->at("strategy"),
                space.fields(choice));
    });
    EXPECT_GT(stages, 50);
    EXPECT_EQ(experts, has_experts ? std::set<int>({1, 2, 4, 8}) : std::set<int>({1}));
  }
}

TEST(StrategySpace, OfDeepSpeedHasShardsAndTensorsButNoPipelines) {
  const ScratchFolder scratch;
  const Scenario scenario = read(scratch.write("scenario.json", small_scenario(4).dump()));
  const StrategySpace space(scenario, {}, {}, LaunchFramework::deepspeed);
  std::set<int> tensors;
  std::set<Sharding> shardings;
  space.for_each([&](const StrategyChoice& choice) {
    EXPECT_EQ(choice.pipeline_parallel, 1);
    EXPECT_EQ(choice.context_parallel, 1);
    // Its automatic tensor parallelism splits no sequences, and its first stage gathers what the
    // optimizer made in the open.
    EXPECT_FALSE(space.strategy(choice).sequence_parallel);
    if (choice.sharding == Sharding::optimizer) {
      EXPECT_FALSE(space.strategy(choice).overlap_parameter_gather);
    }
    tensors.insert(choice.tensor_parallel);
    shardings.insert(choice.sharding);
  });
  EXPECT_TRUE(tensors.contains(2));
  EXPECT_EQ(shardings.size(), 3U);
}

/// What is printed for people to run gives the strategy that was judged.
TEST(StrategySpace, OverridesOfAChoiceReadBackAsTheChoice) {
  const ScratchFolder scratch;
  nlohmann::json text = small_scenario(2);
  text["strategy"]["recompute"] = "modules";
  text["strategy"]["recompute_modules"] = {"mlp"};
  const std::string path = scratch.write("scenario.json", text.dump());
  const Scenario scenario = read(path);
  const StrategySpace space(scenario, {});
  int number = 0;
  for (const StrategyChoice& choice : choices_of(space)) {
    if (number++ % 37 != 0) continue;
    const Scenario again = read(path, choice_overrides(space, choice));
    nlohmann::json fields = again.resolved->at("strategy");
    EXPECT_EQ(fields, space.fields(choice));
  }
  EXPECT_GT(number, 370);
}

/// Experts on one rank exchange nothing that could overlap; the search has them all the same.
TEST(StrategySpace, ExpertsThatStayTogetherOverlapNoExchange) {
  const ScratchFolder scratch;
  nlohmann::json text = small_scenario(2);
  text["model"]["mixture_of_experts"] = {
      {"experts", 4}, {"experts_per_token", 2}, {"expert_hidden", 512}};
  text["strategy"] = {{"preset", "megatron-bridge"}, {"micro_batch", 1}, {"global_batch", 16}};
  const Scenario scenario = read(scratch.write("scenario.json", text.dump()));
  EXPECT_FALSE(scenario.strategy->overlap_expert_exchange);  // one rank holds all of them
  const StrategySpace space(scenario, {});
  std::set<int> degrees;
  space.for_each([&](const StrategyChoice& choice) {
    degrees.insert(choice.expert_parallel);
    EXPECT_EQ(space.strategy(choice).overlap_expert_exchange, choice.expert_parallel > 1);
  });
  EXPECT_TRUE(degrees.contains(1));
  EXPECT_TRUE(degrees.contains(4));
}

/// A preset that shards nothing may say how sharded states would be gathered.
TEST(StrategySpace, ParametersAreGatheredAsThePresetSays) {
  const ScratchFolder scratch;
  for (const char* preset : {"megatron-2021", "megatron-2022", "pytorch-ddp"}) {
    nlohmann::json text = small_scenario(2);
    text["strategy"] = {{"preset", preset}, {"micro_batch", 1}, {"global_batch", 16}};
    const Scenario scenario = read(scratch.write("scenario.json", text.dump()));
    const StrategySpace space(scenario, {});
    int sharded = 0;
    space.for_each([&](const StrategyChoice& choice) {
      if (choice.sharding == Sharding::none) return;
      ++sharded;
      EXPECT_EQ(space.strategy(choice).overlap_parameter_gather,
                preset == std::string("pytorch-ddp"));
    });
    EXPECT_GT(sharded, 0) << preset;
  }
}

/// What a preset brings along for full sharding goes with it: nobody has to write it all out.
TEST(StrategySpace, OverridesOfAChoiceLeaveAPresetWhatItBrings) {
  const ScratchFolder scratch;
  for (const char* preset : {"pytorch-fsdp", "pytorch-fsdp1", "torchtitan", "fms-fsdp",
                             "composer-fsdp", "deepspeed-zero-3", "megatron", "nemo", "gpt-neox"}) {
    nlohmann::json text = small_scenario(2);
    text["strategy"] = {{"preset", preset}, {"micro_batch", 1}, {"global_batch", 16}};
    const std::string path = scratch.write("scenario.json", text.dump());
    const Scenario scenario = read(path);
    const StrategySpace space(scenario, {});
    int number = 0;
    for (const StrategyChoice& choice : choices_of(space)) {
      if (number++ % 101 != 0) continue;
      const std::vector<Override> overrides = choice_overrides(space, choice);
      for (const Override& field : overrides) EXPECT_NE(field.pointer, "/strategy") << preset;
      EXPECT_EQ(read(path, overrides).resolved->at("strategy"), space.fields(choice)) << preset;
    }
    EXPECT_GT(number, 101) << preset;
  }
}

}  // namespace
}  // namespace headway
