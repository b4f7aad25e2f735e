#pragma once

#include <string>
#include <vector>

namespace headway {

/// Series over a common axis, as Chart.js draws them.
struct Chart {
  enum class Kind {
    lines,         ///< y over x
    bars,          ///< a bar a label, lying, one series
    stacked_bars,  ///< a bar a label, its parts one upon the other
  };
  enum class Style {
    line,
    dashed,   ///< a limit or an ideal
    points,   ///< marks without a line: measured
    band_low  ///< lower edge of a band; the next series is its upper edge. Neither is named
  };
  struct Series {
    std::string name;
    std::vector<double> values;  ///< of each x or label; not finite: none there
    Style style = Style::line;   ///< of bars: `line` is the bar, `dashed` a line across all bars
    int colour = 0;              ///< counted from 0; series that belong together share one
  };

  Kind kind = Kind::lines;
  std::string x_title;
  std::string y_title;
  bool logarithmic_x = false;  ///< base 2, as clusters grow
  bool logarithmic_y = false;
  bool binary_x = false;                 ///< sizes: their prefixes are powers of 1024
  bool from_zero = true;                 ///< whether y of lines begins there
  std::vector<double> x = {};            ///< of lines, ascending
  std::vector<std::string> labels = {};  ///< of bars
  std::vector<Series> series = {};
};

/// The chart as the JSON text that figures.js draws it from; nothing in it can end a script
/// element.
[[nodiscard]] std::string chart_json(const Chart& chart);

}  // namespace headway
