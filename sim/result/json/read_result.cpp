#include "sim/result/json/read_result.h"

#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/files/json_reader.h"
#include "sim/result/json/prediction_fields.h"

namespace headway {
namespace {

constexpr double kMostAccelerators = 1 << 30;
constexpr double kLargestCount = 9007199254740992.0;  // 2^53: whole numbers that JSON keeps
constexpr double kEndless = std::numeric_limits<double>::infinity();

/// Fills the fields of one object. What is null or absent stays as it is: a job that was not
/// simulated lacks much.
class Reader {
 public:
  explicit Reader(ObjectReader& reader) : reader_(reader) {}

  template <class T>
  void operator()(const char* name, T& value, FieldRule rule = FieldRule::none) {
    if (rule == FieldRule::unwritten) return;
    const char* const slash = std::strchr(name, '/');
    if (slash == nullptr) return read(name, value, rule);
    within(std::string_view(name, static_cast<std::size_t>(slash - name)),
           [&](Reader& inner) { inner(slash + 1, value, rule); });
  }

 private:
  [[nodiscard]] bool is_known(std::string_view name) const {
    const std::optional<JsonCursor> member = reader_.cursor().member(name);
    return member && !member->value().is_null();
  }

  template <class Read>
  void within(std::string_view name, Read read) {
    if (!is_known(name)) return;
    ObjectReader object(*reader_.part(name), reader_.diagnostics());
    Reader inner(object);
    read(inner);
  }

  void read(const char* name, double& value, FieldRule rule) {
    if (rule == FieldRule::positive) {
      value = reader_.number(name, positive());
    } else if (is_known(name)) {
      value = reader_.number(name, {}) * (rule == FieldRule::tera ? 1e12 : 1.0);
    } else if (rule == FieldRule::endless) {
      value = kEndless;
    }
  }
  template <class Tag>
  void read(const char* name, Quantity<Tag>& value, FieldRule rule) {
    double count = value.count();
    read(name, count, rule);
    value = Quantity<Tag>(count);
  }
  void read(const char* name, std::int64_t& value, FieldRule rule) {
    if (rule == FieldRule::positive) {
      value = reader_.integer(name, between(1, kMostAccelerators));
    } else if (is_known(name)) {
      value = reader_.integer(name, between(0, kLargestCount));
    }
  }
  void read(const char* name, int& value, FieldRule rule) {
    std::int64_t wide = value;
    read(name, wide, rule);
    value = static_cast<int>(wide);
  }
  void read(const char* name, bool& value, FieldRule) { value = reader_.flag(name, value); }
  void read(const char* name, std::string& value, FieldRule rule) {
    value = rule == FieldRule::lenient ? reader_.text(name, "") : reader_.text(name);
  }
  void read(const char* name, JsonValue& value, FieldRule) {
    if (const auto member = reader_.part(name)) value = member->value();
  }
  void read(const char* name, RemovalKind& value, FieldRule) {
    value = reader_.choice<RemovalKind>(name, kWords<RemovalKind>);
  }

  /// Two numbers or two nulls.
  void read(const char* name, Interval& value, FieldRule) {
    const std::vector<JsonCursor> ends = reader_.elements(name);
    if (ends.size() != 2) return reader_.report(name, "an interval has two ends");
    value = {number_or(0.0, ends[0]), number_or(0.0, ends[1])};
  }
  double number_or(double nothing, const JsonCursor& cursor) {
    if (cursor.value().is_number()) return cursor.value().get<double>();
    if (!cursor.value().is_null()) reader_.diagnostics().add(cursor.problem("not a number"));
    return nothing;
  }

  void read(const char* name, TimeByCause& value, FieldRule) {
    within(name, [&](Reader& inner) {
      for (std::size_t i = 0; i < kCauses; ++i) {
        const auto cause = static_cast<Cause>(i);
        inner.read(std::string(cause_name(cause)).c_str(), value[cause], FieldRule::none);
      }
    });
  }
  void read(const char* name, std::map<std::string, double>& value, FieldRule) {
    if (!is_known(name)) return;
    for (const auto& [key, member] : reader_.members(name))
      value[key] = number_or(kEndless, member);
  }
  void read(const char* name, std::vector<double>& value, FieldRule) {
    for (const JsonCursor& element : reader_.elements(name)) {
      value.push_back(number_or(kEndless, element));
    }
  }
  void read(const char* name, std::vector<std::string>& value, FieldRule) {
    for (const JsonCursor& element : reader_.elements(name)) {
      if (const auto text = element.text()) {
        value.push_back(*text);
      } else {
        reader_.diagnostics().add(element.problem("not a text"));
      }
    }
  }
  void read(const char* name, std::vector<Activity::Span>& value, FieldRule) {
    const auto is_span = [](const nlohmann::json& span) {
      return span.is_array() && span.size() == 3 && span[0].is_number_unsigned() &&
             span[1].is_number() && span[2].is_number();
    };
    for (const JsonCursor& element : reader_.elements(name)) {
      const nlohmann::json& span = element.value();
      if (!is_span(span)) return report_spans(name);
      value.push_back({span[0].get<std::int32_t>(), Seconds(span[1].get<double>()),
                       Seconds(span[2].get<double>())});
    }
  }
  void report_spans(const char* name) {
    reader_.report(name, "a span is the index of a kind, a start and an end");
  }
  template <class T>
  void read(const char* name, std::vector<T>& value, FieldRule) {
    if (!is_known(name)) return;
    for (const JsonCursor& element : reader_.elements(name)) {
      ObjectReader object(element, reader_.diagnostics());
      Reader inner(object);
      visit_fields(inner, value.emplace_back());
    }
  }

  void read(const char* name, Activity& value, FieldRule) {
    within(name, [&](Reader& inner) { visit_fields(inner, value); });
    for (const Activity::Row& row : value.rows) {
      for (const Activity::Span& span : row.spans) {
        if (static_cast<std::size_t>(span.kind) >= value.kinds.size()) return report_spans(name);
      }
    }
  }
  void read(const char* name, FabricUse& value, FieldRule) {
    within(name, [&](Reader& inner) { visit_fields(inner, value); });
    const int tiers = static_cast<int>(value.tiers.size());
    for (const FabricUse::Cables& cables : value.cables) {
      if (cables.lower < tiers && cables.upper < tiers) continue;
      return reader_.report(name, "cables lie between tiers that are not listed");
    }
  }
  template <class T>
  void read(const char* name, std::optional<T>& value, FieldRule) {
    within(name, [&](Reader& inner) { visit_fields(inner, value.emplace()); });
  }
  template <class T>
  void read(const char* name, T& value, FieldRule) {
    within(name, [&](Reader& inner) { visit_fields(inner, value); });
  }

  ObjectReader& reader_;
};

}  // namespace

Prediction read_result(const JsonCursor& root, Diagnostics& diagnostics) {
  Prediction prediction;
  ObjectReader object(root, diagnostics);
  if (!read_schema(object, "headway/result/1") || diagnostics.has_errors()) return prediction;
  Reader reader(object);
  visit_fields(reader, prediction);
  if (prediction.what_if) prediction.what_if->accelerators = prediction.question.accelerators;
  return prediction;
}

}  // namespace headway
