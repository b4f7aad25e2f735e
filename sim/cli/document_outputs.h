#pragma once

#include <string>
#include <vector>

#include "reports/document/document.h"
#include "sim/cli/outputs.h"
#include "sim/cli/terminal.h"

namespace headway {

/// Suffixes of files that a document can be written to: ".html", ".md", and ".json" for the JSON
/// text that stands for it.
[[nodiscard]] std::vector<std::string> document_suffixes();

/// Writes each file by its suffix.
void write_document(const std::vector<OutputFile>& files, const Document& document,
                    const std::string& json, Terminal& terminal);

}  // namespace headway
