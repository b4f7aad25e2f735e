#include "calibrate/train/reducer.h"

namespace headway {

Reducer::Reducer(Transport& network, bool overlap) : collectives_(network, network.size()) {
  if (overlap) thread_ = std::thread([this] { work(); });
}

Reducer::~Reducer() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Reducer::reduce(std::span<float> gradient) {
  if (!thread_.joinable()) return collectives_.ring_all_reduce(gradient);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    waiting_.push_back(gradient);
  }
  changed_.notify_all();
}

void Reducer::finish() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty() || problem_ != nullptr; });
  if (problem_ != nullptr) std::rethrow_exception(problem_);
}

void Reducer::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    const std::span<float> gradient = waiting_.front();
    lock.unlock();
    std::exception_ptr problem;
    try {
      collectives_.ring_all_reduce(gradient);
    } catch (...) {
      problem = std::current_exception();
    }
    lock.lock();
    waiting_.pop_front();
    if (problem != nullptr) problem_ = problem;
    changed_.notify_all();
    if (problem_ != nullptr) return;
  }
}

}  // namespace headway
