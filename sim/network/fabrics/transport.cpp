#include "sim/network/fabrics/transport.h"

#include "sim/base/diagnostic.h"
#include "sim/network/fabrics/fabric.h"

namespace headway {

TransportCosts transport_costs(TransportKind transport) {
  switch (transport) {
    case TransportKind::unstated:
    case TransportKind::infiniband:
    case TransportKind::other:
      // 4096 of 4096 + 26 bytes are data; ib_send_bw was seen to reach 0.983 of NDR200.
      return {};
    case TransportKind::roce:
      // 4096 of 4096 + 82 bytes (RoCEv2: Ethernet, IP, UDP, transport headers, checks, gap).
      return {.goodput = 4096.0 / (4096.0 + 82.0)};
    case TransportKind::tcp:
      // 1460 of 1538 bytes at the usual MTU. A message passes two kernels: nccl-tests over sockets
      // of 2 and 8 nodes (argonne-lcf/alcf-nccl-tests, "default TCP") take 32 and 100 us more for 1
      // KiB of an all-reduce than over libfabric on the same NICs, in 2 and 6 messages one after
      // the other, 38 and 200 of an all-gather, in 2 and 8; a step of Simple has three messages in
      // NCCL's own model. 28 peers take 440 us of an all-to-all, 8 us a message. One core
      // copies 1.7 GB/s into a socket (the same tables: 3.4 GB/s over two NICs of 25 GB/s; 3.1 a
      // NIC of an all-to-all, two connections' worth). LL128 is off over sockets, whose buffers are
      // in host memory.
      return {.goodput = 1460.0 / 1538.0,
              .message_latency = 18_us,
              .bulk_latency = 54_us,
              .posting = 6_us,
              .carries_lines = false,
              .connection = 1.7_GBps};
    case TransportKind::efa_v1:
      // Scalable Reliable Datagram: 15.5 us from MPI process to process (AWS, 2019), where
      // InfiniBand takes 1 to 2, and GPU memory a little more. Up to P4 it keeps no order within a
      // message, so aws-ofi-nccl sets NCCL_PROTO to simple (its issues 76 and 802).
      return {.message_latency = 17_us,
              .bulk_latency = 51_us,
              .carries_flags = false,
              .carries_lines = false};
    case TransportKind::efa:
      // From P5 on writes are in order (aws-ofi-nccl, pull request 280); as slow to start.
      return {.message_latency = 17_us, .bulk_latency = 51_us};
    case TransportKind::slingshot:
      // Small messages are as fast as InfiniBand's; large ones first meet (rendezvous), 130 us more
      // for the two steps between two nodes and 500 to 1,000 for the eight between eight, and reach
      // 18 of 25 GB/s a NIC, to many peers at once 9 to 11: argonne-lcf/alcf-nccl-tests, libfabric,
      // NCCL 2.18, all-gathers and all-to-alls.
      return {.goodput = 0.75, .bulk_latency = 65_us, .spread_share = 0.53, .carries_lines = false};
  }
  HEADWAY_CHECK(false, "unknown transport");
}

namespace {

const FieldTable<TransportCosts>& cost_fields_of_transport() {
  using Costs = TransportCosts;
  static const FieldTable<Costs> kFields(
      {{"goodput", number(&Costs::goodput, {.least = 0.0, .most = 1.0, .open = true}),
        R"(What large transfers reach of a NIC's rate, framing taken off: 0.98 of InfiniBand and
RoCE, 0.95 of TCP, 0.75 of Slingshot under NCCL.
default: the transport's)"},
       {"message_latency", quantity(&Costs::message_latency, at_least(0.0)),
        R"(How much longer than over InfiniBand a small message takes: 18 us of TCP, 17 of EFA.
default: the transport's)"},
       {"bulk_latency", quantity(&Costs::bulk_latency, at_least(0.0)),
        R"(The same of a message that fills a buffer (NCCL's protocol Simple): 54 us of TCP, 51 of
EFA, 65 of Slingshot.
default: the transport's)"},
       {"connection_bandwidth", quantity(&Costs::connection, positive()),
        R"(What one connection carries. 1.7 GB/s of a TCP socket, which one core fills;
NCCL_NSOCKS_PERTHREAD opens more.
default: the transport's; as much as the NIC of all but TCP)"},
       {"encryption_bandwidth", quantity(&Costs::encryption, positive()),
        R"(What encrypts what a NIC sends, and decrypts what it receives: cores for TLS, IPsec and
WireGuard, the NIC for MACsec. No message goes faster. Bytes that encryption adds to a packet are a
matter of goodput: 32 of MACsec (IEEE 802.1AE: a tag and a check value of 16 each).
default: nothing is encrypted)"},
       {"encryption_latency", quantity(&Costs::encryption_latency, at_least(0.0)),
        R"(How much later a message arrives for being encrypted and decrypted.)"}});
  return kFields;
}

bool may_reduce(TransportKind kind) {
  return kind == TransportKind::infiniband || kind == TransportKind::unstated;
}

bool is_stated(const FabricTransport& transport) {
  return transport.kind != TransportKind::unstated;
}

const FieldTable<FabricTransport>& transport_fields() {
  using Transport = FabricTransport;
  static const FieldTable<Transport> kFields(
      {{"transport", word(&Transport::kind).where(is_stated),
        R"(How messages cross the fabric. efa-v1 are the Elastic Fabric Adapters up to P4, which keep
no order within a message, efa those since. Decides what messages cost beyond NICs and cables:
latency, framing, the protocols that a library may use, what a connection carries. Of another one
nothing is known; what a profile measured counts as it is.
limits: collectives with NCCL's costs are refused over other
default: not stated: counted as InfiniBand)"},
       {"transport_costs",
        part(&Transport::costs, cost_fields_of_transport)
            .settled([](Transport& of) { of.costs = transport_costs(of.kind); })
            .where([](const Transport&) { return false; }),
        R"(What is known better of the transport at this site.
default: the transport's)"},
       {"reduces",
        flag(&Transport::reduces)
            .settled([](Transport& of) { of.reduces = may_reduce(of.kind); })
            .where([](const Transport& of) { return of.reduces != may_reduce(of.kind); }),
        R"(The switches add up what passes them, as the algorithm in_network needs: NVIDIA SHARP.
default: true of infiniband, and where no transport is stated)"}});
  return kFields;
}

}  // namespace

std::vector<FieldDescription> transport_field_descriptions() {
  return transport_fields().described();
}

FabricTransport read_transport(ObjectReader& reader) {
  FabricTransport read;
  transport_fields().read(reader, read);
  return read;
}

}  // namespace headway
