#include "sim/cli/failure.h"

#include <fmt/format.h>

#include <exception>
#include <new>

#include "sim/base/diagnostic.h"
#include "sim/cli/exit_codes.h"
#include "sim/network/routing/routing.h"
#include "sim/reference/fields_elsewhere.h"
#include "sim/scenario/provenance.h"

namespace headway {
namespace {

int report_environment(Terminal& terminal, const std::string& what) {
  Diagnostic problem;
  problem.message = what;
  terminal.report(rendered(problem, terminal.colours_errors()));
  return kExitEnvironment;
}

int report_bug(Terminal& terminal, const std::string& what, const FailureContext& context) {
  std::string text = fmt::format(
      "internal error: {}\n\nThis is a bug in Headway {}, not in your input. Please report it with "
      "the command line{}.\n",
      what, headway_version(),
      context.scenario_fingerprint.empty()
          ? ""
          : fmt::format(" and the scenario, {}, which `headway check --resolve` writes out",
                        context.scenario_fingerprint));
  terminal.report(text);
  return kExitBug;
}

}  // namespace

int report_failure(Terminal& terminal, const FailureContext& context) {
  try {
    throw;
  } catch (const InputError& error) {
    terminal.report(rendered(with_fields_elsewhere(error.diagnostics()), context.outcome,
                             terminal.colours_errors()));
    return kExitInput;
  } catch (const UnreachableError& error) {
    terminal.report(
        rendered(as_input_error(error).diagnostics(), context.outcome, terminal.colours_errors()));
    return kExitInput;
  } catch (const EnvironmentError& error) {
    return report_environment(terminal, error.what());
  } catch (const std::bad_alloc&) {
    return report_environment(terminal, "there is not enough memory");
  } catch (const std::exception& error) {
    return report_bug(terminal, error.what(), context);
  } catch (...) {
    return report_bug(terminal, "an exception of unknown type", context);
  }
}

}  // namespace headway
