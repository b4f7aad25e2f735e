// libFuzzer's way to a reader: HEADWAY_READER names it. `reader_fuzzer --dictionary` prints the
// words of all field tables as libFuzzer takes them, `--readers` the readers, `--road` texts for
// that reader to begin with, parted by a NUL.
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/reference/input_fields.h"
#include "tests/fuzz/mutation.h"
#include "tests/fuzz/readers/readers.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace headway {
namespace {

using nlohmann::json;

const Reader& reader() {
  const char* const name = std::getenv("HEADWAY_READER");
  static const Reader& found = reader_named(name == nullptr ? "scenario" : name);
  return found;
}

/// Constants and words of a JSON Schema.
void collect_words(const json& schema, std::set<std::string>& words) {
  if (schema.is_object()) {
    for (const auto& [key, value] : schema.items()) {
      if (key == "const" && value.is_string()) words.insert(value.get<std::string>());
      if (key == "enum") {
        for (const json& word : value) {
          if (word.is_string()) words.insert(word.get<std::string>());
        }
      }
      collect_words(value, words);
    }
  }
  if (!schema.is_array()) return;
  for (const json& element : schema) collect_words(element, words);
}

void print_dictionary() {
  std::set<std::string> words;
  for (const FieldDescription& field : input_fields()) {
    words.insert(field.name.substr(field.name.rfind('.') + 1));
    collect_words(field.type.schema, words);
  }
  for (const std::string& word : words) {
    std::string escaped;
    for (const char letter : word) {
      const bool is_plain = letter >= ' ' && letter <= '~' && letter != '"' && letter != '\\';
      escaped += is_plain ? std::string(1, letter)
                          : fmt::format("\\x{:02x}", static_cast<unsigned char>(letter));
    }
    std::cout << fmt::format("\"{}\"\n\"\\x22{}\\x22\"\n", escaped, escaped);
  }
}

/// A document broken in its structure. 0 where the text is none, or the result does not fit.
std::size_t mutated_json(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  json document = json::parse(data, data + size, nullptr, false);
  if (document.is_discarded()) return 0;
  RandomNumbers random(seed);
  const bool is_road = reader().name == "road" && document.is_object();
  if (is_road && random.chance(0.5)) {
    nudge(document, random);
  } else {
    for (int i = random.below(3); i >= 0; --i) mutate(document, random);
  }
  const std::string text = document.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > most) return 0;
  std::ranges::copy(text, data);
  return text.size();
}

}  // namespace
}  // namespace headway

extern "C" int LLVMFuzzerInitialize(int* count, char*** words) {
  for (int i = 1; i < *count; ++i) {
    const std::string_view word = (*words)[i];
    if (word == "--dictionary") headway::print_dictionary();
    if (word == "--readers") {
      for (const headway::Reader& known : headway::readers()) std::cout << known.name << "\n";
    }
    if (word == "--road") {
      for (const std::string& text : headway::road_texts()) std::cout << text << '\0';
    }
    if (word == "--dictionary" || word == "--readers" || word == "--road") std::exit(0);
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  constexpr unsigned kInStructure = 3;  // of four
  if (headway::reader().is_json && seed % 4 < kInStructure) {
    const std::size_t mutated = headway::mutated_json(data, size, most, seed / 4);
    if (mutated > 0) return mutated;
  }
  return LLVMFuzzerMutate(data, size, most);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* const begin = reinterpret_cast<const char*>(data);
  headway::read_within_limits(headway::reader(), std::string(begin, size));
  return 0;
}
