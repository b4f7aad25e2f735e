#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/sim/network/read_text.h"
#include "sim/import/import_format.h"

namespace headway {

struct Imported {
  std::optional<nlohmann::json> topology;  ///< or node type
  std::string problems;                    ///< rendered
};

inline Imported imported_files(Importer* importer, ImportRequest request) {
  Diagnostics diagnostics;
  request.name = "imported";
  Imported imported{.topology = importer(request, diagnostics)};
  for (const Diagnostic& problem : diagnostics.all()) {
    imported.problems += rendered(problem);
    EXPECT_TRUE(problem.location.line == 0 || !problem.location.file.empty());
  }
  EXPECT_NE(imported.topology.has_value(), diagnostics.has_errors()) << imported.problems;
  return imported;
}

/// What an importer makes of texts as the content of files.
inline Imported imported_texts(Importer* importer, const std::vector<std::string>& texts,
                               ImportRequest request = {}) {
  for (const std::string& text : texts) {
    request.paths.push_back(testing::TempDir() + "headway_dump_" + std::to_string(getpid()) + "_" +
                            std::to_string(request.paths.size()));
    std::ofstream(request.paths.back(), std::ios::binary) << text;
  }
  Imported imported = imported_files(importer, request);
  for (const std::string& path : request.paths) std::filesystem::remove(path);
  return imported;
}

/// Dumps of third parties, which do not stand in this repository.
class ThirdPartyDump : public testing::Test {
 protected:
  void SetUp() override {
    const char* const named = std::getenv("HEADWAY_SAMPLES");
    if (named == nullptr || *named == '\0') {
      GTEST_SKIP() << "$HEADWAY_SAMPLES does not name the folder of third-party dumps";
    }
  }
  [[nodiscard]] static std::string folder() { return std::getenv("HEADWAY_SAMPLES"); }
};

}  // namespace headway
