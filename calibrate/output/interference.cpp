#include "calibrate/output/interference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/join_words.h"

namespace headway {
namespace {

/// Points differ where their texts do.
std::string work_text(const ConcurrentPoint::Work& work) {
  return point_text(ConcurrentPoint{work, {}});
}

bool is_product(const ConcurrentPoint::Work& work) {
  return std::holds_alternative<GemmPoint>(work);
}
bool is_collective(const ConcurrentPoint::Work& work) {
  return std::holds_alternative<CollectivePoint>(work);
}
/// What stands for a collective where there is none.
bool is_few_block_copy(const ConcurrentPoint::Work& work) {
  const auto* copy = std::get_if<CopyPoint>(&work);
  return copy != nullptr && copy->kind == CopyKind::few_blocks;
}

/// What is lost as a share of the shorter work's time, when it takes `own` times as long and the
/// longer one `other`.
double share_of_shorter(double own, double other) {
  return std::max(0.0, own * (1.0 - 1.0 / other));
}

}  // namespace

std::vector<Slowdown> slowdowns(const std::vector<MeasuredPoint>& points) {
  std::vector<Slowdown> result;
  for (const MeasuredPoint& point : points) {
    const auto* both = std::get_if<ConcurrentPoint>(&point.point);
    if (both == nullptr || !both->beside) continue;
    for (const MeasuredPoint& other : points) {
      const auto* alone = std::get_if<ConcurrentPoint>(&other.point);
      if (alone == nullptr || alone->beside || work_text(alone->timed) != work_text(both->timed)) {
        continue;
      }
      result.push_back({*both, point.measured.time / other.measured.time,
                        std::hypot(point.measured.spread(), other.measured.spread())});
    }
  }
  return result;
}

bool hold_collectives(const std::vector<Slowdown>& slowdowns) {
  return std::any_of(slowdowns.begin(), slowdowns.end(), [](const Slowdown& slowdown) {
    return is_product(slowdown.point.timed) && is_collective(*slowdown.point.beside);
  });
}

std::optional<Ratio> interference(const std::vector<Slowdown>& slowdowns) {
  const auto is_transfer = hold_collectives(slowdowns) ? is_collective : is_few_block_copy;
  std::vector<double> shares;
  double spread = 0.0;
  for (const Slowdown& product : slowdowns) {
    if (!is_product(product.point.timed) || !is_transfer(*product.point.beside)) continue;
    for (const Slowdown& transfer : slowdowns) {
      if (work_text(transfer.point.timed) != work_text(*product.point.beside) ||
          work_text(*transfer.point.beside) != work_text(product.point.timed)) {
        continue;
      }
      shares.push_back(share_of_shorter(transfer.factor, product.factor));
      shares.push_back(share_of_shorter(product.factor, transfer.factor));
      spread = std::max({spread, product.spread, transfer.spread});
    }
  }
  if (shares.empty()) return std::nullopt;
  const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
  // A share moves by about as much as the factors that it is made of.
  const double doubt = std::max(spread, (*most - *least) / 2.0);
  double mean = 0.0;
  for (const double share : shares) mean += share / static_cast<double>(shares.size());
  return Ratio{std::min(mean, 1.0), mean > doubt ? doubt / mean : 1.0};
}

std::string slowdowns_text(const std::vector<Slowdown>& slowdowns) {
  std::vector<std::string> texts;
  for (const Slowdown& slowdown : slowdowns) {
    texts.push_back(fmt::format("{}: {:.3f}", point_text(slowdown.point), slowdown.factor));
  }
  return join_words(texts, "; ");
}

}  // namespace headway
