#include <fmt/format.h>

#include <utility>

#include "sim/reference/explain_tables.h"
#include "sim/scenario/cost_terms.h"

namespace headway {

std::vector<Topic> term_topics() {
  std::vector<Topic> topics;
  std::string names;
  for (const CostTerm& term : cost_terms()) {
    names += (names.empty() ? "" : ", ") + std::string(term.name);
    topics.push_back({.kind = TopicKind::term,
                      .name = fmt::format("term.{}", term.name),
                      .type = "term of the cost model",
                      .about = "Left out by --ablate: " + std::string(term.about),
                      .see = "terms; headway validate --ablate"});
  }
  topics.push_back({.kind = TopicKind::term,
                    .name = "terms",
                    .type = "names",
                    .about = "Terms of the cost model that `headway validate --ablate` can leave "
                             "out. They are " +
                             names + ".",
                    .see = "sim/programs/README.md tells the formulas"});
  return topics;
}

}  // namespace headway
