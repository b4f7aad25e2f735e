#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "reports/answers/answers.h"
#include "sim/base/join_words.h"
#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/options/common_options.h"
#include "sim/cli/options/scenario_options.h"
#include "sim/cli/options/topology_options.h"
#include "sim/cli/outputs.h"
#include "sim/costs/accelerators.h"
#include "sim/costs/nccl_constants.h"
#include "sim/costs/read_profile.h"
#include "sim/files/json_reader.h"
#include "sim/predict/collective/byte_sizes.h"
#include "sim/predict/collective/collective_table.h"
#include "sim/programs/flows/algorithms/algorithm.h"
#include "sim/programs/flows/nccl_costs.h"
#include "sim/programs/flows/nccl_doubts.h"

namespace headway {
namespace {

std::vector<std::string> algorithm_words() {
  std::vector<std::string> words{"auto"};
  for (const AlgorithmKind& kind : algorithm_kinds()) words.emplace_back(kind.algorithm.name);
  return words;
}

CollectiveKind operation_of(const Arguments& arguments) {
  return value_named<CollectiveKind>(arguments.value("op").value_or("all_reduce")).value();
}

std::optional<CollectiveAlgorithm> algorithm_of(const Arguments& arguments, CollectiveKind kind) {
  const std::string word = arguments.value("algorithm").value_or("auto");
  if (word == "auto") return std::nullopt;
  for (const AlgorithmKind& known : algorithm_kinds()) {
    if (known.algorithm.name == word && has_algorithm(kind, known.algorithm)) {
      return known.algorithm;
    }
  }
  refuse(fmt::format("{} does not run with --algorithm {}", collective_name(kind), word),
         "use --algorithm auto; all_reduce runs by all but pat, all_gather and reduce_scatter as "
         "ring, "
         "pat or torus, the others as a ring");
}

CollectiveLibrary library_of(const Arguments& arguments) {
  if (arguments.has("library")) return CollectiveLibrary::nccl;
  return arguments.has("profile") ? CollectiveLibrary::profile : CollectiveLibrary::hardware;
}

std::vector<std::string_view> known_transports() {
  std::vector<std::string_view> names;
  for (const auto& [word, transport] : kWords<TransportKind>) {
    if (knows_nccl_over(transport)) names.push_back(word);
  }
  return names;
}

/// Checks that the library's tables tell of one of the sizes at least.
void check_sizes(TransportKind transport, CollectiveKind kind, const std::vector<Bytes>& sizes) {
  const NcclDoubt* doubt = nullptr;
  for (const Bytes size : sizes) {
    doubt = nccl_doubt(transport, kind, size);
    if (doubt == nullptr) return;
  }
  refuse(fmt::format("what NCCL takes for such messages over this fabric is not known: {}",
                     doubt->because),
         fmt::format(
             "--bytes takes others, from {} on; --profile in the place of --library, with your "
             "own measurements, or neither, hardware alone, answers these",
             short_text(doubt->below)));
}

/// Checks that the library can answer at all, and that what was asked for can run here.
void check_choices(const Cluster& cluster, const CollectiveQuestion& question,
                   const std::vector<Bytes>& sizes) {
  if (question.evidence.library != CollectiveLibrary::nccl) {
    if (!question.algorithm) return;
    const std::string_view lack = lack_of(*question.algorithm, cluster, groups_of(question));
    if (lack.empty()) return;
    refuse(fmt::format("{} does not run as {} here", collective_name(question.kind),
                       question.algorithm->name),
           fmt::format("it needs {}", lack));
  }
  const std::string& accelerator = cluster.node_type.accelerator;
  if (nccl_node_costs(accelerator) == nullptr) {
    refuse(fmt::format("no costs of NCCL are known on {}", in_quotes(accelerator)),
           fmt::format("they are of {}; without --library hardware alone counts",
                       join_words(nccl_families(), ", ")));
  }
  if (!knows_nccl_over(cluster.node_type.transport.kind)) {
    refuse(
        "nothing is known of NCCL over the transport of this fabric",
        fmt::format("/fabric/transport can be one of {}; without --library hardware alone counts",
                    join_words(known_transports(), ", ")));
  }
  const PricedCollective priced(cluster, question.evidence, question.kind, groups_of(question),
                                question.algorithm);
  if (!priced.ways().empty()) {
    const bool crosses = priced.ways().front().plan.crosses_fabric;
    if (crosses) check_sizes(cluster.node_type.transport.kind, question.kind, sizes);
    return;
  }
  refuse(fmt::format("NCCL does not run {} as {} here", collective_name(question.kind),
                     question.algorithm->name),
         "its all-reduces are ring and tree, and nvls where \"reduces\" of the node's \"scale_up\" "
         "is true; pat gathers where every rank has a node of its own; the others run without "
         "--library");
}

void warn_of_unstated_transport(const Cluster& cluster, Diagnostics& notes) {
  if (cluster.node_type.transport.kind != TransportKind::unstated) return;
  Diagnostic warning;
  warning.severity = Severity::warning;
  warning.message = "the topology does not say what its fabric is: InfiniBand is taken";
  warning.help =
      "write \"transport\": \"roce\" into \"fabric\"; `headway explain fabric.transport` "
      "tells the others";
  notes.add(std::move(warning));
}

/// Whether a fabric says of its transport what others of its kind do not.
bool says_costs(const FabricTransport& transport) {
  const auto told = [](const TransportCosts& costs) {
    return std::tuple(costs.goodput, costs.message_latency, costs.bulk_latency, costs.posting,
                      costs.spread_share, costs.connection, costs.spread_connections,
                      costs.encryption, costs.encryption_latency);
  };
  return told(transport.costs) != told(transport_costs(transport.kind));
}

/// What was asked for and changes nothing.
void warn_of_what_does_nothing(const Arguments& arguments, const Cluster& cluster,
                               const PriceEvidence& evidence, Diagnostics& notes) {
  const auto warn = [&](std::string message, std::string help) {
    notes.add(
        {.severity = Severity::warning, .message = std::move(message), .help = std::move(help)});
  };
  const bool is_measured = evidence.profile != nullptr && evidence.profile->kind == "measured";
  const bool counts_costs = evidence.library != CollectiveLibrary::hardware && !is_measured;
  if (says_costs(cluster.node_type.transport) && !counts_costs) {
    warn(is_measured ? "\"transport_costs\" change nothing: what the profile measured holds them"
                     : "\"transport_costs\" change nothing: hardware alone is NICs at their rate",
         "--library nccl or a published --profile counts them");
  }
  if (cluster.rails_only && arguments.value("pxn") == "off") {
    warn("--pxn off changes nothing: the rails of this fabric are not joined",
         "what is for another rail goes by the node's own accelerator there");
  }
}

/// The number of groups, which must divide the ranks.
int groups_of(const Arguments& arguments, int ranks) {
  const int groups = static_cast<int>(arguments.integer("groups", 1, ranks / 2).value_or(1));
  if (ranks % groups == 0) return groups;
  refuse(fmt::format("{} groups do not divide {} ranks", groups, ranks),
         "--ranks takes another number of them");
}

int ranks_of(const Arguments& arguments, const Cluster& cluster) {
  if (cluster.accelerators() < 2) {
    refuse("a collective needs two ranks, and the cluster has one accelerator",
           "--nodes takes more nodes of a generated fabric");
  }
  const auto ranks = arguments.integer("ranks", 2, cluster.accelerators());
  return static_cast<int>(ranks.value_or(cluster.accelerators()));
}

std::shared_ptr<const Profile> profile_of(const Arguments& arguments, const Cluster* cluster,
                                          Diagnostics& diagnostics) {
  const auto path = arguments.value("profile");
  if (!path) return nullptr;
  InputFiles files({}, data_folders(), diagnostics);
  const auto root = files.open(*path, profile_folders());
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
  question.evidence.library = library_of(arguments);
  const std::vector<Bytes> sizes = byte_sizes(arguments.value("bytes").value_or("1KiB..1GiB"));
  EngineOptions engine;
  if (arguments.value("flows") == "simgrid") engine.flows = FlowEngine::simgrid;
  const int jobs = jobs_of(arguments);

  Diagnostics diagnostics;
  const std::vector<OutputFile> files =
      answer_files(arguments, arguments.positional(), diagnostics);
  const auto cluster = cluster_of(arguments, diagnostics);
  const auto profile = profile_of(arguments, cluster.get(), diagnostics);
  diagnostics.throw_if_errors();
  show_warnings(diagnostics, invocation.terminal);
  question.ranks = ranks_of(arguments, *cluster);
  question.groups = groups_of(arguments, question.ranks);
  question.is_interleaved = arguments.has("interleaved");
  question.evidence.profile = profile.get();
  if (const auto pxn = arguments.value("pxn")) question.evidence.is_rail_local = pxn == "on";
  check_choices(*cluster, question, sizes);
  Diagnostics notes;
  if (question.evidence.library == CollectiveLibrary::nccl) {
    warn_of_unstated_transport(*cluster, notes);
  }
  warn_of_what_does_nothing(arguments, *cluster, question.evidence, notes);
  show_warnings(notes, invocation.terminal);

  const CollectiveReport report{.cluster = cluster->name,
                                .nodes = cluster->node_of(question.ranks - 1) + 1,
                                .library = question.evidence.library,
                                .profile = profile ? profile->name : "",
                                .kind = question.kind,
                                .ranks = question.ranks / question.groups,
                                .groups = question.groups,
                                .rows = collective_table(*cluster, question, sizes, engine, jobs)};
  give(collective_answer(report), files, invocation);
  return kExitDone;
}

std::vector<Option> collective_options() {
  return with_standard_options({
      set_option("/fabric/transport=roce"),
      profile_option(),
      nodes_option(),
      {.name = "op",
       .value = "NAME",
       .fallback = "all_reduce",
       .help = "all_reduce, all_gather, reduce_scatter, broadcast, all_to_all, send_recv, reduce, "
               "gather or scatter",
       .group = OptionGroup::run,
       .words = words_of<CollectiveKind>()},
      {.name = "ranks",
       .value = "N",
       .fallback = "all",
       .help = "how many take part, the first ones",
       .group = OptionGroup::run},
      {.name = "groups",
       .value = "N",
       .fallback = "1",
       .help = "as many at once share out the ranks",
       .group = OptionGroup::run},
      {.name = "interleaved",
       .help = "rank r in group r mod N, not consecutive ones",
       .group = OptionGroup::run},
      {.name = "bytes",
       .value = "SIZES",
       .fallback = "1KiB..1GiB",
       .help = "one, a list \"1KiB,1MiB\", or a range that doubles, or \"..1GiB*4\"",
       .group = OptionGroup::run},
      {.name = "algorithm",
       .value = "NAME",
       .fallback = "auto",
       .help = "ring, tree, hierarchical, nvls, in_network, pat, torus; auto: ring, tree or torus, "
               "the fastest",
       .group = OptionGroup::run,
       .words = algorithm_words()},
      {.name = "library",
       .value = "NAME",
       .help = "nccl: its own choices; else hardware, or the profile",
       .group = OptionGroup::run,
       .words = {"nccl"},
       .excludes = {"profile"}},
      {.name = "pxn",
       .value = "WHEN",
       .fallback = "on with nccl",
       .help = "on, off: rails change inside nodes",
       .group = OptionGroup::run,
       .words = {"on", "off"}},
      {.name = "flows",
       .value = "SOLVER",
       .fallback = "incremental",
       .help = "solver: incremental or simgrid",
       .group = OptionGroup::run,
       .words = {"incremental", "simgrid"}},
      jobs_option(),
      json_option(),
      output_option(),
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
      {"headway collective dgx_a100_superpod --nodes 2 --library nccl",
       "what nccl-tests should print there"},
  };
  command.options = collective_options();
  command.least_arguments = 1;
  command.most_arguments = 1;
  command.outcome = "nothing was simulated";
  command.details =
      "Sizes are counted as nccl-tests counts them: the whole buffer of an all-reduce, a broadcast "
      "and a reduce, the gathered buffer of an all-gather and a gather, the unreduced one of a "
      "reduce-scatter, the root's of a scatter. "
      "\"closed form\" is the time on paper of the same collective of one group with the fabric to "
      "itself, \"ratio\" the simulated time over it: what groups that run at once take from each "
      "other. Where the fabric is too narrow for one group alone, both are as long. in_network is "
      "NVIDIA "
      "SHARP at its best: the switches of the fabric add; nvls: those of the scale-up domain do. "
      "torus: all rings of a torus at once, both ways round. "
      "Bandwidths are in 1e9 bytes a second; --json is in SI base units.";
  command.run = run_collective;
  return command;
}

}  // namespace headway
