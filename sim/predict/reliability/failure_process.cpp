#include "sim/predict/reliability/failure_process.h"

#include <boost/random/exponential_distribution.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <boost/random/weibull_distribution.hpp>
#include <cmath>
#include <limits>
#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/scenario/recovery/failure_count.h"

namespace headway {

FailureProcess::FailureProcess(const std::vector<FailureCause>& causes, std::uint64_t seed,
                               std::int64_t most_lifetimes)
    : causes_(causes), most_lifetimes_(most_lifetimes) {
  constexpr std::uint64_t kFarApart = 0x9e3779b97f4a7c15;  // histories have seeds side by side
  for (int i = 0; i < std::ssize(causes); ++i) {
    const FailureCause& cause = causes[static_cast<std::size_t>(i)];
    random_.emplace_back(seed + static_cast<std::uint64_t>(i) * kFarApart);
    // Memoryless units together are one that breaks as often as all of them.
    const bool together = cause.lifetime.kind == LifetimeKind::exponential;
    for (int unit = 0; unit < (together ? 1 : cause.units); ++unit) push(i, 0.0);
  }
}

FailureProcess::Failure FailureProcess::next() const {
  if (pending_.empty()) return {.time = std::numeric_limits<double>::infinity()};
  return pending_.top();
}

void FailureProcess::pop() {
  const Failure failure = pending_.top();
  pending_.pop();
  push(failure.cause, failure.time);
}

double FailureProcess::lifetime(int number) {
  const FailureCause& cause = causes_[static_cast<std::size_t>(number)];
  const Lifetime& of = cause.lifetime;
  boost::random::mt19937_64& random = random_[static_cast<std::size_t>(number)];
  switch (of.kind) {
    case LifetimeKind::exponential: {
      const double rate = cause.units / of.mean.count();
      return boost::random::exponential_distribution<double>(rate)(random);
    }
    case LifetimeKind::weibull: {
      // The mean of a Weibull variable is scale * gamma(1 + 1 / shape).
      const double scale = of.mean.count() / std::tgamma(1.0 + 1.0 / of.shape);
      return boost::random::weibull_distribution<double>(of.shape, scale)(random);
    }
    case LifetimeKind::empirical: {
      boost::random::uniform_int_distribution<std::size_t> one(0, of.observed.size() - 1);
      return of.observed[one(random)].count();
    }
  }
  HEADWAY_CHECK(false, "unknown kind of lifetime");
}

void FailureProcess::push(int cause, double after) {
  const FailureCause& of = causes_[static_cast<std::size_t>(cause)];
  if (of.units <= 0) return;
  if (++drawn_ > most_lifetimes_) throw InputError(too_many_failures());
  pending_.push({after + lifetime(cause), cause});
}

}  // namespace headway
