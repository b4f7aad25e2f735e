#include "tests/support/source_folder.h"

namespace headway {

const std::string& source_folder() {
  static const std::string folder = HEADWAY_TEST_SOURCE_DIR;
  return folder;
}

}  // namespace headway
