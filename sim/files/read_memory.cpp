#include "sim/files/read_memory.h"

#include <algorithm>
#include <utility>

#include "sim/base/file_text.h"
#include "sim/base/fingerprint.h"

namespace headway {
namespace {

/// How many readings of one part are kept: enough for an axis of a few clusters or models to be
/// read once, whichever axis of a sweep changes fastest; few enough for graphs of large clusters.
constexpr std::size_t kMostRemembered = 8;

}  // namespace

std::shared_ptr<const JsonDocument> ReadMemory::document(const std::string& path,
                                                         Diagnostics& diagnostics) {
  if (path == "-") return JsonDocument::read(path, diagnostics);
  std::shared_ptr<const JsonDocument>& known = documents_[path];
  if (known == nullptr) known = JsonDocument::read(path, diagnostics);
  return known;
}

std::string ReadMemory::file_fingerprint(const std::filesystem::path& path) {
  std::string& known = fingerprints_[path];
  if (known.empty()) {
    Diagnostics gone;  // it was read a moment ago; standard input is read once only
    known =
        fingerprint_text(path == "-" ? std::string() : file_text(path.string(), gone).value_or(""));
  }
  return known;
}

const ReadMemory::Part* ReadMemory::part(const std::string& place, const std::string& key) const {
  const auto known = parts_.find(place);
  if (known == parts_.end()) return nullptr;
  const auto found = std::ranges::find(known->second, key, &Part::key);
  return found == known->second.end() ? nullptr : &*found;
}

void ReadMemory::remember(const std::string& place, Part part) {
  std::deque<Part>& known = parts_[place];
  if (known.size() == kMostRemembered) known.pop_front();
  known.push_back(std::move(part));
}

}  // namespace headway
