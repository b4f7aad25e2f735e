#pragma once

#include <string>

#include "sim/layers/layer.h"
#include "sim/layers/model.h"

namespace headway {

/// Bytes that an operator moves for each element, in tensors of 2 bytes, and the share of the rate
/// of copies that its kernels reach.
struct PassBytes {
  double forward;
  double backward;
  double forward_rate = 1.0;
  double backward_rate = 1.0;
};
/// Reads its input for the statistics and again to normalise, and writes; backward gradient and
/// input twice, one written. PyTorch's kernels of their own reach half of the rate of copies, and
/// five eighths backward: between those of Inception-v3, traced on an H100 (0.3 and 0.54), and what
/// steps of ResNets take (`scenarios/validation/measured_jobs.json`).
inline constexpr PassBytes kBatchNorm{6.0, 10.0, 0.5, 0.625};
/// Of a rectifier, or another function of each element: read, written; backward the gradient and
/// what is kept are read, one written.
inline constexpr PassBytes kRectifier{4.0, 6.0};
/// Two terms read, one written, either way.
inline constexpr PassBytes kResidualSum{6.0, 6.0};

// The same where a batch norm is one kernel with what stands behind it, as cuDNN has them
// (cudnnFusedOps_t: SCALE_BIAS_ACTIVATION_CONV_BNSTATS, SCALE_BIAS_ADD_ACTIVATION_GEN_BITMASK,
// DACTIVATION_FORK_DBATCHNORM).

/// The convolution sums up the statistics of what it writes; what is left reads and writes.
/// Backward the sums over gradient and input still have to stand before either is read again.
inline constexpr PassBytes kMergedNorm{4.0, 10.0};
/// A bit of an element tells where it let through.
inline constexpr PassBytes kMergedRectifier{0.125, 0.25};
/// The other term is read; backward the gradient of it is written, and read where the other branch
/// adds its own.
inline constexpr PassBytes kMergedSum{2.0, 4.0};

/// Of a pooling of `in` elements to `out` of `taps` each, for each that comes out.
[[nodiscard]] PassBytes pooled(double in, double out, double taps);

/// The kernels of a transformer's layer, of which the host's time is known, that an operator of its
/// own takes as long as to issue: about 38 of 63 us, on hosts of an H100 and an H200
/// (scripts/torch_models.py).
inline constexpr double kOperatorKernels = 0.6;

/// k x k, from `in` channels to `out` at `size` x `size` positions; in three dimensions k x k x k
/// at as many positions each way.
struct Convolution {
  std::string name;
  double in = 1.0;
  double out = 1.0;
  double kernel = 1.0;
  double across = 0.0;  ///< of a kernel that is not square: kernel x across
  double size = 1.0;    ///< of what comes out
  double stride = 1.0;
  int dimensions = 2;
  bool bias = false;
  bool normalised = true;  ///< by a batch norm behind it
  bool rectified = true;
  bool input_gradient = true;  ///< false where nothing in front of it is trained
};

/// Writes a layer of a convolutional network, operator by operator. Convolutions are products
/// [positions x k k channels] (implicit GEMM, which moves nothing to lay them out). Each pass over
/// memory is a kernel of its own, in tensors of 2 bytes.
class ConvolutionBlock {
 public:
  explicit ConvolutionBlock(std::string name) { layer_.name = std::move(name); }

  void convolution(const Convolution& of);
  /// What goes around the block is added to what comes out of it, and rectified.
  void sum(double elements);
  /// Transposed, with a stride as large as its kernel: each position becomes kernel^dimensions of
  /// them, `size` a side. Nothing stands behind it.
  void transposed(const Convolution& of);
  /// The largest of squares of positions, `kernel` a side, or their mean, `from` a side to `to`.
  /// What comes out is kept for what takes it; of a largest one, where it stood.
  void pool(double channels, double from, double to, double kernel);
  void mean_pool(double channels, double from, double to, double kernel);
  /// So many elements of branches are put side by side, which leaves the branches as they are.
  void concatenation(double elements);
  /// The mean of each channel.
  void mean(double channels, double size);
  /// Fully connected; a dropout behind the rectifier keeps a mask.
  void linear(const std::string& name, double in, double out, bool dropped);

  [[nodiscard]] Layer finished(double input, double output) &&;

 private:
  void pass(std::string name, double forward, double backward, Again again = {},
            KernelChoice when = KernelChoice::always);
  void set_rates(const PassBytes& of);  ///< of the last pass
  /// As a kernel of its own, or merged with a norm.
  void pass(const std::string& name, double elements, const PassBytes& own, const PassBytes& merged,
            const Again& again = {});
  /// Its output, which the next operator takes, tells where it let through.
  void rectifier(const std::string& name, double elements, bool behind_norm);

  Layer layer_;
};

/// A network's inputs, as they were loaded, in fp32, and as the first convolution takes them.
[[nodiscard]] std::vector<KeptTensor> kept_inputs(double elements);

/// The share of the rate of matrix products on plain cores that kernels of convolutions reach;
/// `is_filtered`: of 3 x 3 taps at every position, which need fewer multiplications than are
/// counted.
[[nodiscard]] double convolution_rate(bool is_filtered);

/// Two fully connected layers of `hidden` outputs, then the classifier, behind the layers that the
/// model has: the end of AlexNet and VGG.
void append_fully_connected(Model& model, double input, double hidden, double classes);

/// The last layer of a classifier, with its loss.
[[nodiscard]] Layer classifier(ConvolutionBlock block, double input, double channels,
                               double classes);

}  // namespace headway
