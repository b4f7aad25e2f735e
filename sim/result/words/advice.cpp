#include "sim/result/words/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "sim/base/diagnostic.h"
#include "sim/base/quantity_text.h"
#include "sim/layers/table_plan.h"
#include "sim/result/number_text.h"
#include "sim/result/words/larger_gains.h"

namespace headway {
namespace {

/// A cause below this share of the iteration is not worth a line.
constexpr double kSmallestShare = 0.0005;

struct CauseAdvice {
  std::string_view remark;
  std::string_view remedy;  ///< a clause that follows the cause and its time
};

constexpr std::array<CauseAdvice, kCauses> kAdvice{{
    {"", "faster kernels or more GPUs shrink it"},
    {"forward passes run again", "recomputing less, where memory allows, shrinks it"},
    {"collectives inside layers, not hidden",
     "a smaller tensor-parallel degree or overlap with the matrix products shrinks it"},
    {"keys and values between ranks, not hidden",
     "a smaller context-parallel degree or longer sequences shrink its share"},
    {"tokens to and from experts, not hidden",
     "keeping experts inside a scale-up domain shrinks it"},
    {"pooled rows of tables and their gradients, not hidden",
     "groups of ranks that add up first, or small tables on every rank shrink it"},
    {"stages without work", "more micro-batches or virtual stages shrink it"},
    {"activations and gradients under way",
     "overlapping the transfers with compute or fewer virtual stages shrink it"},
    {"gradients and parameters, not hidden",
     "overlapping them with compute or more micro-batches a step shrink its share"},
    {"", "sharding the optimizer over the data-parallel ranks shrinks it"},
    {"slow devices, and ranks late by them or by busy links",
     "replacing slow devices, or more room on busy links, shrinks it"},
    {"gradients pushed, added up, and parameters back",
     "more servers, or asynchronous updates, shrink it"},
    {"ranks wait for input", "more loader processes or faster storage shrink it"},
    {"launches and host work", "larger micro-batches or captured graphs shrink it"},
}};

const CauseAdvice& advice_on(Cause cause) {
  const auto index = static_cast<std::size_t>(cause);
  HEADWAY_CHECK(index < kCauses, "unknown cause");
  return kAdvice[index];
}

/// A part of a stage's memory and what makes it smaller.
struct MemoryPart {
  std::string_view name;
  Bytes StageMemory::*amount;
  std::string_view remedy;
};

constexpr std::array<MemoryPart, 5> kMemoryParts{{
    {"parameters", &StageMemory::parameters,
     "more tensor or pipeline parallelism, or sharding the parameters (zero_stage 3), shrinks "
     "them"},
    {"gradients", &StageMemory::gradients,
     "more tensor or pipeline parallelism, lower gradient precision, or sharding them "
     "(zero_stage 3) shrinks them"},
    {"optimizer states", &StageMemory::optimizer,
     "sharding them over the data-parallel ranks (zero_stage 1), or more tensor or pipeline "
     "parallelism, shrinks them"},
    {"activations", &StageMemory::activations,
     "recomputing (selective or full), a smaller micro-batch, or more tensor parallelism with "
     "sequence_parallel shrinks them"},
    {"buffers", &StageMemory::buffers,
     "a smaller micro-batch, more tensor parallelism, or the vocabulary-parallel loss shrinks "
     "them"},
}};

/// What most models are trained at; longer ones are what is likely too much.
constexpr std::int64_t kUsualSequence = 8192;

/// A field of the resolved strategy; null where a result has none.
nlohmann::json strategy_field(const Prediction& prediction, const char* field) {
  const nlohmann::json& scenario = prediction.question.scenario;
  if (!scenario.is_object() || !scenario.contains("strategy")) return nullptr;
  return scenario["strategy"].value(field, nlohmann::json());
}

std::int64_t sequence_length_of(const Prediction& prediction) {
  const nlohmann::json length = strategy_field(prediction, "sequence_length");
  return length.is_number_integer() ? length.get<std::int64_t>() : 0;
}

/// Experts that could still be shared out over more ranks.
bool could_share_experts(const Prediction& prediction) {
  const nlohmann::json& scenario = prediction.question.scenario;
  const auto experts = nlohmann::json::json_pointer("/model/mixture_of_experts/experts");
  const nlohmann::json shared = strategy_field(prediction, "expert_parallel");
  return scenario.contains(experts) && shared.is_number() && shared < scenario.at(experts);
}

/// What makes weights or states of embedding tables smaller, where these are most of the part; else
/// empty. Ranks that sharding and other degrees make are none that tables are placed on.
std::string_view remedy_of_tables(const Prediction& prediction, const StageMemory& stage,
                                  const MemoryPart& largest) {
  const nlohmann::json tables = strategy_field(prediction, "embedding_tables");
  if (!tables.is_object()) return "";
  const auto placement = value_named<TablePlacement>(tables.value("placement", ""));
  const Bytes placed = largest.amount == &StageMemory::parameters  ? stage.table_weights
                       : largest.amount == &StageMemory::optimizer ? stage.table_states
                                                                   : Bytes(0.0);
  const bool are_on_all = placement == TablePlacement::replicated &&
                          largest.amount != &StageMemory::activations &&
                          largest.amount != &StageMemory::buffers;
  if (!are_on_all && placed < 0.5 * (stage.*largest.amount)) return "";
  if (placement == TablePlacement::row || placement == TablePlacement::column) {
    return "more data-parallel ranks share out the embedding tables that fill it";
  }
  return "embedding tables fill it: embedding_tables/placement \"row\" or \"column\", or a group "
         "of ranks for each (embedding_tables/group), cuts them";
}

/// From this sharding on the ranks share a state out.
bool is_shared_out(const Prediction& prediction, int least_zero_stage) {
  const nlohmann::json stage = strategy_field(prediction, "zero_stage");
  return stage.is_number() && stage >= least_zero_stage;
}

std::string_view remedy_of_optimizer(const Prediction& prediction) {
  const nlohmann::json offload = strategy_field(prediction, "optimizer_offload");
  if (offload.is_number() && offload > 0.0) {
    return strategy_field(prediction, "overlap_optimizer_offload") == true
               ? "the host updates parameters: offloading fewer (optimizer_offload), or more "
                 "nodes, "
                 "shrinks it"
               : "the host updates parameters: offloading fewer (optimizer_offload), or copies "
                 "beside updates (overlap_optimizer_offload), shrinks it";
  }
  if (is_shared_out(prediction, 1)) return "more data-parallel ranks that share it out shrink it";
  return advice_on(Cause::optimizer).remedy;
}

/// What makes the largest part of the memory smaller; shards that are there already need more
/// ranks.
std::string_view remedy_of_states(const Prediction& prediction, const MemoryPart& largest) {
  const int least = largest.amount == &StageMemory::parameters  ? 3
                    : largest.amount == &StageMemory::gradients ? 2
                    : largest.amount == &StageMemory::optimizer ? 1
                                                                : 0;
  if (least == 0 || !is_shared_out(prediction, least)) return largest.remedy;
  return "more GPUs that share them out, or more tensor or pipeline parallelism, shrink them";
}

std::string shortage_sentence(const Prediction& prediction) {
  const MemoryPrediction& memory = prediction.memory;
  const StageMemory stage = fullest_memory(memory);
  if (stage.total() <= memory.capacity && memory.is_short_of_host()) {
    const HostMemory& host = *memory.host;
    return fmt::format(
        "Does not fit: what is offloaded takes {} of {} that a node's processors have; {} too "
        "much. More nodes that share it out, or offloading less, shrink it.",
        short_text(host.needed), short_text(host.capacity),
        short_text(host.needed - host.capacity));
  }
  const MemoryPart& largest = *std::ranges::max_element(
      kMemoryParts, {}, [&](const MemoryPart& part) { return stage.*part.amount; });
  const bool is_of_parameters =
      largest.amount != &StageMemory::activations && largest.amount != &StageMemory::buffers;
  const std::string_view of_tables = remedy_of_tables(prediction, stage, largest);
  const std::int64_t sequence = sequence_length_of(prediction);
  const bool is_long = !is_of_parameters && sequence > kUsualSequence;
  return fmt::format(
      "Does not fit: {} needs {} of {}; {} too much. The largest part is {}, {}; {}{}{}.",
      fullest_place(memory), short_text(stage.total()), short_text(memory.capacity),
      short_text(stage.total() - memory.capacity), largest.name, short_text(stage.*largest.amount),
      is_long
          ? fmt::format("shorter sequences (sequence_length is {}) or more context parallelism, ",
                        grouped_digits(sequence))
          : "",
      is_of_parameters && could_share_experts(prediction) ? "a larger expert_parallel, " : "",
      of_tables.empty() ? remedy_of_states(prediction, largest) : of_tables);
}

bool has_bad_links(const Prediction& prediction) {
  const nlohmann::json& scenario = prediction.question.scenario;
  using Pointer = nlohmann::json::json_pointer;
  return std::ranges::any_of(
      std::array{Pointer("/perturbations/slow_links"), Pointer("/cluster/topology/faults")},
      [&](const Pointer& where) {
        return scenario.is_object() && scenario.contains(where) && !scenario.at(where).empty();
      });
}

/// What the iteration takes with all cables as they should be, where that is most of what slowness
/// costs; else empty.
std::string mending_sentence(const Prediction& prediction) {
  if (!prediction.what_if) return "";
  const WhatIf& what_if = *prediction.what_if;
  const auto mended = std::ranges::find(what_if.mitigations, "mended_links", &Sensitivity::name);
  if (mended == what_if.mitigations.end()) return "";
  const Seconds gain = what_if.time - mended->iteration_time;
  if (gain < 0.5 * (what_if.time - what_if.ideal)) return "";
  return fmt::format("with {} it takes {}", mended->title, short_text(mended->iteration_time));
}

/// What shrinks a cause's time in this job: advice that it follows already would be none.
std::string_view remedy_of(Cause cause, const Prediction& prediction) {
  if (cause == Cause::optimizer) return remedy_of_optimizer(prediction);
  if (cause == Cause::data_parallel_exposed &&
      strategy_field(prediction, "overlap_gradient_reduce") == true) {
    return "more micro-batches a step or faster links shrink its share";
  }
  if (cause == Cause::server_wait) {
    const nlohmann::json how = strategy_field(prediction, "synchronisation");
    const auto has = [&](const char* field) { return how.is_object() && how.contains(field); };
    // More servers do not widen a client's own connection.
    if (has("uplink") || has("downlink")) {
      return "more steps between updates (push_every) or fewer bits of them (push_bits, pull_bits) "
             "shrink it";
    }
    if (has("updates") && how["updates"] == "asynchronous") {
      return "more servers, or more steps between updates (push_every), shrink it";
    }
  }
  return advice_on(cause).remedy;
}

/// What a step of post-training waits for most where that is no part of its training; empty where
/// it is. `largest`: what that could be, of an iteration.
std::string generation_sentence(const PostTraining& of, Seconds largest) {
  const std::string step = short_text(of.step);
  if (of.is_side_by_side()) {
    if (of.generation <= of.learning()) return "";
    return fmt::format(
        "Largest gain left: generating, for which learning waits {} in a step of {}; more GPUs in "
        "post_training.generation.accelerators shrink it.",
        short_text(of.generation - of.learning()), step);
  }
  if (of.generation <= of.iterations * largest) return "";
  return fmt::format(
      "Largest gain left: generating, {} of a step of {}; others that generate meanwhile "
      "(post_training.generation.accelerators, steps_off_policy) hide it.",
      short_text(of.generation), step);
}

}  // namespace

std::string work_text(const Prediction& prediction) {
  const std::int64_t sequence = sequence_length_of(prediction);
  const std::string& strategy = prediction.question.strategy;
  return sequence > 0 ? fmt::format("{}, sequence {}", strategy, grouped_digits(sequence))
                      : strategy;
}

bool was_simulated(const Prediction& prediction) {
  return prediction.iteration_time > Seconds(0.0);
}

std::vector<TimeShare> largest_shares(const Prediction& prediction) {
  std::vector<TimeShare> shares;
  for (std::size_t i = 0; i < kCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    const Seconds time = prediction.breakdown[cause];
    const double share = share_of(time, prediction.iteration_time);
    if (share > kSmallestShare) shares.push_back({cause, time, share});
  }
  std::ranges::stable_sort(shares, std::ranges::greater{}, &TimeShare::time);
  return shares;
}

bool is_of_workers(const Prediction& prediction) {
  return prediction.servers && !prediction.servers->staleness.empty();
}

std::string_view cause_remark(Cause cause, const Prediction& prediction) {
  if (cause == Cause::straggler_wait && has_bad_links(prediction)) {
    return "slow devices and cables, and ranks late by them or by busy links";
  }
  return advice_on(cause).remark;
}

std::string closing_sentence(const Prediction& prediction) {
  if (!prediction.memory.fits) return shortage_sentence(prediction);
  const TimeScale scale(prediction.iteration_time);
  const std::string whole = scale.with_unit(prediction.iteration_time);
  const std::vector<TimeShare> shares = largest_shares(prediction);
  if (prediction.post_training) {
    const auto largest = std::ranges::find_if(
        shares, [](const TimeShare& share) { return share.cause != Cause::compute; });
    const std::string sentence = generation_sentence(
        *prediction.post_training, largest == shares.end() ? Seconds(0.0) : largest->time);
    if (!sentence.empty()) return sentence;
  }
  const auto first = std::ranges::find_if(
      shares, [](const TimeShare& share) { return share.cause != Cause::compute; });
  const std::string larger = larger_gain(prediction, first == shares.end() ? 0.0 : first->share);
  if (!larger.empty()) return larger;
  for (const TimeShare& share : shares) {
    if (share.cause == Cause::compute) continue;
    // What running it again without them says is more than what is read off one timeline.
    const bool is_run_without =
        share.cause == Cause::straggler_wait && prediction.what_if && !prediction.shared_fabric;
    const Seconds gain =
        is_run_without ? prediction.what_if->time - prediction.what_if->ideal : share.time;
    const std::string mending =
        share.cause == Cause::straggler_wait ? mending_sentence(prediction) : "";
    return fmt::format("Largest gain left: {}, {} {} of {}; {}.", cause_title(share.cause),
                       scale.part(gain), scale.unit(), whole,
                       mending.empty() ? remedy_of(share.cause, prediction) : mending);
  }
  return fmt::format("Compute is all of {}; {}.", whole, advice_on(Cause::compute).remedy);
}

std::string fullest_place(const MemoryPrediction& memory) {
  if (memory.stages.size() <= 1) return "every rank";
  return fmt::format("stage {}", memory.fullest_stage);
}

std::string host_memory_text(const MemoryPrediction& memory) {
  if (!memory.host) return "";
  const HostMemory& host = *memory.host;
  if (!host.is_known()) {
    return fmt::format("{} in a node's own memory, of which nobody says how much it has",
                       short_text(host.needed));
  }
  return fmt::format("{} of {} in a node's own memory", short_text(host.needed),
                     short_text(host.capacity));
}

StageMemory fullest_memory(const MemoryPrediction& memory) {
  const auto index = static_cast<std::size_t>(memory.fullest_stage);
  return index < memory.stages.size() ? memory.stages[index] : StageMemory{};
}

}  // namespace headway
