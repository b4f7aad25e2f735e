#include "calibrate/cuda/nccl/nccl_group.h"

#include <algorithm>

#include "calibrate/cuda/device_fill.h"
#include "calibrate/cuda/nccl/nccl_check.h"
#include "calibrate/suite/device_wait.h"

namespace headway {
namespace {

constexpr Seconds kDeadline = 60.0_s;

/// Whether a communicator has done what it does in the background; throws what went wrong there.
bool is_settled(ncclComm_t communicator) {
  ncclResult_t state = ncclSuccess;
  HEADWAY_CUDA(ncclCommGetAsyncError(communicator, &state));
  check_cuda(state, "a collective");
  return state != ncclInProgress;
}

}  // namespace

void NcclGroup::add_member(int rank, int device) {
  const DeviceGuard guard(device);
  members_.push_back(std::make_unique<Member>());
  members_.back()->rank = rank;
  members_.back()->device = device;
}

NcclGroup::NcclGroup(int ranks, int first_device, BufferRegistration registration)
    : ranks_(static_cast<std::size_t>(ranks)), registration_(registration) {
  HEADWAY_CHECK(ranks >= 2, "one rank measures no network");
  for (int rank = 0; rank < ranks; ++rank) add_member(rank, first_device + rank);
  ncclUniqueId id;
  HEADWAY_CUDA(ncclGetUniqueId(&id));
  connect(id);
}

NcclGroup::NcclGroup(int ranks, int rank, const ncclUniqueId& id, int device,
                     BufferRegistration registration)
    : ranks_(static_cast<std::size_t>(ranks)), registration_(registration) {
  HEADWAY_CHECK(ranks >= 2, "one rank measures no network");
  add_member(rank, device);
  connect(id);
}

/// Never by calls that block (ncclCommInitAll is one): they wait for ever for a rank that is gone,
/// or for a link that does not come up.
void NcclGroup::connect(const ncclUniqueId& id) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  try {
    HEADWAY_CUDA(ncclGroupStart());
    for (const auto& member : members_) {
      const DeviceGuard guard(member->device);
      HEADWAY_CUDA(ncclCommInitRankConfig(&member->communicator, static_cast<int>(ranks_), id,
                                          member->rank, &config));
    }
    HEADWAY_CUDA(ncclGroupEnd());
    settle();
  } catch (...) {
    abort();
    throw;
  }
}

/// Nothing is left to be done: what was started was waited for.
NcclGroup::~NcclGroup() { abort(); }

/// Never ncclCommDestroy, which waits for all ranks of the node, also for one that is gone (NCCL's
/// init.cc: a barrier among them unless the communicator was aborted).
void NcclGroup::abort() {
  for (const auto& member : members_) {
    if (member->communicator != nullptr) (void)ncclCommAbort(member->communicator);
    member->communicator = nullptr;
  }
}

/// Communicators of several processes return before they are done, and the events of a stream must
/// not overtake what they still have to enqueue.
void NcclGroup::settle() {
  wait_until(
      [this] {
        const bool all = std::all_of(members_.begin(), members_.end(), [](const auto& member) {
          return is_settled(member->communicator);
        });
        return all ? WaitState::done : WaitState::waiting;
      },
      kDeadline, "setting up a collective");
}

/// Calls for each member, as one group of NCCL's: its devices would wait for each other otherwise.
template <class Call>
void NcclGroup::as_one_group(Call call) {
  HEADWAY_CUDA(ncclGroupStart());
  for (const auto& member : members_) call(*member);
  HEADWAY_CUDA(ncclGroupEnd());
  settle();
}

void NcclGroup::make_room(std::size_t bytes) {
  if (members_.front()->out != nullptr && members_.front()->out->bytes() >= bytes) return;
  release_buffers();
  try {
    for (const auto& member : members_) {
      const DeviceGuard guard(member->device);
      member->out = std::make_unique<NcclBuffer>(bytes, registration_);
      member->in = std::make_unique<NcclBuffer>(bytes, registration_);
      fill_with(member->out->data(), 0x3c, bytes);  // small positive fp32 numbers
    }
  } catch (const Refused& refusal) {
    for (const auto& member : members_) {
      const DeviceGuard guard(member->device);
      member->out.reset();
      member->in.reset();
    }
    // Other processes have the memory, and wait.
    if (members_.size() < ranks_) throw EnvironmentError(refusal.what());
    throw;
  }
  for (const auto buffer : {&Member::out, &Member::in}) {
    as_one_group([buffer](Member& member) { (member.*buffer)->enrol(member.communicator); });
  }
}

void NcclGroup::release_buffers() {
  if (members_.front()->out == nullptr) return;
  for (const auto buffer : {&Member::out, &Member::in}) {
    as_one_group([buffer](Member& member) { (member.*buffer)->withdraw(member.communicator); });
    for (const auto& member : members_) {
      const DeviceGuard guard(member->device);
      ((*member).*buffer).reset();
    }
  }
}

/// Sends and receives in one group, as pairs would wait for each other for ever otherwise.
void NcclGroup::enqueue_pairs(Member& member, std::size_t each, bool to_all) const {
  const auto rank = static_cast<std::size_t>(member.rank);
  const auto* out = static_cast<const float*>(member.out->data());
  auto* in = static_cast<float*>(member.in->data());
  for (std::size_t distance = to_all ? 0 : 1; distance < (to_all ? ranks_ : 2); ++distance) {
    const std::size_t to = (rank + distance) % ranks_;
    const std::size_t from = (rank + ranks_ - distance % ranks_) % ranks_;
    const std::size_t out_offset = to_all ? to * each : 0;
    const std::size_t in_offset = to_all ? from * each : 0;
    HEADWAY_CUDA(ncclSend(out + out_offset, each, ncclFloat, static_cast<int>(to),
                          member.communicator, member.stream));
    HEADWAY_CUDA(ncclRecv(in + in_offset, each, ncclFloat, static_cast<int>(from),
                          member.communicator, member.stream));
  }
}

/// In place where training is in place (all-reduce), else from one buffer to the other.
void NcclGroup::enqueue(const CollectivePoint& point, Member& member) const {
  const std::size_t total = std::max(point.message_bytes / sizeof(float), ranks_);
  const std::size_t part = total / ranks_;
  float* const out = static_cast<float*>(member.out->data());
  float* const in = static_cast<float*>(member.in->data());
  const ncclComm_t all = member.communicator;
  switch (point.kind) {
    case CollectiveKind::all_reduce:
      HEADWAY_CUDA(ncclAllReduce(out, out, total, ncclFloat, ncclSum, all, member.stream));
      return;
    case CollectiveKind::all_gather:
      HEADWAY_CUDA(ncclAllGather(out, in, part, ncclFloat, all, member.stream));
      return;
    case CollectiveKind::reduce_scatter:
      HEADWAY_CUDA(ncclReduceScatter(out, in, part, ncclFloat, ncclSum, all, member.stream));
      return;
    case CollectiveKind::broadcast:
      HEADWAY_CUDA(ncclBroadcast(out, in, total, ncclFloat, 0, all, member.stream));
      return;
    case CollectiveKind::all_to_all:
      return enqueue_pairs(member, part, true);
    case CollectiveKind::send_receive:
      return enqueue_pairs(member, total, false);
    case CollectiveKind::reduce:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
      HEADWAY_CHECK(false, "a collective that is not measured");
  }
}

void NcclGroup::start(const CollectivePoint& point, int repetitions, cudaEvent_t after) {
  try {
    make_room(std::max(point.message_bytes, ranks_ * sizeof(float)));
  } catch (const Refused&) {
    throw;  // nobody waits for this group
  } catch (...) {
    abort();
    throw;
  }
  try {
    hold_.begin();
    for (const auto& member : members_) {
      const DeviceGuard guard(member->device);
      hold_.put_on(member->stream);
      if (after != nullptr) HEADWAY_CUDA(cudaStreamWaitEvent(member->stream, after, 0));
      HEADWAY_CUDA(cudaEventRecord(member->start, member->stream));
    }
    for (int i = 0; i < repetitions; ++i) {
      as_one_group([this, &point](Member& member) { enqueue(point, member); });
    }
    for (const auto& member : members_) {
      const DeviceGuard guard(member->device);
      HEADWAY_CUDA(cudaEventRecord(member->end, member->stream));
    }
    hold_.release();
  } catch (...) {
    hold_.release();
    abort();
    throw;
  }
}

bool NcclGroup::has_ended() const {
  return std::all_of(members_.begin(), members_.end(),
                     [](const auto& member) { return has_passed(member->end); });
}

Seconds NcclGroup::finish() {
  try {
    wait_until(
        [this] {
          WaitState state = WaitState::done;
          for (const auto& member : members_) {
            (void)is_settled(member->communicator);
            if (!has_passed(member->end)) state = WaitState::waiting;
          }
          return state;
        },
        kDeadline, "a collective");
  } catch (...) {
    abort();
    throw;
  }
  Seconds slowest;
  for (const auto& member : members_) {
    slowest = max(slowest, elapsed_time(member->start, member->end));
  }
  return slowest;
}

}  // namespace headway
