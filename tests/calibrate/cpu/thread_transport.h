#pragma once

#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "calibrate/cpu/transport.h"

namespace headway {

/// Ranks as threads of one process: messages go through a map of queues.
class Mailboxes {
 public:
  void put(int from, int to, std::span<const std::byte> message) {
    const std::lock_guard<std::mutex> lock(mutex_);
    queues_[{from, to}].emplace_back(message.begin(), message.end());
    arrived_.notify_all();
  }
  std::vector<std::byte> take(int from, int to) {
    std::unique_lock<std::mutex> lock(mutex_);
    auto& queue = queues_[{from, to}];
    arrived_.wait(lock, [&queue] { return !queue.empty(); });
    std::vector<std::byte> message = std::move(queue.front());
    queue.pop_front();
    return message;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> queues_;
};

class ThreadTransport final : public Transport {
 public:
  ThreadTransport(Mailboxes& boxes, int rank, int size) : boxes_(boxes), rank_(rank), size_(size) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  void exchange(std::span<const std::byte> out, int to, std::span<std::byte> in,
                int from) override {
    if (!out.empty()) boxes_.put(rank_, to, out);
    if (in.empty()) return;
    const std::vector<std::byte> message = boxes_.take(from, rank_);
    if (message.size() == in.size()) std::memcpy(in.data(), message.data(), in.size());
    sizes_matched_ = sizes_matched_ && message.size() == in.size();
  }
  [[nodiscard]] bool sizes_matched() const { return sizes_matched_; }

 private:
  Mailboxes& boxes_;
  int rank_;
  int size_;
  bool sizes_matched_ = true;
};

/// Runs `body` on each rank at once. False if a message had another size than was waited for.
inline bool run_on_ranks(int ranks, const std::function<void(Transport&)>& body) {
  Mailboxes boxes;
  std::vector<ThreadTransport> transports;
  for (int rank = 0; rank < ranks; ++rank) transports.emplace_back(boxes, rank, ranks);
  std::vector<std::thread> threads;
  for (ThreadTransport& transport : transports) {
    threads.emplace_back([&body, &transport] { body(transport); });
  }
  for (std::thread& thread : threads) thread.join();
  bool all = true;
  for (const ThreadTransport& transport : transports) all = all && transport.sizes_matched();
  return all;
}

}  // namespace headway
