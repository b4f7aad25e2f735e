#pragma once

namespace headway {

/// Jobs that read one data set in an order of their own in each epoch, through one cache.
struct CachedReading {
  double cached_share = 0.0;  ///< of the data set, that fits in memory
  int jobs = 1;               ///< next to each other, equally fast
  double part = 1.0;          ///< of the data set, another in every epoch, that a job reads
};

/// The share of what each job reads that comes from storage in an epoch, once settled.
///
/// A page that is missed takes the place of one at random: a kernel's lists of pages remember which
/// were used of late, which says nothing where every page is used once an epoch. (Strict LRU would
/// be worse: of two permutations, a page that is read at x of one epoch and y of the next has
/// 1 - x (1 - y) of all others read in between, so that c of them in memory hit
/// c + (1 - c) ln(1 - c) of the time.) Simulated with a few thousand pages, by a fixed seed.
[[nodiscard]] double read_share(const CachedReading& reading);

}  // namespace headway
