#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "sim/result/prediction.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// Which of these times is the (lower) median.
[[nodiscard]] std::size_t median_index(const std::vector<double>& times);

/// How far the model is off as validation shows it: by kind of job.
enum class JobKind { dense, experts, open_experts, fine_tuning };
[[nodiscard]] JobKind job_kind(const Scenario& scenario);
/// "dense pre-training"
[[nodiscard]] std::string_view job_kind_title(JobKind kind);

/// Standard deviation of log(predicted / published) on published steps of sources that a fit of the
/// profiles has not seen, their clusters with them (each source left out in turn,
/// tests/validation/README.md): such that 90 % of them lie within 1.645 times it. It is the same
/// whether another source had steps of the same software or not. Of mixtures whose exchange and
/// graphs are left to the software, on published steps of which no more was read than that
/// (`headway validate --leave-out choices`).
[[nodiscard]] double model_error(JobKind kind);
/// The same on steps of sources that it has seen.
[[nodiscard]] double known_source_error(JobKind kind);
/// The part that comes on top of either on accelerators of which neither a published step entered
/// the fit of the constants nor products of all shapes were measured by anyone: such that 90 % of
/// the published steps of other silicon that nothing was fitted to lie inside
/// (tests/validation/README.md). 0 on all others.
[[nodiscard]] double accelerator_error(JobKind kind, const Profile& profile);

/// Of several kinds of accelerators in a job the one of which least is known.
[[nodiscard]] const Profile& least_known(const Scenario& scenario);
/// Of a job that has no anchor: that of its kind and that of its accelerators together.
[[nodiscard]] double model_error(const Scenario& scenario);

/// Where 90 % of measured iterations of such a job should lie: around the median of the runs, whose
/// times are given, as wide as three independent errors make it together: the draws differ, kernel
/// costs are known to `spread` (one standard deviation, relative), and the model itself is off by
/// `model_error`.
[[nodiscard]] Interval expected_interval(const std::vector<double>& times, double spread,
                                         double model_error);

/// The same of a job whose software was anchored by measured steps of other jobs, which leave so
/// much of the variance of what kernels cost and how far the model is off (shared_error.h). They
/// ran on the same accelerators, so what is not known of these they tell: `model_error` is that of
/// the kind of job alone.
[[nodiscard]] Interval anchored_interval(const std::vector<double>& times, double spread,
                                         double model_error, double variance_left);

/// Where further measurements of a job lie that was measured once: what draws and repeated
/// measurements differ by is all that is left.
[[nodiscard]] Interval repeated_interval(const std::vector<double>& times);

}  // namespace headway
