#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <span>
#include <thread>

#include "calibrate/cpu/collectives.h"

namespace headway {

/// All-reduces gradients in the order they are handed in: beside the caller on a thread of its own,
/// or at once.
class Reducer {
 public:
  Reducer(Transport& network, bool overlap);
  ~Reducer();
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  void reduce(std::span<float> gradient);
  /// Until all of them are done; rethrows what failed.
  void finish();

 private:
  void work();

  Collectives collectives_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::span<float>> waiting_;  ///< the front one is at work
  bool stopping_ = false;
  std::exception_ptr problem_;
  std::thread thread_;
};

}  // namespace headway
