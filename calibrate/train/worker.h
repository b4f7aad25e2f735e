#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace headway {

/// A thread that does jobs in the order they are handed in.
class Worker {
 public:
  Worker();
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void post(std::function<void()> job);
  /// Until all of them are done; rethrows what failed, after which no further job is done.
  void finish();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;  ///< the front one is at work
  bool stopping_ = false;
  std::exception_ptr problem_;
  std::thread thread_;
};

}  // namespace headway
