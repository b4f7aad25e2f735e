#include "calibrate/cuda/nccl_group.h"

#include <algorithm>
#include <numeric>

#include "calibrate/cuda/device_wait.h"

namespace headway {
namespace {

constexpr Seconds kDeadline = 60.0_s;

void use_device(std::size_t index) { HEADWAY_CUDA(cudaSetDevice(static_cast<int>(index))); }

}  // namespace

NcclGroup::NcclGroup(int ranks) {
  HEADWAY_CHECK(ranks >= 2, "one rank measures no network");
  const auto count = static_cast<std::size_t>(ranks);
  for (std::size_t i = 0; i < count; ++i) {
    use_device(i);
    ranks_.push_back(std::make_unique<Rank>());
  }
  std::vector<int> devices(count);
  std::iota(devices.begin(), devices.end(), 0);
  std::vector<ncclComm_t> communicators(count, nullptr);
  HEADWAY_CUDA(ncclCommInitAll(communicators.data(), ranks, devices.data()));
  for (std::size_t i = 0; i < count; ++i) ranks_[i]->communicator = communicators[i];
}

NcclGroup::~NcclGroup() {
  for (const auto& rank : ranks_) {
    if (rank->communicator != nullptr) (void)ncclCommDestroy(rank->communicator);
  }
}

void NcclGroup::abort() {
  for (const auto& rank : ranks_) {
    if (rank->communicator != nullptr) (void)ncclCommAbort(rank->communicator);
    rank->communicator = nullptr;
  }
}

void NcclGroup::make_room(std::size_t bytes) {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    Rank& rank = *ranks_[i];
    if (rank.out != nullptr && rank.out->bytes() >= bytes) continue;
    use_device(i);
    rank.out = std::make_unique<DevicePool>(bytes);
    rank.in = std::make_unique<DevicePool>(bytes);
    HEADWAY_CUDA(cudaMemset(rank.out->data(), 0x3c, bytes));  // small positive fp32 numbers
  }
}

/// Sends and receives in one group, as pairs would wait for each other for ever otherwise.
void NcclGroup::enqueue_pairs(Rank& rank, std::size_t index, std::size_t each, bool to_all) {
  const std::size_t n = ranks_.size();
  const auto* out = static_cast<const float*>(rank.out->data());
  auto* in = static_cast<float*>(rank.in->data());
  for (std::size_t distance = to_all ? 0 : 1; distance < (to_all ? n : 2); ++distance) {
    const std::size_t to = (index + distance) % n;
    const std::size_t from = (index + n - distance % n) % n;
    const std::size_t out_offset = to_all ? to * each : 0;
    const std::size_t in_offset = to_all ? from * each : 0;
    HEADWAY_CUDA(ncclSend(out + out_offset, each, ncclFloat, static_cast<int>(to),
                          rank.communicator, rank.stream));
    HEADWAY_CUDA(ncclRecv(in + in_offset, each, ncclFloat, static_cast<int>(from),
                          rank.communicator, rank.stream));
  }
}

/// In place where training is in place (all-reduce), else from one buffer to the other.
void NcclGroup::enqueue(const CollectivePoint& point, std::size_t index) {
  Rank& rank = *ranks_[index];
  const std::size_t n = ranks_.size();
  const std::size_t total = std::max(point.message_bytes / sizeof(float), n);
  float* out = static_cast<float*>(rank.out->data());
  float* in = static_cast<float*>(rank.in->data());
  switch (point.kind) {
    case CollectiveKind::all_reduce:
      HEADWAY_CUDA(
          ncclAllReduce(out, out, total, ncclFloat, ncclSum, rank.communicator, rank.stream));
      return;
    case CollectiveKind::all_gather:
      HEADWAY_CUDA(ncclAllGather(out, in, total / n, ncclFloat, rank.communicator, rank.stream));
      return;
    case CollectiveKind::reduce_scatter:
      HEADWAY_CUDA(ncclReduceScatter(out, in, total / n, ncclFloat, ncclSum, rank.communicator,
                                     rank.stream));
      return;
    case CollectiveKind::broadcast:
      HEADWAY_CUDA(ncclBroadcast(out, in, total, ncclFloat, 0, rank.communicator, rank.stream));
      return;
    case CollectiveKind::all_to_all:
      return enqueue_pairs(rank, index, total / n, true);
    case CollectiveKind::send_receive:
      return enqueue_pairs(rank, index, total, false);
  }
}

void NcclGroup::wait() {
  wait_until(
      [this] {
        WaitState state = WaitState::done;
        for (const auto& rank : ranks_) {
          ncclResult_t problem = ncclSuccess;
          HEADWAY_CUDA(ncclCommGetAsyncError(rank->communicator, &problem));
          check_cuda(problem, "a collective");
          const cudaError_t event = cudaEventQuery(rank->end);
          if (event == cudaErrorNotReady) {
            state = WaitState::waiting;
          } else {
            HEADWAY_CUDA(event);
          }
        }
        return state;
      },
      kDeadline, "a collective");
}

Seconds NcclGroup::run(const CollectivePoint& point) {
  try {
    make_room(std::max(point.message_bytes, ranks_.size() * sizeof(float)));
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      use_device(i);
      HEADWAY_CUDA(cudaEventRecord(ranks_[i]->start, ranks_[i]->stream));
    }
    HEADWAY_CUDA(ncclGroupStart());
    for (std::size_t i = 0; i < ranks_.size(); ++i) enqueue(point, i);
    HEADWAY_CUDA(ncclGroupEnd());
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      use_device(i);
      HEADWAY_CUDA(cudaEventRecord(ranks_[i]->end, ranks_[i]->stream));
    }
    wait();
  } catch (...) {
    abort();
    throw;
  }
  Seconds slowest;
  for (const auto& rank : ranks_) slowest = max(slowest, elapsed_time(rank->start, rank->end));
  return slowest;
}

}  // namespace headway
