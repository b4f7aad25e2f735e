#include <numeric>
#include <utility>
#include <vector>

#include "sim/jobs/rank_shape_of.h"
#include "sim/layers/kernel_shape.h"
#include "sim/programs/pieces/optimizer_step.h"
#include "sim/programs/pieces/replica_messages.h"
#include "sim/programs/pieces/stage_pieces.h"
#include "sim/programs/program_builder.h"
#include "sim/programs/stage_program.h"

namespace headway {
namespace {

/// Parameters that one group of ranks shares out: those of the layers, or the routed experts.
struct SharedOut {
  std::string_view gather;  ///< communicators
  std::string_view reduce;
  double Piece::*held = nullptr;
  double Piece::*trained = nullptr;
};

class ShardedProgram {
 public:
  explicit ShardedProgram(const JobShape& job)
      : job_(job), strategy_(*job.strategy), builder_("rank"), pieces_(chunk_pieces(job, 0)) {
    share_out();
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      step_ += step_work(job_, pieces_[i]);
      const Seconds parts = time_of_parts(pieces_[i]);
      forward_passes_.push_back(
          pass("forward",
               behind(parts + copied_out(pieces_[i]),
                      slowed(forward_time(job, pieces_[i]), gather_of(i + 1))),
               forward_flows(job, pieces_[i])));
      const bool is_at_hand = !strategy_.reshard_after_forward || i + 1 == pieces_.size();
      const Seconds copies =
          (is_at_hand ? Seconds(0.0) : copied_out(pieces_[i])) + copied_in(pieces_[i]);
      const Seconds transfers =
          (gathers_ahead_backward() ? gather_of(i - 1) : Seconds(0.0)) + reduce_of(i + 1);
      backward_passes_.push_back(pass("backward",
                                      behind(backward_collectives() * parts + copies,
                                             slowed(backward_time(job, pieces_[i]), transfers)),
                                      backward_flows(job, pieces_[i])));
    }
  }

  Program built() && {
    for (int i = 0; i < static_cast<int>(strategy_.micro_batches()); ++i) {
      builder_.set_pass(i, 0);
      forward();
      backward();
    }
    builder_.set_pass(-1, -1);
    add_up_copies();
    if (last_copies_ >= 0) builder_.wait(last_copies_);
    wait(last_reduces_);
    gather_momenta();
    builder_.compute(builder_.add_block("optimizer", step_time(job_, step_)));
    return std::move(builder_).finished();
  }

 private:
  /// Slots of the transfers of a piece, one for each group that shares it out.
  using Slots = std::vector<std::int32_t>;
  /// Through a piece.
  struct Pass {
    ProgramBuilder::Pass computed;
    PassFlows flows;
  };

  [[nodiscard]] Pass pass(std::string_view name, const TimeByCause& time, const PassFlows& flows) {
    return {builder_.add_pass(name, time, flows), flows};
  }
  void run(const Pass& pass) { builder_.run(pass.computed, pass.flows); }

  void share_out() {
    if (strategy_.shard_ranks() > 1) {
      shared_.push_back({kParameterGather, kGradientReduce, &Piece::parameters, &Piece::trained});
    }
    if (job_.model->routing() != nullptr && strategy_.expert_replicas() > 1) {
      shared_.push_back(
          {kExpertGather, kExpertReduce, &Piece::expert_parameters, &Piece::expert_parameters});
    }
  }

  [[nodiscard]] bool has_copies() const { return strategy_.shard_ranks() < strategy_.replicas(); }

  [[nodiscard]] const PricedCollective& prices(std::string_view communicator) const {
    return job_.prices.at(communicator);
  }
  [[nodiscard]] double gathered(const SharedOut& shared, const Piece& piece) const {
    return headway::gathered_bytes(strategy_, shared.held == &Piece::expert_parameters
                                                  ? UpdatedPart{piece.expert_parameters}
                                                  : gathered_of(job_, piece));
  }
  [[nodiscard]] Bytes gathered_bytes(const SharedOut& shared, const Piece& piece) const {
    return Bytes(job_.gradient_traffic * gathered(shared, piece));
  }
  [[nodiscard]] Bytes gradient_bytes(double elements) const {
    return Bytes(job_.gradient_traffic * elements *
                 bytes_per_element(strategy_.gradient_precision));
  }

  [[nodiscard]] bool gathers_ahead_backward() const {
    return strategy_.overlap_parameter_gather && strategy_.reshard_after_forward;
  }

  /// What the transfers of piece i take while another piece computes; nothing for no piece.
  [[nodiscard]] Seconds gather_of(std::size_t i) const {
    if (i >= pieces_.size()) return Seconds(0.0);
    Seconds sum;
    for (const SharedOut& shared : shared_) {
      if (pieces_[i].*shared.held == 0.0) continue;
      sum += prices(shared.gather).price(gathered_bytes(shared, pieces_[i])).time;
    }
    return sum;
  }
  [[nodiscard]] Seconds reduce_of(std::size_t i) const {
    if (!strategy_.overlap_gradient_reduce || i >= pieces_.size()) return Seconds(0.0);
    Seconds sum;
    for (const SharedOut& shared : shared_) {
      const double trained = pieces_[i].*shared.trained;
      if (trained > 0.0) sum += prices(shared.reduce).price(gradient_bytes(trained)).time;
    }
    return sum;
  }

  [[nodiscard]] TimeByCause slowed(TimeByCause time, Seconds transfers) const {
    time[Cause::data_parallel_exposed] += job_.interference * min(time.total(), transfers);
    return time;
  }

  /// What the host takes for one collective of each of the piece's matrices.
  [[nodiscard]] Seconds time_of_parts(const Piece& piece) const {
    const double parts = piece.matrices * strategy_.shard_ranks() +
                         piece.expert_matrices * strategy_.expert_replicas();
    return parts * job_.cost.sharded_part;
  }

  /// Collectives of a matrix in a backward pass: a reduction, and a gather each for what is
  /// computed again and for the gradients, as software that issues parts gathers it for the product
  /// at hand alone.
  [[nodiscard]] double backward_collectives() const {
    if (!strategy_.reshard_after_forward) return 1.0;
    return strategy_.recompute == Recompute::full ? 3.0 : 2.0;
  }

  /// What it takes to copy a piece's parameters from what was gathered to where each stands by
  /// itself: they are read and written as they are gathered.
  [[nodiscard]] Seconds copied_out(const Piece& piece) const {
    double bytes = 0.0;
    for (const SharedOut& shared : shared_) bytes += 2.0 * gathered(shared, piece);
    return time_of_copies(bytes);
  }
  /// What it takes to copy its gradients into what is reduced: they are read in the working format,
  /// written as they are reduced.
  [[nodiscard]] Seconds copied_in(const Piece& piece) const {
    double bytes = 0.0;
    for (const SharedOut& shared : shared_) {
      bytes += (working_bytes_per_element(strategy_.precision) +
                bytes_per_element(strategy_.gradient_precision)) *
               piece.*shared.trained;
    }
    return time_of_copies(bytes);
  }
  [[nodiscard]] Seconds time_of_copies(double bytes) const {
    return Seconds(strategy_.per_parameter_sharding ? job_.memory_seconds_per_byte * bytes : 0.0);
  }

  static TimeByCause behind(Seconds issuing, TimeByCause time) {
    time[Cause::data_parallel_exposed] += issuing;
    return time;
  }

  void wait(const Slots& slots) {
    for (const std::int32_t slot : slots) builder_.wait(slot);
  }

  Slots gather(const Piece& piece) {
    Slots slots;
    for (const SharedOut& shared : shared_) {
      if (piece.*shared.held == 0.0) continue;
      slots.push_back(
          builder_.join(shared.gather, prices(shared.gather).price(gathered_bytes(shared, piece))));
    }
    return slots;
  }

  /// Runs the pieces in the given order, each after its parameters have come; if `is_ahead`, those
  /// of the next piece are on their way meanwhile. The first `at_hand` of them are there already.
  template <class Run>
  void gather_and_run(const std::vector<std::size_t>& order, std::size_t at_hand, bool is_ahead,
                      Run run) {
    Slots ahead;
    for (std::size_t i = 0; i < order.size(); ++i) {
      Slots slots = std::exchange(ahead, {});
      if (slots.empty() && i >= at_hand) {
        if (!is_ahead) wait(std::exchange(last_reduces_, {}));
        slots = gather(pieces_[order[i]]);
      }
      if (is_ahead && i + 1 < order.size() && i + 1 >= at_hand) {
        ahead = gather(pieces_[order[i + 1]]);
      }
      wait(slots);
      run(order[i]);
    }
  }

  void gather_momenta() {
    if (!gathers_momenta(strategy_)) return;
    Slots slots;
    for (const SharedOut& shared : shared_) {
      const bool is_of_experts = shared.held == &Piece::expert_parameters;
      const double elements = is_of_experts ? step_.experts : step_.in_layers();
      slots.push_back(builder_.join(
          shared.gather,
          prices(shared.gather).price(Bytes(job_.gradient_traffic * elements * kMomentumBytes))));
    }
    wait(slots);
  }

  /// The host issues the next piece's gather before the device has computed this one, whatever is
  /// asked for (Zhao et al. 2023, section 3.3.3).
  void forward() {
    std::vector<std::size_t> order(pieces_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    gather_and_run(order, 0, true, [&](std::size_t i) { run(forward_passes_[i]); });
  }

  /// The last piece's parameters are still there from the forward pass, or all are. Not ahead, a
  /// gather waits behind the reduction that the piece before left in the same queue (Zhao et al.
  /// 2023, section 3.3.2).
  void backward() {
    std::vector<std::size_t> order(pieces_.size());
    std::iota(order.rbegin(), order.rend(), std::size_t{0});
    const std::size_t at_hand = strategy_.reshard_after_forward ? 1 : order.size();
    gather_and_run(order, at_hand, gathers_ahead_backward(), [&](std::size_t i) {
      run(backward_passes_[i]);
      reduce(pieces_[i]);
    });
  }

  void reduce(const Piece& piece) {
    add_up_copies();
    Slots reduces;
    for (const SharedOut& shared : shared_) {
      const double trained = piece.*shared.trained;
      if (trained == 0.0) continue;
      reduces.push_back(
          builder_.join(shared.reduce, prices(shared.reduce).price(gradient_bytes(trained))));
    }
    if (!reduces.empty()) last_reduces_ = std::move(reduces);
    if (!strategy_.overlap_gradient_reduce) wait(last_reduces_);
    if (has_copies() && piece.trained > 0.0) reduced_ = &piece;
    if (!strategy_.overlap_gradient_reduce) add_up_copies();
  }

  /// The parts of the piece reduced last, once they are there.
  void add_up_copies() {
    if (reduced_ == nullptr) return;
    wait(last_reduces_);
    const Bytes part = gradient_bytes(reduced_->trained) / strategy_.shard_ranks();
    last_copies_ = builder_.join(kReplicaReduce, prices(kReplicaReduce).price(part));
    reduced_ = nullptr;
    if (!strategy_.overlap_gradient_reduce) builder_.wait(last_copies_);
  }

  const JobShape& job_;
  const Strategy& strategy_;
  ProgramBuilder builder_;
  std::vector<Piece> pieces_;
  std::vector<SharedOut> shared_;
  std::vector<Pass> forward_passes_;
  std::vector<Pass> backward_passes_;
  StepWork step_;
  Slots last_reduces_;
  std::int32_t last_copies_ = -1;
  const Piece* reduced_ = nullptr;  ///< whose parts the copies have not summed up yet
};

}  // namespace

Program sharded_program(const JobShape& job) { return ShardedProgram(job).built(); }

}  // namespace headway
