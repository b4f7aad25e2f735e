#include <fmt/format.h>
#include <gtest/gtest.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "tests/fuzz/limited_run.h"
#include "tests/fuzz/settings.h"
#include "tests/support/scenario_text.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::vector<std::string> kNames = {
    "</script><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'onmouseover='alert(1)",
    "javascript:alert(1)",
    "[x](javascript:alert(1))",
    "![x](https://nowhere.invalid/x)",
    "=cmd()|'/c calc'!A1",
    "@SUM(1)",
    "+1+1",
    "-1-1",
    "\t=1+1",
    "\r\n=1+1",
    "\u2028</title><base href=//nowhere.invalid>",
};

/// A name wherever a scenario has one.
json scenario_of_names(const std::string& name) {
  json scenario = small_scenario(2);
  scenario["name"] = name;
  scenario["description"] = name;
  scenario["model"]["name"] = name;
  scenario["model"]["source"] = name;
  scenario["cluster"]["topology"]["name"] = name;
  scenario["cluster"]["topology"]["source"] = name;
  scenario["cluster"]["topology"]["node"]["name"] = name;
  scenario["run"]["replicas"] = 2;
  return scenario;
}

/// Cells of a text as RFC 4180 has them.
std::vector<std::string> cells_of(const std::string& text) {
  std::vector<std::string> cells(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      cells.back() += text[++i];
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (!is_quoted && (c == ',' || c == '\n' || c == '\r')) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

/// A spreadsheet computes what begins like this (OWASP, "CSV Injection").
bool is_formula(const std::string& cell) {
  const std::size_t first = cell.find_first_not_of(" \t\r\n");
  if (first == std::string::npos ||
      std::string_view("=+-@").find(cell[first]) == std::string::npos) {
    return false;
  }
  double number = 0.0;
  const auto [end, error] = std::from_chars(cell.data() + first, cell.data() + cell.size(), number);
  return error != std::errc() || end != cell.data() + cell.size();
}

void expect_inert_page(const std::string& page) {
  const std::size_t policy = page.find("<meta http-equiv=\"Content-Security-Policy\"");
  ASSERT_NE(policy, std::string::npos);
  EXPECT_LT(policy, page.find("<title>"));
  EXPECT_LT(policy, page.find("<script"));
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  // Of names nothing is left that stands outside of texts.
  for (const char* mark : {"<script>alert", "<img src=x", "<base ", "href=\"javascript:"}) {
    EXPECT_EQ(page.find(mark), std::string::npos) << mark;
  }
  // Links lead nowhere but to what the page carries and to where sources stand.
  for (const std::string_view link : {"href=\"", "src=\""}) {
    for (std::size_t at = page.find(link); at != std::string::npos; at = page.find(link, at + 1)) {
      const std::string target = page.substr(at + link.size(), 80);
      EXPECT_TRUE(target.starts_with("#") || target.starts_with("data:")) << target;
    }
  }
}

/// But for blocks of code, in which nothing is a mark.
std::string prose_of(const std::string& text) {
  std::istringstream lines(text);
  std::string prose;
  bool is_code = false;
  for (std::string line; std::getline(lines, line);) {
    const bool is_fence = line.starts_with("```");
    if (is_fence) is_code = !is_code;
    if (!is_fence && !is_code) prose += line + "\n";
  }
  return prose;
}

void expect_inert_markdown(const std::string& text) {
  static const std::regex kLive(R"((^|[^\\])(<script|<img|<base|!\[x\]\(|\[x\]\(javascript))");
  const std::string prose = prose_of(text);
  std::smatch match;
  EXPECT_FALSE(std::regex_search(prose, match, kLive)) << match.str();
}

void expect_inert(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string suffix = entry.path().extension();
    if (!entry.path().filename().string().starts_with("out")) continue;
    SCOPED_TRACE(entry.path().filename().string());
    const std::string text = content_of(entry.path());
    if (suffix == ".html") expect_inert_page(text);
    if (suffix == ".md") expect_inert_markdown(text);
    if (suffix == ".json") {
      EXPECT_FALSE(json::parse(text, nullptr, false).is_discarded());
    }
    if (suffix != ".csv") continue;
    for (const std::string& cell : cells_of(text)) EXPECT_FALSE(is_formula(cell)) << cell;
  }
}

TEST(HostileNames, AreTextInEveryOutput) {
  for (const std::string& name : kNames) {
    SCOPED_TRACE(name);
    const ScratchFolder scratch;
    scratch.write("a.json", scenario_of_names(name).dump());
    scratch.write("b.json", small_scenario(4).dump());
    scratch.write("t.json", scenario_of_names(name)["cluster"]["topology"].dump());
    const std::vector<std::vector<std::string>> commands = {
        {"simulate", "a.json", "-j", "1", "-o", "out1.html", "-o", "out1.md", "-o", "out1.csv",
         "-o", "out1.json", "--trace", "out2.json"},
        {"compare", "a.json", "b.json", "-j", "1", "-o", "out3.html", "-o", "out3.md", "-o",
         "out3.csv"},
        {"sweep", "a.json", "--axis", "micro_batch=1,2", "-j", "1", "-q", "-o", "store", "-o",
         "out4.html", "-o", "out4.md", "-o", "out4.csv"},
        {"topology", "t.json", "-o", "out5.html", "-o", "out5.md", "-o", "out5.csv"},
        {"plan", "a.json", "-j", "1", "-q", "-o", "out6.html", "-o", "out6.md", "-o", "out6.csv"}};
    for (std::vector<std::string> words : commands) {
      words.insert(words.begin(), HEADWAY_PROGRAM);
      const LimitedRun run = limited_run(words, scratch.path());
      EXPECT_EQ(run.exit_code, 0) << words[1] << run.ending() << run.errors.substr(0, 400);
      EXPECT_EQ((run.output + run.errors).find("\r\n=1"), std::string::npos) << "a line of its own";
    }
    expect_inert(scratch.path());
  }
}

}  // namespace
}  // namespace headway
