#pragma once

#include <functional>

#include "sim/base/units.h"

namespace headway {

enum class WaitState { done, waiting };

/// Asks `state` until it says done; it throws if what is waited for has failed. Throws
/// EnvironmentError naming `what` after `deadline`, and Interrupted when a signal came: a bare
/// synchronisation would hang for ever on a peer that died.
void wait_until(const std::function<WaitState()>& state, Seconds deadline, const char* what);

}  // namespace headway
