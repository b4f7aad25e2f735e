#include "sim/result/prediction_bytes.h"

#include <map>
#include <nlohmann/json.hpp>

#include "sim/files/json_text.h"
#include "sim/result/json/prediction_fields.h"

namespace headway {
namespace {

class Sender {
 public:
  explicit Sender(ByteWriter& bytes) : bytes_(bytes) {}

  template <class T>
  void operator()(const char* /*name*/, const T& value, FieldRule /*rule*/ = FieldRule::none) {
    send(value);
  }

 private:
  void send(const std::string& text) { bytes_.put(text); }
  void send(const JsonValue& value) { put_json(bytes_, value); }
  template <class T>
  void send(const std::optional<T>& value) {
    bytes_.put(value.has_value());
    if (value) send(*value);
  }
  template <class T>
  void send(const std::vector<T>& list) {
    bytes_.put(list.size());
    for (const T& element : list) send(element);
  }
  void send(const std::map<std::string, double>& numbers) {
    bytes_.put(numbers.size());
    for (const auto& [name, value] : numbers) {
      send(name);
      send(value);
    }
  }
  template <class T>
  void send(const T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      bytes_.put(value);
    } else {
      visit_fields(*this, value);
    }
  }

  ByteWriter& bytes_;
};

class Receiver {
 public:
  explicit Receiver(ByteReader& bytes) : bytes_(bytes) {}

  template <class T>
  void operator()(const char* /*name*/, T& value, FieldRule /*rule*/ = FieldRule::none) {
    receive(value);
  }

 private:
  [[nodiscard]] std::size_t size() {
    std::size_t size = 0;
    bytes_.get(size);
    return size;
  }
  void receive(std::string& text) { bytes_.get(text); }
  void receive(JsonValue& value) { value = get_json(bytes_); }
  template <class T>
  void receive(std::optional<T>& value) {
    bool is_there = false;
    bytes_.get(is_there);
    if (is_there) receive(value.emplace());
  }
  template <class T>
  void receive(std::vector<T>& list) {
    list.resize(size());
    for (T& element : list) receive(element);
  }
  void receive(std::map<std::string, double>& numbers) {
    for (std::size_t left = size(); left > 0; --left) {
      std::string name;
      receive(name);
      receive(numbers[name]);
    }
  }
  template <class T>
  void receive(T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      bytes_.get(value);
    } else {
      visit_fields(*this, value);
    }
  }

  ByteReader& bytes_;
};

}  // namespace

void put_prediction(ByteWriter& bytes, const Prediction& prediction) {
  Sender sender(bytes);
  visit_fields(sender, prediction);
}

Prediction get_prediction(ByteReader& bytes) {
  Prediction prediction;
  Receiver receiver(bytes);
  visit_fields(receiver, prediction);
  return prediction;
}

void put_json(ByteWriter& bytes, const JsonValue& value) { bytes.put(compact_json(*value)); }

JsonValue get_json(ByteReader& bytes) {
  std::string text;
  bytes.get(text);
  return parsed_json(text);
}

}  // namespace headway
