#include "sim/engine/timeline_bytes.h"

#include <cstring>
#include <type_traits>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

/// How many bytes a writer will write.
class Measure {
 public:
  template <class T>
  void value(const T& item) {
    bytes_ += sizeof item;
  }
  template <class T>
  void list(const std::vector<T>& items) {
    bytes_ += sizeof items.size() + items.size() * sizeof(T);
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

class Writer {
 public:
  explicit Writer(std::size_t bytes) { bytes_.reserve(bytes); }

  template <class T>
  void value(const T& item) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&item), sizeof item);
  }
  template <class T>
  void list(const std::vector<T>& items) {
    value(items.size());
    if (items.empty()) return;  // its data may be null
    bytes_.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T));
  }
  [[nodiscard]] std::string taken() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}

  template <class T>
  void value(T& item) {
    copy(&item, sizeof item);
  }
  template <class T>
  void list(std::vector<T>& items) {
    std::size_t count = 0;
    value(count);
    HEADWAY_CHECK(count <= (bytes_.size() - at_) / sizeof(T), "a timeline was cut short");
    items.resize(count);
    copy(items.data(), count * sizeof(T));
  }

 private:
  void copy(void* to, std::size_t size) {
    HEADWAY_CHECK(size <= bytes_.size() - at_, "a timeline was cut short");
    if (size == 0) return;  // `to` may be null
    std::memcpy(to, bytes_.data() + at_, size);
    at_ += size;
  }

  const std::string& bytes_;
  std::size_t at_ = 0;
};

/// The one list of what a timeline consists of, for both directions.
template <class Stream, class T>
void transfer(Stream& stream, T& timeline) {
  stream.value(timeline.finish);
  stream.value(timeline.counts);
  stream.list(timeline.first_operation);
  stream.list(timeline.operation_end);
  stream.list(timeline.first_message);
  stream.list(timeline.messages);
  stream.list(timeline.plan_bytes);
  stream.list(timeline.updates);
  stream.list(timeline.served);
}

/// The same of who stands for whom.
template <class Stream, class T>
void transfer_folding(Stream& stream, T& folding) {
  stream.list(folding.class_of_group);
  stream.list(folding.class_of_communicator);
  stream.list(folding.first_plan_of_group_class);
  stream.list(folding.first_plan_of_communicator_class);
}

template <class Stream>
void put(Stream& stream, const EngineRun& run) {
  transfer(stream, run.timeline);
  stream.value(run.timeline.collectives.size());
  for (const auto& of_communicator : run.timeline.collectives) stream.list(of_communicator);
  stream.value(run.folding.has_value());
  if (run.folding) transfer_folding(stream, *run.folding);
}

Timeline read_timeline(Reader& reader) {
  Timeline timeline;
  transfer(reader, timeline);
  std::size_t communicators = 0;
  reader.value(communicators);
  timeline.collectives.resize(communicators);
  for (auto& of_communicator : timeline.collectives) reader.list(of_communicator);
  return timeline;
}

}  // namespace

std::string run_bytes(const EngineRun& run) {
  Measure measure;
  put(measure, run);
  Writer writer(measure.bytes());
  put(writer, run);
  return std::move(writer).taken();
}

EngineRun run_of_bytes(const std::string& bytes) {
  Reader reader(bytes);
  EngineRun run{.timeline = read_timeline(reader), .folding = std::nullopt};
  bool is_folded = false;
  reader.value(is_folded);
  if (is_folded) transfer_folding(reader, run.folding.emplace());
  return run;
}

}  // namespace headway
