#include "sim/result/activity.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "sim/result/breakdown.h"
#include "sim/result/spans.h"

namespace headway {
namespace {

constexpr double kShortestShare = 1.0 / 2000.0;  ///< below it nobody sees a span
constexpr double kShareToLose = 0.01;            ///< of a row, by leaving such spans out

/// The replica with most time on the path; of several with as much the first.
std::int32_t replica_of_path(const Workload& workload, const std::vector<CriticalSegment>& path) {
  std::map<std::string, Seconds> by_group;
  for (const CriticalSegment& segment : path) {
    by_group[segment.where] += segment.end - segment.start;
  }
  std::map<std::int32_t, Seconds> by_replica;
  for (std::int32_t i = 0; i < std::ssize(workload.groups); ++i) {
    const auto found = by_group.find(group_name(workload, i));
    const Seconds time = found == by_group.end() ? Seconds(0.0) : found->second;
    by_replica[at(workload.groups, i).replica] += time;
  }
  return std::ranges::max_element(by_replica, {}, [](const auto& entry) { return entry.second; })
      ->first;
}

/// The groups of a replica by stage, thinned out evenly.
std::vector<std::int32_t> shown_groups(const Workload& workload, std::int32_t replica) {
  std::vector<std::int32_t> groups;
  for (std::int32_t i = 0; i < std::ssize(workload.groups); ++i) {
    if (at(workload.groups, i).replica == replica) groups.push_back(i);
  }
  std::ranges::stable_sort(groups, {},
                           [&](std::int32_t i) { return at(workload.groups, i).stage; });
  if (groups.size() <= kActivityRows) return groups;
  std::vector<std::int32_t> shown;
  for (std::size_t i = 0; i < kActivityRows; ++i) {
    shown.push_back(groups[i * (groups.size() - 1) / (kActivityRows - 1)]);
  }
  return shown;
}

/// "gradient reduce, stage 3" -> "gradient reduce"
std::string kind_of(const std::string& name) { return name.substr(0, name.find(", ")); }

class ActivityRows {
 public:
  ActivityRows(const Workload& workload, const Timeline& timeline)
      : workload_(workload), timeline_(timeline) {
    digits_ = std::pow(10.0, 5.0 - std::floor(std::log10(timeline.finish)));
  }

  Activity rows(const std::vector<std::int32_t>& groups) && {
    for (const std::int32_t group : groups) {
      activity_.rows.push_back({group_name(workload_, group), {}});
      add_operations(group);
      auto& spans = activity_.rows.back().spans;
      if (spans.size() > kActivitySpans) spans = thinned(spans);
      for (Activity::Span& span : spans) {
        span.start = rounded(span.start);
        span.end = rounded(span.end);
      }
    }
    return std::move(activity_);
  }

 private:
  void add_operations(std::int32_t group) {
    const Program& program = program_of(workload_, group);
    const std::vector<Span> spans = group_spans(workload_, timeline_, group);
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const Span& span = spans[i];
      const auto add_halves = [&](const std::string& waiting, const std::string& moving) {
        const double under_way = span.under_way();
        add(waiting, span.begin, under_way);
        add(moving, under_way, span.end);
      };
      switch (span.of) {
        case SpanOf::block:
          add(at(program.blocks, program.operations[i].block).name, span.begin, span.end);
          break;
        case SpanOf::own_send:
        case SpanOf::message:
          add_halves("waits for a message", "transfer");
          break;
        case SpanOf::join:
        case SpanOf::push:
          break;
        case SpanOf::answer:
          add_halves("waits for servers", "parameters from servers");
          break;
        case SpanOf::collective:
          add_halves("waits for the last rank",
                     kind_of(at(workload_.communicators, span.collective.communicator).name));
          break;
        case SpanOf::end_of_run:
          add("waits for the last rank", span.begin, span.end);
          break;
      }
    }
  }

  void add(const std::string& kind, double begin, double end) {
    if (!(end > begin)) return;
    const auto [known, is_new] =
        index_.try_emplace(kind, static_cast<std::int32_t>(activity_.kinds.size()));
    if (is_new) activity_.kinds.push_back(kind);
    activity_.rows.back().spans.push_back({known->second, Seconds(begin), Seconds(end)});
  }

  [[nodiscard]] std::vector<Activity::Span> thinned(
      const std::vector<Activity::Span>& spans) const {
    std::vector<Activity::Span> visible;
    double lost = 0.0;
    for (const Activity::Span& span : spans) {
      const double length = (span.end - span.start).count();
      if (length >= kShortestShare * timeline_.finish) {
        visible.push_back(span);
      } else {
        lost += length;
      }
    }
    const bool is_much = lost > kShareToLose * timeline_.finish;
    return is_much || visible.size() > kActivitySpans ? slices_of(spans) : visible;
  }

  [[nodiscard]] std::vector<Activity::Span> slices_of(
      const std::vector<Activity::Span>& spans) const {
    std::vector<Activity::Span> slices;
    const double width = timeline_.finish / static_cast<double>(kActivitySpans);
    std::size_t first = 0;
    for (std::size_t slice = 0; slice < kActivitySpans; ++slice) {
      const double begin = width * static_cast<double>(slice);
      const double end = begin + width;
      while (first < spans.size() && spans[first].end.count() <= begin) ++first;
      std::vector<double> share(activity_.kinds.size(), 0.0);
      for (std::size_t i = first; i < spans.size() && spans[i].start.count() < end; ++i) {
        share[static_cast<std::size_t>(spans[i].kind)] +=
            std::min(end, spans[i].end.count()) - std::max(begin, spans[i].start.count());
      }
      const auto most = static_cast<std::int32_t>(std::ranges::max_element(share) - share.begin());
      if (share[static_cast<std::size_t>(most)] <= 0.0) continue;
      const bool goes_on = !slices.empty() && slices.back().kind == most &&
                           std::abs(slices.back().end.count() - begin) < 0.5 * width;
      if (goes_on) {
        slices.back().end = Seconds(end);
      } else {
        slices.push_back({most, Seconds(begin), Seconds(end)});
      }
    }
    return slices;
  }

  [[nodiscard]] Seconds rounded(Seconds time) const {
    return Seconds(std::round(time.count() * digits_) / digits_);
  }

  const Workload& workload_;
  const Timeline& timeline_;
  double digits_ = 1.0;  ///< times this, the iteration has six digits before its point
  std::map<std::string, std::int32_t> index_;
  Activity activity_;
};

}  // namespace

Activity activity_of(const Workload& workload, const Timeline& timeline,
                     const std::vector<CriticalSegment>& path) {
  if (workload.groups.empty() || !(timeline.finish > 0.0)) return {};
  const std::vector<std::int32_t> groups = shown_groups(workload, replica_of_path(workload, path));
  return ActivityRows(workload, timeline).rows(groups);
}

}  // namespace headway
