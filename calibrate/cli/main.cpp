#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <utility>

#include "calibrate/cli/backends.h"
#include "calibrate/suite/interruption.h"
#include "sim/base/diagnostic.h"
#include "sim/base/parse_number.h"

namespace headway {
namespace {

/// Now, or the time of SOURCE_DATE_EPOCH, which makes files the same from run to run.
std::string created_utc() {
  const char* fixed = std::getenv("SOURCE_DATE_EPOCH");
  const auto seconds = fixed == nullptr ? std::nullopt : parse_number<std::int64_t>(fixed);
  const std::time_t time = seconds ? static_cast<std::time_t>(*seconds) : std::time(nullptr);
  std::tm utc{};
  gmtime_r(&time, &utc);
  char text[32] = "";
  (void)std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

Shapes shapes_of(const std::string& path, std::string& input) {
  if (path.empty()) return {};
  if (path == "-") {
    input.assign(std::istreambuf_iterator<char>(std::cin), {});
    std::istringstream text(input);
    return read_shapes(text, "-");
  }
  std::ifstream file(path);
  if (!file) {
    Diagnostic diagnostic;
    diagnostic.message = "cannot read the shapes";
    diagnostic.location.file = path;
    diagnostic.help = "--shapes takes a file, or - for standard input";
    throw InputError(diagnostic);
  }
  return read_shapes(file, path);
}

int run(const std::vector<std::string>& arguments) {
  std::optional<Answer> answer;
  Job job;
  job.options = parsed_options(arguments, answer);
  if (answer) {
    fmt::print("{}", answer->text);
    return 0;
  }
  job.command_line = "headway-calibrate";
  for (const std::string& argument : arguments) job.command_line += " " + argument;
  job.created_utc = created_utc();
  if (!job.options.from.empty()) return refit(job);
  watch_for_interruption();
  if (!job.options.steps.empty()) return train_cpu(job);
  Shapes shapes = shapes_of(job.options.shapes, job.input);
  const PlanRules rules{job.options.quick, std::move(shapes.products), std::move(shapes.attention),
                        job.options.only};
  switch (job.options.backend) {
    case BackendKind::cpu:
      return calibrate_cpu(job, rules);
    case BackendKind::cuda:
      return calibrate_cuda(job, rules);
    case BackendKind::fake:
      return calibrate_fake(job, rules);
  }
  HEADWAY_CHECK(false, "unknown backend");
}

}  // namespace
}  // namespace headway

int main(int argc, char** argv) {
  try {
    return headway::run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const headway::InputError& error) {
    fmt::print(stderr, "{}", headway::rendered(error.diagnostics(), "nothing was measured."));
    return 2;
  } catch (const headway::Interrupted& interrupted) {
    fmt::print(stderr, "{}\n", interrupted.what());
    return 130;
  } catch (const headway::EnvironmentError& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 3;
  } catch (const std::exception& bug) {
    fmt::print(stderr, "this is a bug of headway-calibrate: {}\n", bug.what());
    return 70;
  }
}
