#pragma once

#include <string>

namespace headway {

/// From now on Ctrl-C ends this process with exit code 130, and says on standard error that nothing
/// was written and that `line` starts again. Forked children do not see it and end with this
/// process, however that ends. To be called once.
void end_on_interrupt(const std::string& line);

/// From now on it says that `kept`, "12 of 40 points are kept in s/sweep.db", and that the line
/// goes on.
void keep_on_interrupt(const std::string& kept);

}  // namespace headway
