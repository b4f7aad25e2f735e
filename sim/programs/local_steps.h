#pragma once

#include <string_view>

#include "sim/programs/stage_program.h"

namespace headway {

// What programs of local steps call the communicators that they join.
inline constexpr std::string_view kIslandAverage = "average of islands";
/// Puts together in an island what its ranks averaged in parts.
inline constexpr std::string_view kIslandGather = "average in an island";

/// Whether every rank of an island needs all of the average that its ranks have in parts.
[[nodiscard]] bool gathers_average(const Strategy& strategy);

/// Makes the program of a stage the average one of a period of H local steps (`every`). In a period
/// islands average P fragments, each X long on its way: an iteration has P/H of an average's bytes
/// and latency. Without overlap it waits for it and takes X P/H longer. With averages under way
/// beside tau steps each, which is f = P tau/H of the steps, it waits for what f of an iteration
/// does not hide:
///
///   max(0, X P/H - f T)      (Douillard et al. 2025, arXiv:2501.18512, sections 2.2 and 2.3)
///
/// So the average begins when 1 - f of the program's compute is done, and its end is waited for at
/// the end. Each rank of an island exchanges its part of what the stage trains, and takes the outer
/// step of it.
void add_average(Program& program, const JobShape& job, int stage);

}  // namespace headway
