#include "sim/cli/document_outputs.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/document/html_document.h"
#include "reports/document/markdown_document.h"
#include "reports/write_file.h"

namespace headway {

std::vector<std::string> document_suffixes() { return {".html", ".md", ".json"}; }

void write_document(const std::vector<OutputFile>& files, const Document& document,
                    const std::string& json, Terminal& terminal) {
  for (const OutputFile& file : files) {
    const std::string suffix = suffix_of(file.path);
    write_file(file.path, suffix == ".json"   ? json
                          : suffix == ".html" ? html_of(document)
                                              : markdown_of(document));
    terminal.remark(fmt::format("wrote {}\n", file.path));
  }
}

}  // namespace headway
