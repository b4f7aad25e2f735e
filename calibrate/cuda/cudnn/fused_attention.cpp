#include "calibrate/cuda/fused_attention.h"

#include <algorithm>
#include <map>
#include <vector>

#include "calibrate/cuda/cudnn/attention_run.h"
#include "calibrate/cuda/cudnn/cudnn_check.h"
#include "calibrate/cuda/event_wait.h"
#include "calibrate/suite/backend.h"
#include "kernels/device_kernels.h"

namespace headway {
namespace {

/// Twice the largest last-level caches (50 to 126 MB), as long as so many copies are enough.
constexpr std::size_t kColdBytes = std::size_t{256} << 20U;
constexpr std::size_t kMostCopies = 16;

}  // namespace

class FusedAttention::Library {
 public:
  explicit Library(std::uint32_t seed) : seed_(seed) { HEADWAY_CUDA(cudnnCreate(&handle_)); }
  ~Library() {
    compiled_.clear();  // plans belong to the handle
    (void)cudnnDestroy(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  [[nodiscard]] std::shared_ptr<const CompiledAttention> compiled(const AttentionPoint& point) {
    auto& known = compiled_[point_text(point)];
    if (known != nullptr) return known;
    try {
      known = std::make_shared<const CompiledAttention>(point.pass == Pass::forward
                                                            ? attention_forward_graph(point.shape)
                                                            : attention_backward_graph(point.shape),
                                                        CudnnTarget{.handle = handle_});
    } catch (const EnvironmentError& error) {
      throw Refused(error.what());
    }
    return known;
  }
  [[nodiscard]] cudnnHandle_t handle() const { return handle_; }

  /// Random operands; what the backward pass needs of the forward one is computed.
  void prepare(const AttentionMemory& memory, const CompiledAttention& forward,
               const CompiledAttention* backward) {
    const DeviceStream stream;
    for (const CompiledAttention* pass : {&forward, backward}) {
      if (pass == nullptr) continue;
      for (const StoredTensor& stored : pass->stored()) {
        const bool is_operand = stored.tensor <= AttentionTensor::values ||
                                stored.tensor == AttentionTensor::result_gradient;
        if (!is_operand) continue;
        HEADWAY_CUDA(
            launch_random(RandomFormat::bf16, memory.at(stored.tensor), stored.bytes, ++seed_,
                          stream));
      }
    }
    memory.run(forward, handle_, stream);
    wait_for(stream);
  }

 private:
  cudnnHandle_t handle_ = nullptr;
  std::uint32_t seed_;
  std::map<std::string, std::shared_ptr<const CompiledAttention>> compiled_;
};

std::string FusedAttention::lacks() { return ""; }
std::string FusedAttention::version() { return fmt::format("{}", cudnnGetVersion()); }

FusedAttention::FusedAttention(std::uint32_t seed) : library_(std::make_unique<Library>(seed)) {}
FusedAttention::~FusedAttention() = default;

Enqueue FusedAttention::work(const AttentionPoint& point) {
  const auto forward = library_->compiled({point.shape, Pass::forward});
  const auto timed = library_->compiled(point);
  const CompiledAttention* const backward = point.pass == Pass::backward ? timed.get() : nullptr;
  auto copies = std::make_shared<std::vector<std::unique_ptr<AttentionMemory>>>();
  do {
    copies->push_back(std::make_unique<AttentionMemory>(*forward, backward));
    library_->prepare(*copies->back(), *forward, backward);
  } while (copies->size() < kMostCopies && copies->size() * copies->back()->bytes() < kColdBytes);
  return [this, timed, copies, next = std::size_t{0}](cudaStream_t stream) mutable {
    (*copies)[next++ % copies->size()]->run(*timed, library_->handle(), stream);
  };
}

}  // namespace headway
