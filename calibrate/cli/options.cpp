#include "calibrate/cli/options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <filesystem>
#include <sstream>

#include "calibrate/suite/plan.h"
#include "sim/base/diagnostic.h"
#include "sim/base/join_words.h"
#include "sim/base/quantity_text.h"
#include "sim/base/suggestion.h"

namespace headway {
namespace {

namespace po = boost::program_options;

constexpr const char* kUsage =
    "Measures this machine and writes a profile that `headway simulate` predicts with.\n"
    "\n"
    "  headway-calibrate --backend cpu --quick -o here.json\n"
    "  headway-calibrate --backend cuda -o h100.json --points h100_points.json\n"
    "  headway-calibrate --from h100_points.json -o h100.json\n"
    "\n";

constexpr const char* kAfter =
    "\n"
    "Exit codes: 0 done; 2 wrong command line or input; 3 the machine did not do its part (what "
    "was\n"
    "measured until then is kept), or had not when --from was measured; 70 a bug of ours; 130\n"
    "interrupted (what was measured is kept).\n";

struct Raw {
  std::string backend;
  std::string progress;
  std::string net;
  std::string jitter;
  std::string deadline = "60 s";
};

[[noreturn]] void reject(const std::string& problem, const std::string& help) {
  Diagnostic diagnostic;
  diagnostic.message = problem;
  diagnostic.location.file = "command line";
  diagnostic.help = help;
  throw InputError(diagnostic);
}

/// The quantity of an option.
template <class Q>
Q quantity(const std::string& option, const std::string& text) {
  const auto parsed = parse_quantity<Q>(text);
  if (const auto* problem = std::get_if<QuantityProblem>(&parsed)) {
    reject(option + ": " + problem->problem, problem->help);
  }
  return std::get<Q>(parsed);
}

po::options_description table(Options& options, Raw& raw) {
  po::options_description all("Options");
  const auto number = [](auto* target) {
    return po::value(target)->default_value(*target, fmt::format("{}", *target));
  };
  auto add = all.add_options();
  add("backend", po::value(&raw.backend)->default_value("cpu"),
      "what is measured: cpu, cuda or fake");
  add("quick", po::bool_switch(&options.quick), "a coarser grid, under two minutes");
  add("output,o", po::value(&options.output), "the profile's file; standard output without it");
  add("points", po::value(&options.points),
      "also write everything that was measured to this file (headway/measurements/1), for --from");
  add("from", po::value(&options.from),
      "measure nothing: build the profile from a file of --points, by this version's fits");
  add("name", number(&options.name), "the profile's name");
  add("accelerator", po::value(&options.accelerator),
      "what topologies call this device (default: told by the device)");
  add("shapes", po::value(&options.shapes),
      "also measure these products, lines \"PRECISION M N K\", and this attention, lines "
      "\"attention SEQUENCES LENGTH QUERY_HEADS KEY_HEADS HEAD_SIZE causal\", or full; - is "
      "standard input");
  add("only", po::value(&options.only)->composing(),
      "besides products, measure nothing else: attention, memory, launch, copies, concurrent, "
      "sustained, collectives or a kind of these, as all_reduce; repeatable");
  add("ranks", po::value(&options.ranks),
      "CPU processes, one core each, started by mpirun (default: 2 where possible); of the fake "
      "backend, ranks of its largest group");
  add("single-process", po::bool_switch(&options.is_single_process),
      "one process drives all CUDA devices, instead of one each; then only the first computes");
  add("net", po::value(&raw.net),
      "rate of a link for each rank, as \"400 Mb/s\": ranks run in network namespaces");
  add("deadline", number(&raw.deadline), "a rank that does not answer for this long is dead");
  add("steps", po::value(&options.steps),
      "run the training steps of this file (headway/steps/1) on the CPU instead, and write what "
      "they took (headway/measured/1), for `headway validate --measured`");
  add("jitter", po::value(&raw.jitter),
      "at the end repeat one product for so long, as \"600 s\", to see how its time varies");
  add("block", po::bool_switch(&options.block),
      "at the end train a transformer block (forward, backward, Adam) and say how far the profile "
      "is off");
  add("passes", number(&options.passes), "over every grid, each in another order");
  add("seed", number(&options.seed), "of operands and orders");
  add("noise", number(&options.noise), "of the fake backend's times, relative");
  add("progress", po::value(&raw.progress)->default_value("auto"), "auto, always or never");
  add("help,h", "this text");
  add("version", "the version");
  return all;
}

/// What goes with --from: all other options are about measuring.
constexpr std::string_view kOfRefits[] = {"from", "output", "name", "accelerator"};

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code missing;
  return !one.empty() && (one == other || std::filesystem::equivalent(one, other, missing));
}

void check_files(const Options& options, const po::variables_map& given) {
  if (given.contains("from")) {
    for (const auto& [option, value] : given) {
      if (value.defaulted() || std::ranges::count(kOfRefits, option) > 0) continue;
      reject(fmt::format("--{} is about measuring, and --from measures nothing", option),
             fmt::format("leave --{} out, or measure without --from", option));
    }
    if (options.from.empty()) reject("--from names no file", "a file that --points wrote");
    if (is_same_file(options.from, options.output)) {
      reject("the profile would take the place of the measurements",
             "name another file with --output");
    }
  }
  if (options.points.empty()) return;
  if (!options.steps.empty()) {
    reject("--steps measures no points", "leave --points out: --output has what steps took");
  }
  if (is_same_file(options.points, options.output)) {
    reject("--points and --output name the same file", "give each a file of its own");
  }
}

void check(const Options& options) {
  if (options.passes < 1 || options.passes > 100) {
    reject("--passes must be between 1 and 100", "3 is what the profile's spreads are made for");
  }
  if (options.ranks < 0 || options.ranks > 1024) {
    reject("--ranks must be between 1 and 1024", "leave it out for the default");
  }
  if (!(options.noise >= 0.0 && options.noise <= 1.0)) {
    reject("--noise must be between 0 and 1", "0.05 is 5 %");
  }
  if (!options.steps.empty() && options.backend != BackendKind::cpu) {
    reject("--steps runs on the CPU only", "leave --backend out");
  }
  if (options.block && options.backend == BackendKind::fake) {
    reject("--block needs a device that computes", "--backend cpu or cuda");
  }
  if (options.net && options.backend != BackendKind::cpu) {
    reject("--net goes with the CPU backend only", "leave --backend out");
  }
  if (options.is_single_process && options.backend != BackendKind::cuda) {
    reject("--single-process is about CUDA devices", "--backend cuda, or leave it out");
  }
  if (options.net && options.ranks == 1) reject("--net needs ranks", "leave --ranks out");
  for (const std::string& name : options.only) {
    const auto names = plan_part_names();
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const auto meant = closest(name, names);
    reject(fmt::format("--only knows no \"{}\"", name),
           meant ? fmt::format("did you mean \"{}\"?", *meant)
                 : fmt::format("it is one of {}", join_words(names, ", ")));
  }
  if (options.name.empty()) reject("--name must not be empty", "scenarios refer to it");
}

}  // namespace

std::string backend_name(BackendKind kind) {
  switch (kind) {
    case BackendKind::cpu:
      return "cpu";
    case BackendKind::cuda:
      return "cuda";
    case BackendKind::fake:
      return "fake";
  }
  HEADWAY_CHECK(false, "unknown backend");
}

Options parsed_options(const std::vector<std::string>& arguments, std::optional<Answer>& answer) {
  Options options;
  Raw raw;
  const po::options_description all = table(options, raw);
  po::variables_map values;
  try {
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    const auto parsed = po::command_line_parser(arguments)
                            .options(all)
                            .positional(po::positional_options_description())
                            .style(style)
                            .run();
    po::store(parsed, values);
    po::notify(values);
  } catch (const po::error& error) {
    reject(error.what(), "`headway-calibrate --help` lists the options");
  }
  if (values.contains("help")) {
    std::ostringstream text;
    text << kUsage << all << kAfter;
    answer = Answer{text.str()};
  } else if (values.contains("version")) {
    answer = Answer{"headway-calibrate " HEADWAY_VERSION "\n"};
  }
  if (raw.backend == "cpu")
    options.backend = BackendKind::cpu;
  else if (raw.backend == "cuda")
    options.backend = BackendKind::cuda;
  else if (raw.backend == "fake")
    options.backend = BackendKind::fake;
  else
    reject(fmt::format("unknown backend \"{}\"", raw.backend), "it is cpu, cuda or fake");

  if (raw.progress == "always")
    options.shows_progress = true;
  else if (raw.progress == "never")
    options.shows_progress = false;
  else if (raw.progress == "auto")
    options.shows_progress = isatty(STDERR_FILENO) == 1;
  else
    reject(fmt::format("unknown --progress \"{}\"", raw.progress), "it is auto, always or never");
  if (!raw.jitter.empty()) {
    options.jitter = quantity<Seconds>("--jitter", raw.jitter);
    if (*options.jitter < 1.0_s)
      reject("--jitter is too short to see anything", "at least \"1 s\"");
  }
  if (!raw.net.empty()) {
    options.net = quantity<BytesPerSecond>("--net", raw.net);
    if (*options.net < 1_MBps) reject("--net is too slow to measure", "at least \"8 Mb/s\"");
  }
  options.deadline = quantity<Seconds>("--deadline", raw.deadline);
  if (options.deadline < 1.0_s) reject("--deadline is too short", "at least \"1 s\"");
  check(options);
  check_files(options, values);
  if (!options.from.empty() && values["name"].defaulted()) options.name.clear();
  return options;
}

}  // namespace headway
