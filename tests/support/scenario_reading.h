#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sim/base/diagnostic.h"
#include "sim/scenario/scenario.h"
#include "tests/support/scratch_folder.h"

namespace headway {

/// A scenario as if it had been read from a file. Throws InputError as reading does.
inline Scenario scenario_of(const nlohmann::json& text) {
  const ScratchFolder scratch;
  Diagnostics diagnostics;
  return read_scenario(scratch.write("scenario.json", text.dump(2)), {}, diagnostics);
}

/// What a user is told of the wrong input that stops `action`; "none" where nothing does.
template <class Action>
std::string problems_in(Action&& action) {
  try {
    action();
  } catch (const InputError& error) {
    return rendered(error.diagnostics(), "nothing was done");
  }
  return "none";
}

}  // namespace headway
