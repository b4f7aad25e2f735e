#pragma once

#include <vector>

namespace headway {

/// How the time of one execution of a block differs from its nominal one, by a factor.
struct Jitter {
  enum class Kind {
    lognormal,    ///< median 1; `spread` is the sigma of the logarithm
    gamma,        ///< mean 1; `spread` is the coefficient of variation
    exponential,  ///< 1 + an exponential variable of mean `spread`: what is added to the best case
    quantiles     ///< `quantiles` at equal steps of probability from 0 to 1, straight lines between
  };
  Kind kind = Kind::lognormal;
  double spread = 0.0;
  std::vector<double> quantiles = {};  ///< ascending, at least two; positive

  [[nodiscard]] bool none() const { return kind != Kind::quantiles && spread == 0.0; }
  /// What no draw is below, six standard deviations being as good as never.
  [[nodiscard]] double least() const;
};

/// The largest of `draws` such factors, where P(max <= x) = P(one <= x)^draws is `u`: the quantile
/// u^(1 / draws) of one. Requires a jitter that is some.
[[nodiscard]] double largest_draw(const Jitter& jitter, double u, int draws);

/// The median of the largest of `draws`; 1 without jitter.
[[nodiscard]] double median_of_slowest(const Jitter& jitter, int draws);

}  // namespace headway
