#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headway {

struct Model;
struct Strategy;

/// What of a job tells whether its prediction is off for the same reasons as another's, on the same
/// accelerators.
struct ErrorTraits {
  std::string model;    ///< its name
  std::string kernels;  ///< the family, and whether attention is fused
  std::string release;  ///< of the software; empty: one like any other
  std::string pipeline;
  std::int64_t micro_batch = 1;
  std::string exchange;  ///< how tokens reach their experts; empty where there are none

  friend bool operator==(const ErrorTraits&, const ErrorTraits&) = default;
};
[[nodiscard]] ErrorTraits error_traits(const Model& model, const Strategy& strategy);

/// The correlation of the logarithms of measured over predicted times of two jobs: less, the more
/// they differ in; that of software in common only, where they differ in nothing. Found on
/// published steps of sources that no constant was fitted to (anchor_scatter.py,
/// tests/validation/README.md).
[[nodiscard]] double shared_error(const ErrorTraits& one, const ErrorTraits& other);

/// In what they differ, in words: "kernels", "pipeline"; empty if in nothing.
[[nodiscard]] std::vector<std::string> error_differences(const ErrorTraits& one,
                                                         const ErrorTraits& other);

/// What is known of a job's error by those of others, each being normal with the same variance and
/// correlated as shared_error says: its mean, and what is left of its variance (Rasmussen and
/// Williams 2006, equation 2.19; the errors are the measurements, a job's own part stands in the
/// diagonal).
struct ErrorByOthers {
  std::vector<double> weights;  ///< of theirs in the mean
  double variance_left = 1.0;   ///< of the whole
};
[[nodiscard]] ErrorByOthers error_by_others(const ErrorTraits& asked,
                                            const std::vector<ErrorTraits>& measured);

}  // namespace headway
