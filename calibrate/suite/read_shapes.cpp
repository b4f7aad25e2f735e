#include <array>
#include <cmath>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "calibrate/suite/plan.h"
#include "sim/base/diagnostic.h"

namespace headway {
namespace {

constexpr std::array kPrecisions = {Precision::fp32, Precision::tf32, Precision::fp16,
                                    Precision::bf16, Precision::fp8};
constexpr std::string_view kAttention = "attention";

bool is_size(double size) { return size >= 1.0 && size <= 1e9 && size == std::floor(size); }

std::optional<GemmPoint> read_product(const std::string& line) {
  std::istringstream words(line);
  std::string precision;
  std::string more;
  GemmPoint point;
  GemmShape& shape = point.shape;
  if (!(words >> precision >> shape.m >> shape.n >> shape.k) || words >> more) return std::nullopt;
  if (!is_size(shape.m) || !is_size(shape.n) || !is_size(shape.k)) return std::nullopt;
  for (const Precision known : kPrecisions) {
    if (word_of(known) != precision) continue;
    point.precision = known;
    return point;
  }
  return std::nullopt;
}

std::optional<AttentionShape> read_attention(const std::string& line) {
  std::istringstream words(line);
  std::string kind;
  std::string mask;
  std::string more;
  AttentionShape shape;
  words >> kind >> shape.sequences >> shape.query_length >> shape.query_heads >> shape.key_heads >>
      shape.head_size >> mask;
  if (!words || kind != kAttention || words >> more) return std::nullopt;
  for (const double size :
       {shape.sequences, shape.query_length, shape.query_heads, shape.key_heads, shape.head_size}) {
    if (!is_size(size)) return std::nullopt;
  }
  if (std::fmod(shape.query_heads, shape.key_heads) != 0.0) return std::nullopt;
  if (mask != "causal" && mask != "full") return std::nullopt;
  shape.key_length = shape.query_length;
  shape.causal = mask == "causal";
  return shape;
}

Diagnostic problem_with(const std::string& content, SourceLocation location) {
  Diagnostic problem;
  problem.location = std::move(location);
  if (content.find(kAttention) == content.find_first_not_of(" \t")) {
    problem.message = "a line is not attention";
    problem.help =
        "write five whole sizes, the heads of queries a multiple of those of keys, and causal or "
        "full: \"attention 2 4096 32 8 128 causal\"";
  } else {
    problem.message = "a line is not a matrix product";
    problem.help =
        "write a precision (fp32, tf32, fp16, bf16, fp8) and three whole sizes: "
        "\"bf16 4096 12288 4096\"";
  }
  return problem;
}

}  // namespace

Shapes read_shapes(std::istream& text, const std::string& name) {
  Shapes shapes;
  std::vector<Diagnostic> problems;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    const std::string content = line.substr(0, line.find('#'));
    if (content.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (const auto product = read_product(content)) {
      shapes.products.push_back(*product);
    } else if (const auto attention = read_attention(content)) {
      shapes.attention.push_back(*attention);
    } else {
      problems.push_back(problem_with(content, {.file = name,
                                                .line = number,
                                                .column = 1,
                                                .length = static_cast<int>(content.size()),
                                                .line_text = line}));
    }
  }
  if (!problems.empty()) throw InputError(problems);
  return shapes;
}

}  // namespace headway
