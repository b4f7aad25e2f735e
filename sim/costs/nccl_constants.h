#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.h"
#include "sim/base/words.h"

namespace headway {

/// How NCCL moves bytes: LL and LL128 send a flag with every 4 or 120 bytes and wait for nothing,
/// Simple fills buffers and synchronises.
enum class NcclProtocol { ll, ll128, simple };
template <>
inline constexpr Word<NcclProtocol> kWords<NcclProtocol>[] = {
    {"LL", NcclProtocol::ll}, {"LL128", NcclProtocol::ll128}, {"Simple", NcclProtocol::simple}};
inline constexpr NcclProtocol kNcclProtocols[] = {NcclProtocol::ll, NcclProtocol::ll128,
                                                  NcclProtocol::simple};

/// What a collective takes inside one node, as tests/validation/fit_one_node_collectives.py fits it
/// to tables of one node (ai-dynamo/aiconfigurator, NCCL 2.27 to 2.29): the steps and bytes of a
/// ring, or of a reduction in the switches.
struct NcclNodeCosts {
  Seconds overhead;         ///< of a collective
  Seconds step;             ///< to a neighbour
  Seconds simple_overhead;  ///< of protocol Simple, on top
  double efficiency = 1.0;  ///< of the scale-up bandwidth, that a ring with Simple reaches
  Seconds switch_overhead;  ///< of an all-reduce in the switches, on top
  /// The share of the scale-up bandwidth at which switches take messages in and give sums out.
  double switch_efficiency = 0.0;
  /// The same of what a message has beyond `kNcclFilledFrom`: buffers stay filled, and nothing
  /// waits for the first and the last. As below it where nobody published larger ones.
  double large_efficiency = 0.0;
  double large_switch_efficiency = 0.0;
  /// Latencies of a ring all-reduce over several nodes with Simple are so many times as long, the
  /// ring being filled and drained ("plateau").
  double ring_plateau = 1.4;
};

/// The constants of an accelerator as topologies name it ("a100-sxm-80gb"), or of another of its
/// family ("a100"); null if nobody published a table of these. They stand in profiles
/// (sim/costs/accelerators.h).
[[nodiscard]] const NcclNodeCosts* nccl_node_costs(std::string_view accelerator);
/// All families that are known, for messages.
[[nodiscard]] std::vector<std::string> nccl_families();

/// The tables of one node end at 512 MiB; rates that public sweeps show up to 16 GiB begin here.
inline constexpr Bytes kNcclFilledFrom = 256_MiB;

/// Part of the rate of a ring that LL and LL128 reach inside a node, by the same fit.
inline constexpr double kNcclLowLatencyShare = 0.40;

/// The same of LL128 where a group spans several nodes, whose NICs then bound it: what a byte more
/// takes of gathers over eight A100, H100 and H200, in the median from 1 to 8 MiB (the same
/// tables).
inline constexpr double kNcclLineShare = 0.60;

/// NCCL's own model of what crosses a network (2.30.7, src/graph/tuning.cc): it picks algorithm and
/// protocol by it. Times that the tables of one node cannot tell.
struct NcclNetworkCosts {
  Seconds ring_step;  ///< hwLatencies of the network
  Seconds tree_step;  ///< the same of a tree
  Seconds overhead;   ///< baseLatencies of a ring, over that of LL
  /// Where a group spans several nodes, by how much a step inside one takes longer than one of LL
  /// (hwLatencies of NVLink): of a ring, and of a tree.
  Seconds ring_step_inside;
  Seconds tree_step_inside;
  double efficiency = 1.0;  ///< data in what is sent: LL 4 of 8 bytes, LL128 120 of 128
};
[[nodiscard]] NcclNetworkCosts nccl_network_costs(NcclProtocol protocol);

/// Bus bandwidth that LL does not exceed over several nodes (llMaxBws): its flags are checked by
/// the host's processor.
[[nodiscard]] BytesPerSecond nccl_ll_bandwidth(int domains, bool is_amd);

/// Time of the host's processor for a message over the network (net overhead): what NCCL counts
/// when it chooses, and what a message of many takes.
[[nodiscard]] Seconds nccl_message_overhead(bool is_amd);
/// What a step of a ring really waits for it: on AMD's a little more than on others (1.0 to 1.6 us
/// of all-gathers on DGX A100 and on ALCF's Polaris).
[[nodiscard]] Seconds nccl_step_overhead(bool is_amd);

/// What trees reach of the network's bandwidth.
inline constexpr double kNcclTreeEfficiency = 0.92;
/// What trees reach of that on messages too small to keep them filled (treeCorrectionFactor).
[[nodiscard]] double nccl_tree_filling(NcclProtocol protocol, Bytes message);

/// Bus bandwidth of a channel of a tree with Simple over so many nodes of such accelerators
/// (perChMaxTreeBws); a channel is one thread block, and one NIC's.
[[nodiscard]] BytesPerSecond nccl_tree_channel(std::string_view accelerator, int domains);
/// What a rank of a chain (a broadcast, a reduce) takes in on a channel before it sends it on:
/// NCCL_BUFFSIZE of 4 MiB in NCCL_STEPS of 8 parts (BROADCAST_CHUNKSTEPS and REDUCE_CHUNKSTEPS are
/// 1, src/include/collectives.h). A channel crosses the network by one NIC.
inline constexpr Bytes kNcclChainChunk = 512_KiB;

/// Parallel aggregated trees, which gather and scatter where every rank has a node of its own
/// (since 2.23; ncclTuningPatModel): time of each of the logarithmically many steps (14 us
/// over 3.5), of each rank, and the part of the network's rate.
struct NcclParallelTrees {
  Seconds step;
  Seconds rank;
  double efficiency = 1.0;
};
inline constexpr NcclParallelTrees kNcclParallelTrees{4.0_us, 2.8_us, 0.75};

/// Channels of a tree between domains, one for each NIC of a domain.
inline constexpr int kNcclMostTreeChannels = 16;
/// What trees between switches that reduce send out of a domain: 24 channels, which NVLS opens on
/// Blackwell, of 17.5 GB/s, the step of NCCL's search (sm100SpeedArrayInter) that goes on one rail
/// with two others. An estimate.
inline constexpr BytesPerSecond kNcclSwitchTreeBandwidth = 420_GBps;

}  // namespace headway
