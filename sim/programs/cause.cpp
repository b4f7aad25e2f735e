#include "sim/programs/cause.h"

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

struct CauseText {
  std::string_view name;
  std::string_view title;
};

constexpr std::array<CauseText, kCauses> kTexts{{
    {"compute", "compute"},
    {"recompute", "recompute"},
    {"tensor_parallel", "exposed tensor-parallel"},
    {"context_parallel", "exposed context-parallel"},
    {"expert_parallel", "exposed expert-parallel"},
    {"embedding_exchange", "exposed embedding exchange"},
    {"pipeline_bubble", "pipeline bubble"},
    {"pipeline_transfer", "pipeline transfers"},
    {"data_parallel_exposed", "exposed data-parallel"},
    {"optimizer", "optimizer"},
    {"straggler_wait", "lost to slower ranks"},
    {"server_wait", "waiting for servers"},
    {"data_loading", "data loading"},
    {"other", "host and other"},
}};

const CauseText& text_of(Cause cause) {
  const auto index = static_cast<std::size_t>(cause);
  HEADWAY_CHECK(index < kCauses, "unknown cause");
  return kTexts[index];
}

}  // namespace

std::string_view cause_name(Cause cause) { return text_of(cause).name; }
std::string_view cause_title(Cause cause) { return text_of(cause).title; }

Seconds TimeByCause::total() const {
  Seconds sum;
  for (const Seconds part : parts_) sum += part;
  return sum;
}

TimeByCause& TimeByCause::operator+=(const TimeByCause& other) {
  for (std::size_t i = 0; i < kCauses; ++i) parts_[i] += other.parts_[i];
  return *this;
}

TimeByCause operator*(double factor, TimeByCause a) {
  for (Seconds& part : a.parts_) part *= factor;
  return a;
}

}  // namespace headway
