#include "sim/launch/reading/given_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <regex>
#include <sstream>

#include "sim/base/file_text.h"
#include "sim/base/join_words.h"
#include "sim/base/parse_number.h"
#include "sim/base/utf8.h"
#include "sim/launch/reading/shell_script.h"

namespace headway {
namespace {

/// The values of argparse that no flag stands for.
constexpr std::string_view kNothing[] = {"False", "None", "none", "[]", ""};

/// Arguments that are on unless a flag says otherwise: as logs call them, and the flag.
constexpr std::array<std::string_view, 2> kTurnedOff[] = {
    {"async_tensor_model_parallel_allreduce", "--no-async-tensor-model-parallel-allreduce"},
    {"add_bias_linear", "--disable-bias-linear"},
    {"overlap_p2p_comm", "--no-overlap-p2p-communication"},
    {"check_for_nan_in_loss_and_grad", "--no-check-for-nan-in-loss-and-grad"}};
/// Arguments that logs call otherwise than their flags.
constexpr std::array<std::string_view, 2> kOtherNames[] = {
    {"fp8", "--fp8-format"},
    {"virtual_pipeline_model_parallel_size", "--num-virtual-stages-per-pipeline-rank"},
    {"num_key_value_heads", "--num-query-groups"}};

// A run prints hundreds; a script has no such line.
constexpr int kFewestArguments = 20;

std::string flag_of(std::string_view argument) {
  for (const auto& [name, flag] : kOtherNames) {
    if (name == argument) return std::string(flag);
  }
  std::string flag = "--" + std::string(argument);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

/// "['core_attn', 'mlp']" as words; "AttnBackend.flash" as "flash".
std::vector<std::string> values_of(std::string text) {
  std::erase_if(text, [](char c) { return c == '[' || c == ']' || c == '\'' || c == ','; });
  std::istringstream stream(text);
  std::vector<std::string> values;
  for (std::string word; stream >> word;) {
    const bool is_member = word.starts_with("AttnBackend.") || word.starts_with("CudaGraph");
    values.push_back(is_member ? word.substr(word.find('.') + 1) : word);
  }
  return values;
}

/// The arguments that a log prints: "  num_layers ...... 32", each once, of the first rank that
/// prints them.
StartedJob job_of_log(const std::string& path, const std::string& text) {
  static const std::regex kArgument(R"(^(?:[\w.-]+:)?\s{1,4}([A-Za-z]\w*) \.{2,} ?(.*)$)");
  static const std::regex kPadded(R"(> padded vocab \(size: \d+\).*new size: (\d+)\))");
  StartedJob job;
  job.is_log = true;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.size() > 4096) continue;
    std::smatch match;
    if (line.find("padded vocab") != std::string::npos && std::regex_search(line, match, kPadded)) {
      job.vocabulary = parse_number<double>(match[1].str());
    }
    if (line.find(" ..") == std::string::npos || !std::regex_match(line, match, kArgument)) {
      continue;
    }
    const std::string argument = match[1];
    const std::string value = match[2];
    const SourceLocation place = {.file = path, .line = number, .column = 1};
    const auto* const off =
        std::ranges::find(kTurnedOff, argument, [](const auto& names) { return names.front(); });
    if (off != std::end(kTurnedOff)) {
      if (value == "False") job.settings.give({std::string((*off)[1]), {}, place});
      continue;
    }
    if (std::ranges::find(kNothing, value) != std::end(kNothing)) continue;
    const std::string flag = flag_of(argument);
    if (job.settings.has(flag)) continue;
    job.settings.give(
        {flag, value == "True" ? std::vector<std::string>{} : values_of(value), place});
  }
  job.ranks = job.settings.number("--world-size");
  return job;
}

bool is_log(const std::string& text) {
  int arguments = 0;
  for (std::size_t at = text.find(" .....");
       at != std::string::npos && arguments < kFewestArguments; at = text.find(" .....", at + 16)) {
    ++arguments;
  }
  return arguments >= kFewestArguments;
}

bool is_flag(const std::string& word) { return word.starts_with("--") && word.size() > 2; }

/// The words of a command; a quoted command line in it (bash -c "...") as its own words.
std::vector<ShellWord> flat_words(const std::vector<ShellWord>& command) {
  std::vector<ShellWord> words;
  for (const ShellWord& word : command) {
    if (word.text.find(" --") == std::string::npos) {
      words.push_back(word);
      continue;
    }
    for (const std::vector<ShellWord>& inner : read_shell_script(word.text).commands) {
      for (const ShellWord& of_inner : inner) words.push_back({of_inner.text, word.line});
    }
  }
  return words;
}

std::size_t flags_among(const std::vector<ShellWord>& words) {
  return static_cast<std::size_t>(
      std::ranges::count_if(words, [](const ShellWord& word) { return is_flag(word.text); }));
}

/// What torchrun, pdsh and the like are told: in front of the script.
void take_launcher_flag(const std::string& flag, const std::string& value, StartedJob& job) {
  std::string name = flag;
  std::ranges::replace(name, '_', '-');
  const auto number = parse_number<double>(value);
  if (name == "--nnodes" || name == "--num-nodes" || name == "--nodes" ||
      name == "--num-machines") {
    job.nodes = number;
  }
  if (name == "--num-processes") job.ranks = number;  // of all machines
  if (name == "--nproc-per-node" || name == "--num-gpus" || name == "--ntasks-per-node") {
    job.per_node = number;
  }
}

/// The program that a command starts: a file, a variable that is called one, or a module that is no
/// launcher itself.
std::vector<ShellWord>::const_iterator program_of(const std::vector<ShellWord>& words) {
  const auto file =
      std::ranges::find_if(words, [](const ShellWord& word) { return word.text.ends_with(".py"); });
  if (file != words.end()) return file;
  const auto variable = std::ranges::find_if(words, [](const ShellWord& word) {
    return word.text.starts_with('$') && word.text.find("SCRIPT") != std::string::npos;
  });
  if (variable != words.end()) return variable;
  for (auto word = words.begin(); word != words.end(); ++word) {
    const auto next = std::next(word);
    if (word->text != "-m" || next == words.end()) continue;
    if (!next->text.starts_with("torch.distributed")) return next;
  }
  return words.end();
}

}  // namespace

void GivenSettings::give(GivenSetting setting) {
  std::string flag = setting.flag;
  settings_.insert_or_assign(std::move(flag), std::move(setting));
}

void GivenSettings::imply(const std::string& flag, std::vector<std::string> values) {
  settings_.try_emplace(flag, GivenSetting{flag, std::move(values), {}});
}

const GivenSetting* GivenSettings::find(std::string_view flag) const {
  const auto found = settings_.find(flag);
  return found == settings_.end() ? nullptr : &found->second;
}

std::string GivenSettings::value(std::string_view flag) const {
  const GivenSetting* const setting = find(flag);
  return setting == nullptr ? "" : join_words(setting->values, " ");
}

std::optional<double> GivenSettings::number(std::string_view flag) const {
  return parse_number<double>(value(flag));
}

std::string help_for_variable(const std::string& value) {
  if (!value.starts_with('$')) return "";
  return fmt::format("the script does not say what {} is: set it in a line before, {}=...",
                     printable(value), printable(value.substr(1)));
}

StartedJob job_of_script(const std::string& path, const std::string& text,
                         Diagnostics& diagnostics) {
  ShellScript script = read_shell_script(text);
  std::vector<ShellWord> longest;
  for (const std::vector<ShellWord>& command : script.commands) {
    std::vector<ShellWord> words = flat_words(command);
    if (flags_among(words) >= std::max<std::size_t>(1, flags_among(longest))) {
      longest = std::move(words);
    }
  }
  StartedJob job;
  const auto program = program_of(longest);
  const bool has_program = program != longest.end();
  for (auto word = longest.cbegin(); word != longest.end();) {
    if (!is_flag(word->text)) {
      ++word;
      continue;
    }
    const bool is_launchers = has_program && word < program;
    const std::size_t equals = word->text.find('=');
    GivenSetting setting{.flag = word->text.substr(0, equals),
                         .place = {.file = path, .line = word->line, .column = 1}};
    if (equals != std::string::npos) setting.values.push_back(word->text.substr(equals + 1));
    for (++word; word != longest.end() && !is_flag(word->text) && word != program; ++word) {
      setting.values.push_back(word->text);
    }
    const std::string value = setting.values.empty() ? "" : setting.values.front();
    if (is_launchers) {
      take_launcher_flag(setting.flag, value, job);
      std::ranges::replace(setting.flag, '_', '-');
      job.launcher.give(std::move(setting));
      continue;
    }
    std::ranges::replace(setting.flag, '_', '-');
    job.settings.give(std::move(setting));
  }
  job.variables = std::move(script.variables);
  if (job.nodes && job.per_node) job.ranks = *job.nodes * *job.per_node;
  for (const int line : script.conditional_lines) {
    diagnostics.add({.severity = Severity::warning,
                     .message = "flags under a condition are read as if it held",
                     .location = {.file = path, .line = line, .column = 1},
                     .help = "take them out of the file where it does not hold"});
  }
  return job;
}

StartedJob read_started_job(const std::string& path, Diagnostics& diagnostics) {
  const auto text = file_text(path, diagnostics);
  if (!text) return {};
  StartedJob job =
      is_log(*text) ? job_of_log(path, *text) : job_of_script(path, *text, diagnostics);
  if (!job.settings.has("--num-layers") && !job.settings.has("--micro-batch-size")) {
    diagnostics.add(
        {.message = "there are no flags of Megatron-LM in this, and no log of what it was given",
         .location = {.file = path},
         .help = "give a shell script whose command has --num-layers and the others written out, "
                 "or the log of a run, which prints its arguments as it begins"});
  }
  return job;
}

}  // namespace headway
