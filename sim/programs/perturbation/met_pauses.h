#pragma once

#include <cstdint>
#include <vector>

#include "sim/programs/perturbation/perturbation.h"
#include "sim/programs/workload.h"

namespace headway {

/// What pauses make of a job's iterations on average. An iteration of a job in its stride begins
/// anywhere between two pauses, so that a pause of an accelerator begins in L seconds of it with
/// the probability L / (every - lasts). Rare pauses hit few iterations: these are simulated, and
/// count as much as they are likely.
struct MetPauses {
  double probability = 0.0;              ///< of iterations that meet a pause
  std::vector<Perturbation> iterations;  ///< such ones, each as likely as the others
};

/// Of a run that takes `length` seconds without pauses. Where iterations meet many, one of them
/// tells all.
[[nodiscard]] MetPauses met_pauses(const Perturbation& perturbation, const Workload& workload,
                                   double length);

/// The same share of time lost in pauses so short that a run of `length` seconds meets many: what
/// workers lose each for itself, whose paces are averaged and not waited for.
[[nodiscard]] Perturbation with_even_pauses(Perturbation perturbation, double length);

}  // namespace headway
