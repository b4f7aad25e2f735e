#include "calibrate/cli/options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/program_options.hpp>
#include <sstream>

#include "sim/base/diagnostic.h"
#include "sim/base/suggestion.h"

namespace headway {
namespace {

namespace po = boost::program_options;

constexpr const char* kUsage =
    "Measures this machine and writes a profile that `headway simulate` predicts with.\n"
    "\n"
    "  headway-calibrate --backend cpu --quick -o here.json\n"
    "  headway-calibrate --backend cuda -o h100.json\n"
    "\n";

constexpr const char* kAfter =
    "\n"
    "Exit codes: 0 done; 1 predictions are off; 2 wrong command line or input; 3 the machine did "
    "not do its part (what "
    "was\n"
    "measured until then is kept); 70 a bug of ours; 130 interrupted (what was measured is "
    "kept).\n";

struct Raw {
  std::string backend;
  std::string progress;
};

po::options_description table(Options& options, Raw& raw) {
  po::options_description all("Options");
  const auto number = [](auto* target) { return po::value(target)->default_value(*target); };
  all.add_options()("backend", po::value(&raw.backend)->default_value("cpu"),
                    "what is measured: cpu, cuda or fake")("quick", po::bool_switch(&options.quick),
                                                           "a coarser grid, under two minutes")(
      "output,o", po::value(&options.output), "the profile's file; standard output without it")(
      "name", number(&options.name), "the profile's name")(
      "accelerator", po::value(&options.accelerator),
      "what topologies call this device (default: told by the device)")(
      "shapes", po::value(&options.shapes),
      "also measure these products, lines \"PRECISION M N K\"; - is standard input")(
      "ranks", po::value(&options.ranks),
      "CPU processes, one core each, started by mpirun (default: 2 where possible); of the fake "
      "backend, ranks of its largest group")(
      "steps", po::value(&options.steps),
      "run the training steps of this file (headway/steps/1) on the CPU instead, and write what "
      "they "
      "took (headway/measured/1)")("measured", po::value(&options.measured),
                                   "compare what --steps wrote with profiles; nothing is run")(
      "against", po::value(&options.against)->composing(),
      "a profile to predict steps by and compare; given twice, one calibrated before and one "
      "after")("passes", number(&options.passes), "over every grid, each in another order")(
      "seed", number(&options.seed), "of operands and orders")(
      "noise", number(&options.noise), "of the fake backend's times, relative")(
      "progress", po::value(&raw.progress)->default_value("auto"), "auto, always or never")(
      "help,h", "this text")("version", "the version");
  return all;
}

[[noreturn]] void reject(const std::string& problem, const std::string& help) {
  Diagnostic diagnostic;
  diagnostic.message = problem;
  diagnostic.location.file = "command line";
  diagnostic.help = help;
  throw InputError(diagnostic);
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
  const bool has_rows = !options.steps.empty() || !options.measured.empty();
  if (!options.against.empty() && !has_rows) {
    reject("--against needs --steps or --measured", "it predicts the steps of a file and compares");
  }
  if (!options.measured.empty() && (options.against.empty() || !options.steps.empty())) {
    reject("--measured needs --against and no --steps", "it compares what was run before");
  }
  if (options.against.size() > 2) reject("--against is given too often", "one or two profiles");
  if (!options.steps.empty() && options.backend != BackendKind::cpu) {
    reject("--steps runs on the CPU only", "leave --backend out");
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
  check(options);
  return options;
}

}  // namespace headway
