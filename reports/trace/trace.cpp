#include "reports/trace/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "reports/trace/trace_arguments.h"
#include "reports/trace/trace_tracks.h"
#include "reports/trace/trace_transfers.h"
#include "sim/base/diagnostic.h"
#include "sim/result/breakdown.h"
#include "sim/result/workload_index.h"

namespace headway {
namespace {

/// The groups to show, each once, in order.
std::vector<std::int32_t> shown_groups(const Workload& workload, const Timeline& timeline,
                                       const TraceSelection& selection) {
  std::vector<std::int32_t> groups = selection.groups;
  if (groups.empty() && workload.groups.empty()) return groups;
  if (groups.empty()) {
    const std::int32_t replica = at(workload.groups, critical_group(workload, timeline)).replica;
    for (std::int32_t i = 0; i < std::ssize(workload.groups); ++i) {
      if (at(workload.groups, i).replica == replica) groups.push_back(i);
    }
  }
  std::ranges::sort(groups);
  groups.erase(std::ranges::unique(groups).begin(), groups.end());
  HEADWAY_CHECK(groups.front() >= 0 && groups.back() < std::ssize(workload.groups),
                "a trace of a rank group that does not exist");
  return groups;
}

/// Microseconds, exact to the nanosecond.
std::string microseconds(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

/// Writes events one by one; keeps nothing.
class TraceWriter {
 public:
  explicit TraceWriter(std::ostream& stream) : stream_(stream) {
    stream_ << R"({"displayTimeUnit":"ms","traceEvents":[)";
  }
  void finish() { stream_ << "\n]}\n"; }

  void add_process(std::int32_t group, const std::string& name) {
    pid_ = group + 1;  // Perfetto keeps process 0 for the idle one
    tid_ = 0;
    add("M", R"("name":"process_name","args":{{"name":{}}})", json_string(name));
    add("M", R"("name":"process_sort_index","args":{{"sort_index":{}}})", group);
  }

  void add_track(const TraceTrack& track) {
    ++tid_;
    add("M", R"("name":"thread_name","args":{{"name":{}}})", json_string(track.name));
    add("M", R"("name":"thread_sort_index","args":{{"sort_index":{}}})", tid_);
    for (const TraceSpan& span : track.spans) {
      add("X", R"("ts":{},"dur":{},"name":{},"cat":{},"args":{{{}}})", microseconds(span.start_ns),
          microseconds(span.end_ns - span.start_ns), json_string(span.name),
          json_string(track.category), span.arguments);
      // An arrow belongs to the span of its thread that stands before it.
      for (const std::int64_t flow : span.ends_flows) {
        add("f", R"("bp":"e","ts":{},"id":{},"name":"transfer","cat":"transfer")",
            microseconds(span.start_ns), flow);
      }
      if (span.starts_flow >= 0) {
        add("s", R"("ts":{},"id":{},"name":"transfer","cat":"transfer")",
            microseconds(span.start_ns), span.starts_flow);
      }
    }
  }

 private:
  template <class... Values>
  void add(const char* phase, fmt::format_string<Values...> members, Values&&... values) {
    stream_ << fmt::format("{}\n{{\"ph\":\"{}\",\"pid\":{},\"tid\":{},", first_ ? "" : ",", phase,
                           pid_, tid_)
            << fmt::format(members, std::forward<Values>(values)...) << '}';
    first_ = false;
  }

  std::ostream& stream_;
  bool first_ = true;
  std::int32_t pid_ = 0;
  std::int32_t tid_ = 0;
};

}  // namespace

void write_trace(std::ostream& stream, const Workload& workload, const Timeline& timeline,
                 const TraceSelection& selection) {
  const std::vector<std::int32_t> groups = shown_groups(workload, timeline, selection);
  const TraceTransfers transfers(workload, timeline, groups);
  TraceWriter writer(stream);
  for (const std::int32_t group : groups) {
    writer.add_process(group, group_name(workload, group));
    for (const TraceTrack& track : group_tracks(workload, timeline, group, transfers)) {
      writer.add_track(track);
    }
  }
  writer.finish();
}

std::int64_t trace_event_count(const Workload& workload, const Timeline& timeline,
                               const TraceSelection& selection) {
  constexpr std::int64_t kNames = 2;  // events that name and place a process or a thread
  const std::vector<std::int32_t> groups = shown_groups(workload, timeline, selection);
  const TraceTransfers transfers(workload, timeline, groups);
  std::int64_t events = 0;
  for (const std::int32_t group : groups) {
    events += kNames;
    for (const TraceTrack& track : group_tracks(workload, timeline, group, transfers)) {
      events += kNames + std::ssize(track.spans);
      for (const TraceSpan& span : track.spans) {
        events += std::ssize(span.ends_flows) + (span.starts_flow >= 0 ? 1 : 0);
      }
    }
  }
  return events;
}

}  // namespace headway
