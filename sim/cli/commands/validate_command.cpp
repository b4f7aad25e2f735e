#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "reports/answers/answers.h"
#include "sim/base/parse_number.h"
#include "sim/base/utf8.h"
#include "sim/cli/commands/validate_options.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/options/common_options.h"
#include "sim/cli/options/scenario_options.h"
#include "sim/cli/outputs.h"
#include "sim/cli/progress.h"
#include "sim/costs/accelerators.h"
#include "sim/costs/read_profile.h"
#include "sim/costs/steps/read_steps.h"
#include "sim/files/input_files.h"
#include "sim/predict/collective/collective_validation.h"
#include "sim/sweep/mpi_crew.h"
#include "sim/validate/anchor_validation.h"
#include "sim/validate/free_constants.h"
#include "sim/validate/measured/measured_comparison.h"
#include "sim/validate/memory_validation.h"
#include "sim/validate/sync/sync_validation.h"
#include "sim/validate/validation.h"

namespace headway {
namespace {

/// Properties of rows that an option of the same name filters by.
constexpr std::array<std::string_view, 5> kFilteredProperties = {"kind", "framework", "source",
                                                                 "gpu", "precision"};

/// "10%" or "0.1" as a fraction.
std::optional<double> tolerance_of(const Arguments& arguments) {
  const auto text = arguments.value("tolerance");
  if (!text) return std::nullopt;
  const bool is_percent = text->ends_with('%');
  const std::string_view digits =
      std::string_view(*text).substr(0, text->size() - (is_percent ? 1 : 0));
  const auto value = parse_number<double>(digits);
  if (value && std::isfinite(*value) && *value >= 0.0) return is_percent ? *value / 100.0 : *value;
  refuse(fmt::format("--tolerance needs a share, not {}", in_quotes(*text)), "write 10% or 0.1");
}

ValidationFilter filter_of(const Arguments& arguments) {
  ValidationFilter filter;
  filter.id_prefixes = arguments.values("id");
  for (const std::string_view property : kFilteredProperties) {
    filter.words[std::string(property)] = arguments.values(property);
  }
  for (const std::string& text : arguments.values("scale")) {
    filter.scales.push_back(scale_range(text));
  }
  return filter;
}

std::vector<const CostTerm*> terms_of(const Arguments& arguments) {
  std::vector<const CostTerm*> terms;
  for (const std::string& name : arguments.values("ablate")) {
    if (name != "all") {
      terms.push_back(&cost_term_named(name));
      continue;
    }
    for (const CostTerm& term : cost_terms()) terms.push_back(&term);
  }
  return terms;
}

std::vector<OutputFile> outputs_of(const Arguments& arguments) {
  Diagnostics diagnostics;
  std::vector<std::string> inputs = arguments.values("measured");
  if (const auto rows = arguments.value("rows")) inputs.push_back(*rows);
  std::vector<OutputFile> outputs = answer_files(arguments, inputs, diagnostics);
  diagnostics.throw_if_errors();
  return outputs;
}

Validation validation_of(const std::string& rows_file, ValidateOptions& options, When when,
                         Terminal& terminal) {
  Diagnostics diagnostics;
  Progress progress(terminal, when, "predicting published steps");
  options.progress = [&](std::size_t done, std::size_t of) { progress.update(done, of); };
  Validation validation = validate_rows(rows_file, options, diagnostics);
  progress.finish();
  show_warnings(diagnostics, terminal);
  return validation;
}

int verdict(const Validation& validation, std::optional<double> tolerance, Terminal& terminal) {
  if (!tolerance) return kExitDone;
  const ValidationSummary& all = validation.summary.front();
  if (all.rows.count > 0 && all.rows.mean <= *tolerance) return kExitDone;
  terminal.report(all.rows.count == 0
                      ? std::string("no row could be predicted, so no tolerance is met\n")
                      : fmt::format("the mean absolute error, {:.1f} %, exceeds the tolerance of "
                                    "{:.1f} %\n",
                                    100.0 * all.rows.mean, 100.0 * *tolerance));
  return kExitNegative;
}

/// Whether jobs fit, instead of how long they take.
int run_memory(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  Terminal& terminal = invocation.terminal;
  const std::vector<OutputFile> outputs = outputs_of(arguments);
  Diagnostics diagnostics;
  ValidateOptions options;
  options.jobs = jobs_of(arguments);
  options.filter = filter_of(arguments);
  Progress progress(terminal, progress_of(arguments), "judging published jobs");
  options.progress = [&](std::size_t done, std::size_t of) { progress.update(done, of); };
  const MemoryValidation validation =
      validate_memory(arguments.value("rows").value_or(""), options, diagnostics);
  progress.finish();
  give(memory_validation_answer(validation), outputs, invocation);
  return kExitDone;
}

void set_left_out(const Arguments& arguments, ValidateOptions& options) {
  const std::vector<std::string> what = arguments.values("leave-out");
  options.leave_out_source = std::ranges::find(what, "source") != what.end();
  options.leave_out_choices = std::ranges::find(what, "choices") != what.end();
}

/// What one measured step of a row is worth to others.
int run_anchors(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  const std::vector<OutputFile> outputs = outputs_of(arguments);
  Diagnostics diagnostics;
  ValidateOptions options;
  options.jobs = jobs_of(arguments);
  options.filter = filter_of(arguments);
  set_left_out(arguments, options);
  Progress progress(invocation.terminal, progress_of(arguments), "predicting rows by others");
  options.progress = [&](std::size_t done, std::size_t of) { progress.update(done, of); };
  const AnchorValidation validation =
      validate_anchors(arguments.value("rows").value_or(""), options, diagnostics);
  progress.finish();
  show_warnings(diagnostics, invocation.terminal);
  give(anchor_validation_answer(validation), outputs, invocation);
  return kExitDone;
}

/// What synchronisation, input and recovery cost.
int run_sync(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  const std::vector<OutputFile> outputs = outputs_of(arguments);
  Diagnostics diagnostics;
  Progress progress(invocation.terminal, progress_of(arguments), "predicting published rows");
  const SyncValidation validation = validate_sync(
      {.path = arguments.value("rows").value_or(""),
       .id_prefixes = arguments.values("id"),
       .jobs = jobs_of(arguments),
       .progress = [&](std::size_t done, std::size_t of) { progress.update(done, of); }},
      diagnostics);
  progress.finish();
  show_warnings(diagnostics, invocation.terminal);
  give(sync_validation_answer(validation), outputs, invocation);
  return kExitDone;
}

/// How long collectives take, against tables of nccl-tests.
int run_collectives(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  const std::vector<OutputFile> outputs = outputs_of(arguments);
  Diagnostics diagnostics;
  const CollectiveValidation validation =
      validate_collectives(arguments.value("rows").value_or(""), jobs_of(arguments), diagnostics);
  show_warnings(diagnostics, invocation.terminal);
  give(collective_validation_answer(validation), outputs, invocation);
  return kExitDone;
}

/// What the fit of the published profiles was free to choose.
int run_constants(const Invocation& invocation) {
  const std::vector<OutputFile> outputs = outputs_of(invocation.arguments);
  const std::vector<FreeConstant> constants = free_constants();
  give(free_constants_answer(constants), outputs, invocation);
  return kExitDone;
}

std::vector<std::shared_ptr<const Profile>> profiles_of(const Invocation& invocation) {
  std::vector<std::shared_ptr<const Profile>> profiles;
  Diagnostics diagnostics;
  InputFiles files({}, data_folders(), diagnostics);
  for (const std::string& path : invocation.arguments.values("profile")) {
    const auto cursor = files.open(path, profile_folders());
    const auto read = cursor ? read_profile(*cursor, files) : std::nullopt;
    if (read) profiles.push_back(read->profile);
  }
  diagnostics.throw_if_errors();
  show_warnings(diagnostics, invocation.terminal);
  return profiles;
}

/// How long steps take that were run here. A machine too noisy to tell is no negative answer.
int run_measured(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  const std::vector<OutputFile> outputs = outputs_of(arguments);
  std::vector<Profile> profiles;
  for (const auto& profile : profiles_of(invocation)) profiles.push_back(*profile);
  if (profiles.empty() || profiles.size() > 2) {
    refuse("--measured needs one or two --profile",
           "name the profiles that were calibrated before and after the steps were run");
  }
  std::vector<MeasuredStep> measured;
  for (const std::string& path : arguments.values("measured")) {
    const auto rows = read_measured(path);
    measured.insert(measured.end(), rows.begin(), rows.end());
  }
  const MeasuredComparison comparison = measured_comparison(measured, profiles, jobs_of(arguments));
  give(measured_validation_answer(comparison), outputs, invocation);
  return comparison.verdict == MeasuredComparison::Verdict::off ? kExitNegative : kExitDone;
}

/// A follower of a crew has no answer of its own.
struct FollowerIsDone {};

/// Rows by the processes that mpirun started, each of which reads them.
void share_out(MpiCrew& crew, const Arguments& arguments, ValidateOptions& options) {
  if (arguments.has("jobs")) {
    refuse("--jobs does not go with several processes",
           "each process that mpirun starts predicts one row at a time, but for the first, which "
           "hands them out");
  }
  options.distribute = [&](std::size_t count, const auto& task, const auto& finished) {
    if (crew.leads()) {
      crew.lead(
          count, [](std::size_t number) { return std::to_string(number); }, finished);
      return;
    }
    crew.follow(
        [&](const std::string& number) { return task(parse_number<std::size_t>(number).value()); });
    throw FollowerIsDone();
  };
}

/// How long published steps take.
int run_published(const Invocation& invocation, MpiCrew* crew) {
  const Arguments& arguments = invocation.arguments;
  Terminal& terminal = invocation.terminal;
  const auto tolerance = tolerance_of(arguments);
  const std::vector<OutputFile> outputs = outputs_of(arguments);
  const bool follows = crew != nullptr && !crew->leads();
  const When when = follows ? When::never : progress_of(arguments);
  ValidateOptions options;
  options.jobs = jobs_of(arguments);
  options.filter = filter_of(arguments);
  options.ablate = terms_of(arguments);
  set_left_out(arguments, options);
  options.pairs = arguments.has("pairs");
  options.profiles = profiles_of(invocation);
  if (crew != nullptr) share_out(*crew, arguments, options);
  const Validation validation =
      validation_of(arguments.value("rows").value_or(""), options, when, terminal);
  give(options.pairs ? row_pairs_answer(validation.knobs) : validation_answer(validation), outputs,
       invocation);
  return verdict(validation, tolerance, terminal);
}

/// What is wrong with the input the leader tells, and hands out nothing.
int follow_published(const Invocation& invocation, MpiCrew& crew) {
  try {
    return run_published(invocation, &crew);
  } catch (const FollowerIsDone&) {
    return kExitDone;
  } catch (const InputError&) {
    crew.follow([](const std::string&) { return std::string(); });
    return kExitDone;
  }
}

int run_validate(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  if (arguments.has("collectives")) return run_collectives(invocation);
  if (arguments.has("sync")) return run_sync(invocation);
  if (arguments.has("measured")) return run_measured(invocation);
  if (arguments.has("memory")) return run_memory(invocation);
  if (arguments.has("anchors")) return run_anchors(invocation);
  if (arguments.has("constants")) return run_constants(invocation);
  if (!MpiCrew::is_called_for()) return run_published(invocation, nullptr);
  MpiCrew crew;
  return crew.leads() ? run_published(invocation, &crew) : follow_published(invocation, crew);
}

}  // namespace

Command validate_command() {
  Command command;
  command.name = "validate";
  command.group = "Predict";
  command.summary = "predictions against published or measured steps";
  command.about = "Predicts published training steps and compares; what it cannot, it refuses.";
  command.examples = {
      {"headway validate -o errors.html", "every row that ships, as a page"},
      {"headway validate --leave-out source --kind dense --gpu H100 --tolerance 10%",
       "what others may expect of some; fails if the mean error is above 10 %"},
  };
  command.options = validate_options();
  command.outcome = "nothing was predicted";
  command.details =
      "A file holds {\"rows\": [...]}, one object a published step: id, gpu, gpus, model, train, "
      "measured.iteration_time_s and where it was published. Errors are predicted / published - 1; "
      "a group of near-identical rows counts once in the columns that say so. What a row does not "
      "say and was taken for granted stands in the JSON result as \"assumed\", and a row that "
      "cannot be predicted with the reason. `headway explain terms` lists what --ablate can leave "
      "out. --leave-out source takes constants that were fitted without any row of a row's source: "
      "what software and clusters that nobody has measured may expect. --anchors predicts each row "
      "with the step of each other one of its source, model and accelerator as `headway anchor` "
      "would, without what only its source has. --leave-out choices takes preset, degrees, "
      "batches, precision and task from a row and leaves the rest to the preset, as users do who "
      "say no more. --sync takes rows that say in words what was run, a list of objects or "
      "{\"rows\": [...]}: id, kind, set-up, metric, value. --measured takes what headway-calibrate "
      "--steps wrote and needs --profile, once or twice: calibrated before the steps were run, and "
      "after. Its verdict is inconclusive where other work on the machine, or the two profiles, "
      "make more than 5 % of difference. Rows are predicted with the profile that ships of their "
      "accelerator, or with --profile.";
  command.run = run_validate;
  return command;
}

}  // namespace headway
