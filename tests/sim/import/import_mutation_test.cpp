#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>

#include "imported_texts.h"
#include "infiniband_samples.h"
#include "tests/support/source_folder.h"

namespace headway {

Importer import_graphml;
Importer import_lldp;
Importer import_nccl_xml;
Importer import_slurm;
Importer import_topo_matrix;

namespace {

/// Lines dropped, doubled, swapped or cut, bytes replaced.
class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_()) % n; }

  void mutate(std::string& text) {
    const auto line_at = [&](std::size_t place) {
      const std::size_t begin = text.rfind('\n', place);
      return begin == std::string::npos ? 0 : begin;
    };
    for (std::size_t change = 1 + below(3); change > 0 && text.size() > 10; --change) {
      const std::size_t begin = line_at(below(text.size() - 1));
      const std::size_t end = std::min(text.find('\n', begin + 1), text.size());
      const std::string line = text.substr(begin, end - begin);
      switch (below(5)) {
        case 0:
          text.erase(begin, line.size());
          break;
        case 1:
          text.insert(begin, line);
          break;
        case 2:
          text.resize(below(text.size()));
          break;
        case 3:
          text[below(text.size())] = static_cast<char>(below(256));
          break;
        default:
          text.erase(begin, line.size()).insert(line_at(below(text.size() + 1)), line);
      }
    }
  }

 private:
  std::mt19937 random_;
};

/// Dumps to begin with: the first is mutated mostly, the others now and then.
struct Case {
  const char* name;
  Importer* importer;
  std::vector<std::string> originals;
};

std::string seed(const std::string& name) {
  return sample_text(source_folder() + "/tests/fuzz/seeds/" + name);
}

std::vector<Case> mutation_cases() {
  const std::string infiniband = kInfiniBandSamples;
  const std::string lldp = source_folder() + "/tests/samples/lldp/";
  const std::string xml = R"(<system version="1">
<cpu numaid="0">
<pci busid="s" class="0x060400">
<pci busid="g" class="0x030200" device="0x20b2" link_speed="16.0 GT/s PCIe" link_width="16">
<gpu dev="0" sm="80">
<nvlink target="x" count="12"/>
</gpu>
</pci>
<pci busid="n" class="0x020700">
<nic>
<net name="mlx5_0" speed="200000" guid="0x21"/>
</nic>
</pci>
</pci>
</cpu>
</system>
)";
  return {
      {"ibnetdiscover",
       import_infiniband,
       {sample_text(infiniband + "/tiny-2switch/ibnetdiscover.txt"),
        sample_text(infiniband + "/tiny-2switch/dump_fts.minhop.txt"), "0x1 \"name\"\n"}},
      {"port list",
       import_infiniband,
       {sample_text(infiniband + "/degraded-mixed/ibnetdiscover-p.txt").substr(0, 4000)}},
      {"link info", import_infiniband, {seed("iblinkinfo_two_switches.txt")}},
      {"link lines", import_infiniband, {seed("iblinkinfo_lines.txt")}},
      {"subnet list", import_infiniband, {seed("opensm-subnet_one_switch.txt")}},
      {"diagnosis", import_infiniband, {seed("ibdiagnet_two_switches.txt")}},
      {"sonic", import_lldp, {seed("sonic_table.txt"), seed("sonic_neighbours.txt")}},
      {"slurm yaml", import_slurm, {seed("slurm_yaml.txt")}},
      {"lldp", import_lldp, {sample_text(lldp + "leaf1.json"), sample_text(lldp + "gpu01.json")}},
      {"lldp json0", import_lldp, {sample_text(lldp + "leaf1.json0.json")}},
      {"slurm",
       import_slurm,
       {"SwitchName=leaf1 Nodes=n[1-4]\nSwitchName=leaf2 Nodes=n[05-08],m\n"
        "SwitchName=mid Switches=leaf[1-2] LinkSpeed=3\nSwitchName=top Switches=mid\n"}},
      {"nccl-xml", import_nccl_xml, {xml}},
      {"topo-matrix",
       import_topo_matrix,
       {"\tGPU0\tGPU1\tNIC0\tCPU Affinity\nGPU0\t X \tNV12\tPXB\t0\nGPU1\tNV12\t X \tSYS\t1\n"
        "NIC0\tPXB\tSYS\t X \n\nNIC Legend:\n\n  NIC0: mlx5_0\n"}},
      {"graphml",
       import_graphml,
       {"<graphml>\n<key attr.name=\"Latitude\" id=\"a\"/>\n<graph>\n<node id=\"0\">\n"
        "<data key=\"a\">50</data>\n</node>\n<node id=\"1\"/>\n<edge source=\"0\" target=\"1\"/>\n"
        "</graph>\n</graphml>\n"}},
  };
}

/// $HEADWAY_MUTATIONS sets another number: the long tier of the tests runs more.
int rounds() {
  const char* wanted = std::getenv("HEADWAY_MUTATIONS");
  return wanted == nullptr ? 100 : std::atoi(wanted);
}

TEST(ImportMutations, NoDumpBreaksAnImporter) {
  for (const Case& original : mutation_cases()) {
    int imported = 0;
    Mutator mutator(20240607);
    for (int round = 0; round < rounds(); ++round) {
      SCOPED_TRACE(std::string(original.name) + " " + std::to_string(round));
      std::vector<std::string> texts = original.originals;
      mutator.mutate(texts[mutator.below(3) == 0 ? mutator.below(texts.size()) : 0]);
      const Imported result = imported_texts(original.importer, texts, {.bandwidth = 400_Gbps});
      if (!result.topology) continue;
      ++imported;
      const std::string text =
          result.topology->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      if ((*result.topology)["schema"] != "headway/topology/1") continue;
      const ReadText read = read_topology_text(text);
      EXPECT_NE(read.topology.has_value(), !read.problems.empty());
    }
    EXPECT_GT(imported, 0) << original.name;
    EXPECT_LT(imported, rounds()) << original.name << ": no mutation was refused";
  }
}

}  // namespace
}  // namespace headway
