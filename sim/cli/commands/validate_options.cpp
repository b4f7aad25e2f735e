#include "sim/cli/commands/validate_options.h"

#include <string>
#include <utility>

#include "sim/cli/options/common_options.h"
#include "sim/cli/options/scenario_options.h"

namespace headway {
namespace {

Option repeatable_option(std::string name, std::string value, std::string help) {
  return {.name = std::move(name),
          .value = std::move(value),
          .help = std::move(help),
          .group = OptionGroup::input,
          .repeatable = true};
}

}  // namespace

std::vector<Option> validate_options() {
  const std::vector<std::string> filters = {"kind",      "framework", "source", "gpu",
                                            "precision", "scale",     "id"};
  const auto beside_filters = [&](std::vector<std::string> others) {
    others.insert(others.end(), filters.begin(), filters.end());
    return others;
  };
  Option measured = repeatable_option("measured", "FILE", "steps that were run here, instead");
  measured.excludes = beside_filters({"rows", "ablate", "leave-out", "memory", "tolerance"});
  return with_standard_options({
      {.name = "rows",
       .value = "FILE",
       .fallback = "798 that ship",
       .help = "published training steps",
       .group = OptionGroup::input},
      measured,
      repeatable_option("profile", "FILE", "calibrated here, instead"),
      repeatable_option("kind", "WORD", "only these: dense, moe, lora or sft"),
      repeatable_option("framework", "NAME", "only rows of this software"),
      repeatable_option("source", "KEY", "only rows that this source published"),
      repeatable_option("gpu", "NAME", "only rows of this accelerator"),
      repeatable_option("precision", "NAME", "only rows in this precision"),
      repeatable_option("scale", "RANGE", "only jobs of 64, 65..1024 or 1025.. GPUs"),
      repeatable_option("id", "PREFIX", "only rows whose id begins so"),
      {.name = "ablate",
       .value = "TERM",
       .help = "again without a term, or each: all",
       .group = OptionGroup::run,
       .repeatable = true},
      {.name = "leave-out",
       .value = "WHAT",
       .help = "as if source or choices were unknown",
       .group = OptionGroup::run,
       .repeatable = true,
       .words = {"source", "choices"}},
      {.name = "pairs",
       .help = "what changing one thing does: rows that differ so",
       .group = OptionGroup::run,
       .excludes = {"ablate", "memory", "collectives", "sync", "tolerance", "measured",
                    "constants"}},
      {.name = "anchors",
       .help = "what one measured step tells of other rows",
       .group = OptionGroup::run,
       .excludes = {"ablate", "pairs", "constants", "memory", "collectives", "sync", "tolerance",
                    "measured", "profile"}},
      {.name = "constants",
       .help = "what the fit was free to choose, and on which rows",
       .group = OptionGroup::run,
       .excludes = beside_filters({"rows", "ablate", "leave-out", "memory", "collectives", "sync",
                                   "tolerance", "measured", "profile"})},
      {.name = "memory",
       .help = "whether jobs fit: ones that ran, ones that did not",
       .group = OptionGroup::run,
       .excludes = {"ablate", "leave-out", "tolerance", "profile"}},
      {.name = "collectives",
       .help = "collectives of NCCL, against 48 published sweeps",
       .group = OptionGroup::run,
       .excludes =
           beside_filters({"ablate", "leave-out", "memory", "tolerance", "measured", "profile"})},
      {.name = "sync",
       .help = "how jobs synchronise and read: 78 published rows",
       .group = OptionGroup::run,
       .excludes = {"ablate", "leave-out", "memory", "collectives", "tolerance", "measured",
                    "profile", "kind", "framework", "source", "gpu", "precision", "scale"}},
      {.name = "tolerance",
       .value = "SHARE",
       .help = "exit code 1 if the mean error exceeds it: 10%",
       .group = OptionGroup::run},
      jobs_option(),
      json_option(),
      output_option(),
      progress_option(),
  });
}

}  // namespace headway
