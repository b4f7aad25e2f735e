// Colours of figures, as those see them who see fewer.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "sim/programs/cause.h"
#include "tests/support/source_folder.h"

namespace headway {
namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

// Machado, Oliveira and Fernandes 2009 (IEEE TVCG 15(6)), severity 1, of linear RGB.
constexpr Matrix kAllColours = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr Matrix kDeuteranopia = {{{0.367322, 0.860646, -0.227968},
                                   {0.280085, 0.672501, 0.047413},
                                   {-0.011820, 0.042940, 0.968881}}};
constexpr Matrix kProtanopia = {{{0.152286, 1.052583, -0.204868},
                                 {0.114503, 0.786281, 0.099216},
                                 {-0.003882, -0.048116, 1.051998}}};
// IEC 61966-2-1: linear RGB to XYZ under D65.
constexpr Matrix kXyz = {{{0.4124564, 0.3575761, 0.1804375},
                          {0.2126729, 0.7151522, 0.0721750},
                          {0.0193339, 0.1191920, 0.9503041}}};
constexpr Vector kWhite = {0.95047, 1.0, 1.08883};

Vector product(const Matrix& matrix, const Vector& vector) {
  Vector result{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) result[i] += matrix[i][j] * vector[j];
  }
  return result;
}

Vector linear_rgb(const std::string& hex) {
  Vector rgb{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double value = std::stoi(hex.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
    rgb[i] = value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  }
  return rgb;
}

/// CIE 1976 L*a*b*.
Vector lab(const Vector& rgb) {
  Vector f{};
  const Vector xyz = product(kXyz, rgb);
  for (std::size_t i = 0; i < 3; ++i) {
    const double t = xyz[i] / kWhite[i];
    f[i] = t > 216.0 / 24389.0 ? std::cbrt(t) : (24389.0 / 27.0 * t + 16.0) / 116.0;
  }
  return {116.0 * f[1] - 16.0, 500.0 * (f[0] - f[1]), 200.0 * (f[1] - f[2])};
}

/// The difference that somebody sees, CIE 1976: 2.3 is just noticeable.
double difference(const std::string& a, const std::string& b, const Matrix& sight) {
  const auto seen = [&](const std::string& hex) {
    Vector rgb = product(sight, linear_rgb(hex));
    for (double& value : rgb) value = std::clamp(value, 0.0, 1.0);
    return lab(rgb);
  };
  const Vector in_a = seen(a);
  const Vector in_b = seen(b);
  return std::hypot(in_a[0] - in_b[0], in_a[1] - in_b[1], in_a[2] - in_b[2]);
}

/// Colours of the series of a light page, then those of a dark one.
std::vector<std::vector<std::string>> palettes() {
  std::ostringstream style;
  style << std::ifstream(source_folder() + "/reports/document/assets/page.css").rdbuf();
  const std::string text = style.str();
  static const std::regex kSeries("--series-([0-9]+): (#[0-9a-f]{6})");
  std::vector<std::vector<std::string>> all;
  for (std::sregex_iterator at(text.begin(), text.end(), kSeries), end; at != end; ++at) {
    if ((*at)[1] == "1") all.emplace_back();
    all.back().push_back((*at)[2]);
  }
  return all;
}

TEST(Colours, DifferBetweenNeighboursForThoseWhoSeeFewer) {
  ASSERT_EQ(palettes().size(), 2U);
  for (const std::vector<std::string>& palette : palettes()) {
    ASSERT_EQ(palette.size(), kCauses);  // a colour of its own for each
    // A cause that has no share lets those on its two sides meet.
    for (std::size_t a = 0; a < kCauses; ++a) {
      for (std::size_t b = a + 1; b < std::min(a + 3, kCauses); ++b) {
        const std::string& one = palette[a];
        const std::string& other = palette[b];
        for (const Matrix& sight : {kAllColours, kDeuteranopia, kProtanopia}) {
          EXPECT_GE(difference(one, other, sight), 20.0) << one << " " << other;
        }
      }
    }
  }
}

/// Black and white are 100 apart, and a colour is like itself.
TEST(Colours, AreMeasuredAsTheCieDoes) {
  EXPECT_NEAR(difference("#000000", "#ffffff", kAllColours), 100.0, 0.01);
  EXPECT_EQ(difference("#2661b5", "#2661b5", kProtanopia), 0.0);
}

}  // namespace
}  // namespace headway
