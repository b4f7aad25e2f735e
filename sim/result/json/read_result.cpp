#include "sim/result/json/read_result.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "sim/files/json_reader.h"
#include "sim/result/json/read_long_run.h"

namespace headway {
namespace {

constexpr double kMostAccelerators = 1 << 30;
constexpr double kLargestCount = 9007199254740992.0;  // 2^53: whole numbers that JSON keeps

/// A member that may be null, or absent, for what a job that was not simulated does not have.
bool is_known(const ObjectReader& reader, std::string_view key) {
  const std::optional<JsonCursor> member = reader.cursor().member(key);
  return member && !member->value().is_null();
}

double number(ObjectReader& reader, std::string_view key) {
  return is_known(reader, key) ? reader.number(key, {}) : 0.0;
}
Seconds seconds(ObjectReader& reader, std::string_view key) { return Seconds(number(reader, key)); }
Bytes bytes(ObjectReader& reader, std::string_view key) { return Bytes(number(reader, key)); }
std::int64_t count(ObjectReader& reader, std::string_view key) {
  return is_known(reader, key) ? reader.integer(key, between(0, kLargestCount)) : 0;
}

/// Two numbers or two nulls.
Interval interval(ObjectReader& reader, std::string_view key) {
  const std::vector<JsonCursor> ends = reader.elements(key);
  if (ends.size() != 2) {
    reader.report(key, "an interval has two ends");
    return {};
  }
  const auto end = [&](const JsonCursor& cursor) {
    if (cursor.value().is_number()) return cursor.value().get<double>();
    if (!cursor.value().is_null()) reader.diagnostics().add(cursor.problem("not a number"));
    return 0.0;
  };
  return {end(ends[0]), end(ends[1])};
}

std::vector<std::string> texts(ObjectReader& reader, std::string_view key) {
  std::vector<std::string> list;
  for (const JsonCursor& element : reader.elements(key)) {
    if (element.value().is_string()) {
      list.push_back(element.value().get<std::string>());
    } else {
      reader.diagnostics().add(element.problem("not a text"));
    }
  }
  return list;
}

/// Reads the member `key` as an object, if there is one that is not null.
template <class Read>
void within(ObjectReader& reader, std::string_view key, Read read) {
  if (!is_known(reader, key)) return;
  ObjectReader inner(*reader.part(key), reader.diagnostics());
  read(inner);
}

template <class Read>
void each(ObjectReader& reader, std::string_view key, Read read) {
  if (!is_known(reader, key)) return;
  for (const JsonCursor& element : reader.elements(key)) {
    ObjectReader inner(element, reader.diagnostics());
    read(inner);
  }
}

nlohmann::json anything(ObjectReader& reader, std::string_view key) {
  const std::optional<JsonCursor> member = reader.part(key);
  return member ? member->value() : nlohmann::json();
}

void read_question(ObjectReader& reader, Question& question) {
  within(reader, "question", [&](ObjectReader& inner) {
    question.model = inner.text("model");
    question.cluster = inner.text("cluster");
    question.node_type = inner.text("node_type");
    question.nodes = count(inner, "nodes");
    question.strategy = inner.text("strategy");
    question.profile = inner.text("profile");
  });
  question.accelerators = reader.integer("gpus", between(1, kMostAccelerators));
  question.scenario = anything(reader, "scenario");
  question.provenance = anything(reader, "provenance");
}

void read_speed(ObjectReader& reader, Prediction& prediction) {
  prediction.iteration_time = seconds(reader, "iteration_time_s");
  prediction.iteration_interval = interval(reader, "iteration_time_interval_s");
  prediction.samples_per_second = number(reader, "samples_per_s");
  prediction.tokens_per_second = number(reader, "tokens_per_s");
  prediction.tokens_per_second_per_accelerator = number(reader, "tokens_per_s_per_gpu");
  prediction.model_flops_per_second_per_accelerator = number(reader, "model_tflops_per_gpu") * 1e12;
  prediction.mfu = number(reader, "mfu");
  prediction.mfu_whole_square = number(reader, "mfu_noncausal");
  prediction.hfu = number(reader, "hfu");
  within(reader, "scaling_reference", [&](ObjectReader& inner) {
    prediction.scaling = {.accelerators = count(inner, "gpus"),
                          .iteration_time = seconds(inner, "iteration_time_s"),
                          .efficiency = number(reader, "scaling_efficiency"),
                          .description = inner.text("description")};
  });
  within(reader, "confidence", [&](ObjectReader& inner) {
    prediction.confidence = {.job_kind = inner.text("job_kind"),
                             .model_error = number(inner, "model_error"),
                             .kernel_spread = number(inner, "kernel_spread"),
                             .beyond_calibration = inner.flag("beyond_calibration", false)};
  });
  within(reader, "anchored", [&](ObjectReader& inner) {
    prediction.anchor = {.of = inner.text("of"),
                         .measured = seconds(inner, "measured_s"),
                         .predicted_of_it = seconds(inner, "predicted_of_it_s"),
                         .software_factor = number(inner, "software_factor"),
                         .time_without = seconds(inner, "iteration_time_without_s"),
                         .interval_without = interval(inner, "interval_without_s")};
  });
}

void read_memory(ObjectReader& reader, MemoryPrediction& memory) {
  within(reader, "memory_bytes", [&](ObjectReader& inner) {
    each(inner, "stages", [&](ObjectReader& stage) {
      memory.stages.push_back({.parameters = bytes(stage, "parameters"),
                               .gradients = bytes(stage, "gradients"),
                               .optimizer = bytes(stage, "optimizer"),
                               .activations = bytes(stage, "activations"),
                               .buffers = bytes(stage, "buffers"),
                               .host = bytes(stage, "host")});
    });
    memory.capacity = bytes(inner, "capacity");
    memory.fullest_stage = static_cast<int>(count(inner, "fullest_stage"));
    memory.fits = inner.flag("fits", true);
  });
}

void read_course(ObjectReader& reader, Prediction& prediction) {
  within(reader, "breakdown_s", [&](ObjectReader& inner) {
    for (std::size_t i = 0; i < kCauses; ++i) {
      const auto cause = static_cast<Cause>(i);
      prediction.breakdown[cause] = seconds(inner, cause_name(cause));
    }
  });
  prediction.critical_rank = reader.text("critical_rank", "");
  each(reader, "critical_path", [&](ObjectReader& inner) {
    prediction.critical_path.push_back({.where = inner.text("where"),
                                        .what = inner.text("what"),
                                        .start = seconds(inner, "start_s"),
                                        .end = seconds(inner, "end_s"),
                                        .operations = count(inner, "operations")});
  });
  each(reader, "links", [&](ObjectReader& inner) {
    prediction.busiest_links.push_back(
        {.from = inner.text("from"),
         .to = inner.text("to"),
         .capacity = BytesPerSecond(number(inner, "capacity_bytes_per_s")),
         .carried = bytes(inner, "carried_bytes"),
         .utilisation = number(inner, "utilisation")});
  });
}

FabricUse::Load read_load(ObjectReader& cables, std::string_view key) {
  FabricUse::Load load;
  within(cables, key, [&](ObjectReader& inner) {
    load = {.carried = bytes(inner, "carried_bytes"),
            .capacity = BytesPerSecond(number(inner, "capacity_bytes_per_s")),
            .utilisation = number(inner, "utilisation"),
            .highest = number(inner, "highest_utilisation")};
  });
  return load;
}

void read_fabric(ObjectReader& reader, FabricUse& use) {
  within(reader, "fabric", [&](ObjectReader& inner) {
    each(inner, "tiers", [&](ObjectReader& tier) {
      use.tiers.push_back({tier.text("name"), static_cast<int>(count(tier, "count"))});
    });
    each(inner, "cables", [&](ObjectReader& one) {
      const Range tiers =
          between(0, std::max<double>(0.0, static_cast<double>(use.tiers.size()) - 1));
      FabricUse::Cables& cables = use.cables.emplace_back();
      cables.lower = static_cast<int>(one.integer("lower", tiers));
      cables.upper = static_cast<int>(one.integer("upper", tiers));
      cables.cables = static_cast<int>(count(one, "cables"));
      cables.up = read_load(one, "up");
      cables.down = read_load(one, "down");
    });
  });
}

RemovalKind removal_kind(ObjectReader& reader) {
  std::vector<std::pair<std::string_view, RemovalKind>> words;
  for (const RemovalKind kind : {RemovalKind::cause, RemovalKind::operation, RemovalKind::stage,
                                 RemovalKind::replica, RemovalKind::node, RemovalKind::rank}) {
    words.emplace_back(removal_kind_name(kind), kind);
  }
  return reader.choice<RemovalKind>("kind", words);
}

void read_what_if(ObjectReader& reader, Prediction& prediction) {
  within(reader, "what_if", [&](ObjectReader& inner) {
    WhatIf& what_if = prediction.what_if.emplace();
    what_if.time = Seconds(inner.number("iteration_time_s", positive()));
    what_if.ideal = Seconds(inner.number("ideal_time_s", positive()));
    what_if.accelerators = prediction.question.accelerators;
    what_if.slowest_stage = static_cast<int>(count(inner, "slowest_stage"));
    what_if.stage_imbalance = number(inner, "stage_imbalance");
    each(inner, "removals", [&](ObjectReader& removal) {
      what_if.removals.push_back({.kind = removal_kind(removal),
                                  .what = removal.text("what"),
                                  .without = seconds(removal, "iteration_time_s"),
                                  .gain = seconds(removal, "gain_s")});
    });
    const auto read_helps = [&](std::string_view key, std::vector<Sensitivity>& helps) {
      each(reader, key, [&](ObjectReader& one) {
        helps.push_back({.name = one.text("name"),
                         .title = one.text("what"),
                         .iteration_time = seconds(one, "iteration_time_s"),
                         .speedup = number(one, "speedup")});
      });
    };
    read_helps("bottlenecks", what_if.sensitivities);
    read_helps("mitigations", what_if.mitigations);
  });
}

void read_shared_fabric(ObjectReader& reader, Prediction& prediction) {
  within(reader, "shared_fabric", [&](ObjectReader& inner) {
    SharedFabric& shared = prediction.shared_fabric.emplace();
    each(inner, "stays", [&](ObjectReader& stay) {
      const bool ends = is_known(stay, "to_s");
      shared.stays.push_back(
          {.job = stay.text("job"),
           .from = number(stay, "from_s"),
           .to = ends ? number(stay, "to_s") : std::numeric_limits<double>::infinity(),
           .accelerators = static_cast<int>(count(stay, "gpus")),
           .alone = seconds(stay, "alone_s"),
           .shared = seconds(stay, "iteration_time_s"),
           .samples = number(stay, "samples")});
    });
  });
}

void read_spans(const JsonCursor& row, std::size_t kinds, std::vector<Activity::Span>& spans,
                Diagnostics& diagnostics) {
  const auto is_span = [&](const nlohmann::json& value) {
    return value.is_array() && value.size() == 3 && value[0].is_number_unsigned() &&
           value[0].get<std::size_t>() < kinds && value[1].is_number() && value[2].is_number();
  };
  for (const nlohmann::json& value : row.value()) {
    if (!is_span(value)) {
      diagnostics.add(row.problem("a span is the index of a kind, a start and an end"));
      return;
    }
    spans.push_back({value[0].get<std::int32_t>(), Seconds(value[1].get<double>()),
                     Seconds(value[2].get<double>())});
  }
}

void read_activity(ObjectReader& reader, Activity& activity) {
  within(reader, "activity", [&](ObjectReader& inner) {
    activity.kinds = texts(inner, "kinds");
    each(inner, "rows", [&](ObjectReader& row) {
      activity.rows.push_back({row.text("where"), {}});
      if (const auto spans = row.required_part("spans_s")) {
        read_spans(*spans, activity.kinds.size(), activity.rows.back().spans, reader.diagnostics());
      }
    });
  });
}

}  // namespace

Prediction read_result(const JsonCursor& root, Diagnostics& diagnostics) {
  Prediction prediction;
  ObjectReader reader(root, diagnostics);
  read_schema(reader, "headway/result/1");
  if (diagnostics.has_errors()) return prediction;
  read_question(reader, prediction.question);
  read_speed(reader, prediction);
  read_memory(reader, prediction.memory);
  read_course(reader, prediction);
  within(reader, "long_run",
         [&](ObjectReader& inner) { prediction.reliability = read_long_run(inner); });
  read_fabric(reader, prediction.fabric);
  read_what_if(reader, prediction);
  read_shared_fabric(reader, prediction);
  read_activity(reader, prediction.activity);
  prediction.replicas = static_cast<int>(reader.integer("replicas", between(1, kMostAccelerators)));
  if (is_known(reader, "replica_time_s")) {
    prediction.replica_time = read_percentiles(reader, "replica_time_s");
  }
  prediction.micro_batches = count(reader, "micro_batches");
  prediction.warnings = texts(reader, "warnings");
  prediction.not_modelled = texts(reader, "not_modelled");
  prediction.events = count(reader, "events");
  return prediction;
}

}  // namespace headway
