#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/files/field_table.h"
#include "sim/models/listed/layer_writer.h"

namespace headway {

/// What samples an operator works on.
enum class OperatorRows {
  any,
  tokens,  ///< sequences, position by position
  samples  ///< such as are no sequences
};

/// A kind of operator that a listed layer may be made of.
struct LayerOperator {
  std::string_view name;
  std::string_view what;
  std::string_view takes;  ///< "[channels, height, width]"
  bool (*fits)(const SampleShape& in);
  OperatorRows rows = OperatorRows::any;
  /// Adds what the fields in the reader's object say to the layer; what comes out of it. Problems
  /// go into the reader's diagnostics, and the layer is not used then. Requires an input that fits.
  std::function<SampleShape(ObjectReader&, const SampleShape&, LayerWriter&)> add;
  /// Reads the same fields where no input is known that it could be added with.
  std::function<void(ObjectReader&)> read;
  std::function<std::vector<FieldDescription>()> fields;
};

/// Reports heads that cannot share those of keys and values, and an order in time of positions that
/// belong to another sequence.
void check_attention(ObjectReader& reader, std::int64_t heads, std::int64_t kv_heads,
                     bool is_causal, bool is_crossed);

/// In the order in which help has them.
[[nodiscard]] std::span<const LayerOperator> layer_operators();

// A file for what belongs together.
[[nodiscard]] std::vector<LayerOperator> convolution_operators();
[[nodiscard]] std::vector<LayerOperator> elementary_operators();
[[nodiscard]] std::vector<LayerOperator> table_operators();
[[nodiscard]] std::vector<LayerOperator> sequence_operators();

/// One whose fields are those of a table; `write` adds it.
template <class Fields>
LayerOperator operator_of(LayerOperator about, const FieldTable<Fields>& (*table)(),
                          SampleShape (*write)(const Fields&, ObjectReader&, const SampleShape&,
                                               LayerWriter&)) {
  about.add = [=](ObjectReader& reader, const SampleShape& in, LayerWriter& layer) {
    Fields fields;
    table().read(reader, fields);
    return write(fields, reader, in, layer);
  };
  about.read = [=](ObjectReader& reader) {
    Fields fields;
    table().read(reader, fields);
  };
  about.fields = [=] { return table().described(); };
  return about;
}

}  // namespace headway
