#include "sim/launch/launch_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/base/join_words.h"
#include "sim/base/utf8.h"
#include "sim/base/wrap_text.h"
#include "sim/jobs/frameworks.h"
#include "sim/launch/launched_model.h"
#include "sim/network/placement.h"

namespace headway {
namespace {

using nlohmann::json;

constexpr std::size_t kCommentWidth = 96;

std::string list_of(const std::vector<UnsaidField>& fields) {
  std::vector<std::string> words;
  for (const UnsaidField& field : fields) {
    words.push_back(fmt::format("{} {}", field.field, field.value));
  }
  return join_words(words, ", ");
}

json order_json(const std::vector<ParallelDimension>& order) {
  json names = json::array();
  for (const ParallelDimension dimension : order) names.push_back(word_of(dimension));
  return names;
}

/// The usual order of ranks, and the one that Megatron-LM has a flag for.
const json kUsualOrder = order_json(Placement{}.order);
const json kDataOutermost = order_json({ParallelDimension::tensor, ParallelDimension::context,
                                        ParallelDimension::pipeline, ParallelDimension::data});

void add_rank_order(const json& cluster, LaunchFramework framework, LaunchJob& job) {
  const auto order = cluster.find("rank_order");
  if (order == cluster.end() || *order == kUsualOrder) return;
  if (framework == LaunchFramework::megatron && *order == kDataOutermost) {
    job.flags.settings.emplace_back("--use-tp-pp-dp-mapping");
  } else {
    job.flags.unsaid.push_back({"cluster.rank_order", order->dump()});
  }
}

std::string torchrun(const LaunchJob& job) {
  return fmt::format(
      "torchrun --nnodes {} --nproc-per-node {} \\\n"
      "  --node-rank \"$NODE_RANK\" --master-addr \"$MASTER_ADDR\" --master-port \"$MASTER_PORT\"",
      job.nodes, job.accelerators);
}

/// What torchrun's own variables say where nobody else does; a node alone is the first.
std::string rendezvous(const LaunchJob& job) {
  const bool is_alone = job.nodes == 1;
  return fmt::format(
      "NODE_RANK=\"${{NODE_RANK:-${{PET_NODE_RANK:{}}}}}\"\n"
      "MASTER_ADDR=\"${{MASTER_ADDR:-${{PET_MASTER_ADDR:{}}}}}\"\n"
      "MASTER_PORT=\"${{MASTER_PORT:-${{PET_MASTER_PORT:-29500}}}}\"\n",
      is_alone ? "-0" : "?this node, counted from 0",
      is_alone ? "-localhost" : "?the name of the first node");
}
constexpr std::string_view kScript = "\"${TRAIN_SCRIPT:?the training script}\"";

/// Flags of accelerate itself, the script, and those of its Trainer.
std::string accelerate_command(const LaunchJob& job) {
  std::vector<std::string> launcher = {
      fmt::format("accelerate launch --num_machines {} --num_processes {}", job.nodes, job.ranks()),
      "--machine_rank \"$NODE_RANK\" --main_process_ip \"$MASTER_ADDR\" "
      "--main_process_port \"$MASTER_PORT\""};
  std::vector<std::string> trainer = {std::string(kScript)};
  bool is_sharded = false;
  for (const std::string& setting : job.flags.settings) {
    if (!setting.starts_with(kOfLauncher)) {
      trainer.push_back(setting);
      continue;
    }
    launcher.push_back(setting.substr(kOfLauncher.size()));
    is_sharded = is_sharded || launcher.back() == "--use_fsdp";
  }
  if (!is_sharded && job.ranks() > 1) launcher.emplace_back("--multi_gpu");
  return fmt::format("{} \\\n  {} \\\n  \"$@\"\n", join_words(launcher, " \\\n  "),
                     join_words(trainer, " \\\n  "));
}

std::string here_document(std::string_view name, const std::string& text) {
  return fmt::format("cat > {} <<'END'\n{}END\n", name, text);
}

}  // namespace

std::optional<LaunchFramework> launch_framework_of(const JsonValue& scenario) {
  const Framework* const preset =
      framework_named(scenario->at("strategy").at("preset").get<std::string>());
  if (preset == nullptr) return std::nullopt;
  std::optional<LaunchFramework> framework = value_named<LaunchFramework>(preset->launched_by);
  // Presets of PyTorch alone are torchtitan's where it has such models.
  if (framework == LaunchFramework::torchtitan && !is_decoder(scenario)) {
    framework = LaunchFramework::accelerate;
  }
  return framework;
}

LaunchJob launch_job(const JsonValue& scenario, LaunchFramework framework) {
  const json& strategy = scenario->at("strategy");
  const json& cluster = scenario->at("cluster");
  const json& node = cluster.at("topology").at("node");
  std::int64_t ranks = 1;
  for (const char* degree :
       {"tensor_parallel", "context_parallel", "pipeline_parallel", "data_parallel"}) {
    ranks *= strategy.at(degree).get<std::int64_t>();
  }
  LaunchJob job;
  job.accelerators = std::min(ranks, node.value("accelerators", std::int64_t{1}));
  job.nodes = (ranks + job.accelerators - 1) / job.accelerators;
  job.title = fmt::format("{} on {} x {} accelerators of {}",
                          scenario->at("model").value("name", "the model"), job.nodes,
                          job.accelerators, cluster.at("topology").value("name", "the cluster"));
  job.flags = flags_of(scenario, framework);
  if (framework == LaunchFramework::megatron) {
    settle_megatron_layout(scenario, job.flags);
    leave_out_what_megatron_refuses(scenario, job.flags);
  }
  std::vector<std::string> of_framework;
  if (framework == LaunchFramework::torchtitan) {
    leave_out_what_torchtitan_refuses(scenario, job.flags, of_framework);
  }
  if (framework == LaunchFramework::accelerate) {
    settle_accelerate(scenario, job.flags, of_framework);
  }
  add_rank_order(cluster, framework, job);
  if (!job.flags.unsaid.empty()) {
    job.remarks.push_back(fmt::format("{} has no setting for: {}.", framework_title(framework),
                                      list_of(job.flags.unsaid)));
  }
  if (!job.flags.of_script.empty()) {
    job.remarks.push_back(
        fmt::format("For the training script to do: {}.", list_of(job.flags.of_script)));
  }
  if (framework == LaunchFramework::megatron) {
    static_cast<void>(megatron_model_flags(scenario, job.remarks));
    job.remarks.emplace_back(
        "What is no matter of speed is for the command line: --train-iters 100 --lr 1e-4.");
  }
  if (framework == LaunchFramework::accelerate) {
    job.remarks.push_back(fmt::format(
        "The script is one of transformers' Trainer{}, which takes the flags behind it.",
        is_decoder(scenario) ? " (run_clm.py, TRL's sft.py)" : ""));
    job.remarks.insert(job.remarks.end(), of_framework.begin(), of_framework.end());
  }
  if (framework == LaunchFramework::torchtitan) {
    job.remarks.emplace_back(
        is_decoder(scenario)
            ? "torchtitan takes its model by name: add [model] name and flavor, or pass them."
            : "torchtitan trains decoders only: the model needs a train spec of its own.");
    job.remarks.insert(job.remarks.end(), of_framework.begin(), of_framework.end());
  }
  if (cluster.at("topology").contains("other_nodes")) {
    job.remarks.emplace_back(
        "Nodes are of several kinds: node ranks have to be in the topology's order.");
  }
  return job;
}

std::vector<std::string> launch_comments(const LaunchJob& job, LaunchFramework framework) {
  std::vector<std::string> sentences = {
      fmt::format("{}, for {}{}.", job.title, framework_title(framework),
                  framework == LaunchFramework::horovod ? "" : ", the same on every node")};
  sentences.insert(sentences.end(), job.remarks.begin(), job.remarks.end());
  std::vector<std::string> lines;
  for (const std::string& sentence : sentences) {
    // Names come from the scenario: one that goes on in a new line would be a command there.
    for (std::string& line : wrapped(printable(sentence), kCommentWidth)) {
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

std::string start_commands(const JsonValue& scenario, const LaunchJob& job,
                           LaunchFramework framework) {
  std::vector<std::string> settings = job.flags.settings;
  switch (framework) {
    case LaunchFramework::megatron: {
      std::vector<std::string> remarks;  // were made with the job
      std::vector<std::string> flags = megatron_model_flags(scenario, remarks);
      flags.insert(flags.end(), settings.begin(), settings.end());
      return fmt::format("{}{}\n{} \\\n  pretrain_gpt.py \\\n  {} \\\n  \"$@\"\n", rendezvous(job),
                         megatron_environment(scenario), torchrun(job),
                         join_words(flags, " \\\n  "));
    }
    case LaunchFramework::torchtitan:
      return fmt::format(
          "{}\n{}\n{} \\\n  -m torchtitan.train --job.config_file headway.toml \"$@\"\n",
          rendezvous(job), here_document("headway.toml", torchtitan_config(settings)),
          torchrun(job));
    case LaunchFramework::deepspeed:
      return fmt::format(
          "{}\n{}\n{} \\\n  {} --deepspeed --deepspeed_config headway_deepspeed.json \"$@\"\n",
          rendezvous(job), here_document("headway_deepspeed.json", deepspeed_config(settings)),
          torchrun(job), kScript);
    case LaunchFramework::accelerate:
      return rendezvous(job) + accelerate_command(job);
    case LaunchFramework::horovod: {
      const std::string flags = join_words(settings, " \\\n  ");
      return fmt::format(
          "horovodrun -np {} --hostfile \"${{HOSTFILE:?a line a node: NAME slots={}}}\" \\\n"
          "{}{}  python {} \"$@\"\n",
          job.ranks(), job.accelerators, flags.empty() ? "" : "  " + flags,
          flags.empty() ? "" : " \\\n", kScript);
    }
  }
  return "";
}

LaunchFile launch_script(const JsonValue& scenario, LaunchFramework framework) {
  LaunchJob job = launch_job(scenario, framework);
  std::string text = "#!/usr/bin/env bash\n";
  for (const std::string& comment : launch_comments(job, framework)) text += "# " + comment + "\n";
  text += "set -euo pipefail\n" + start_commands(scenario, job, framework);
  return {std::move(text), std::move(job.remarks)};
}

}  // namespace headway
