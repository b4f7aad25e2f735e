#include "tests/fuzz/mutation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>

namespace headway {
namespace {

using nlohmann::json;

const std::vector<json>& odd_values() {
  static const std::vector<json> kValues = {nullptr,
                                            true,
                                            false,
                                            "",
                                            "x",
                                            json::array(),
                                            json::object(),
                                            0,
                                            -0.0,
                                            -1,
                                            1,
                                            2,
                                            3,
                                            7,
                                            1e308,
                                            -1e308,
                                            1e-308,
                                            5e-324,
                                            0.1,
                                            0.5,
                                            1e15,
                                            9007199254740992,
                                            9223372036854775807,
                                            18446744073709551615U,
                                            std::int64_t{-9223372036854775807} - 1,
                                            2147483648,
                                            65536,
                                            "1e400 s",
                                            "1e308 GB/s",
                                            "-1 s",
                                            "0 s",
                                            "0 B",
                                            "1e-300 GB/s",
                                            "1 Gb/s",
                                            "1 GB",
                                            "5 ms",
                                            "1e308 d",
                                            "<script>alert(1)</script>",
                                            "</script>",
                                            "=cmd()",
                                            "javascript:alert(1)",
                                            "\u202Eabc",
                                            "\U0001F600",
                                            "a\"b\\c\n",
                                            "../../../etc/passwd",
                                            "/dev/zero",
                                            "-",
                                            json::array({json::array({json::array()})}),
                                            json::array({1, 2, 3}),
                                            json::array({nullptr}),
                                            json{{"schema", "headway/model/1"}},
                                            json{{"", ""}}};
  return kValues;
}

std::vector<json::json_pointer> places_in(const json& document) {
  std::vector<json::json_pointer> places;
  const std::function<void(const json&, const json::json_pointer&)> visit =
      [&](const json& value, const json::json_pointer& place) {
        if (!place.empty()) places.push_back(place);
        if (value.is_object()) {
          for (const auto& [key, member] : value.items()) visit(member, place / key);
        } else if (value.is_array()) {
          for (std::size_t i = 0; i < value.size(); ++i) visit(value[i], place / i);
        }
      };
  visit(document, json::json_pointer());
  return places;
}

template <class T>
const T& any_of(const std::vector<T>& items, RandomNumbers& random) {
  return items[static_cast<std::size_t>(random.below(static_cast<int>(items.size())))];
}

/// The number, or that of a quantity, by another factor.
json scaled(const json& value, RandomNumbers& random) {
  static const std::vector<double> kFactors = {-1.0, 0.0,  0.1, 0.5,  0.99, 1.01,
                                               2.0,  10.0, 1e3, 1e-3, 1e6,  1e-9};
  const double factor = any_of(kFactors, random);
  if (value.is_number_integer()) {
    const double result = value.get<double>() * factor;
    if (random.chance(0.3)) return value.get<double>() + (random.chance(0.5) ? 1.0 : -1.0);
    return std::abs(result) < 9e15 ? json(static_cast<std::int64_t>(result)) : json(result);
  }
  if (value.is_number()) return value.get<double>() * factor;
  if (!value.is_string()) return any_of(odd_values(), random);
  const auto& text = value.get_ref<const std::string&>();
  std::size_t end = 0;
  try {
    const double number = std::stod(text, &end);
    return fmt::format("{}{}", number * factor, text.substr(end));
  } catch (const std::exception&) {
    return any_of(odd_values(), random);
  }
}

void remove(json& document, const json::json_pointer& place) {
  json& parent = document.at(place.parent_pointer());
  if (parent.is_object()) {
    parent.erase(place.back());
  } else {
    parent.erase(std::stoul(place.back()));
  }
}

}  // namespace

void nudge(json& document, RandomNumbers& random) {
  static const std::vector<double> kFactors = {0.25, 0.5, 0.9, 1.1, 2.0, 3.0, 4.0};
  const std::vector<json::json_pointer> places = places_in(document);
  const auto some = static_cast<int>(places.size());
  for (int tries = 4 + random.below(12); tries > 0 && some > 0; --tries) {
    json& value = document.at(any_of(places, random));
    const double factor = any_of(kFactors, random);
    if (value.is_number_integer()) {
      value = std::max<std::int64_t>(1, std::llround(value.get<double>() * factor));
    } else if (value.is_number()) {
      value = value.get<double>() * factor;
    } else if (value.is_string()) {
      const auto text = value.get<std::string>();
      char* end = nullptr;
      const double number = std::strtod(text.c_str(), &end);
      if (end != text.c_str() && *end == ' ') value = fmt::format("{}{}", number * factor, end);
    }
  }
}

std::string mutate(json& document, RandomNumbers& random) {
  const std::vector<json::json_pointer> places = places_in(document);
  if (places.empty()) return "nothing to change";
  const json::json_pointer place = any_of(places, random);
  const std::string name = place.to_string();
  switch (random.below(8)) {
    case 0: {
      document.at(place) = any_of(odd_values(), random);
      return fmt::format("{} = {}", name, document.at(place).dump());
    }
    case 1:
      remove(document, place);
      return name + " removed";
    case 2: {
      const json::json_pointer other = any_of(places, random);
      const json moved = document.at(other);
      document.at(place) = moved;
      return fmt::format("{} = that of {}", name, other.to_string());
    }
    case 3: {
      json& parent = document.at(place.parent_pointer());
      if (!parent.is_object()) {
        const json copy = document.at(place);
        for (int i = random.below(5); i >= 0; --i) parent.push_back(copy);
        return name + " repeated";
      }
      const json value = parent.at(place.back());
      parent.erase(place.back());
      parent[place.back() + (random.chance(0.5) ? "x" : "_s")] = value;
      return name + " renamed";
    }
    default: {
      const json changed = scaled(document.at(place), random);
      document.at(place) = changed;
      return fmt::format("{} = {}", name,
                         changed.dump(-1, ' ', false, json::error_handler_t::replace));
    }
  }
}

std::string mutate_text(std::string& text, RandomNumbers& random) {
  const auto somewhere = [&] {
    return static_cast<std::size_t>(random.below(static_cast<int>(text.size()) + 1));
  };
  const std::size_t at = somewhere();
  switch (random.below(9)) {
    case 0:
      text.resize(at);
      return fmt::format("cut at {}", at);
    case 1:
      text = "\xEF\xBB\xBF" + text;
      return "byte order mark";
    case 2: {
      std::string lines;
      for (const char c : text) lines += c == '\n' ? std::string("\r\n") : std::string(1, c);
      text = lines;
      return "CRLF";
    }
    case 3:
      text.insert(at, std::string(100'000, random.chance(0.5) ? '[' : '{'));
      return "nested 100,000 deep";
    case 4: {
      std::string array = "[0";
      for (int i = 1; i < 1'000'000; ++i) array += ",0";
      const std::size_t colon = text.find(": ", at);
      if (colon != std::string::npos) text.replace(colon + 2, 1, array + "]");
      return "an array of a million";
    }
    case 5: {
      const std::size_t quote = text.find('"', at);
      text.insert(quote == std::string::npos ? 0 : quote + 1, std::string(100'000, 'n'));
      return "a name of 100 kB";
    }
    case 6: {
      const std::size_t end = text.find(',', at);
      const std::size_t begin = end == std::string::npos ? end : text.rfind('"', end);
      if (begin != std::string::npos) text.insert(end, text.substr(begin, end - begin));
      return "doubled text";
    }
    case 7:
      text.insert(at, "\\ud800");
      return "half a surrogate";
    default:
      for (int i = random.below(8); i >= 0 && !text.empty(); --i) {
        text[static_cast<std::size_t>(random.below(static_cast<int>(text.size())))] =
            static_cast<char>(random.below(256));
      }
      return "bytes";
  }
}

}  // namespace headway
