#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "sim/base/utf8.h"
#include "sim/import/line_reader.h"
#include "sim/import/node_draft.h"
#include "sim/import/text_scanner.h"

namespace headway {

Importer import_topo_matrix;

namespace {

constexpr std::size_t kMostDevices = 256;
/// No GPU has more links of its own: H100 and B200 have 18 (NVIDIA data sheets).
constexpr int kMostNvlinks = 18;
/// The rate of a link of NVLink 2 to 4, one way (data sheets of V100, A100, H100).
constexpr BytesPerSecond kNvlinkBandwidth = 25_GBps;
/// PCIe 3.0 with 16 lanes as NCCL counts it (src/graph/topo.h).
constexpr BytesPerSecond kPcieBandwidth = 12_GBps;

/// How near two devices are; a higher value is farther.
constexpr std::string_view kDistances[] = {"X", "PIX", "PXB", "PHB", "NODE", "SYS"};
constexpr int kFarthest = std::size(kDistances);

std::vector<std::string> words_of(std::string_view line) {
  // Terminals underline the header.
  std::string plain;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      while (i + 1 < line.size() && line[i] != 'm') ++i;
    } else if (line[i] != '\r') {
      plain += line[i];
    }
  }
  std::vector<std::string> words;
  TextScanner scanner(plain);
  while (true) {
    scanner.skip_blanks();
    const std::string_view word = scanner.take_word();
    if (word.empty()) return words;
    words.emplace_back(word);
  }
}

constexpr const char* kHelpOfTable =
    "was the table folded or cut off? write it to a file: nvidia-smi topo -m > matrix.txt";
constexpr const char* kHelpOfCells =
    "a cell is X, NV and a number, or SYS, NODE, PHB, PXB or PIX, as the legend says";

bool is_gpu(const std::string& name) { return name.starts_with("GPU"); }
bool is_nic(const std::string& name) {
  return name.starts_with("NIC") || name.starts_with("mlx") || name.starts_with("hfi");
}

class MatrixReader {
 public:
  explicit MatrixReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void read(const std::string& path) {
    LineReader lines(path, diagnostics_);
    std::string_view line;
    while (lines.next(line)) {
      const std::vector<std::string> words = words_of(line);
      if (words.empty()) continue;
      if (columns_.empty()) {
        if (is_gpu(words.front()) && !read_header(lines, words)) return;
      } else if (is_gpu(words.front()) || is_nic(words.front())) {
        if (words.back() == words.front() || words.size() < 2 || words[0].back() == ':') continue;
        if (!read_row(lines, words)) return;
      } else {
        break;  // the legend
      }
    }
    if (columns_.empty() && !diagnostics_.has_errors()) {
      diagnostics_.add(
          lines.problem("no line names GPUs", "give the output of `nvidia-smi topo -m`"));
    }
  }

  [[nodiscard]] std::vector<std::string> devices(bool (*is_kind)(const std::string&)) const {
    std::vector<std::string> found;
    std::ranges::copy_if(columns_, std::back_inserter(found), is_kind);
    return found;
  }
  /// "NV18", "SYS"; empty if the row is missing.
  [[nodiscard]] std::string between(const std::string& row, const std::string& column) const {
    const auto found = rows_.find(row);
    if (found == rows_.end()) return "";
    const auto place = std::ranges::find(columns_, column) - columns_.begin();
    return found->second[static_cast<std::size_t>(place)];
  }

 private:
  bool read_header(const LineReader& lines, const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      if (!is_gpu(word) && !is_nic(word)) break;  // "CPU Affinity"
      columns_.push_back(word);
    }
    if (columns_.size() <= kMostDevices) return true;
    fail(lines, fmt::format("the line names {} devices, and a node has at most {}", columns_.size(),
                            kMostDevices));
    return false;
  }

  bool read_row(const LineReader& lines, const std::vector<std::string>& words) {
    if (std::ranges::find(columns_, words.front()) == columns_.end()) {
      fail(lines, fmt::format("{} has a row and no column", in_quotes(words.front())),
           kHelpOfTable);
      return false;
    }
    if (words.size() <= columns_.size()) {
      fail(lines,
           fmt::format("the row has {} entries for {} devices", words.size() - 1, columns_.size()),
           kHelpOfTable);
      return false;
    }
    const std::vector<std::string> cells(
        words.begin() + 1, words.begin() + 1 + static_cast<std::ptrdiff_t>(columns_.size()));
    for (const std::string& cell : cells) {
      if (cell == "OK" || cell == "CNS" || cell == "NS" || cell == "GNS" || cell == "TNS") {
        fail(lines, "the matrix tells which GPUs may read each other, not how they are joined",
             "give the output of `nvidia-smi topo -m`, not of `topo -p2p`");
        return false;
      }
      const bool is_known =
          cell.starts_with("NV") || std::ranges::find(kDistances, cell) != std::end(kDistances);
      if (!is_known) {
        fail(lines, fmt::format("{} is nothing that stands between two devices", in_quotes(cell)),
             kHelpOfCells);
        return false;
      }
    }
    if (!rows_.emplace(words.front(), cells).second) {
      fail(lines, fmt::format("{} has two rows", in_quotes(words.front())),
           "give the matrix of one node");
      return false;
    }
    return true;
  }

  void fail(const LineReader& lines, std::string message, std::string help = "") {
    diagnostics_.add(lines.problem(std::move(message), std::move(help)));
  }

  Diagnostics& diagnostics_;
  std::vector<std::string> columns_;
  std::map<std::string, std::vector<std::string>> rows_;
};

/// NVLinks of a GPU. To each peer over a switch a GPU shows all its links, else those that lead to
/// this peer: the sum is right if a GPU can have as many.
int nvlinks_of(const MatrixReader& matrix, const std::string& gpu,
               const std::vector<std::string>& gpus) {
  int sum = 0;
  int most = 0;
  for (const std::string& other : gpus) {
    TextScanner scanner(std::string_view{});
    const std::string cell = matrix.between(gpu, other);
    scanner = TextScanner(cell);
    if (!scanner.take("NV")) continue;
    const int links = std::clamp(scanner.take_number<int>().value_or(0), 0, kMostNvlinks);
    sum += links;
    most = std::max(most, links);
  }
  return sum <= kMostNvlinks ? sum : most;
}

std::vector<int> nearest_by_matrix(const MatrixReader& matrix, const std::vector<std::string>& gpus,
                                   const std::vector<std::string>& nics) {
  std::vector<int> taken(nics.size(), 0);
  std::vector<int> nearest;
  for (const std::string& gpu : gpus) {
    const auto rank = [&](std::size_t nic) {
      const std::string cell = matrix.between(gpu, nics[nic]);
      const auto found = std::ranges::find(kDistances, cell) - std::begin(kDistances);
      return std::pair(std::min<std::ptrdiff_t>(found, kFarthest), taken[nic]);
    };
    std::size_t best = 0;
    for (std::size_t nic = 1; nic < nics.size(); ++nic) {
      if (rank(nic) < rank(best)) best = nic;
    }
    ++taken[best];
    nearest.push_back(static_cast<int>(best));
  }
  return nearest;
}

nlohmann::json matrix_node_type(const MatrixReader& matrix, const ImportRequest& request,
                                Diagnostics& diagnostics) {
  const std::vector<std::string> gpus = matrix.devices(is_gpu);
  const std::vector<std::string> nics = matrix.devices(is_nic);
  NodeDraft draft(request, diagnostics);
  for (const std::string& gpu : gpus) {
    if (matrix.between(gpu, gpus.front()).empty())
      draft.fail(gpu + " has no row", {.file = request.paths.front()}, kHelpOfTable);
  }
  draft.accelerators = static_cast<int>(gpus.size());
  draft.nics = static_cast<int>(nics.size());
  if (!nics.empty()) draft.nearest = nearest_by_matrix(matrix, gpus, nics);
  int links = kMostNvlinks;
  for (const std::string& gpu : gpus) links = std::min(links, nvlinks_of(matrix, gpu, gpus));
  if (gpus.size() > 1 && !request.scale_up_bandwidth) {
    draft.scale_up_bandwidth = links > 0 ? links * kNvlinkBandwidth : kPcieBandwidth;
    draft.assume(links > 0 ? fmt::format("the matrix tells {} NVLinks but not how fast they are: "
                                         "25 GB/s each, as up to Hopper, are taken",
                                         links)
                           : std::string("accelerators that are joined by PCIe are taken to have "
                                         "12 GB/s, 16 lanes of the third generation"));
  }
  return draft.node_type("nvidia-smi topo -m, " + request.paths.front());
}

}  // namespace

/// The matrix of `nvidia-smi topo -m` to a node type. It tells what joins the devices; rates are
/// taken or given.
std::optional<nlohmann::json> import_topo_matrix(const ImportRequest& request,
                                                 Diagnostics& diagnostics) {
  Diagnostics problems;
  MatrixReader matrix(problems);
  nlohmann::json type;
  if (request.paths.size() > 1) {
    Diagnostic problem;
    problem.message = "a node type is made from one file";
    problem.help = "import each file by itself; a topology may have nodes of several types";
    problems.add(std::move(problem));
  } else {
    matrix.read(request.paths.front());
  }
  if (!problems.has_errors()) type = matrix_node_type(matrix, request, problems);
  diagnostics.append(problems);
  if (problems.has_errors()) return std::nullopt;
  return type;
}

}  // namespace headway
