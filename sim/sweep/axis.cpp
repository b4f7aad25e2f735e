#include "sim/sweep/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/base/parse_number.h"
#include "sim/base/source_text.h"
#include "sim/base/utf8.h"
#include "sim/files/json_parse.h"
#include "sim/files/json_text.h"

namespace headway {
namespace {

using nlohmann::json;

constexpr std::int64_t kMostPoints = 1'000'000;
constexpr std::int64_t kMostValue = std::int64_t{1} << 53;  // whole numbers that JSON keeps
constexpr std::int64_t kNone = -1;
constexpr std::string_view kForms =
    "write --axis gpus=8,16,32, --axis gpus=8..1024*2 or --axis /strategy/micro_batch=1..8+1";

class AxisText {
 public:
  AxisText(std::string_view text, Diagnostics& diagnostics)
      : text_(text), diagnostics_(diagnostics) {}

  Axis axis() {
    Axis axis;
    if (first_invalid_utf8(text_) != std::string_view::npos) {
      report("the text is not UTF-8", "");
      return axis;
    }
    const std::size_t equals = text_.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      report("an axis has the form NAME=VALUES", std::string(kForms));
      return axis;
    }
    axis.name = text_.substr(0, equals);
    const std::string_view values = text_.substr(equals + 1);
    if (values.starts_with('[')) {
      add_array(axis, values);
    } else {
      add_items(axis, values);
    }
    return axis;
  }

 private:
  void report(std::string message, std::string help) {
    diagnostics_.add({.message = std::move(message),
                      .location = {.file = "--axis " + printable(text_)},
                      .help = std::move(help)});
  }

  void add(Axis& axis, json value) {
    if (!seen_.insert(value).second) {
      report(fmt::format("{} stands twice among the values of {}", compact_json(value), axis.name),
             "name each value once");
    } else {
      axis.values.push_back(std::move(value));
    }
  }

  void add_array(Axis& axis, std::string_view text) {
    const json values = value_of(text).value_or(json());
    if (!values.is_array() || values.empty()) {
      report("the values in brackets are no JSON array with something in it",
             "write --axis '/strategy/layers_per_stage=[[3,5],[4,4]]', or the values without "
             "brackets");
      return;
    }
    for (const json& value : values) add(axis, value);
  }

  /// Nothing if it is none of the JSON that files may hold.
  static std::optional<json> value_of(std::string_view text) {
    Diagnostics problems;
    return parse_json(SourceText("--axis", std::string(text)), problems);
  }

  void add_items(Axis& axis, std::string_view text) {
    bool has_empty = false;
    while (true) {
      const std::size_t comma = text.find(',');
      const std::string_view item = text.substr(0, comma);
      if (item.empty()) has_empty = true;
      if (!item.empty()) add_item(axis, item);
      if (comma == std::string_view::npos) break;
      text.remove_prefix(comma + 1);
    }
    if (has_empty) report(fmt::format("a value of {} is empty", axis.name), std::string(kForms));
  }

  void add_item(Axis& axis, std::string_view item) {
    if (item.find("..") != std::string_view::npos) {
      add_range(axis, item);
    } else {
      add(axis, value_of(item).value_or(json(std::string(item))));
    }
  }

  /// LO..HI*FACTOR or LO..HI+STEP.
  void add_range(Axis& axis, std::string_view item) {
    const std::size_t dots = item.find("..");
    const std::size_t sign = item.find_first_of("*+", dots);
    const auto low = number(item.substr(0, dots));
    const auto high = number(item.substr(dots + 2, sign - dots - 2));
    const auto step = sign == std::string_view::npos ? kNone : number(item.substr(sign + 1));
    if (low == kNone || high == kNone || step == kNone) {
      report(fmt::format("{} is no range", in_quotes(item)),
             "a range has whole numbers and says how it goes on: 8..64*2 is 8,16,32,64 and "
             "8..14+2 is 8,10,12,14");
      return;
    }
    const bool multiplies = item[sign] == '*';
    if (low > high) {
      report(fmt::format("the range {} ends before it starts", in_quotes(item)),
             fmt::format("write {}..{}", high, low));
    } else if (step < (multiplies ? 2 : 1) || (multiplies && low < 1)) {
      report(fmt::format("the range {} does not advance", in_quotes(item)),
             "a factor is at least 2, from 1 or more on; a step is at least 1");
    } else if (!multiplies && (high - low) / step >= kMostPoints) {
      report(fmt::format("the range {} has more than {} values", in_quotes(item), kMostPoints),
             "use a larger step");
    } else {
      for (std::int64_t value = low; value <= high && std::ssize(axis.values) <= kMostPoints;) {
        add(axis, value);
        if (multiplies && value > high / step) break;  // the product may be beyond all numbers
        value = multiplies ? value * step : value + step;
      }
    }
  }

  /// A whole number from 0 on; kNone if it is none.
  static std::int64_t number(std::string_view text) {
    const std::int64_t value = parse_number<std::int64_t>(text).value_or(kNone);
    return value >= 0 && value <= kMostValue ? value : kNone;
  }

  std::string_view text_;
  std::set<json> seen_;
  Diagnostics& diagnostics_;
};

}  // namespace

Axis parse_axis(std::string_view text, Diagnostics& diagnostics) {
  return AxisText(text, diagnostics).axis();
}

std::vector<Axis> parse_axes(const std::vector<std::string>& texts, Diagnostics& diagnostics) {
  std::vector<Axis> axes;
  double points = 1.0;
  for (const std::string& text : texts) {
    axes.push_back(parse_axis(text, diagnostics));
    points *= static_cast<double>(axes.back().values.size());
    const auto first = std::ranges::find(axes, axes.back().name, &Axis::name);
    if (!axes.back().name.empty() && first != axes.end() - 1) {
      diagnostics.add({.message = fmt::format("two axes are called {}", in_quotes(first->name)),
                       .location = {.file = "--axis " + printable(text)},
                       .help = "give all its values to one of them"});
    }
  }
  if (points > static_cast<double>(kMostPoints)) {
    diagnostics.add({.message = fmt::format("the axes span {:.3g} points", points),
                     .help = fmt::format("a sweep has at most {}; take fewer values, or several "
                                         "sweeps",
                                         kMostPoints)});
  }
  return axes;
}

std::int64_t point_count(const std::vector<Axis>& axes) {
  std::int64_t count = 1;
  for (const Axis& axis : axes) count *= std::ssize(axis.values);
  return count;
}

nlohmann::ordered_json point_values(const std::vector<Axis>& axes, std::int64_t index) {
  nlohmann::ordered_json values = nlohmann::ordered_json::object();
  std::int64_t stride = point_count(axes);
  for (const Axis& axis : axes) {
    stride /= std::ssize(axis.values);
    values[axis.name] = axis.values[static_cast<std::size_t>(index / stride)];
    index %= stride;
  }
  return values;
}

}  // namespace headway
