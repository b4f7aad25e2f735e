#pragma once

#include <ostream>
#include <string>

#include "reports/document/document.h"
#include "sim/result/study.h"

namespace headway {

/// The scaling report: the answer, throughput and efficiency against GPUs with what ideal scaling
/// would give, where the time goes by scale, a map of two axes with what is not possible, the
/// fastest job in detail, all points. Sections of which there is nothing to show are left out.
[[nodiscard]] Document study_document(const Study& study);

/// A header and a row a point: the axes, why there is no speed, then as csv_table has it.
class StudyCsv {
 public:
  /// The stream outlives this.
  explicit StudyCsv(std::ostream& out) : out_(out) {}
  void add(const StudyPoint& point);

 private:
  std::ostream& out_;
  bool has_header_ = false;
};
void write_study_csv(const Study& study, std::ostream& out);

/// {"schema": "headway/study/1", "points": [{"axes", "reason", "result"}]}
[[nodiscard]] std::string study_json_text(const Study& study);

}  // namespace headway
