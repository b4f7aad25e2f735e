#include "calibrate/cpu/collectives.h"

#include <algorithm>

namespace headway {
namespace {

std::span<const std::byte> bytes(std::span<const float> data) { return std::as_bytes(data); }
std::span<std::byte> room(std::span<float> data) { return std::as_writable_bytes(data); }

/// Pieces of a pipelined broadcast: small enough to overlap, large enough to keep the link's rate.
constexpr std::size_t kPiece = 32768;  // floats

}  // namespace

std::span<float> Collectives::part(std::span<float> data, int index) const {
  const auto ranks = static_cast<std::size_t>(ranks_);
  const auto i = static_cast<std::size_t>(index);
  const std::size_t begin = data.size() * i / ranks;
  return data.subspan(begin, data.size() * (i + 1) / ranks - begin);
}

std::span<float> Collectives::scratch(std::size_t count) {
  if (scratch_.size() < count) scratch_.resize(count);
  return std::span(scratch_).first(count);
}

/// sum += what `scratch` holds.
void Collectives::add_received(std::span<float> sum) {
  float* const target = sum.data();
  const float* const received = scratch_.data();
  for (std::size_t i = 0; i < sum.size(); ++i) target[i] += received[i];
}

void Collectives::ring_reduce_scatter(std::span<float> data) {
  const int rank = transport_.rank();
  for (int step = 1; step < ranks_; ++step) {
    const auto out = part(data, (rank - step + 2 * ranks_) % ranks_);
    const auto sum = part(data, (rank - step - 1 + 2 * ranks_) % ranks_);
    transport_.exchange(bytes(out), next(), room(scratch(sum.size())), previous());
    add_received(sum);
  }
}

void Collectives::ring_all_gather(std::span<float> data) {
  const int rank = transport_.rank();
  for (int step = 0; step + 1 < ranks_; ++step) {
    const auto out = part(data, (rank - step + ranks_) % ranks_);
    const auto in = part(data, (rank - step - 1 + ranks_) % ranks_);
    transport_.exchange(bytes(out), next(), room(in), previous());
  }
}

void Collectives::ring_all_reduce(std::span<float> data) {
  ring_reduce_scatter(data);
  ring_all_gather(data);
}

void Collectives::recursive_doubling_all_reduce(std::span<float> data) {
  for (int distance = 1; distance < ranks_; distance *= 2) {
    const int peer = transport_.rank() ^ distance;
    transport_.exchange(bytes(data), peer, room(scratch(data.size())), peer);
    add_received(data);
  }
}

void Collectives::tree_all_reduce(std::span<float> data) {
  const int rank = transport_.rank();
  int distance = 1;
  // Up: a rank receives from rank + distance until it is its turn to send to rank - distance.
  for (; distance < ranks_ && (rank & distance) == 0; distance *= 2) {
    if (rank + distance >= ranks_) continue;
    transport_.receive(room(scratch(data.size())), rank + distance);
    add_received(data);
  }
  if (rank != 0) {
    transport_.send(bytes(data), rank - distance);
    transport_.receive(room(data), rank - distance);
  }
  for (distance /= 2; distance > 0; distance /= 2) {
    if (rank + distance < ranks_) transport_.send(bytes(data), rank + distance);
  }
}

void Collectives::chain_broadcast(std::span<float> data) {
  const bool is_first = transport_.rank() == 0;
  const bool is_last = transport_.rank() == ranks_ - 1;
  std::span<float> before;  // received, and still to be passed on
  for (std::size_t begin = 0; begin < data.size(); begin += kPiece) {
    const auto piece = data.subspan(begin, std::min(kPiece, data.size() - begin));
    if (is_first) {
      transport_.send(bytes(piece), next());
      continue;
    }
    transport_.exchange(is_last ? std::span<const std::byte>() : bytes(before), next(), room(piece),
                        previous());
    before = piece;
  }
  if (!is_first && !is_last && !before.empty()) transport_.send(bytes(before), next());
}

void Collectives::pairwise_all_to_all(std::span<const float> out, std::span<float> in) {
  const int rank = transport_.rank();
  const std::size_t each = out.size() / static_cast<std::size_t>(ranks_);
  const auto offset = [each](int index) { return static_cast<std::size_t>(index) * each; };
  std::copy_n(out.begin() + static_cast<std::ptrdiff_t>(offset(rank)), each,
              in.begin() + static_cast<std::ptrdiff_t>(offset(rank)));
  for (int distance = 1; distance < ranks_; ++distance) {
    const int to = (rank + distance) % ranks_;
    const int from = (rank + ranks_ - distance) % ranks_;
    transport_.exchange(bytes(out.subspan(offset(to), each)), to,
                        room(in.subspan(offset(from), each)), from);
  }
}

void Collectives::ring_send_receive(std::span<const float> out, std::span<float> in) {
  transport_.exchange(bytes(out), next(), room(in), previous());
}

}  // namespace headway
