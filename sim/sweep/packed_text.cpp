#include "sim/sweep/packed_text.h"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

constexpr std::size_t kBlock = std::size_t{16} << 10;
constexpr std::size_t kBefore = std::size_t{8} << 10;
constexpr std::size_t kAfter = std::size_t{24} << 10;  // both: deflate looks back 32 KiB
constexpr int kLevel = 6;

/// The dictionary of the block that begins at `place`.
std::string_view dictionary_at(std::size_t place, std::string_view like) {
  const std::size_t begin = std::min(like.size(), place > kBefore ? place - kBefore : 0);
  return like.substr(begin, place + kAfter - begin);
}

const Bytef* bytes_of(std::string_view text) { return reinterpret_cast<const Bytef*>(text.data()); }

/// zlib's interface takes what it only reads as if it wrote to it.
void give(z_stream& stream, std::string_view text) {
  stream.next_in = const_cast<Bytef*>(bytes_of(text));
  stream.avail_in = static_cast<uInt>(text.size());
}

/// What is set up once for all blocks of a text.
struct Packing : z_stream {
  Packing() : z_stream{} { HEADWAY_CHECK(deflateInit(this, kLevel) == Z_OK, "out of memory"); }
  ~Packing() { deflateEnd(this); }
  Packing(const Packing&) = delete;
  Packing& operator=(const Packing&) = delete;
};

struct Unpacking : z_stream {
  Unpacking() : z_stream{} { HEADWAY_CHECK(inflateInit(this) == Z_OK, "out of memory"); }
  ~Unpacking() { inflateEnd(this); }
  Unpacking(const Unpacking&) = delete;
  Unpacking& operator=(const Unpacking&) = delete;
};

}  // namespace

std::string packed(std::string_view text, std::string_view like) {
  thread_local Packing stream;  // to set one up takes as long as to pack a small document
  std::string bytes;
  for (std::size_t place = 0; place < text.size(); place += kBlock) {
    const std::string_view dictionary = dictionary_at(place, like);
    const std::string_view block = text.substr(place, kBlock);
    deflateReset(&stream);
    deflateSetDictionary(&stream, bytes_of(dictionary), static_cast<uInt>(dictionary.size()));
    give(stream, block);
    const std::size_t before = bytes.size();
    bytes.resize(before + deflateBound(&stream, static_cast<uLong>(block.size())));
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data() + before);
    stream.avail_out = static_cast<uInt>(bytes.size() - before);
    HEADWAY_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END, "there is room for all of a block");
    bytes.resize(bytes.size() - stream.avail_out);
  }
  return bytes;
}

std::optional<std::string> unpacked(std::string_view bytes, std::string_view like) {
  Unpacking stream;
  std::string text;
  while (!bytes.empty()) {
    const std::string_view dictionary = dictionary_at(text.size(), like);
    std::array<char, kBlock> block;
    inflateReset(&stream);
    give(stream, bytes);
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = block.size();
    int code = inflate(&stream, Z_FINISH);
    if (code == Z_NEED_DICT) {
      code =
          inflateSetDictionary(&stream, bytes_of(dictionary), static_cast<uInt>(dictionary.size()));
      if (code == Z_OK) code = inflate(&stream, Z_FINISH);
    }
    if (code != Z_STREAM_END) return std::nullopt;
    text.append(block.data(), block.size() - stream.avail_out);
    bytes.remove_prefix(bytes.size() - stream.avail_in);
  }
  return text;
}

}  // namespace headway
