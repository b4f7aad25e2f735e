#include "sim/launch/reading/launch_formats.h"

namespace headway {

// Each is defined in the file that bears its name.
Importer import_accelerate;
Importer import_deepspeed;
Importer import_megatron;
Importer import_torchtitan;

namespace {

constexpr std::string_view kOfMegatron[] = {"topology", "profile", "preset", "nodes", "vocabulary"};
constexpr std::string_view kOfTorchtitan[] = {"topology", "profile", "preset", "nodes", "model"};
constexpr std::string_view kOfFile[] = {"topology", "profile", "preset",
                                        "nodes",    "model",   "sequence-length"};

constexpr ImportFormat kLaunchFormats[] = {
    {"megatron-lm", import_megatron, ImportedKind::scenario,
     "the script that starts Megatron-LM or Megatron-DeepSpeed, or the log of its run",
     kOfMegatron},
    {"torchtitan", import_torchtitan, ImportedKind::scenario,
     "the TOML of a job of torchtitan, or the script or logged command that starts it with one",
     kOfTorchtitan},
    {"deepspeed", import_deepspeed, ImportedKind::scenario,
     "the JSON that DeepSpeed is given, or the script that starts a job with one", kOfFile},
    {"accelerate", import_accelerate, ImportedKind::scenario,
     "the script that runs `accelerate launch` on one of transformers' Trainer", kOfFile}};

}  // namespace

std::span<const ImportFormat> launch_formats() { return kLaunchFormats; }

}  // namespace headway
