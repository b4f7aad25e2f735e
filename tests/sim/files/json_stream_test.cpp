#include "sim/files/json_stream.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/files/json_output.h"

namespace headway {
namespace {

using nlohmann::json;

TEST(JsonStream, WritesWhatADocumentThatIsHeldReads) {
  const json record = {{"name", "a\nb\xff"}, {"of", {1, {{"x", json::array()}}}}};
  const json document = {{"a", nullptr},
                         {"b", {{"c", record}, {"d", json::array()}, {"e", {record, 2.5}}}},
                         {"f", json::object()},
                         {"g", {"text", record}}};
  std::ostringstream text;
  JsonStream stream(text);
  stream.member("a", nullptr);
  stream.begin_object("b");
  stream.member("c", record);
  stream.begin_list("d");
  stream.end();
  stream.begin_list("e");
  stream.element(record);
  stream.element(2.5);
  stream.end();
  stream.end();
  stream.begin_object("f");
  stream.end();
  stream.member("g", document["g"]);
  stream.finish();
  EXPECT_EQ(text.str(), json_document_text(document));
}

}  // namespace
}  // namespace headway
