#include "sim/network/name_pool.h"

#include <bit>

#include "sim/base/diagnostic.h"
#include "sim/base/fingerprint.h"

namespace headway {

namespace {

constexpr std::size_t kFewestSlots = 16;

}  // namespace

void NamePool::reserve(int names) {
  const auto count = static_cast<std::size_t>(names);
  ends_.reserve(count);
  if (2 * count > slots_.size()) grow_slots(std::bit_ceil(2 * count));
}

int NamePool::add(std::string_view name) {
  // At most half of the slots are taken, so that probing stays short.
  if (2 * (ends_.size() + 1) > slots_.size()) {
    grow_slots(std::max(kFewestSlots, 2 * slots_.size()));
  }
  const std::size_t slot = slot_of(name);
  HEADWAY_CHECK(slots_[slot] == -1, "the name " + std::string(name) + " is in the pool already");

  const int index = size();
  text_.append(name);
  HEADWAY_CHECK(text_.size() <= UINT32_MAX, "the names are longer than 4 GiB");
  ends_.push_back(static_cast<std::uint32_t>(text_.size()));
  slots_[slot] = index;
  return index;
}

std::string_view NamePool::name(int index) const {
  const auto i = static_cast<std::size_t>(index);
  const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::string_view(text_).substr(begin, ends_[i] - begin);
}

int NamePool::find(std::string_view name) const {
  return slots_.empty() ? -1 : slots_[slot_of(name)];
}

std::size_t NamePool::slot_of(std::string_view name) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = fingerprint(name) & mask;
  while (slots_[slot] != -1 && this->name(slots_[slot]) != name) slot = (slot + 1) & mask;
  return slot;
}

void NamePool::grow_slots(std::size_t slots) {
  slots_.assign(slots, -1);
  for (int index = 0; index < size(); ++index) slots_[slot_of(name(index))] = index;
}

}  // namespace headway
