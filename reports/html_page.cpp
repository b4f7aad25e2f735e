#include "reports/html_page.h"

#include <fmt/format.h>

#include "sim/base/utf8.h"

namespace headway {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --paper: #ffffff;
  --rule: #d9dee5; --band: #e9eef5; --series-1: #1d63b8; --series-2: #c04f15;
  --series-3: #2b7d57; --series-4: #7a4bb0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e9f0; --soft: #9aa6b5; --paper: #14181e;
  --rule: #333b46; --band: #222a34; --series-1: #6fb1ff; --series-2: #ff9a5c;
  --series-3: #6fd0a2; --series-4: #c39bf2; } }
@media print { :root { --ink: #000; --soft: #444; --paper: #fff; --rule: #bbb; --band: #eee;
  --series-1: #1d63b8; --series-2: #c04f15; --series-3: #2b7d57; --series-4: #7a4bb0; }
  figure, table { break-inside: avoid; } }
body { margin: 2rem auto; max-width: 62rem; padding: 0 1rem; color: var(--ink);
  background: var(--paper); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
figure { margin: 1.5rem 0; } figcaption { color: var(--soft); font-size: 0.9rem; }
svg { width: 100%; max-width: 40rem; height: auto; display: block; }
svg text { fill: var(--soft); font: 12px system-ui, sans-serif; }
.grid { stroke: var(--rule); fill: none; } .equal { stroke: var(--soft); fill: none; }
.band { fill: var(--band); } .mark { fill-opacity: 0.6; }
.series-1 { fill: var(--series-1); } .series-2 { fill: var(--series-2); }
.series-3 { fill: var(--series-3); } .series-4 { fill: var(--series-4); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.88rem; margin: 0.8rem 0; }
th, td { padding: 0.25rem 0.7rem 0.25rem 0; text-align: left; border-bottom: 1px solid var(--rule); }
th { color: var(--soft); font-weight: 600; } .number { text-align: right; }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
code { font: 0.9em ui-monospace, monospace; } a { color: var(--series-1); }
)";

}  // namespace

std::string escaped_html(std::string_view text) {
  std::string escaped;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string html_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      escaped_html(title), kStyle, body);
}

}  // namespace headway
