#pragma once

#include "sim/base/byte_stream.h"
#include "sim/result/prediction.h"

namespace headway {

/// A prediction on its way from the process that made it to the one that asked for it.
void put_prediction(ByteWriter& bytes, const Prediction& prediction);
[[nodiscard]] Prediction get_prediction(ByteReader& bytes);

/// JSON as it goes the same way. What is no UTF-8 (in a command line) becomes U+FFFD.
void put_json(ByteWriter& bytes, const JsonValue& value);
[[nodiscard]] JsonValue get_json(ByteReader& bytes);

}  // namespace headway
