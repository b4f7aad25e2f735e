#include "calibrate/cuda/architecture.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace headway {

namespace {

/// AMD's white papers on CDNA 2, 3 and 4: matrix operations a clock and compute unit. 1024 in 16
/// bits on an MI250X, 220 * 1024 * 1.7 GHz = 383 TFLOP/s; 2048 on an MI300X, 304 * 2048 * 2.1 GHz =
/// 1307; 4096 on an MI355X, 256 * 4096 * 2.4 GHz = 2517. Twice that in 8 bits from CDNA 3 on; tf32
/// has CDNA 3 alone.
Architecture amd_architecture(const std::string& target) {
  Architecture result{.precisions = {Precision::bf16, Precision::fp16, Precision::fp32}};
  const double half = target == "gfx90a"   ? 1024.0
                      : target == "gfx942" ? 2048.0
                      : target == "gfx950" ? 4096.0
                                           : 0.0;
  if (half == 0.0) return result;
  result.flops_per_clock = {
      {Precision::bf16, half}, {Precision::fp16, half}, {Precision::fp32, 256.0}};
  if (target == "gfx90a") return result;
  result.precisions.push_back(Precision::fp8);
  result.flops_per_clock[Precision::fp8] = 2.0 * half;
  if (target != "gfx942") return result;
  result.precisions.push_back(Precision::tf32);
  result.flops_per_clock[Precision::tf32] = half / 2.0;
  return result;
}

}  // namespace

Architecture architecture(const std::string& target) {
  if (!target.starts_with("sm_")) return amd_architecture(target);
  const int number = std::atoi(target.c_str() + 3);
  const int major = number / 10;
  const int minor = number % 10;
  Architecture result;
  result.precisions = {Precision::bf16, Precision::fp16, Precision::tf32, Precision::fp32};
  if (number >= 89) result.precisions.push_back(Precision::fp8);
  result.has_block_scales = major >= 10;  // from Blackwell on
  if (result.has_block_scales) result.precisions.push_back(Precision::fp4);
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
  // As drivers name the devices of the profiles that ship. A slice of a device (MIG) has
  // "MIG ..." behind its name and is none of them.
  constexpr std::pair<const char*, const char*> kKnown[] = {
      {"Tesla V100-SXM2-16GB", "v100-sxm"},
      {"Tesla V100-SXM2-32GB", "v100-sxm"},
      {"Tesla V100-SXM3-32GB", "v100-sxm"},
      {"NVIDIA A100-SXM4-40GB", "a100-sxm-40gb"},
      {"NVIDIA A100-SXM4-80GB", "a100-sxm-80gb"},
      {"A100-SXM4-40GB", "a100-sxm-40gb"},
      {"A100-SXM4-80GB", "a100-sxm-80gb"},
      {"A100-SXM-80GB", "a100-sxm-80gb"},
      {"NVIDIA H100 80GB HBM3", "h100-sxm"},
      {"NVIDIA H800", "h800-sxm"},
      {"NVIDIA H200", "h200-sxm"},
      {"NVIDIA GH200 480GB", "gh200"},
      {"NVIDIA GH200 120GB", "gh200"},
      {"NVIDIA B200", "b200-sxm"},
      {"NVIDIA B300 SXM6 AC", "b300-sxm"},
      {"NVIDIA B300", "b300-sxm"},
      {"NVIDIA GB200", "gb200"},
      {"NVIDIA GB300", "gb300"},
      {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000"},
      {"Tesla P100-SXM2-16GB", "p100-sxm"},
      {"Tesla P100-PCIE-16GB", "p100-pcie"},
      {"AMD Instinct MI250X", "mi250x-die"},
      {"AMD Instinct MI300X", "mi300x"},
      {"AMD Instinct MI325X", "mi325x"},
      {"AMD Instinct MI350X", "mi350x"},
      {"AMD Instinct MI355X", "mi355x"}};
  for (const auto& [device, name] : kKnown) {
    if (device_name == device) return name;
  }
  std::string name = device_name;
  for (const std::string_view maker : {"NVIDIA ", "Tesla ", "GeForce "}) {
    if (name.starts_with(maker)) name.erase(0, maker.size());
  }
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return c == ' ' ? '-' : static_cast<char>(std::tolower(c));
  });
  return name;
}

}  // namespace headway
