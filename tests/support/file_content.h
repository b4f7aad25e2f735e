#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace headway {

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

}  // namespace headway
