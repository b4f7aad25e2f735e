#include "tests/calibrate/fake_cuda/bias.h"

#include <fmt/format.h>
#include <nccl.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "calibrate/cuda/cublaslt_gemm.h"
#include "calibrate/cuda/event_wait.h"
#include "calibrate/measure/statistics.h"
#include "tests/calibrate/fake_cuda/law.h"

namespace headway {
namespace {

cudaDataType type_of(Precision precision) {
  switch (precision) {
    case Precision::bf16:
      return CUDA_R_16BF;
    case Precision::fp8:
      return CUDA_R_8F_E4M3;
    default:
      return CUDA_R_32F;
  }
}

double truth(const GemmPoint& point) {
  const auto& [m, n, k] = point.shape;
  return fake_cuda::product_time(m, n, k, 1, type_of(point.precision));
}

/// Steps and volumes as the law of nccl.cpp has them.
double truth(const CollectivePoint& point) {
  const double others = point.ranks - 1.0;
  const auto bytes = static_cast<double>(point.message_bytes);
  switch (point.kind) {
    case CollectiveKind::all_reduce:
      return fake_cuda::collective_time(bytes, 2.0 * others / point.ranks, 2.0 * others);
    case CollectiveKind::broadcast:
      return fake_cuda::collective_time(bytes, 1.0, others);
    case CollectiveKind::send_receive:
      return fake_cuda::collective_time(bytes, 1.0, 1.0);
    default:  // all-gather, reduce-scatter, all-to-all
      return fake_cuda::collective_time(bytes, others / point.ranks, others);
  }
}

/// The median of what events around a call say, nothing held.
template <class Call>
double between_events(cudaStream_t stream, Call call) {
  std::vector<double> times;
  for (int i = 0; i < 9; ++i) {
    const DeviceEvent start;
    const DeviceEvent end;
    HEADWAY_CUDA(cudaEventRecord(start, stream));
    call();
    HEADWAY_CUDA(cudaEventRecord(end, stream));
    wait_for(end);
    times.push_back(elapsed_time(start, end).count());
  }
  return median(times);
}

double usual_time(const GemmPoint& point) {
  const BatchedGemmPoint one{point, 1};
  const GemmBytes bytes = gemm_bytes(one);
  DevicePool a(bytes.a);
  DevicePool b(bytes.b);
  DevicePool c(bytes.c);
  const DeviceStream stream;
  const Enqueue work = cublaslt_gemm(one, {a, b, c});
  return between_events(stream, [&] { work(stream); });
}

/// All-reduces of one thread that drives all devices.
double usual_time(std::size_t bytes, int ranks) {
  ncclUniqueId id;
  (void)ncclGetUniqueId(&id);
  std::vector<ncclComm_t> communicators(static_cast<std::size_t>(ranks));
  std::vector<std::unique_ptr<DeviceStream>> streams;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const DeviceGuard guard(rank);
    streams.push_back(std::make_unique<DeviceStream>());
    (void)ncclCommInitRankConfig(&communicators[static_cast<std::size_t>(rank)], ranks, id, rank,
                                 &config);
  }
  const DeviceGuard guard(0);
  const double time = between_events(*streams.front(), [&] {
    (void)ncclGroupStart();
    for (std::size_t rank = 0; rank < communicators.size(); ++rank) {
      (void)ncclAllReduce(nullptr, nullptr, bytes / sizeof(float), ncclFloat, ncclSum,
                          communicators[rank], *streams[rank]);
    }
    (void)ncclGroupEnd();
  });
  for (const ncclComm_t one : communicators) (void)ncclCommAbort(one);
  return time;
}

void add(Bias& bias, const std::string& point, double truth, double by_backend, double by_events) {
  bias.points.push_back(fmt::format("{} ({:.1f} us)", point, 1e6 * truth));
  bias.of_backend.push_back(by_backend / truth - 1.0);
  if (by_events > 0.0) bias.of_events.push_back(by_events / truth - 1.0);
}

double largest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end(),
                           [](double a, double b) { return std::abs(a) < std::abs(b); });
}

std::string columns(const std::vector<double>& values) {
  if (values.empty()) return fmt::format("{:>10}{:>10}", "", "");
  return fmt::format("{:>+8.1f} %{:>+8.1f} %", 100.0 * median(values), 100.0 * largest(values));
}

}  // namespace

double measured_time(CudaBackend& backend, const Point& point) {
  const auto operation = backend.prepare(point);
  std::vector<double> times;
  for (int i = 0; i < 9; ++i) times.push_back(operation->repeat().time.count());
  return median(times);
}

std::vector<Bias> biases(CudaBackend& backend) {
  // Of products of 5 us the start is 1.5 us, and noise of 0.3 % is left.
  Bias long_products{.what = "products of 20 us and more", .allowed = 0.01};
  Bias short_products{.what = "shorter products", .allowed = 0.02};
  for (const double m : {256.0, 1024.0, 4096.0}) {
    for (const double n : {512.0, 2048.0, 8192.0}) {
      for (const double k : {512.0, 4096.0, 16384.0}) {
        for (const Precision precision : {Precision::bf16, Precision::fp8, Precision::fp32}) {
          const GemmPoint point{{m, n, k}, precision, GemmLayout::nn};
          const bool is_usual = precision == Precision::bf16;
          add(truth(point) >= 20e-6 ? long_products : short_products, point_text(point),
              truth(point), measured_time(backend, point), is_usual ? usual_time(point) : 0.0);
        }
      }
    }
  }
  Bias large{.what = "collectives of 64 KiB and more", .allowed = 0.05};
  Bias small{.what = "smaller collectives", .allowed = 0.10};
  for (const CollectiveKind kind :
       {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
        CollectiveKind::broadcast, CollectiveKind::all_to_all, CollectiveKind::send_receive}) {
    for (const int ranks : {2, 8}) {
      for (const std::size_t bytes :
           {std::size_t{1} << 10U, std::size_t{1} << 16U, std::size_t{1} << 26U}) {
        const CollectivePoint point{kind, "nccl", bytes, ranks};
        const bool is_usual = kind == CollectiveKind::all_reduce;
        add(bytes >= (1U << 16U) ? large : small, point_text(point), truth(point),
            measured_time(backend, point), is_usual ? usual_time(bytes, ranks) : 0.0);
      }
    }
  }
  return {long_products, short_products, large, small};
}

std::string bias_table(const std::vector<Bias>& all) {
  std::string text = fmt::format("{:<32}{:>8}{:>20}{:>20}{:>10}\n{:<40}{:>10}{:>10}{:>10}{:>10}\n",
                                 "", "points", "calibrator", "events around", "allowed", "",
                                 "median", "largest", "median", "largest");
  for (const Bias& one : all) {
    text += fmt::format("{:<32}{:>8}{}{}{:>8.0f} %\n", one.what, one.points.size(),
                        columns(one.of_backend), columns(one.of_events), 100.0 * one.allowed);
  }
  return text;
}

std::vector<std::string> too_far(const Bias& bias) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < bias.points.size(); ++i) {
    const double off = bias.of_backend[i];
    if (std::abs(off) > bias.allowed) {
      found.push_back(fmt::format("{}: {:+.2f} %", bias.points[i], 100.0 * off));
    }
  }
  return found;
}

}  // namespace headway
