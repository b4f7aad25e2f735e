#include "sim/files/kinds/foreign_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/base/utf8.h"
#include "sim/files/json_document.h"

namespace headway {
namespace {

using std::string_view_literals::operator""sv;

/// A kind of text and what gives it away.
struct Sign {
  std::string_view start;  ///< how it begins, blanks and comments of # left out; empty: anyhow
  std::array<std::string_view, 2> marks;  ///< what its beginning has besides, both
  ForeignText text;
};

constexpr std::string_view kOfFabric = "`headway import ibnetdiscover FILE -o site.json` reads it";
constexpr std::string_view kOfNode = "`headway import nccl-xml FILE -o node.json` reads it";
constexpr std::string_view kOfSlurm = "`headway import slurm FILE -o site.json` reads it";
constexpr std::string_view kOfLldp = "`headway import lldp FILE... -o site.json` reads it";
constexpr std::string_view kOfSonic = "`headway import sonic FILE... -o site.json` reads it";
constexpr std::string_view kOfLog =
    "`headway anchor SCENARIO --measured-log FILE` compares it with a prediction";
constexpr std::string_view kOfCollectives =
    "`headway collective TOPOLOGY --library nccl` prints the same table of a simulated fabric";
constexpr std::string_view kOfManifest =
    "`headway plan SCENARIO -o job.yaml` writes one; none is read";

constexpr Sign kSigns[] = {
    {"\x1f\x8b"sv, {}, {"a gzipped file", "", "unpack it with gunzip"}},
    {"\xff\xfe"sv,
     {},
     {.what = "text in UTF-16, as PowerShell's > writes it",
      .help = "convert it: iconv -f UTF-16 -t UTF-8 FILE > utf8.txt",
      .has_lines = false}},
    {"\xfe\xff"sv,
     {},
     {.what = "text in UTF-16",
      .help = "convert it: iconv -f UTF-16 -t UTF-8 FILE > utf8.txt",
      .has_lines = false}},
    {"PK\x03\x04"sv,
     {},
     {.what = "a zip archive", .help = "give a file that is in it", .has_lines = false}},
    {"PAR1"sv,
     {},
     {.what = "a Parquet file",
      .help =
          R"(write it as a table: pandas.read_parquet("FILE").to_csv("table.csv", index=False))",
      .has_lines = false}},
    {"SQLite format 3"sv,
     {},
     {.what = "an SQLite database",
      .help = "a sweep's store is read by the folder that it is in: headway report DIR",
      .has_lines = false}},
    {"version https://git-lfs"sv,
     {},
     {"what Git LFS leaves in place of a file", "", "fetch the file with git lfs pull"}},
    {"<!DOCTYPE html"sv,
     {},
     {"a web page", "", "download the file itself, without the page around it"}},
    {"<html"sv, {}, {"a web page", "", "download the file itself, without the page around it"}},

    {"vendid="sv, {}, {"the output of ibnetdiscover", "ibnetdiscover", kOfFabric}},
    {""sv,
     {"Topology file: generated on"sv},
     {"the output of ibnetdiscover", "ibnetdiscover", kOfFabric}},
    {"CA "sv,
     {" 0x"sv, " - SW "sv},
     {"the output of ibnetdiscover -p", "ibnetdiscover", kOfFabric}},
    {"SW "sv, {" 0x"sv, " ( '"sv}, {"the output of ibnetdiscover -p", "ibnetdiscover", kOfFabric}},
    {"Unicast lids ["sv,
     {},
     {"a dump of InfiniBand's forwarding tables", "ibnetdiscover",
      "`headway import ibnetdiscover FABRIC FILE -o site.json` reads it beside a dump of the "
      "cables"}},
    {""sv,
     {"==("sv, ")==>"sv},
     {"the output of iblinkinfo", "iblinkinfo",
      "`headway import iblinkinfo FILE -o site.json` reads it"}},
    {"{ "sv,
     {"SystemGUID:"sv, "NodeGUID:"sv},
     {"a list of OpenSM's subnet", "opensm-subnet",
      "`headway import opensm-subnet FILE -o site.json` reads it"}},
    {""sv,
     {"START_NODES"sv, "NodeGUID"sv},
     {"a database of ibdiagnet", "ibdiagnet",
      "`headway import ibdiagnet FILE -o site.json` reads it"}},
    {"dump_ucast_routes"sv,
     {},
     {"OpenSM's dump of routes with hops", "",
      "give the tables as dump_fts or opensm-lfts.dump has them"}},

    {""sv, {"<system"sv, "<cpu "sv}, {"a topology of NCCL or RCCL", "nccl-xml", kOfNode}},
    {""sv,
     {"<topology"sv, "<object type=\"Machine\""sv},
     {"a topology of hwloc", "",
      "run with NCCL_TOPO_DUMP_FILE=node.xml and give that: headway import nccl-xml node.xml"}},
    {""sv,
     {"<graphml"sv},
     {"GraphML", "graphml", "`headway import graphml FILE -o wan.json` reads it"}},
    {""sv,
     {"<platform"sv, "version="sv},
     {"a platform of SimGrid", "",
      "describe the fabric as a topology; `headway explain cluster.topology` lists its fields"}},
    {"GPU0"sv,
     {"CPU Affinity"sv},
     {"the output of `nvidia-smi topo -m`", "topo-matrix",
      "`headway import topo-matrix FILE -o node.json` reads it"}},
    {""sv,
     {"NVIDIA-SMI "sv, "Driver Version"sv},
     {"the output of nvidia-smi", "", "give that of `nvidia-smi topo -m`"}},

    {"{"sv,
     {"\"lldp\""sv},
     {.what = "what lldpcli tells of neighbours",
      .format = "lldp",
      .help = kOfLldp,
      .is_json = true}},
    {"LLDP neighbors"sv,
     {},
     {"the text that lldpcli prints", "", "give its JSON: lldpcli -f json show neighbors details"}},
    {"LocalPort"sv, {"RemoteDevice"sv}, {"the output of `show lldp table`", "sonic", kOfSonic}},
    {"lldp."sv,
     {".via=LLDP"sv},
     {"the text that lldpcli prints", "", "give its JSON: lldpcli -f json show neighbors details"}},
    {"SwitchName="sv, {}, {"a topology of Slurm", "slurm", kOfSlurm}},
    {"BlockName="sv, {}, {"a topology of Slurm", "slurm", kOfSlurm}},
    {""sv,
     {"ClusterName="sv, "NodeName="sv},
     {"Slurm's slurm.conf", "", "give topology.conf or topology.yaml, which stand beside it"}},

    {"{"sv,
     {"\"traceEvents\""sv},
     {.what = "a trace of PyTorch's profiler",
      .help =
          "no command reads one rank's kernels; give the time of a step: headway anchor SCENARIO "
          "--measured \"5.3 s\"",
      .is_json = true}},
    {"{"sv,
     {"\"deviceProperties\""sv, "\"schemaVersion\""sv},
     {.what = "a trace of PyTorch's profiler",
      .help =
          "no command reads one rank's kernels; give the time of a step: headway anchor SCENARIO "
          "--measured \"5.3 s\"",
      .is_json = true}},
    {""sv,
     {"dp_rank,"sv, "optype,"sv},
     {"a trace of operations", "", "`headway replay FILE` reads it"}},
    {""sv, {"out-of-place"sv, "busbw"sv}, {"the output of nccl-tests", "", kOfCollectives}},
    {"nvbandwidth Version"sv,
     {},
     {"the output of nvbandwidth", "",
      "a profile is what headway-calibrate writes, or made by hand from a data sheet"}},
    {""sv, {"elapsed time per iteration"sv}, {"the log of a training run", "", kOfLog}},
    {""sv, {"using world size:"sv}, {"the log of a training run", "", kOfLog}},

    {"{"sv,
     {"\"model_type\""sv, "\"hidden_size\""sv},
     {.what = "a configuration of Hugging Face",
      .help = R"(a scenario names it: "model": {"huggingface": "config.json"})",
      .is_json = true}},
    {"{"sv,
     {"\"zero_optimization\""sv},
     {.what = "a configuration of DeepSpeed",
      .format = "deepspeed",
      .help = "`headway import deepspeed FILE -o job.json` makes a scenario of it",
      .is_json = true}},
    {""sv,
     {"[model]"sv, "[training]"sv},
     {"a job of torchtitan", "torchtitan",
      "`headway import torchtitan FILE -o job.json` makes a scenario of it"}},
    {"{"sv,
     {"\"directed\""sv, "\"multigraph\""sv},
     {.what = "a graph of NetworkX",
      .help = "write it as GraphML: networkx.write_graphml",
      .is_json = true}},
    {""sv, {"apiVersion:"sv, "kind:"sv}, {"a manifest of Kubernetes", "", kOfManifest}},
};

/// The text from its first line that is neither empty nor a comment.
std::string_view without_comments(std::string_view text) {
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return {};
    text.remove_prefix(begin);
    if (text.front() != '#') return text;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
}

}  // namespace

const ForeignText* foreign_text(std::string_view beginning) {
  beginning = beginning.substr(0, kTextBeginning);
  if (beginning.starts_with(kByteOrderMark)) beginning.remove_prefix(kByteOrderMark.size());
  // Schemas of ours come first, and what a result quotes of a log or a dump gives nothing away.
  if (beginning.find("\"headway/"sv) != std::string_view::npos) return nullptr;
  const std::string_view start = without_comments(beginning);
  const auto shows = [&](const Sign& sign) {
    return start.starts_with(sign.start) && std::ranges::all_of(sign.marks, [&](auto mark) {
             return beginning.find(mark) != std::string_view::npos;
           });
  };
  const auto* const found = std::ranges::find_if(kSigns, shows);
  return found == std::end(kSigns) ? nullptr : &found->text;
}

const ForeignText* foreign_object(const JsonCursor& root) {
  if (!root.is_object() || !root.pointer().empty()) return nullptr;
  std::string fields = "{";
  for (const auto& field : root.value().items()) fields += fmt::format(" \"{}\"", field.key());
  return foreign_text(fields);
}

}  // namespace headway
