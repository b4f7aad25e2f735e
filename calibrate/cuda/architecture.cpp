#include "calibrate/cuda/architecture.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace headway {

Architecture architecture(int major, int minor) {
  Architecture result;
  result.precisions = {Precision::bf16, Precision::fp16, Precision::tf32, Precision::fp32};
  if (major * 10 + minor >= 89) result.precisions.push_back(Precision::fp8);
  if (major >= 10) result.precisions.push_back(Precision::fp4);
  // NVIDIA's architecture white papers: tensor-core fused multiply-adds a clock and multiprocessor
  // times 2. A100: 1024 in fp16; H100: 2048; B200: 4096. fp32 outside of the tensor cores: 64, 128,
  // 128. Times multiprocessors and boost clock they give the data sheets' peaks:
  // 108 * 2048 * 1.41 GHz = 312 TFLOP/s, 132 * 4096 * 1.83 GHz = 989 TFLOP/s.
  double half = 0.0;
  double single = 256.0;
  if (major == 8 && minor == 0) {
    half = 2048.0;
    single = 128.0;
  } else if (major == 9) {
    half = 4096.0;
  } else if (major == 10) {
    half = 8192.0;
  } else {
    return result;
  }
  result.flops_per_clock = {{Precision::bf16, half},
                            {Precision::fp16, half},
                            {Precision::tf32, half / 2.0},
                            {Precision::fp32, single}};
  if (major >= 9) result.flops_per_clock[Precision::fp8] = 2.0 * half;
  if (major >= 10) result.flops_per_clock[Precision::fp4] = 4.0 * half;
  return result;
}

std::string accelerator_name(const std::string& device_name) {
  // As NVIDIA's drivers name the devices of the profiles that ship. A slice of a device (MIG) has
  // "MIG ..." behind its name and is none of them.
  constexpr std::array<std::pair<const char*, const char*>, 13> kKnown = {
      {{"Tesla V100-SXM2-16GB", "v100-sxm"},
       {"Tesla V100-SXM2-32GB", "v100-sxm"},
       {"Tesla V100-SXM3-32GB", "v100-sxm"},
       {"NVIDIA A100-SXM4-40GB", "a100-sxm-40gb"},
       {"NVIDIA A100-SXM4-80GB", "a100-sxm-80gb"},
       {"A100-SXM4-40GB", "a100-sxm-40gb"},
       {"NVIDIA H100 80GB HBM3", "h100-sxm"},
       {"NVIDIA H200", "h200-sxm"},
       {"NVIDIA B200", "b200-sxm"},
       {"NVIDIA B300 SXM6 AC", "b300-sxm"},
       {"NVIDIA B300", "b300-sxm"},
       {"NVIDIA GB200", "gb200"},
       {"NVIDIA GB300", "gb300"}}};
  for (const auto& [device, name] : kKnown) {
    if (device_name == device) return name;
  }
  std::string name = device_name.starts_with("NVIDIA ") ? device_name.substr(7) : device_name;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return c == ' ' ? '-' : static_cast<char>(std::tolower(c));
  });
  return name;
}

}  // namespace headway
