#include "sim/jobs/optimizers.h"

#include <array>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

constexpr double kWeightBytes = 8.0;  ///< in fp32, read and written
constexpr double kNumber = 4.0;       ///< a state in fp32
constexpr double kNumberMoved = 8.0;  ///< read and written
/// Bytes of a state of eight bits, with its share of the fp32 scale of a block of 2048.
constexpr double kByte = 1.0 + 4.0 / 2048.0;
/// What is orthogonal is written in 16 bits before its products, and their result read.
constexpr double kOrthogonalMoved = 4.0;

constexpr std::array kOptimizers = {
    Optimizer{.name = "adam",
              .what = "Adam or AdamW: two moments in fp32",
              .source = "Kingma and Ba 2014 (arXiv:1412.6980), algorithm 1",
              .state_bytes = 2.0 * kNumber,
              .clips = true},
    Optimizer{.name = "adam_8bit",
              .what = "Adam with both moments in eight bits, scaled by blocks",
              .source = "Dettmers et al. 2021 (arXiv:2110.02861), section 2",
              .state_bytes = 2.0 * kByte,
              .traffic = UpdateTraffic{.own = 4.0 * kByte},
              .clips = true},
    Optimizer{.name = "adafactor",
              .what =
                  "Adafactor without momentum: a row and a column of each matrix, which count as "
                  "nothing",
              .source = "Shazeer and Stern 2018 (arXiv:1804.04235), algorithm 4: the gradient is "
                        "read for its means, for the size of the update, and for the update",
              .traffic = UpdateTraffic{.gradient_reads = 3.0}},
    Optimizer{.name = "lion",
              .what = "Lion: the sign of a momentum in fp32",
              .source = "Chen et al. 2023 (arXiv:2302.06675), algorithm 2",
              .state_bytes = kNumber,
              .traffic = UpdateTraffic{.own = kNumberMoved},
              .clips = true},
    Optimizer{.name = "muon",
              .what =
                  "Muon: of matrices of layers a momentum in fp32, made orthogonal by five steps "
                  "of three products; Adam for all else",
              .source = "Jordan et al. 2024 (kellerjordan.github.io/posts/muon); Liu et al. 2025 "
                        "(arXiv:2502.16982)",
              .state_bytes = kNumber,
              .traffic = UpdateTraffic{.own = kNumberMoved + kOrthogonalMoved},
              .clips = true,
              .orthogonalises = true},
    Optimizer{.name = "momentum",
              .what = "SGD with a momentum in fp32",
              .source = "Sutskever et al. 2013, section 2",
              .state_bytes = kNumber,
              .traffic = UpdateTraffic{.own = kNumberMoved}},
    Optimizer{.name = "sgd",
              .what = "SGD: nothing is kept",
              .source = "DeepLearningExamples, DLRM",
              .traffic = UpdateTraffic{}},
    Optimizer{
        .name = "lars",
        .what = "LARS: a momentum in fp32; the norms of each layer's weights and gradients first",
        .source = "You et al. 2017 (arXiv:1708.03888), algorithm 1",
        .state_bytes = kNumber,
        .traffic = UpdateTraffic{.gradient_reads = 2.0, .own = kNumberMoved + kNumber}},
    Optimizer{.name = "adagrad",
              .what = "Adagrad: a sum of squares in fp32",
              .source =
                  "Duchi et al. 2011; HugeCTR, src/optimizers/adagrad_optimizer.cu, which reads "
                  "the weight again for its copy",
              .state_bytes = kNumber,
              .traffic = UpdateTraffic{.own = kNumberMoved + kNumber}},
};

}  // namespace

std::span<const Optimizer> optimizers() { return kOptimizers; }

const Optimizer& beside(const Optimizer& optimizer) {
  return optimizer.orthogonalises ? kOptimizers.front() : optimizer;
}

double state_bytes_in_halves(const Optimizer& optimizer) {
  const double bytes = beside(optimizer).state_bytes;
  return bytes < kNumber ? bytes : bytes / 2.0;  // eight bits are that anywhere
}

double update_bytes(const Optimizer& optimizer, double gradient_bytes, double copy_bytes) {
  HEADWAY_CHECK(optimizer.traffic.has_value(), "what the profile says");
  return optimizer.traffic->gradient_reads * gradient_bytes + optimizer.traffic->own +
         kWeightBytes + copy_bytes;
}

}  // namespace headway
