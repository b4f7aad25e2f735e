#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sim/base/json_reader.h"
#include "sim/cli/byte_sizes.h"
#include "sim/cli/collective_report.h"
#include "sim/cli/common_options.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/invocation.h"
#include "sim/cli/jobs.h"
#include "sim/cli/json_output.h"
#include "sim/cli/scenario_options.h"
#include "sim/cli/topology_options.h"
#include "sim/profile/read_profile.h"
#include "sim/study/collective_table.h"

namespace headway {
namespace {

constexpr std::array<std::pair<std::string_view, CollectiveKind>, 6> kOperations = {{
    {"all_reduce", CollectiveKind::all_reduce},
    {"all_gather", CollectiveKind::all_gather},
    {"reduce_scatter", CollectiveKind::reduce_scatter},
    {"broadcast", CollectiveKind::broadcast},
    {"all_to_all", CollectiveKind::all_to_all},
    {"send_recv", CollectiveKind::send_receive},
}};

std::vector<std::string> operation_words() {
  std::vector<std::string> words;
  words.reserve(kOperations.size());
  for (const auto& [word, kind] : kOperations) words.emplace_back(word);
  return words;
}

CollectiveKind operation_of(const Arguments& arguments) {
  const std::string word = arguments.value("op").value_or("all_reduce");
  const auto found = std::ranges::find(kOperations, std::string_view(word),
                                       &std::pair<std::string_view, CollectiveKind>::first);
  HEADWAY_CHECK(found != kOperations.end(), "the table of options lets other words through");
  return found->second;
}

std::optional<CollectiveAlgorithm> algorithm_of(const Arguments& arguments, CollectiveKind kind) {
  const std::string word = arguments.value("algorithm").value_or("auto");
  if (word == "auto") return std::nullopt;
  const auto algorithm = word == "ring"   ? CollectiveAlgorithm::ring
                         : word == "tree" ? CollectiveAlgorithm::tree
                                          : CollectiveAlgorithm::in_network;
  if (has_algorithm(kind, algorithm)) return algorithm;
  Diagnostic problem;
  problem.message = fmt::format("{} does not run with --algorithm {}", collective_name(kind), word);
  problem.help = "use --algorithm auto; only all_reduce runs as a tree or in the network";
  throw InputError(std::move(problem));
}

/// The number of groups, which must divide the ranks.
int groups_of(const Arguments& arguments, int ranks) {
  const int groups = static_cast<int>(arguments.integer("groups", 1, ranks / 2).value_or(1));
  if (ranks % groups == 0) return groups;
  Diagnostic problem;
  problem.message = fmt::format("{} groups do not divide {} ranks", groups, ranks);
  problem.help = "--ranks takes another number of them";
  throw InputError(std::move(problem));
}

int ranks_of(const Arguments& arguments, const Cluster& cluster) {
  Diagnostic problem;
  if (cluster.accelerators() < 2) {
    problem.message = "a collective needs two ranks, and the cluster has one accelerator";
    problem.help = "--nodes takes more nodes of a generated fabric";
    throw InputError(std::move(problem));
  }
  const auto ranks = arguments.integer("ranks", 2, cluster.accelerators());
  return static_cast<int>(ranks.value_or(cluster.accelerators()));
}

std::shared_ptr<const Profile> profile_of(const Arguments& arguments, const Cluster* cluster,
                                          Diagnostics& diagnostics) {
  const auto path = arguments.value("profile");
  if (!path) return nullptr;
  InputFiles files({}, data_folders(), diagnostics);
  const auto root = files.open(*path, "calibrate/profiles");
  const auto read = root ? read_profile(*root, files) : std::nullopt;
  if (!read) return nullptr;
  const std::string wanted = cluster == nullptr ? "any" : cluster->node_type.accelerator;
  if (wanted != "any" && wanted != read->profile->accelerator) {
    diagnostics.add(read->cursor.problem(
        fmt::format("the profile is of {}, the cluster has {}", read->profile->accelerator, wanted),
        "", "`headway list profiles` shows what there is"));
  }
  return read->profile;
}

int run_collective(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  CollectiveQuestion question;
  question.kind = operation_of(arguments);
  question.algorithm = algorithm_of(arguments, question.kind);
  question.sizes = byte_sizes(arguments.value("bytes").value_or("1KiB..1GiB"));
  if (arguments.value("flows") == "simgrid") question.engine.flows = FlowEngine::simgrid;
  const int jobs = jobs_of(arguments);

  Diagnostics diagnostics;
  const auto cluster = cluster_of(arguments, diagnostics);
  const auto profile = profile_of(arguments, cluster.get(), diagnostics);
  diagnostics.throw_if_errors();
  show_warnings(diagnostics, invocation.terminal);
  question.ranks = ranks_of(arguments, *cluster);
  question.groups = groups_of(arguments, question.ranks);
  question.is_interleaved = arguments.has("interleaved");
  question.profile = profile.get();

  const CollectiveReport report{.cluster = cluster->name,
                                .nodes = cluster->node_of(question.ranks - 1) + 1,
                                .profile = profile ? profile->name : "",
                                .kind = question.kind,
                                .ranks = question.ranks / question.groups,
                                .groups = question.groups,
                                .rows = collective_table(*cluster, question, jobs)};
  invocation.terminal.print(arguments.has("json") ? json_document_text(collective_json(report))
                                                  : collective_text(report));
  return kExitDone;
}

std::vector<Option> collective_options() {
  return with_standard_options({
      set_option("/fabric/leaf/uplinks=16"),
      profile_option(),
      nodes_option(),
      {.name = "op",
       .value = "NAME",
       .fallback = "all_reduce",
       .help = "all_reduce, all_gather, reduce_scatter, broadcast, all_to_all or send_recv",
       .group = OptionGroup::run,
       .words = operation_words()},
      {.name = "ranks",
       .value = "N",
       .fallback = "all accelerators",
       .help = "how many take part, the first ones",
       .group = OptionGroup::run},
      {.name = "groups",
       .value = "N",
       .fallback = "1",
       .help = "that run it at once, each with as many of the ranks",
       .group = OptionGroup::run},
      {.name = "interleaved",
       .help = "rank r is in group r mod N; else groups are consecutive ranks",
       .group = OptionGroup::run},
      {.name = "bytes",
       .value = "SIZES",
       .fallback = "1KiB..1GiB",
       .help = "one, a list \"1KiB,1MiB\", or a range that doubles, or \"..1GiB*4\"",
       .group = OptionGroup::run},
      {.name = "algorithm",
       .value = "NAME",
       .fallback = "auto",
       .help = "auto (ring or tree, the faster), ring, tree, in_network",
       .group = OptionGroup::run,
       .words = {"auto", "ring", "tree", "in_network"}},
      {.name = "flows",
       .value = "SOLVER",
       .fallback = "incremental",
       .help = "who shares out the links: incremental or simgrid; they agree",
       .group = OptionGroup::run,
       .words = {"incremental", "simgrid"}},
      jobs_option(),
      json_option(),
  });
}

}  // namespace

Command collective_command() {
  Command command;
  command.name = "collective";
  command.group = "Predict";
  command.arguments = "FILE";
  command.summary = "an nccl-tests table of a simulated collective";
  command.about =
      "Simulates one collective over message sizes on an idle cluster and prints the table that "
      "nccl-tests prints. FILE is a topology, or a name of `headway list topologies`.";
  command.examples = {
      {"headway collective dgx_h100_superpod --nodes 16 --profile h100_sxm",
       "an all-reduce over 128 GPUs with measured or published costs"},
      {"headway collective ring_8 --op all_gather --bytes 1MiB,64MiB",
       "on the bare hardware, at two sizes"},
  };
  command.options = collective_options();
  command.least_arguments = 1;
  command.most_arguments = 1;
  command.outcome = "nothing was simulated";
  command.details =
      "Sizes are counted as nccl-tests counts them: the whole buffer of an all-reduce and a "
      "broadcast, the gathered buffer of an all-gather, the unreduced one of a reduce-scatter. "
      "\"closed form\" is the time on paper of the same collective of one group on an idle "
      "network, "
      "\"ratio\" "
      "the "
      "simulated time over it: what contention costs. "
      "in_network is NVIDIA SHARP at its best: the switches add. Bandwidths are in 1e9 "
      "bytes a second; --json is in SI base units.";
  command.run = run_collective;
  return command;
}

}  // namespace headway
