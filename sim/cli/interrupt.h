#pragma once

#include <string>

namespace headway {

/// From now on Ctrl-C ends this process with exit code 130 and `farewell` on standard error. Forked
/// children do not see it and end with this process, however that ends. To be called once.
void end_on_interrupt(const std::string& farewell);

}  // namespace headway
