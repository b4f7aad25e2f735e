#include "sim/cli/options/common_options.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "sim/base/utf8.h"
#include "sim/cli/options/limit_option.h"

namespace headway {
namespace {

constexpr int kMostJobs = 4096;

int cores_at_hand() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return std::clamp(CPU_COUNT(&cores), 1, kMostJobs);
}

}  // namespace

Option set_option(const std::string& example) {
  return {.name = "set",
          .value = "POINTER=VALUE",
          .help = "changes a field: " + example,
          .group = OptionGroup::input,
          .repeatable = true,
          .changes_result = true};
}

Option profile_option() {
  return {.name = "profile",
          .value = "FILE",
          .help = "what things cost: a file or a shipped name",
          .group = OptionGroup::input,
          .changes_result = true};
}

Option replicas_option() {
  return {.name = "replicas",
          .value = "N",
          .fallback = "the scenario's",
          .help = "runs with other random draws",
          .group = OptionGroup::run,
          .changes_result = true};
}

Option seed_option() {
  return {.name = "seed",
          .value = "N",
          .fallback = "the scenario's",
          .help = "of the random draws",
          .group = OptionGroup::run,
          .changes_result = true};
}

Option jobs_option() {
  return {.name = "jobs",
          .letter = 'j',
          .value = "N",
          .fallback = "all cores",
          .help = "simulations at a time; changes no result",
          .group = OptionGroup::run};
}

Option json_option() {
  return {.name = "json",
          .help = "prints one JSON document instead of text",
          .group = OptionGroup::output};
}

Option output_option() {
  return {.name = "output",
          .letter = 'o',
          .value = "FILE",
          .help = "also as .html, .md, .csv, .json",
          .group = OptionGroup::output,
          .repeatable = true};
}

Option progress_option() {
  return {.name = "progress",
          .value = "WHEN",
          .fallback = "auto",
          .help = "on standard error: auto, always, never",
          .group = OptionGroup::output,
          .words = words_of<When>()};
}

When progress_of(const Arguments& arguments) {
  return value_named<When>(arguments.value("progress").value_or("auto")).value();
}

std::vector<Option> with_standard_options(std::vector<Option> own) {
  own.push_back(limit_option());
  own.push_back({.name = "color",
                 .value = "WHEN",
                 .fallback = "auto",
                 .help = "auto, always, never",
                 .group = OptionGroup::output,
                 .words = words_of<When>()});
  own.push_back({.name = "quiet",
                 .letter = 'q',
                 .help = "no warnings and no progress",
                 .group = OptionGroup::output});
  own.push_back({.name = "verbose",
                 .letter = 'v',
                 .help = "says what is read and done",
                 .group = OptionGroup::output});
  own.push_back({.name = "help",
                 .letter = 'h',
                 .help = "this screen; --help says more",
                 .group = OptionGroup::help});
  return own;
}

int jobs_of(const Arguments& arguments) {
  if (const auto jobs = arguments.integer("jobs", 1, kMostJobs)) return static_cast<int>(*jobs);
  const char* const wanted = std::getenv("HEADWAY_JOBS");
  if (wanted == nullptr || *wanted == '\0') return cores_at_hand();
  if (const auto jobs = whole_number_in(wanted, 1, kMostJobs)) return static_cast<int>(*jobs);
  refuse(
      fmt::format("the environment variable HEADWAY_JOBS needs a whole number from 1 to {}, not {}",
                  kMostJobs, in_quotes(wanted)));
}

}  // namespace headway
