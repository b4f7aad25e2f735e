#include <fmt/format.h>

#include <array>
#include <cmath>
#include <sstream>

#include "calibrate/suite/plan.h"
#include "sim/base/diagnostic.h"

namespace headway {
namespace {

constexpr std::array kPrecisions = {Precision::fp32, Precision::tf32, Precision::fp16,
                                    Precision::bf16, Precision::fp8};

bool read_line(const std::string& line, GemmPoint& point) {
  std::istringstream words(line);
  std::string precision;
  std::string more;
  GemmShape& shape = point.shape;
  if (!(words >> precision >> shape.m >> shape.n >> shape.k) || words >> more) return false;
  for (const double size : {shape.m, shape.n, shape.k}) {
    if (!(size >= 1.0 && size <= 1e9) || size != std::floor(size)) return false;
  }
  for (const Precision known : kPrecisions) {
    if (precision_name(known) != precision) continue;
    point.precision = known;
    return true;
  }
  return false;
}

}  // namespace

std::vector<GemmPoint> read_shapes(std::istream& text, const std::string& name) {
  std::vector<GemmPoint> shapes;
  std::vector<Diagnostic> problems;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    const std::string content = line.substr(0, line.find('#'));
    if (content.find_first_not_of(" \t\r") == std::string::npos) continue;
    GemmPoint point;
    if (read_line(content, point)) {
      shapes.push_back(point);
    } else {
      problems.push_back({.message = "a line is not a matrix product",
                          .location = {.file = name,
                                       .line = number,
                                       .column = 1,
                                       .length = static_cast<int>(content.size()),
                                       .line_text = line},
                          .help = "write a precision (fp32, tf32, fp16, bf16, fp8) and three whole "
                                  "sizes: \"bf16 4096 12288 4096\""});
    }
  }
  if (!problems.empty()) throw InputError(problems);
  return shapes;
}

}  // namespace headway
