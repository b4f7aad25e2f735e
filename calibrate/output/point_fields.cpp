#include "calibrate/output/point_fields.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>

namespace headway {
namespace {

using Json = nlohmann::ordered_json;

constexpr Range kSize = at_least(1.0);
constexpr Range kCount = between(1.0, 1e9);  // fits in an int

/// How files call a kind of points, and what it consists of.
template <class Kind>
constexpr std::string_view kPointKind = {};
template <class Kind>
const FieldTable<Kind>& point_fields();

template <>
constexpr std::string_view kPointKind<GemmPoint> = "gemm";
template <>
const FieldTable<GemmPoint>& point_fields() {
  static const auto kFields = required_fields<GemmPoint>(
      {{"precision", word(&GemmPoint::precision)},
       {"layout", word(&GemmPoint::layout)},
       {"m", within(&GemmPoint::shape, whole(&GemmShape::m, kSize))},
       {"n", within(&GemmPoint::shape, whole(&GemmShape::n, kSize))},
       {"k", within(&GemmPoint::shape, whole(&GemmShape::k, kSize))},
       {"block_scaled", flag(&GemmPoint::block_scaled).where([](const GemmPoint& gemm) {
          return gemm.block_scaled;
        })},
       {"accumulates", flag(&GemmPoint::accumulates).where([](const GemmPoint& gemm) {
          return gemm.accumulates;
        })}});
  return kFields;
}

template <>
constexpr std::string_view kPointKind<BatchedGemmPoint> = "batched_gemm";
template <>
const FieldTable<BatchedGemmPoint>& point_fields() {
  static const auto kFields =
      required_fields<BatchedGemmPoint>({{"batch", whole(&BatchedGemmPoint::batch, kCount)},
                                         {"gemm", part(&BatchedGemmPoint::gemm, gemm_fields)}});
  return kFields;
}

template <>
constexpr std::string_view kPointKind<GroupedGemmPoint> = "grouped_gemm";
template <>
const FieldTable<GroupedGemmPoint>& point_fields() {
  static const auto kFields =
      required_fields<GroupedGemmPoint>({{"experts", whole(&GroupedGemmPoint::experts, kCount)},
                                         {"rows", whole(&GroupedGemmPoint::rows, kSize)},
                                         {"gemm", part(&GroupedGemmPoint::gemm, gemm_fields)}});
  return kFields;
}

/// One length for queries and keys alike.
FieldMember<AttentionShape> length() {
  FieldMember<AttentionShape> member = whole(&AttentionShape::query_length, kSize);
  member.read = [read = member.read](ObjectReader& reader, std::string_view key, bool required,
                                     AttentionShape& shape) {
    read(reader, key, required, shape);
    shape.key_length = shape.query_length;
  };
  return member;
}

template <>
constexpr std::string_view kPointKind<AttentionPoint> = "attention";
template <>
const FieldTable<AttentionPoint>& point_fields() {
  const auto size = [](double AttentionShape::*member) {
    return within(&AttentionPoint::shape, whole(member, kSize));
  };
  static const auto kFields = required_fields<AttentionPoint>(
      {{"pass", word(&AttentionPoint::pass)},
       {"sequences", size(&AttentionShape::sequences)},
       {"length", within(&AttentionPoint::shape, length())},
       {"query_heads", size(&AttentionShape::query_heads)},
       {"key_heads", size(&AttentionShape::key_heads)},
       {"head_size", size(&AttentionShape::head_size)},
       {"causal", within(&AttentionPoint::shape, flag(&AttentionShape::causal))}});
  return kFields;
}

template <>
constexpr std::string_view kPointKind<MemoryPoint> = "memory";
template <>
const FieldTable<MemoryPoint>& point_fields() {
  static const auto kFields = required_fields<MemoryPoint>(
      {{"kernel", word(&MemoryPoint::kernel)}, {"elements", whole(&MemoryPoint::elements, kSize)}});
  return kFields;
}

template <>
constexpr std::string_view kPointKind<CollectivePoint> = "collective";
template <>
const FieldTable<CollectivePoint>& point_fields() {
  static const auto kFields = required_fields<CollectivePoint>(
      {{"kind", word(&CollectivePoint::kind)},
       {"implementation", text(&CollectivePoint::implementation)},
       {"message_bytes", whole(&CollectivePoint::message_bytes, kSize)},
       {"ranks", whole(&CollectivePoint::ranks, kCount)}});
  return kFields;
}

template <>
constexpr std::string_view kPointKind<LaunchPoint> = "launch";
template <>
const FieldTable<LaunchPoint>& point_fields() {
  static const auto kFields =
      required_fields<LaunchPoint>({{"in_graph", flag(&LaunchPoint::in_graph)}});
  return kFields;
}

template <>
constexpr std::string_view kPointKind<CopyPoint> = "copy";
template <>
const FieldTable<CopyPoint>& point_fields() {
  static const auto kFields = required_fields<CopyPoint>(
      {{"kind", word(&CopyPoint::kind)}, {"bytes", whole(&CopyPoint::bytes, kSize)}});
  return kFields;
}

/// Whether it is a point of one of these kinds.
template <class... Kinds>
bool read_kind(ObjectReader& reader, std::variant<Kinds...>& point) {
  using Read = void (*)(ObjectReader&, std::variant<Kinds...>&);
  static constexpr Word<Read> kKinds[] = {
      {kPointKind<Kinds>, [](ObjectReader& fields, std::variant<Kinds...>& read) {
         point_fields<Kinds>().read(fields, read.template emplace<Kinds>());
       }}...};
  const std::size_t problems = reader.diagnostics().errors();
  const Read read = reader.choice<Read>("point", kKinds);
  if (reader.diagnostics().errors() > problems) return false;
  read(reader, point);
  return true;
}

template <class... Kinds>
void append_kind(Json& json, const std::variant<Kinds...>& point) {
  std::visit(
      [&json]<class Kind>(const Kind& one) {
        json["point"] = kPointKind<Kind>;
        append_members(json, point_fields<Kind>(), one);
      },
      point);
}

using Work = ConcurrentPoint::Work;

FieldMember<ConcurrentPoint> work(const Work* (*held)(const ConcurrentPoint&),
                                  void (*hold)(ConcurrentPoint&, Work)) {
  return {
      .type = object_type(),
      .read =
          [=](ObjectReader& reader, std::string_view key, bool required, ConcurrentPoint& point) {
            const auto given = required ? reader.required_part(key) : reader.part(key);
            if (!given) return;
            ObjectReader inner(*given, reader.diagnostics());
            Work read;
            if (!read_kind(inner, read)) return;
            inner.report_unknown();
            hold(point, std::move(read));
          },
      .write =
          [=](const ConcurrentPoint& point) {
            const Work* const one = held(point);
            if (one == nullptr) return JsonValue();
            Json json;
            append_kind(json, *one);
            return JsonValue(nlohmann::json(json));
          }};
}

template <>
constexpr std::string_view kPointKind<ConcurrentPoint> = "concurrent";
template <>
const FieldTable<ConcurrentPoint>& point_fields() {
  static const auto kFields = required_fields<ConcurrentPoint>(
      {{"timed", work([](const ConcurrentPoint& point) { return &point.timed; },
                      [](ConcurrentPoint& point, Work timed) { point.timed = std::move(timed); })},
       {"beside",
        work([](const ConcurrentPoint& point) { return point.beside ? &*point.beside : nullptr; },
             [](ConcurrentPoint& point, Work beside) { point.beside = std::move(beside); })
            .where([](const ConcurrentPoint& point) { return point.beside.has_value(); })}});
  return kFields;
}

}  // namespace

void append_member(Json& json, std::string_view key, const JsonValue& value) {
  if (!value->is_null()) json[std::string(key)] = *value;
}

const FieldTable<GemmPoint>& gemm_fields() { return point_fields<GemmPoint>(); }

void append_point(Json& json, const Point& point) { append_kind(json, point); }

std::optional<Point> read_point(ObjectReader& reader) {
  Point point;
  return read_kind(reader, point) ? std::optional(std::move(point)) : std::nullopt;
}

}  // namespace headway
