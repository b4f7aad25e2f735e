#include <fcntl.h>
#include <nccl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#include "tests/calibrate/fake_cuda/device.h"
#include "tests/calibrate/fake_cuda/law.h"

namespace {

constexpr int kMostRanks = 64;
constexpr int kMostCliques = 256;

/// The ranks of a communicator, where all of their processes see them.
struct Clique {
  std::atomic<std::uint64_t> joined;   ///< a bit a rank
  std::atomic<long> come[kMostRanks];  ///< collectives that a rank has come to
  double ready[kMostRanks][2];         ///< at what time, of the last two
};
struct Cliques {
  std::atomic<double> clock;
  std::atomic<int> count;
  std::atomic<int> meetings;
  Clique all[kMostCliques];
};

Cliques& cliques() {
  static Cliques* const one = [] {
    const char* const path = std::getenv("FAKE_CUDA_SHARED");
    int file = -1;
    if (path != nullptr) {
      file = open(path, O_RDWR | O_CREAT, 0600);
      if (file < 0 || ftruncate(file, sizeof(Cliques)) != 0) std::abort();
    }
    void* const memory = mmap(nullptr, sizeof(Cliques), PROT_READ | PROT_WRITE,
                              file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, file, 0);
    return static_cast<Cliques*>(memory);  // zeros, which all members begin with
  }();
  return *one;
}

class CliqueMeeting final : public fake_cuda::Meeting {
 public:
  CliqueMeeting(Clique& clique, int rank, int ranks, long number)
      : clique_(clique), rank_(rank), ranks_(ranks), number_(number) {}
  double begin(double ready) override {
    const bool comes = !has_come_;
    if (comes) {
      clique_.ready[rank_][number_ % 2] = ready;
      clique_.come[rank_].store(number_ + 1);
      has_come_ = true;
    }
    double latest = 0.0;
    for (int rank = 0; rank < ranks_; ++rank) {
      if (clique_.come[rank].load() <= number_) return -1.0;
      latest = std::max(latest, clique_.ready[rank][number_ % 2]);
    }
    if (comes) fake_cuda::wake_others();  // the last of them does
    return latest;
  }

 private:
  Clique& clique_;
  int rank_;
  int ranks_;
  long number_;
  bool has_come_ = false;
};

}  // namespace

std::atomic<double>& fake_cuda::common_clock() { return cliques().clock; }
std::atomic<int>& fake_cuda::meetings() { return cliques().meetings; }

struct ncclComm {
  Clique* clique = nullptr;
  int rank = 0;
  int ranks = 1;
  int device = 0;
  long collectives = 0;
};

namespace {

/// What a group asks of one communicator: one collective, or sends and receives at once.
struct Asked {
  cudaStream_t stream = nullptr;
  double bytes = 0.0;
  double factor = 0.0;
  double steps = 0.0;
};
int depth = 0;
std::map<ncclComm_t, Asked> asked;

ncclResult_t run_group() {
  for (const auto& [communicator, what] : asked) {
    fake_cuda::pass_host_time(fake_cuda::kCollectiveLaunch);
    auto meeting =
        std::make_shared<CliqueMeeting>(*communicator->clique, communicator->rank,
                                        communicator->ranks, communicator->collectives++);
    const double time = fake_cuda::collective_time(what.bytes, what.factor, what.steps);
    if (fake_cuda::put_meeting(what.stream, time, meeting) != cudaSuccess) {
      asked.clear();
      return ncclUnhandledCudaError;
    }
  }
  asked.clear();
  return ncclSuccess;
}

ncclResult_t ask(ncclComm_t communicator, cudaStream_t stream, double bytes, double factor,
                 double steps) {
  if (fake_cuda::device_of(stream) != communicator->device) return ncclInvalidArgument;
  Asked& one = asked[communicator];
  one.stream = stream;
  one.bytes += bytes;
  one.factor = factor;
  one.steps += steps;
  return depth == 0 ? run_group() : ncclSuccess;
}

double size(std::size_t count) { return 4.0 * static_cast<double>(count); }

}  // namespace

extern "C" {
ncclResult_t ncclGetVersion(int* version) {
  *version = 22809;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclUnhandledCudaError ? "unhandled cuda error" : "an error of NCCL";
}
const char* ncclGetLastError(ncclComm_t) {
  return fake_cuda::fault() == "no_shared_memory" ? "Error while creating shared memory segment\n"
                                                  : "";
}
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  *id = {};
  const int number = cliques().count.fetch_add(1);
  std::memcpy(id->internal, &number, sizeof number);
  return number < kMostCliques ? ncclSuccess : ncclInternalError;
}
ncclResult_t ncclCommInitRankConfig(ncclComm_t* communicator, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  if (config->blocking != 0) return ncclInvalidArgument;  // it would wait for ever for a lost rank
  int number = 0;
  std::memcpy(&number, id.internal, sizeof number);
  fake_cuda::pass_host_time(0.2);
  if (fake_cuda::fault() == "no_shared_memory") return ncclSystemError;
  *communicator = new ncclComm{&cliques().all[number], rank, ranks, fake_cuda::current_device()};
  if (fake_cuda::fault() != "no_connection") {
    (*communicator)->clique->joined.fetch_or(std::uint64_t{1} << static_cast<unsigned>(rank));
    fake_cuda::wake_others();
  }
  return ncclInProgress;
}
/// ncclCommDestroy is not there: it waits for all ranks of the node, also for one that is gone.
ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  delete communicator;
  return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* result) {
  fake_cuda::pass_host_time(1e-7);
  const bool is_whole = std::popcount(communicator->clique->joined.load()) == communicator->ranks;
  *result = is_whole ? ncclSuccess : ncclInProgress;
  if (!is_whole) {
    fake_cuda::wait_for_others(5e-3);
  }
  return ncclSuccess;
}
ncclResult_t ncclGroupStart() {
  ++depth;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() { return --depth == 0 ? run_group() : ncclSuccess; }

ncclResult_t ncclAllReduce(const void*, void*, std::size_t count, ncclDataType_t, ncclRedOp_t,
                           ncclComm_t c, cudaStream_t stream) {
  return ask(c, stream, size(count), 2.0 * (c->ranks - 1) / c->ranks, 2.0 * (c->ranks - 1));
}
ncclResult_t ncclAllGather(const void*, void*, std::size_t count, ncclDataType_t, ncclComm_t c,
                           cudaStream_t stream) {
  return ask(c, stream, size(count) * c->ranks, 1.0 * (c->ranks - 1) / c->ranks, c->ranks - 1.0);
}
ncclResult_t ncclReduceScatter(const void*, void*, std::size_t count, ncclDataType_t, ncclRedOp_t,
                               ncclComm_t c, cudaStream_t stream) {
  return ask(c, stream, size(count) * c->ranks, 1.0 * (c->ranks - 1) / c->ranks, c->ranks - 1.0);
}
ncclResult_t ncclBroadcast(const void*, void*, std::size_t count, ncclDataType_t, int, ncclComm_t c,
                           cudaStream_t stream) {
  return ask(c, stream, size(count), 1.0, c->ranks - 1.0);
}
ncclResult_t ncclSend(const void*, std::size_t count, ncclDataType_t, int peer, ncclComm_t c,
                      cudaStream_t stream) {
  const bool is_other = peer != c->rank;
  return ask(c, stream, is_other ? size(count) : 0.0, 1.0, is_other ? 1.0 : 0.0);
}
ncclResult_t ncclRecv(void*, std::size_t, ncclDataType_t, int, ncclComm_t c, cudaStream_t stream) {
  return ask(c, stream, 0.0, 1.0, 0.0);
}
ncclResult_t ncclMemAlloc(void** memory, std::size_t bytes) {
  return fake_malloc(memory, bytes) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}
ncclResult_t ncclMemFree(void* memory) {
  return cudaFree(memory) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}
ncclResult_t ncclCommRegister(ncclComm_t, void* memory, std::size_t, void** handle) {
  fake_cuda::pass_host_time(3e-4);
  *handle = memory;
  return ncclSuccess;
}
ncclResult_t ncclCommDeregister(ncclComm_t, void*) { return ncclSuccess; }
ncclResult_t ncclCommWindowRegister(ncclComm_t, void* memory, std::size_t, ncclWindow_t* window,
                                    int) {
  fake_cuda::pass_host_time(8e-4);
  *window = static_cast<ncclWindow_t>(memory);
  return ncclSuccess;
}
ncclResult_t ncclCommWindowDeregister(ncclComm_t, ncclWindow_t) { return ncclSuccess; }
}
