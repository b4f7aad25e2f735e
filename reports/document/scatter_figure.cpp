#include "reports/document/scatter_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "reports/document/html_page.h"
#include "sim/base/diagnostic.h"

namespace headway {
namespace {

constexpr double kSide = 520.0;  ///< of the plot, in user units
constexpr double kLeft = 70.0;
constexpr double kTop = 34.0;
constexpr double kBottom = 54.0;
constexpr double kBand = 0.1;
constexpr std::size_t kShapes = 4;

/// The decades that hold all points, as powers of ten.
struct Decades {
  int first = 0;
  int last = 1;

  [[nodiscard]] double along(double value) const {
    return (std::log10(value) - first) / (last - first);
  }
};

Decades decades_of(const ScatterFigure& figure) {
  double least = std::numeric_limits<double>::infinity();
  double most = 0.0;
  for (const ScatterFigure::Series& series : figure.series) {
    for (const ScatterFigure::Point& point : series.points) {
      HEADWAY_CHECK(point.x > 0.0 && point.y > 0.0, "a logarithmic axis begins above 0");
      least = std::min({least, point.x, point.y});
      most = std::max({most, point.x, point.y});
    }
  }
  if (most == 0.0) return {};
  const int first = static_cast<int>(std::floor(std::log10(least)));
  return {first, std::max(first + 1, static_cast<int>(std::ceil(std::log10(most))))};
}

std::string tick_text(int decade) {
  return decade >= 0 ? fmt::format("{:.0f}", std::pow(10.0, decade))
                     : fmt::format("{:.{}f}", std::pow(10.0, decade), -decade);
}

class ScatterDrawing {
 public:
  explicit ScatterDrawing(const ScatterFigure& figure)
      : figure_(figure), decades_(decades_of(figure)) {}

  std::string svg() && {
    text_ = fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n",
                        kLeft + kSide + 20.0, kTop + kSide + kBottom, escaped_html(figure_.title));
    add_axes();
    add_diagonal();
    for (std::size_t i = 0; i < figure_.series.size(); ++i) add_series(i);
    add_legend();
    return text_ + "</svg>\n";
  }

 private:
  [[nodiscard]] double x(double value) const { return kLeft + kSide * decades_.along(value); }
  [[nodiscard]] double y(double value) const {
    return kTop + kSide * (1.0 - decades_.along(value));
  }

  void add_axes() {
    for (int decade = decades_.first; decade <= decades_.last; ++decade) {
      const double at = std::pow(10.0, decade);
      text_ += fmt::format("<path class=\"grid\" d=\"M{0:.1f} {1:.1f}V{2:.1f}\"/>", x(at), kTop,
                           kTop + kSide);
      text_ += fmt::format("<path class=\"grid\" d=\"M{0:.1f} {1:.1f}H{2:.1f}\"/>\n", kLeft, y(at),
                           kLeft + kSide);
      text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>",
                           x(at), kTop + kSide + 18.0, tick_text(decade));
      text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                           kLeft - 8.0, y(at) + 4.0, tick_text(decade));
    }
    text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                         kLeft + kSide / 2.0, kTop + kSide + 42.0, escaped_html(figure_.x_title));
    text_ += fmt::format(
        "<text transform=\"translate(18 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
        kTop + kSide / 2.0, escaped_html(figure_.y_title));
  }

  void add_diagonal() {
    const double low = std::pow(10.0, decades_.first);
    const double high = std::pow(10.0, decades_.last);
    const double up = std::log10(1.0 + kBand) / (decades_.last - decades_.first) * kSide;
    const double down = -std::log10(1.0 - kBand) / (decades_.last - decades_.first) * kSide;
    text_ += fmt::format(
        "<path class=\"band\" d=\"M{0:.1f} {1:.1f}L{2:.1f} {3:.1f}V{4:.1f}L{0:.1f} {5:.1f}Z\"/>\n",
        x(low), y(low) - up, x(high), y(high) - up, y(high) + down, y(low) + down);
    text_ += fmt::format("<path class=\"equal\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>\n", x(low),
                         y(low), x(high), y(high));
  }

  static std::string mark(std::size_t series, double x, double y) {
    const std::array<std::string, kShapes> paths = {
        fmt::format("M{:.1f} {:.1f}m-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0", x, y),
        fmt::format("M{:.1f} {:.1f}m-2.9-2.9h5.8v5.8h-5.8z", x, y),
        fmt::format("M{:.1f} {:.1f}m0-3.8l3.6 6.4h-7.2z", x, y),
        fmt::format("M{:.1f} {:.1f}m0-4l4 4l-4 4l-4-4z", x, y)};
    return fmt::format("<path class=\"mark series-{}\" d=\"{}\"", series + 1,
                       paths[series % kShapes]);
  }

  void add_series(std::size_t index) {
    for (const ScatterFigure::Point& point : figure_.series[index].points) {
      text_ += fmt::format("{}><title>{}</title></path>\n", mark(index, x(point.x), y(point.y)),
                           escaped_html(point.label));
    }
  }

  void add_legend() {
    double at = kLeft;
    for (std::size_t i = 0; i < figure_.series.size(); ++i) {
      const std::string name =
          fmt::format("{} ({})", figure_.series[i].name, figure_.series[i].points.size());
      text_ += mark(i, at + 6.0, kTop - 18.0) + "/>";
      text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", at + 16.0, kTop - 14.0,
                           escaped_html(name));
      at += 40.0 + 7.5 * static_cast<double>(name.size());
    }
  }

  const ScatterFigure& figure_;
  Decades decades_;
  std::string text_;
};

}  // namespace

std::string svg_of(const ScatterFigure& figure) {
  HEADWAY_CHECK(figure.series.size() <= kShapes, "a figure has as many shapes as series");
  return ScatterDrawing(figure).svg();
}

}  // namespace headway
