#include "reports/trace/trace_tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "reports/trace/trace_arguments.h"
#include "sim/base/diagnostic.h"
#include "sim/result/breakdown.h"
#include "sim/result/spans.h"

namespace headway {
namespace {

void append_span(TraceTrack& track, std::string name, double start, double end,
                 std::string arguments) {
  const std::int64_t start_ns = nanoseconds(start);
  const std::int64_t end_ns = nanoseconds(end);
  if (end_ns <= start_ns) return;
  HEADWAY_CHECK(track.spans.empty() || track.spans.back().end_ns <= start_ns,
                "spans of a track overlap");
  track.spans.push_back({.name = std::move(name),
                         .start_ns = start_ns,
                         .end_ns = end_ns,
                         .arguments = std::move(arguments)});
}

/// "gradient reduce, stage 3" -> "gradient reduce": what a communicator is for.
std::string role_of(const Communicator& communicator) {
  return communicator.name.substr(0, communicator.name.find(", "));
}

class GroupTracks {
 public:
  GroupTracks(const Workload& workload, const Timeline& timeline, std::int32_t group,
              const TraceTransfers& transfers)
      : workload_(workload),
        timeline_(timeline),
        group_(group),
        program_(program_of(workload, group)),
        spans_(group_spans(workload, timeline, group)),
        has_chunks_(has_chunks(program_)),
        joined_(joined_collectives(workload, group)),
        sent_(transfers.sent_by(group)),
        received_(transfers.received_by(group)) {
    joined_at_.assign(static_cast<std::size_t>(program_.collective_slots), 0.0);
  }

  std::vector<TraceTrack> tracks() && {
    add_program();
    for (const std::int32_t communicator : at(workload_.groups, group_).communicators) {
      if (communicator >= 0) add_collectives(communicator);
    }
    add_transfers("send", sent_, [&](const TracedTransfer& t) {
      return fmt::format("{} to {}", t.what, stage_name(t.receiver));
    });
    add_transfers("receive", received_, [&](const TracedTransfer& t) { return arriving(t); });
    std::erase_if(tracks_, [](const TraceTrack& track) { return track.spans.empty(); });
    return std::move(tracks_);
  }

 private:
  [[nodiscard]] std::string stage_name(std::int32_t group) const {
    return fmt::format("stage {}", at(workload_.groups, group).stage);
  }
  [[nodiscard]] std::string arriving(const TracedTransfer& transfer) const {
    return fmt::format("{} from {}", transfer.what, stage_name(transfer.sender));
  }

  /// "gradient reduce 3/12"
  [[nodiscard]] std::string collective_title(const JoinedCollective& collective) const {
    return fmt::format("{} {}/{}", role_of(at(workload_.communicators, collective.communicator)),
                       collective.instance + 1,
                       at(timeline_.collectives, collective.communicator).size());
  }

  /// What the group itself does, and what it waits for.
  void add_program() {
    TraceTrack compute{.name = "compute", .category = "compute"};
    TraceTrack waiting{.name = "waiting", .category = "waiting"};
    for (std::size_t i = 0; i < spans_.size(); ++i) {
      const Span& span = spans_[i];
      const Operation* operation =
          i < program_.operations.size() ? &program_.operations[i] : nullptr;
      switch (span.of) {
        case SpanOf::block:
          add_computation(compute, *operation, static_cast<std::int32_t>(i), span);
          break;
        case SpanOf::own_send:
          append_span(waiting, "wait for its own send", span.begin, span.end,
                      TraceArguments().add_pass(*operation).text());
          break;
        case SpanOf::message:
          add_message_wait(waiting, *operation, span);
          break;
        case SpanOf::join:
          joined_at_[static_cast<std::size_t>(operation->slot)] = span.end;
          break;
        case SpanOf::collective:
          add_collective_wait(waiting, span);
          break;
        case SpanOf::push:
          break;
        case SpanOf::answer:
          append_span(waiting, "wait for servers", span.begin, span.under_way(), "");
          append_span(waiting, "parameters from servers", span.under_way(), span.end, "");
          break;
        case SpanOf::end_of_run:
          append_span(waiting, "wait for the end of the step", span.begin, span.end, "");
          break;
      }
    }
    tracks_.push_back(std::move(compute));
    tracks_.push_back(std::move(waiting));
  }

  void add_computation(TraceTrack& track, const Operation& operation, std::int32_t index,
                       const Span& span) const {
    const Block& block = at(program_.blocks, operation.block);
    TraceArguments arguments;
    arguments.add_pass(operation);
    for (std::size_t i = 0; i < kCauses; ++i) {
      const auto cause = static_cast<Cause>(i);
      const double nominal = block.time[cause].count();
      if (nominal > 0.0) arguments.add(std::string(cause_name(cause)) + "_s", nominal);
    }
    const std::size_t spans = track.spans.size();
    append_span(track, pass_name(block.name, operation, has_chunks_), span.begin, span.end,
                arguments.text());
    if (track.spans.size() == spans) return;
    for (const TracedTransfer& transfer : received_) {
      if (transfer.consumer == index && transfer.flow) {
        track.spans.back().ends_flows.push_back(*transfer.flow);
      }
    }
  }

  void add_message_wait(TraceTrack& track, const Operation& operation, const Span& span) const {
    const auto transfer = std::ranges::find(received_, operation.slot, &TracedTransfer::slot);
    if (transfer == received_.end()) return;
    append_span(track, fmt::format("wait for {}", arriving(*transfer)), span.begin, span.end,
                TraceArguments()
                    .add_pass(operation)
                    .add("before_it_was_sent_s", span.under_way() - span.begin)
                    .add("under_way_s", span.end - span.under_way())
                    .text());
  }

  void add_collective_wait(TraceTrack& track, const Span& span) const {
    append_span(track, fmt::format("wait for {}", collective_title(span.collective)), span.begin,
                span.end,
                TraceArguments()
                    .add("before_the_last_joined_s", span.under_way() - span.begin)
                    .add("exposed_s", span.end - span.under_way())
                    .text());
  }

  /// From this group's join, or the end of the collective before, to its end.
  void add_collectives(std::int32_t communicator) {
    const Communicator& of = at(workload_.communicators, communicator);
    std::vector<std::size_t> slots;
    for (std::size_t slot = 0; slot < joined_.size(); ++slot) {
      if (joined_[slot].communicator == communicator) slots.push_back(slot);
    }
    std::ranges::sort(slots, {}, [&](std::size_t slot) { return joined_[slot].instance; });
    TraceTrack track{.name = role_of(of), .category = "collective"};
    double free = 0.0;
    for (const std::size_t slot : slots) {
      const Timeline::Collective& record = record_of(timeline_, joined_[slot]);
      append_span(track, collective_title(joined_[slot]), std::max(free, joined_at_[slot]),
                  record.end, collective_arguments(of, record, free));
      free = record.end;
    }
    tracks_.push_back(std::move(track));
  }

  /// `free` is when the collective before was done.
  [[nodiscard]] std::string collective_arguments(const Communicator& communicator,
                                                 const Timeline::Collective& record,
                                                 double free) const {
    TraceArguments arguments;
    arguments.add("collective", std::string(collective_name(communicator.kind)))
        .add("bytes", record.amount)
        .add_bandwidth(record.amount, record.end - std::max(free, record.last_join))
        .add("members", communicator.members);
    if (record.last_group >= 0) {
      arguments.add("last_to_join", group_name(workload_, record.last_group));
    }
    return arguments.text();
  }

  /// Each transfer on the first track that is free; most of the time one is enough.
  template <class Title>
  void add_transfers(const std::string& name, std::vector<TracedTransfer> transfers, Title title) {
    std::ranges::stable_sort(transfers, {}, &TracedTransfer::sent);
    std::vector<TraceTrack> lanes;
    for (const TracedTransfer& transfer : transfers) {
      auto free = std::ranges::find_if(lanes, [&](const TraceTrack& lane) {
        return lane.spans.empty() || lane.spans.back().end_ns <= nanoseconds(transfer.sent);
      });
      if (free == lanes.end()) {
        const std::size_t number = lanes.size() + 1;
        lanes.push_back(
            {.name = number == 1 ? name : fmt::format("{} {}", name, number), .category = name});
        free = std::prev(lanes.end());
      }
      add_transfer(*free, transfer, title(transfer), name == "send");
    }
    for (TraceTrack& lane : lanes) tracks_.push_back(std::move(lane));
  }

  static void add_transfer(TraceTrack& lane, const TracedTransfer& transfer, std::string title,
                           bool starts_flow) {
    const double bytes = transfer.operation->amount.count();
    const std::size_t spans = lane.spans.size();
    append_span(lane, std::move(title), transfer.sent, transfer.arrived,
                TraceArguments()
                    .add_pass(*transfer.operation)
                    .add("bytes", bytes)
                    .add_bandwidth(bytes, transfer.arrived - transfer.sent)
                    .text());
    if (starts_flow && transfer.flow && lane.spans.size() > spans) {
      lane.spans.back().starts_flow = *transfer.flow;
    }
  }

  const Workload& workload_;
  const Timeline& timeline_;
  std::int32_t group_;
  const Program& program_;
  std::vector<Span> spans_;
  bool has_chunks_;
  std::vector<JoinedCollective> joined_;  ///< by collective slot
  std::vector<double> joined_at_;         ///< by collective slot
  std::vector<TracedTransfer> sent_;
  std::vector<TracedTransfer> received_;
  std::vector<TraceTrack> tracks_;
};

}  // namespace

std::vector<TraceTrack> group_tracks(const Workload& workload, const Timeline& timeline,
                                     std::int32_t group, const TraceTransfers& transfers) {
  return GroupTracks(workload, timeline, group, transfers).tracks();
}

}  // namespace headway
