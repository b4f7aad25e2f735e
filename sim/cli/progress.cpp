#include "sim/cli/progress.h"

#include <fmt/format.h>

#include <utility>

#include "sim/base/quantity_text.h"

namespace headway {
namespace {

constexpr auto kRedrawEvery = std::chrono::milliseconds(100);
constexpr auto kLineEvery = std::chrono::seconds(30);
constexpr const char* kWipe = "\r\x1b[K";  // to the start of the line, and wipe it

/// "0:05", "1:24", "2:03:05"
std::string clock_text(double seconds) {
  const auto whole = static_cast<long long>(seconds);
  const long long hours = whole / 3600;
  if (hours == 0) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", hours, whole % 3600 / 60, whole % 60);
}

}  // namespace

Progress::Progress(Terminal& terminal, When when, std::string what)
    : terminal_(terminal),
      what_(std::move(what)),
      is_shown_(when == When::always || (when == When::automatic && !terminal.is_quiet())),
      is_redrawn_(terminal.errors_are_seen()) {
  if (is_shown_) terminal_.report(is_redrawn_ ? line() : what_ + "\n");
}

Progress::~Progress() {
  if (is_shown_ && is_redrawn_) terminal_.report(kWipe);
}

void Progress::update(std::size_t done, std::size_t of) {
  done_ = done;
  points_ = of;
  const auto now = Clock::now();
  const auto pause = is_redrawn_ ? Clock::duration(kRedrawEvery) : Clock::duration(kLineEvery);
  if (!is_shown_ || now - last_ < pause) return;
  last_ = now;
  terminal_.report(is_redrawn_ ? kWipe + line() : line() + "\n");
}

void Progress::finish() {
  if (is_shown_ && !is_redrawn_) {
    terminal_.report(fmt::format("{}: done in {}\n", what_, duration_text(seconds())));
  }
}

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

std::string Progress::line() const {
  if (points_ == 0) return what_ + " ...";
  const std::string total = std::to_string(points_);
  std::string text = fmt::format("[{:>{}}/{}] {}", done_, total.size(), total, what_);
  if (done_ == 0) return text;
  const double left = seconds() / static_cast<double>(done_) * static_cast<double>(points_ - done_);
  return text + fmt::format("   {}   ETA {}", duration_text(seconds()), clock_text(left));
}

std::string duration_text(double seconds) {
  constexpr double kMinute = 60.0;
  return seconds < kMinute ? short_text(Seconds(seconds)) : clock_text(seconds);
}

}  // namespace headway
