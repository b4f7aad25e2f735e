#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/base/units.h"
#include "sim/files/json_value.h"

namespace headway {

// What the words of a published row name. The names stand in scenarios/validation/row_words.json;
// case, hyphens and blanks do not count. A name that is part of a longer one ("VGG" of "VGG-19") is
// none.

/// What a reader found, or why it did not find it, for a refused row.
template <class Value>
using ReadWords = std::variant<Value, std::string>;

/// A topology of the library, and how many accelerators its nodes have.
struct NamedCluster {
  std::string topology;
  int per_node = 1;
};

/// Accelerators of one kind, and the servers that they stand in.
struct NamedAccelerator {
  std::string words;                           ///< as they were found in the table: "DGX A100"
  std::string profile;                         ///< "a100_sxm_80gb"
  std::string name;                            ///< as topologies have it: "a100-sxm-80gb"
  BytesPerSecond scale_up;                     ///< of one, in its server
  BytesPerSecond all_to_all;                   ///< the same where everybody sends to everybody
  bool on_pcie = false;                        ///< a card in a slot
  int per_server = 0;                          ///< 0 where no machine is named
  std::optional<NamedCluster> cluster = {};    ///< that ships
  std::optional<BytesPerSecond> network = {};  ///< of a server, where its kind has one
  std::string rented_profile;                  ///< of what public clouds have by that name
  std::string rented_name;                     ///< as topologies have it
  int rented_per_server = 8;                   ///< as they have servers of it
  BytesPerSecond rented_scale_up;
  std::optional<int> count = {};  ///< the number before the name: "8 x H100"
};

/// The accelerator that a text names; a reason where it names none or several unlike ones.
[[nodiscard]] ReadWords<NamedAccelerator> named_accelerator(std::string_view text);

/// A model: a name of the library, or an object as a scenario has it.
struct NamedModel {
  std::string words;  ///< as they were found in the table: "ResNet 50"
  JsonValue model;
};

/// The model that a text names first; as it says it most exactly anywhere ("ResNet-18, CIFAR" with
/// "ResNet-18 CIFAR-10" behind it). A reason where it names none.
[[nodiscard]] ReadWords<NamedModel> named_model(std::string_view text);

/// All that it names, in order.
[[nodiscard]] std::vector<NamedModel> named_models(std::string_view text);

/// "fp32", "tf32", "fp16" or "bf16", if a text says it; "mixed precision" and AMP are fp16.
[[nodiscard]] std::optional<std::string> said_precision(std::string_view text);

/// What a text says of the network's rate: the first number of bits a second ("100 Gb/s", "25
/// Gbit", "10GbE", "2Tb/s", "400Gbps"). Bytes a second count where nothing in the same clause says
/// that they are another link's (NVLink, PCIe, memory, a disk).
[[nodiscard]] std::optional<BytesPerSecond> network_rate(std::string_view text);

/// Samples that the optimizer steps with, as a text says them.
struct SaidBatch {
  std::optional<double> of_each;  ///< "200 samples a GPU", "64k per GPU", "per-GPU batch size 32"
  std::optional<double> of_all;   ///< "global batch of 65,536"
  std::optional<double> plain;    ///< "batch size 64", and no word of whose
};
[[nodiscard]] SaidBatch said_batch(std::string_view text);
/// What is said of each accelerator, a plain one included.
[[nodiscard]] std::optional<double> batch_of_each(std::string_view text);

}  // namespace headway
