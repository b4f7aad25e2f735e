#include "sim/predict/shared_error.h"

#include <fmt/format.h>

#include <cstddef>

#include "sim/jobs/strategy.h"
#include "sim/layers/model.h"

namespace headway {
namespace {

/// How far the errors of jobs go together that differ in nothing that is looked at.
constexpr double kAlike = 0.88;

/// What a difference leaves of that.
struct Difference {
  const char* name;
  double left;
  bool (*is_there)(const ErrorTraits&, const ErrorTraits&);
};
constexpr Difference kDifferences[] = {
    {"model", 0.56, [](const ErrorTraits& a, const ErrorTraits& b) { return a.model != b.model; }},
    {"kernels", 0.28,
     [](const ErrorTraits& a, const ErrorTraits& b) { return a.kernels != b.kernels; }},
    {"release", 0.84,
     [](const ErrorTraits& a, const ErrorTraits& b) { return a.release != b.release; }},
    {"pipeline", 0.66,
     [](const ErrorTraits& a, const ErrorTraits& b) { return a.pipeline != b.pipeline; }},
    {"micro-batch", 0.64,
     [](const ErrorTraits& a, const ErrorTraits& b) { return a.micro_batch != b.micro_batch; }},
    {"exchange of experts", 0.08,
     [](const ErrorTraits& a, const ErrorTraits& b) { return a.exchange != b.exchange; }},
};

/// Solves K w = k for a symmetric, positive definite K by elimination; no pivot is needed there.
std::vector<double> solved(std::vector<std::vector<double>> matrix, std::vector<double> right) {
  const std::size_t size = right.size();
  for (std::size_t pivot = 0; pivot < size; ++pivot) {
    for (std::size_t row = pivot + 1; row < size; ++row) {
      const double factor = matrix[row][pivot] / matrix[pivot][pivot];
      for (std::size_t i = pivot; i < size; ++i) matrix[row][i] -= factor * matrix[pivot][i];
      right[row] -= factor * right[pivot];
    }
  }
  for (std::size_t row = size; row-- > 0;) {
    for (std::size_t i = row + 1; i < size; ++i) right[row] -= matrix[row][i] * right[i];
    right[row] /= matrix[row][row];
  }
  return right;
}

}  // namespace

ErrorTraits error_traits(const Model& model, const Strategy& strategy) {
  ErrorTraits traits{
      .model = model.name,
      .kernels = fmt::format("{}, {}", strategy.kernel_family,
                             strategy.fused_attention ? strategy.attention_kernel : "unfused"),
      .release = strategy.software_release,
      .pipeline = fmt::format("{} x {}", strategy.pipeline_parallel, strategy.virtual_stages),
      .micro_batch = strategy.micro_batch,
      .exchange = {}};
  if (model.routing() != nullptr) {
    traits.exchange = fmt::format(
        "{} x {}{}{}", strategy.expert_parallel, strategy.expert_tensor_parallel,
        strategy.expert_dispatch == ExpertDispatch::deduplicated ? ", deduplicated" : "",
        strategy.overlap_expert_exchange ? ", overlapped" : "");
  }
  return traits;
}

double shared_error(const ErrorTraits& one, const ErrorTraits& other) {
  double shared = kAlike;
  for (const Difference& difference : kDifferences) {
    if (difference.is_there(one, other)) shared *= difference.left;
  }
  return shared;
}

std::vector<std::string> error_differences(const ErrorTraits& one, const ErrorTraits& other) {
  std::vector<std::string> names;
  for (const Difference& difference : kDifferences) {
    if (difference.is_there(one, other)) names.emplace_back(difference.name);
  }
  return names;
}

ErrorByOthers error_by_others(const ErrorTraits& asked, const std::vector<ErrorTraits>& measured) {
  std::vector<std::vector<double>> among(measured.size(),
                                         std::vector<double>(measured.size(), 1.0));
  std::vector<double> with_asked;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      among[i][j] = among[j][i] = shared_error(measured[i], measured[j]);
    }
    with_asked.push_back(shared_error(asked, measured[i]));
  }
  ErrorByOthers known{.weights = solved(std::move(among), with_asked)};
  for (std::size_t i = 0; i < measured.size(); ++i) {
    known.variance_left -= known.weights[i] * with_asked[i];
  }
  return known;
}

}  // namespace headway
