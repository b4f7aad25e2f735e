#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "tests/fuzz/limited_run.h"
#include "tests/support/scenario_text.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

using nlohmann::json;

/// A small input of which a careless reader makes gigabytes or hours.
struct Growth {
  const char* name;
  std::vector<std::string> words;     ///< "INPUT" stands for the file
  std::function<std::string()> text;  ///< of it
  int exit_code;
  std::string says;  ///< part of the message, or of the answer
};

/// `text` with each number below `count` in the place of its {}.
std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += fmt::format(fmt::runtime(text), i);
  return all;
}

const std::string kTraceHead = "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mc,gmc\n";

/// A topology that is a graph of as many switches as rows, and one endpoint.
json chain_of_switches(int count, int port) {
  json fabric = {{"kind", "graph"}, {"endpoints", {{{"name", "e"}, {"node", "n0"}}}}};
  fabric["cables"] = {{{"from", "e"}, {"to", "s0"}, {"bandwidth", "1 GB/s"}}};
  for (int i = 0; i < count; ++i) {
    fabric["switches"].push_back({{"name", fmt::format("s{}", i)}});
    if (i == 0) continue;
    fabric["cables"].push_back({{"from", fmt::format("s{}", i - 1)},
                                {"to", fmt::format("s{}", i)},
                                {"from_port", port},
                                {"bandwidth", "1 GB/s"}});
  }
  return {{"schema", "headway/topology/1"},
          {"name", "x"},
          {"node",
           {{"name", "n"},
            {"accelerator", "any"},
            {"accelerators", 1},
            {"nics", {{"count", 1}, {"bandwidth", "1 GB/s"}}}}},
          {"fabric", fabric},
          {"routing",
           {{"kind", "table"},
            {"digits", 4},
            {"rows", std::vector<std::string>(static_cast<std::size_t>(count), "0001")}}}};
}

json with_faults(const json& fault, int count) {
  json topology = {{"schema", "headway/topology/1"},
                   {"name", "x"},
                   {"nodes", 4096},
                   {"node", "dgx_h100"},
                   {"fabric",
                    {{"kind", "clos"},
                     {"attach", "rail"},
                     {"nodes_per_unit", 32},
                     {"leaf", json::object()},
                     {"spine", json::object()}}}};
  topology["faults"] = std::vector<json>(static_cast<std::size_t>(count), fault);
  return topology;
}

json with(const char* field, const json& value) {
  json scenario = small_scenario(2);
  scenario[field] = value;
  return scenario;
}

const std::vector<Growth>& growths() {
  static const std::vector<Growth> kGrowths = {
      {"a megabyte of a name before every pointer",
       {"check", "INPUT"},
       [] {
         return "{\"schema\":\"headway/scenario/1\",\"" + std::string(1'000'000, 'a') + "\":[0" +
                repeated(",{}", 50'000) + "]}";
       },
       2,
       "unknown field"},
      {"the same, of fields that stand twice",
       {"check", "INPUT"},
       [] {
         return "{\"" + std::string(1'000'000, 'a') + "\":{\"b\":0" +
                repeated(",\"b\":{}", 20'000) + "}}";
       },
       2,
       "is set twice"},
      {"many fields that are none",
       {"check", "INPUT"},
       [] {
         return "{\"schema\":\"headway/scenario/1\"" +
                repeated(",\"globl_btach_globl_btach_globl_btach{}\":0", 200'000) + "}";
       },
       2,
       "unknown field"},
      {"nothing but lines",
       {"check", "INPUT"},
       [] { return "{" + std::string(60'000'000, '\n') + "x}"; },
       2,
       "60000001"},
      {"rows of devices that have no column",
       {"import", "topo-matrix", "INPUT"},
       [] {
         return "\tGPU0\tGPU1\nGPU0\tX\tNV18\nGPU1\tNV18\tX\n" + repeated("NIC{}\tX\tX\n", 100'000);
       },
       2,
       "has a row and no column"},
      {"more devices than a node has",
       {"import", "topo-matrix", "INPUT"},
       [] { return repeated("\tGPU{}", 300) + "\n"; },
       2,
       "300 devices"},
      {"far entries of many forwarding tables",
       {"import", "ibnetdiscover", "INPUT"},
       [] {
         return repeated("Unicast lids [0x0-0xbfff] of switch Lid 2 guid 0x{} (a):\n0xbfff 001\n",
                         80'000);
       },
       2,
       "no fabric to import"},
      {"elements of four bytes",
       {"import", "nccl-xml", "INPUT"},
       [] { return "<system>" + repeated("<a/>", 11'000'000) + "</system>"; },
       2,
       "10,000,000 elements and attributes"},
      {"every GPU beside every card",
       {"import", "nccl-xml", "INPUT"},
       [] {
         return "<system><cpu>" + repeated("<pci class=\"0x030000\"/>", 40'000) +
                repeated("<nic><net speed=\"1\"/></nic>", 40'000) + "</cpu></system>";
       },
       2,
       "at most 1024"},
      {"a stage far beyond all others",
       {"replay", "INPUT"},
       [] {
         return kTraceHead + repeated("0,0,0,0,forward-compute,{0},1,{0},0,0\n", 20'000) +
                "0,1048575,0,0,forward-compute,0,1,0,0,0\n";
       },
       2,
       "stage 1048575 is named"},
      {"a stage for each row",
       {"replay", "INPUT"},
       [] { return kTraceHead + repeated("0,{},0,0,forward-compute,0,1,0,0,0\n", 60'000); },
       2,
       "take too long"},
      {"a replica and steps far apart",
       {"replay", "INPUT"},
       [] {
         return kTraceHead + repeated("0,0,0,0,forward-compute,{0},1,{0},0,0\n", 1'000) +
                repeated("1048575,0,0,{},forward-compute,0,1,0,0,0\n", 1'000);
       },
       2,
       "the trace has 2000 rows"},
      {"a replica for each row",
       {"replay", "INPUT", "-o", "replay.json"},
       [] { return kTraceHead + repeated("{0},0,{0},0,forward-compute,0,1,0,0,0\n", 60'000); },
       0,
       "60000 data-parallel"},
      {"a step for each row",
       {"replay", "INPUT", "-o", "replay.json"},
       [] { return kTraceHead + repeated("0,0,0,{0},forward-compute,{0},1,0,0,0\n", 100'000); },
       0,
       "100000 steps"},
      {"times beyond what sums can hold",
       {"replay", "INPUT"},
       [] { return kTraceHead + "0,0,0,0,forward-compute,1e308,1e308,0,0,0\n"; },
       2,
       "is a number of seconds"},
      {"operations that take no time",
       {"replay", "INPUT"},
       [] { return kTraceHead + "0,0,0,0,forward-compute,0,0,0,0,0\n"; },
       2,
       "take no time"},
      {"faults that name nothing",
       {"check", "INPUT"},
       [] {
         return with_faults({{"switch", "spine/99999999"}}, 20'000).dump();
       },
       2,
       "no switch is called"},
      {"faults of one cable",
       {"check", "INPUT"},
       [] {
         return with_faults({{"cable", {"leaf/unit0/rail3", "spine/5"}}, {"bandwidth", "10 Gb/s"}},
                            20'000)
             .dump();
       },
       0,
       "ok"},
      {"tables of ports that nothing is in",
       {"check", "INPUT"},
       [] { return chain_of_switches(5'000, 65'535).dump(); },
       2,
       "ports up to the highest"},
      {"many profiles",
       {"check", "INPUT"},
       [] { return with("profile", std::vector<std::string>(20'000, "h100_sxm")).dump(); },
       2,
       "at most 64 profiles"},
      {"many measured steps",
       {"check", "INPUT"},
       [] {
         return with("anchor", std::vector<json>(5'000, {{"measured_iteration_time", "1 s"},
                                                         {"scenario", "llama3_405b_16384"}}))
             .dump();
       },
       2,
       "at most 32 measured steps"},
      {"a scenario that names a pipe",
       {"check", "INPUT"},
       [] { return with("model", "pipe").dump(); },
       2,
       "cannot find \"pipe\""},
      {"an axis of many ranges",
       {"sweep", "INPUT", "--dry-run", "--axis",
        "global_batch=1..999999+1" + repeated(",1{0:02}000000..1{0:02}999999+1", 100)},
       [] { return small_scenario(2).dump(); },
       2,
       "points"},
  };
  return kGrowths;
}

TEST(Growth, NoInputTakesMoreThanItIsWorth) {
  const RunBounds bounds{.memory_bytes = std::uint64_t{2} << 30};
  for (const Growth& growth : growths()) {
    SCOPED_TRACE(growth.name);
    const ScratchFolder scratch;
    mkfifo((scratch.path() / "pipe").c_str(), 0600);
    scratch.write("input", growth.text());
    std::vector<std::string> words = growth.words;
    std::ranges::replace(words, "INPUT", "./input");
    words.insert(words.begin(), HEADWAY_PROGRAM);
    const LimitedRun run = limited_run(words, scratch.path(), bounds);
    EXPECT_EQ(run.exit_code, growth.exit_code) << run.ending() << "\n" << run.errors.substr(0, 400);
    const std::string said = (run.output + run.errors).substr(0, 100'000);
    EXPECT_NE(said.find(growth.says), std::string::npos) << said.substr(0, 400);
    EXPECT_LE(run.errors.size(), std::size_t{1} << 20);
  }
}

}  // namespace
}  // namespace headway
