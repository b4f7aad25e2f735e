#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "reports/answers/study_document.h"
#include "sim/result/prediction.h"

namespace headway {

/// The documents that a prediction can be written as.
enum class ReportFormat { json, markdown, html, csv };

/// By the suffix of the file's name, in either case; nothing if it is none of `report_suffixes()`.
[[nodiscard]] std::optional<ReportFormat> format_of(const std::filesystem::path& path);

/// All known suffixes, for messages: ".json", ".md", ".html", ".csv".
[[nodiscard]] std::vector<std::string> report_suffixes();

/// The whole document.
[[nodiscard]] std::string report_in(ReportFormat format, const Prediction& prediction);
[[nodiscard]] std::string report_in(ReportFormat format, const Study& study);

}  // namespace headway
