// A number is shown with one range: wherever the same one stands on a page or in what a command
// prints, the same range stands beside it. Ranges that are something else (the spread of replicas,
// what an anchor would leave) say so in words and stand apart from it.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "tests/support/file_content.h"
#include "tests/support/source_folder.h"
#include "tests/transcripts/transcript.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

/// The text of a page, "|" where an element begins or ends; scripts, styles and drawings left out.
std::string text_of_page(const std::string& page) {
  std::string text;
  for (std::size_t at = 0; at < page.size();) {
    if (page[at] != '<') {
      const char c = page[at++];
      text += c == '\n' ? ' ' : c;
      continue;
    }
    std::size_t end = page.find('>', at);
    for (const std::string unread : {"script", "style", "svg"}) {
      if (page.compare(at + 1, unread.size(), unread) == 0) {
        end = page.find('>', page.find("</" + unread, at));
      }
    }
    if (text.empty() || text.back() != '|') text += '|';
    at = end == std::string::npos ? page.size() : end + 1;
  }
  return text;
}

using Range = std::pair<double, double>;
/// By number with its unit, the ranges that stand beside it: "6.06 s (5.00 .. 7.35)", and
/// "6.06 s|5.00 .. 7.35 s" of pages. Their units are left out.
using Ranges = std::map<std::string, std::set<Range>>;
Ranges ranges_in(const std::string& text) {
  static const std::regex kRange(R"re(((?:US\$ )?[0-9][0-9.,]*(?: [A-Za-z/%]+)*)(?: *\(|\|))re"
                                 R"re((?:US\$ )?([0-9][0-9.,]*)[A-Za-z/% ]* \.\. )re"
                                 R"re((?:US\$ )?([0-9][0-9.,]*))re");
  Ranges ranges;
  for (std::sregex_iterator at(text.begin(), text.end(), kRange), end; at != end; ++at) {
    ranges[(*at)[1]].insert({std::stod((*at)[2]), std::stod((*at)[3])});
  }
  return ranges;
}

/// Two things may be equal to the digits shown, and their ranges then nearly are.
bool are_one(const Range& a, const Range& b) {
  constexpr double kRounding = 0.02;
  return std::abs(a.first - b.first) <= kRounding * a.first &&
         std::abs(a.second - b.second) <= kRounding * a.second;
}

/// Returns how many numbers have a range.
std::size_t expect_one_range_each(const std::string& text, const std::string& place) {
  const Ranges ranges = ranges_in(text);
  for (const auto& [number, of_it] : ranges) {
    for (const Range& other : of_it) {
      EXPECT_TRUE(are_one(*of_it.begin(), other))
          << place << ": " << number << " has a range to " << of_it.begin()->second
          << " and one to " << other.second;
    }
  }
  return ranges.size();
}

TEST(Ranges, AreFoundBesideTheirNumbers) {
  EXPECT_EQ(ranges_in("  iteration     6.06 s   (5.00 .. 7.35)"),
            (Ranges{{"6.06 s", {{5.00, 7.35}}}}));
  EXPECT_EQ(ranges_in(text_of_page("<b>US$ 1.91 M</b><i>US$ 1.48 M .. 2.46 M</i>")),
            (Ranges{{"US$ 1.91 M", {{1.48, 2.46}}}}));
  EXPECT_EQ(ranges_in("8 days (6 .. 9), 8 days (7 .. 8)").at("8 days").size(), 2U);
}

TEST(Ranges, APublishedPageHasOneForEachNumber) {
  std::size_t found = 0;
  for (const auto& entry :
       fs::directory_iterator(fs::path(source_folder()) / "reports/published")) {
    if (entry.path().extension() != ".html") continue;
    found += expect_one_range_each(text_of_page(content_of(entry.path())), entry.path().filename());
  }
  EXPECT_GT(found, 40U);
}

TEST(Ranges, WhatACommandPrintsHasOneForEachNumber) {
  std::size_t found = 0;
  for (const auto& entry :
       fs::directory_iterator(fs::path(source_folder()) / "tests/transcripts")) {
    if (entry.path().extension() != ".transcript") continue;
    for (const TranscriptStep& step : parse_transcript(content_of(entry.path()))) {
      found += expect_one_range_each(step.output, step.command);
    }
  }
  EXPECT_GT(found, 20U);
}

}  // namespace
}  // namespace headway
