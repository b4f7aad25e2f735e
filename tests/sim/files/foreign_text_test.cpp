#include "sim/files/kinds/foreign_text.h"

#include <gtest/gtest.h>

#include "sim/files/input_files.h"
#include "sim/files/json_reader.h"

namespace headway {
namespace {

using std::string_view_literals::operator""sv;

std::string_view what(std::string_view text) {
  const ForeignText* const found = foreign_text(text);
  return found == nullptr ? "" : found->what;
}

TEST(ForeignText, IsToldByHowItBegins) {
  struct Case {
    std::string_view text;
    std::string_view what;
  };
  constexpr Case kCases[] = {
      {"\x1f\x8b\x08\x00"sv, "a gzipped file"},
      {"\xff\xfeG\0P\0U\0"sv, "text in UTF-16, as PowerShell's > writes it"},
      {"PK\x03\x04"sv, "a zip archive"},
      {"PAR1\x15\x04"sv, "a Parquet file"},
      {"SQLite format 3\0"sv, "an SQLite database"},
      {"version https://git-lfs.github.com/spec/v1\n", "what Git LFS leaves in place of a file"},
      {"\n<!DOCTYPE html>\n<html>", "a web page"},
      {"#\n# Topology file: generated on Fri Nov 20\n#\nvendid=0x2c9\n",
       "the output of ibnetdiscover"},
      {"CA     5  1 0x94 4x EDR - SW     6  2 0xfc ( 'a' - 'b' )",
       "the output of ibnetdiscover -p"},
      {"CA: a mlx5_0:\n      0x94  5  1[  ] ==( 4X  25.78125 Gbps Active/  LinkUp)==>  6  2[  ]",
       "the output of iblinkinfo"},
      {"Unicast lids [0x0-0x6] of switch", "a dump of InfiniBand's forwarding tables"},
      {"{ CA-SM Ports:01 SystemGUID:94 NodeGUID:94 PortGUID:95", "a list of OpenSM's subnet"},
      {"START_NODES\nNodeDesc,NumPorts,NodeType,NodeGUID", "a database of ibdiagnet"},
      {"<system version=\"1\">\n  <cpu numaid=\"0\">", "a topology of NCCL or RCCL"},
      {"<?xml version=\"1.0\"?><topology><object type=\"Machine\"", "a topology of hwloc"},
      {"<?xml version=\"1.0\"?>\n<graphml xmlns", "GraphML"},
      {"<?xml version='1.0'?><platform version=\"4.1\">", "a platform of SimGrid"},
      {"\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\n", "the output of `nvidia-smi topo -m`"},
      {"Fri Nov 20\n+---\n| NVIDIA-SMI 550.54  Driver Version: 550.54  CUDA Version: 12.4 |",
       "the output of nvidia-smi"},
      {"{\n  \"lldp\": {\n    \"interface\": [", "what lldpcli tells of neighbours"},
      {"LocalPort    RemoteDevice    RemotePortID", "the output of `show lldp table`"},
      {"lldp.swp51.via=LLDP\n", "the text that lldpcli prints"},
      {"# leafs\nSwitchName=leaf1 Nodes=n[1-8]\n", "a topology of Slurm"},
      {"ClusterName=c\nSlurmctldHost=a\nNodeName=n[1-8] CPUs=96\n", "Slurm's slurm.conf"},
      {"{\"schemaVersion\": 1, \"traceEvents\": [", "a trace of PyTorch's profiler"},
      {"dp_rank,stage,rank,step,optype,start_ts", "a trace of operations"},
      {"# nThread 1\n# out-of-place in-place\n# time algbw busbw", "the output of nccl-tests"},
      {" iteration 1/ 5 | elapsed time per iteration (ms): 744.9 |", "the log of a training run"},
      {"{\"model_type\": \"llama\", \"hidden_size\": 4096", "a configuration of Hugging Face"},
      {"{\"zero_optimization\": {\"stage\": 3}}", "a configuration of DeepSpeed"},
      {"[job]\n[model]\nname = \"llama3\"\n[training]\n", "a job of torchtitan"},
      {"apiVersion: v1\nkind: Pod\n", "a manifest of Kubernetes"},
  };
  for (const Case& each : kCases) EXPECT_EQ(what(each.text), each.what) << each.text;
}

TEST(ForeignText, IsNothingThatMayBeOurs) {
  for (const std::string_view text :
       {""sv, "{}"sv, "a table,of numbers\n1,2\n"sv, "{\"name\": \"my own\", \"nodes\": 4}"sv,
        // A scenario may speak of anything.
        R"({"schema": "headway/scenario/1", "description": "out-of-place busbw", "lldp": 1})"sv}) {
    EXPECT_EQ(what(text), "") << text;
  }
}

std::string problems_of(const std::string& text) {
  Diagnostics diagnostics;
  const auto document = JsonDocument::parse("t.json", text, diagnostics);
  if (document != nullptr) {
    ObjectReader reader(JsonCursor(document), diagnostics);
    if (read_schema(reader, "headway/topology/1")) reader.text("name");
  }
  std::string problems;
  for (const Diagnostic& problem : diagnostics.all()) problems += rendered(problem);
  return problems;
}

TEST(ForeignText, IsTheOnlyProblemOfWhatIsNoJson) {
  EXPECT_EQ(problems_of("#\n# Topology file: generated on Fri\n"),
            "error: this is the output of ibnetdiscover, and JSON is read here\n"
            "  --> t.json\n"
            "  help: `headway import ibnetdiscover FILE -o site.json` reads it\n");
  // Compressed bytes are no UTF-8, and a log with colours opens brackets without end.
  EXPECT_EQ(problems_of("\x1f\x8b\x08\xff"),
            "error: this is a gzipped file, and JSON is read here\n"
            "  --> t.json\n"
            "  help: unpack it with gunzip\n");
  const std::string coloured(300, '[');
  EXPECT_EQ(problems_of("started\n" + coloured),
            "error: JSON does not know the word \"started\"\n"
            "  --> t.json:1:1\n"
            "   |\n"
            " 1 | started\n"
            "   | ^^^^^^^\n"
            "  help: texts go in double quotes: \"started\"\n");
}

/// Who gives a configuration in the right place wants to know where it breaks.
TEST(ForeignText, ThatIsMeantToBeJsonIsToldAsSuch) {
  EXPECT_EQ(problems_of("{\"model_type\": \"llama\", \"hidden_size\": 4096,\n}"),
            "error: a comma before the closing }\n"
            "  --> t.json:1:44\n"
            "   |\n"
            " 1 | {\"model_type\": \"llama\", \"hidden_size\": 4096,\n"
            "   |                                            ^\n"
            "  help: remove the comma\n");
}

TEST(ForeignText, IsTheOnlyProblemOfADocumentWithoutASchema) {
  EXPECT_EQ(problems_of("{\"lldp\": {}}"),
            "error: this is what lldpcli tells of neighbours, where a topology is needed\n"
            "  --> t.json:1:1\n"
            "   |\n"
            " 1 | {\"lldp\": {}}\n"
            "   | ^\n"
            "  help: `headway import lldp FILE... -o site.json` reads it\n");
}

TEST(ForeignText, YamlIsToldByItsFirstName) {
  EXPECT_EQ(problems_of("model:\n  layers: 4\n"),
            "error: this looks like YAML, and JSON is read here\n"
            "  --> t.json:1:1\n"
            "   |\n"
            " 1 | model:\n"
            "   | ^\n"
            "  help: write names and texts in double quotes, all in braces: {\"name\": value}\n");
}

TEST(FileKind, OfOursSaysWhatItIsGoodFor) {
  const auto help = [](const std::string& kind) {
    const std::string all = problems_of("{\"schema\": \"headway/" + kind + "/1\"}");
    const std::size_t begin = all.find("help: ");
    return all.substr(begin, all.find('\n', begin) - begin);
  };
  EXPECT_EQ(help("result"),
            "help: the file is a result, where a topology is needed; `headway report` shows it, "
            "`headway compare` compares it with another");
  EXPECT_EQ(help("node"),
            "help: the file is a node type, where a topology is needed; a topology names it: "
            "\"node\": \"FILE\"");
  EXPECT_EQ(help("measured"),
            "help: the file is a file of measured steps, where a topology is needed; `headway "
            "validate --measured FILE --profile PROFILE` compares them with predictions");
  EXPECT_EQ(help("purchase-plan"), "help: the file is a purchase-plan, where a topology is needed");
}

}  // namespace
}  // namespace headway
