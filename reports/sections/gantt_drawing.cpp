#include "reports/sections/gantt_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "reports/document/html_page.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

// In user units, which stretch along time: the iteration is kWidth long, a row kRowHeight high.
constexpr double kWidth = 10'000.0;
constexpr int kRowHeight = 26;
constexpr int kBarHeight = 18;
constexpr int kLineTop = 20;
constexpr int kLineHeight = 3;
constexpr int kTicks = 5;

constexpr std::string_view kWaiting = "waits for ";

/// A path of the rectangles of one colour, which is far smaller than an element each.
void append_rectangle(std::string& path, double begin, double end, int top, int height) {
  path +=
      fmt::format("M{:.0f} {}h{:.0f}v{}h-{:.0f}z", begin, top, end - begin, height, end - begin);
}

class Gantt {
 public:
  explicit Gantt(const Prediction& prediction)
      : activity_(prediction.activity),
        path_(prediction.critical_path),
        iteration_(prediction.iteration_time) {}

  [[nodiscard]] std::string html() const {
    const auto height = kRowHeight * static_cast<int>(activity_.rows.size());
    std::string text = legend() + "<div class=\"gantt\">\n<div class=\"gantt-names\">";
    for (const Activity::Row& row : activity_.rows) {
      text += fmt::format("<div>{}</div>", escaped_html(row.where));
    }
    text +=
        "</div>\n<div class=\"gantt-scroll\" tabindex=\"0\" role=\"region\" aria-label=\"one "
        "iteration\"><div class=\"gantt-plane\">\n";
    text += fmt::format(
        "<svg viewBox=\"0 0 {:.0f} {}\" style=\"height:{}px\" preserveAspectRatio=\"none\" "
        "role=\"img\" aria-label=\"what each stage does when\">\n",
        kWidth, height, height);
    for (std::size_t kind = 0; kind < activity_.kinds.size(); ++kind) text += bars_of(kind);
    text += fmt::format("<path class=\"critical\" d=\"{}\"/>\n</svg>\n", critical_lines());
    return text + ticks() + "</div></div>\n</div>\n" + zoom();
  }

 private:
  [[nodiscard]] double along(Seconds time) const { return kWidth * share_of(time, iteration_); }

  /// Waiting is pale: what stands out is work.
  [[nodiscard]] std::string colour_class(std::size_t kind) const {
    const std::string& name = activity_.kinds[kind];
    if (name.starts_with(kWaiting)) {
      return name.ends_with("message") ? "quiet" : "quiet last";
    }
    constexpr std::size_t kColours = 12;
    return fmt::format("series-{}", kind % kColours + 1);
  }

  [[nodiscard]] std::string bars_of(std::size_t kind) const {
    // Neighbours of one kind alternate in strength, so that passes can be counted.
    std::string strong;
    std::string weak;
    for (std::size_t row = 0; row < activity_.rows.size(); ++row) {
      bool is_weak = false;
      for (const Activity::Span& span : activity_.rows[row].spans) {
        if (static_cast<std::size_t>(span.kind) != kind) continue;
        append_rectangle(is_weak ? weak : strong, along(span.start), along(span.end),
                         static_cast<int>(row) * kRowHeight, kBarHeight);
        is_weak = !is_weak;
      }
    }
    std::string text;
    const std::string name = colour_class(kind);
    if (!strong.empty()) text += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", name, strong);
    if (!weak.empty()) {
      text += fmt::format("<path class=\"{}\" fill-opacity=\"0.72\" d=\"{}\"/>\n", name, weak);
    }
    return text;
  }

  /// Segments with less between them than a screen shows are one line.
  [[nodiscard]] std::string critical_lines() const {
    constexpr double kGap = kWidth / 2000.0;
    std::string lines;
    for (std::size_t row = 0; row < activity_.rows.size(); ++row) {
      double begin = 0.0;
      double end = 0.0;
      const auto draw = [&] {
        if (end <= begin) return;
        append_rectangle(lines, begin, end, static_cast<int>(row) * kRowHeight + kLineTop,
                         kLineHeight);
      };
      for (const CriticalSegment& segment : path_) {
        if (segment.where != activity_.rows[row].where) continue;
        if (along(segment.start) > end + kGap) {
          draw();
          begin = along(segment.start);
        }
        end = along(segment.end);
      }
      draw();
    }
    return lines;
  }

  [[nodiscard]] std::string legend() const {
    std::string text = "<ul class=\"legend\">";
    const auto add = [&](const std::string& name, const std::string& title) {
      text += fmt::format(
          "<li><svg viewBox=\"0 0 1 1\" aria-hidden=\"true\"><path class=\"{}\" d=\"M0 "
          "0h1v1h-1z\"/>"
          "</svg>{}</li>",
          name, escaped_html(title));
    };
    for (std::size_t kind = 0; kind < activity_.kinds.size(); ++kind) {
      add(colour_class(kind), activity_.kinds[kind]);
    }
    add("critical", "critical path");
    return text + "</ul>\n";
  }

  [[nodiscard]] std::string ticks() const {
    const TimeScale scale(iteration_);
    std::string text = "<div class=\"gantt-ticks\">";
    for (int i = 0; i <= kTicks; ++i) {
      const double share = static_cast<double>(i) / kTicks;
      text += fmt::format("<span style=\"left:{:.0f}%\">{}</span>", 100.0 * share,
                          escaped_html(scale.with_unit(share * iteration_)));
    }
    return text + "</div>\n";
  }

  [[nodiscard]] static std::string zoom() {
    return "<label class=\"zoom\">stretch <input type=\"range\" min=\"1\" max=\"20\" step=\"0.5\" "
           "value=\"1\" oninput=\"this.closest('figure').querySelector('.gantt-plane').style.width="
           "this.value*100+'%'\"></label>\n";
  }

  const Activity& activity_;
  const std::vector<CriticalSegment>& path_;
  Seconds iteration_;
};

}  // namespace

Drawing gantt_drawing(const Prediction& prediction) { return {Gantt(prediction).html()}; }

}  // namespace headway
