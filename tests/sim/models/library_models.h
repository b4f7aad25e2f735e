#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/sim/models/model_reading.h"

namespace headway::testing {

/// The model of a configuration and the one of the library, but for what the files say of
/// themselves.
inline void expect_as_in_library(const std::string& config, const std::string& name) {
  const ModelReading read = read_model_text(config);
  const ModelReading library = read_scenario_model("{\"model\": \"" + name + "\"}");
  EXPECT_EQ(read.problems, "") << name;
  ASSERT_TRUE(read.read.has_value() && library.read.has_value()) << name;
  TransformerModel model = *read.read->transformer;
  model.name = library.read->transformer->name;
  model.source = library.read->transformer->source;
  model.sequence_length = library.read->transformer->sequence_length;
  EXPECT_EQ(model, library.read->transformer) << name;
}

/// Of a configuration without a warning; what is read reads back.
inline void expect_parameters(const std::string& config, std::int64_t count) {
  const ModelReading reading = read_model_text(config);
  EXPECT_EQ(reading.problems, "");
  ASSERT_TRUE(reading.read.has_value());
  EXPECT_EQ(parameter_count(reading.read->model), count);
  const ModelReading again = read_model_text(reading.read->resolved->dump());
  ASSERT_TRUE(again.read.has_value()) << again.problems;
  EXPECT_EQ(parameter_count(again.read->model), count);
}

}  // namespace headway::testing
