#pragma once

#include "sim/base/diagnostic.h"

namespace headway {

/// Makes headway.errors' InputError, MachineError and InternalError of this library's exceptions,
/// with what they say. Called once, when the module is loaded.
void register_problems();

/// Warnings among the diagnostics, as Python's own. Requires Python's lock. Throws where Python has
/// been told to make errors of them.
void warn_of(const Diagnostics& diagnostics);

}  // namespace headway
