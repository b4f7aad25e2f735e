#include "calibrate/train/worker.h"

#include <utility>

namespace headway {

Worker::Worker() : thread_([this] { work(); }) {}

Worker::~Worker() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Worker::post(std::function<void()> job) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_all();
}

void Worker::finish() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return jobs_.empty() || problem_ != nullptr; });
  if (problem_ != nullptr) std::rethrow_exception(problem_);
}

void Worker::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (stopping_) return;
    const std::function<void()> job = std::move(jobs_.front());
    lock.unlock();
    std::exception_ptr problem;
    try {
      job();
    } catch (...) {
      problem = std::current_exception();
    }
    lock.lock();
    jobs_.pop_front();
    problem_ = problem;
    changed_.notify_all();
    if (problem_ != nullptr) return;
  }
}

}  // namespace headway
