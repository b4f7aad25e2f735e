#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "sim/costs/read_profile.h"
#include "sim/files/input_files.h"
#include "tests/support/source_folder.h"

namespace headway {

/// A profile that comes with the product, which must read clean.
inline std::shared_ptr<const Profile> shipped(const std::string& name) {
  Diagnostics diagnostics;
  InputFiles files({}, {source_folder()}, diagnostics);
  auto document = JsonDocument::parse("test.json", "{\"profile\": \"" + name + "\"}", diagnostics);
  const auto read = read_profile(*JsonCursor(std::move(document)).member("profile"), files);
  EXPECT_TRUE(diagnostics.all().empty()) << rendered(diagnostics.all(), "");
  if (!read) throw std::runtime_error(name + " cannot be read");
  return read->profile;
}

}  // namespace headway
