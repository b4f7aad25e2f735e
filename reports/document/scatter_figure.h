#pragma once

#include <string>
#include <vector>

namespace headway {

/// Points over two logarithmic axes with the same range, the line on which both are equal, and the
/// band of 10 % around it.
struct ScatterFigure {
  struct Point {
    double x = 1.0;  ///< above 0, like y
    double y = 1.0;
    std::string label;  ///< shown when pointed at
  };
  struct Series {
    std::string name;
    std::vector<Point> points;
  };
  std::string title;  ///< for readers who do not see the figure
  std::string x_title;
  std::string y_title;
  std::vector<Series> series;  ///< at most four, each a colour and a shape
};

/// The figure as an SVG element that takes its colours from the page (html_page.h).
[[nodiscard]] std::string svg_of(const ScatterFigure& figure);

}  // namespace headway
