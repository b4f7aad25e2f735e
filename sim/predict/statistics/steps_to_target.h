#pragma once

#include "sim/result/prediction.h"
#include "sim/scenario/read_statistics.h"

namespace headway {

/// Steps to the same loss at batch `to`, as a multiple of those at batch `from`, where gradients
/// have a noise scale of `noise` samples:
///
///   S(B) = S_min (1 + noise / B)    (McCandlish et al. 2018, arXiv:1812.06162, equation 2.7)
///
/// A law of the run as a whole, with learning rates that fit the batch; it knows no limit of
/// generalisation. Requires positive batches and noise >= 0.
[[nodiscard]] double steps_ratio(double noise, double from, double to);

/// The updates of a job's parameters in an iteration.
struct UpdatesOfStep {
  double batch = 1.0;      ///< samples of all of them
  double updates = 1.0;    ///< 1, or where workers update by themselves, their number
  double staleness = 0.0;  ///< others' updates between the read of one and itself, on average
  double accelerators = 1.0;
};

/// How many steps a job takes to its target, where a run at batch b0 took s0 and its gradients have
/// a noise scale of N samples. With u updates an iteration of B / u samples each, stale by t,
///
///   S_min = s0 / (1 + N / b0),    iterations = S_min (c + N / B),    c = (1 + t) / u
///
/// At u = 1 and t = 0 that is the law of `steps_ratio`. Staleness counts on the term without noise
/// only: delayed gradients of smooth functions take O(delay / e + noise / e^2) updates to an error
/// of e (Arjevani, Shamir and Srebro 2020, arXiv:1806.10188; Stich and Karimireddy 2020,
/// arXiv:1909.05350), so W workers that are stale by W - 1 take as many iterations as one batch of
/// all of them. What local steps or lost bits cost has no law of such a form: `penalty` is what
/// somebody measured.
///
/// Twice the accelerators with twice the batch save 1 - (c + N / 2B) / (c + N / B) of the steps:
/// half of them where B is small, a quarter at B = N / c, up to where a doubling is said to pay.
[[nodiscard]] StepsToTarget steps_to_target(const StatisticsSettings& settings,
                                            const UpdatesOfStep& step);

}  // namespace headway
