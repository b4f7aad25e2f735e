#include "sim/base/text_table.h"

#include <gtest/gtest.h>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

TextTable sizes() {
  TextTable table({{"name"}, {"bytes", TextTable::Align::right}, {"note"}});
  table.add_row({"weights", "1024", "a|b"});
  table.add_row({"Zürich", "8"});
  return table;
}

TEST(TextTable, ColumnsAreAsWideAsTheirWidestCell) {
  EXPECT_EQ(sizes().text(2),
            "  name     bytes  note\n"
            "  weights   1024  a|b\n"
            "  Zürich       8\n");
}

TEST(TextTable, AColumnInWhichNoRowSaysAnythingIsNotShown) {
  TextTable table({{"name"}, {"measured", TextTable::Align::right}, {"note"}});
  EXPECT_EQ(table.text(), "name  measured  note\n");  // of no rows nothing is known
  table.add_row({"weights"});
  table.add_row({"caches", "", "a"});
  EXPECT_EQ(table.text(),
            "name     note\n"
            "weights\n"
            "caches   a\n");
  EXPECT_EQ(table.markdown(),
            "| name | note |\n"
            "| --- | --- |\n"
            "| weights |  |\n"
            "| caches | a |\n");
  EXPECT_EQ(table.html().find("measured"), std::string::npos);
}

TEST(TextTable, TheWidestTextIsWrappedWhereLinesWouldBeTooLong) {
  TextTable table({{"change"}, {"ms", TextTable::Align::right}});
  table.add_row({"degree 2 -> 4, batch 8 -> 16", "1"});
  table.add_row({"short", "10"});
  EXPECT_EQ(table.text(0, 32), table.text());  // 28 + 2 + 2: as wide as that
  EXPECT_EQ(table.text(2, 24),
            "  change              ms\n"
            "  degree 2 -> 4,       1\n"
            "    batch 8 -> 16\n"
            "  short               10\n");
  // No narrower than the longest word behind its two blanks.
  EXPECT_EQ(table.text(0, 5),
            "change    ms\n"
            "degree 2   1\n"
            "  -> 4,\n"
            "  batch\n"
            "  8 ->\n"
            "  16\n"
            "short     10\n");
}

TEST(TextTable, MarkdownEscapesBars) {
  EXPECT_EQ(sizes().markdown(),
            "| name | bytes | note |\n"
            "| --- | ---: | --- |\n"
            "| weights | 1024 | a\\|b |\n"
            "| Zürich | 8 |  |\n");
}

TEST(TextTable, WithoutRowsHasItsTitles) { EXPECT_EQ(TextTable({{"a"}, {"b"}}).text(), "a  b\n"); }

TEST(TextTable, MoreCellsThanColumnsIsABug) {
  TextTable table({{"one"}});
  EXPECT_THROW(table.add_row({"1", "2"}), InternalError);
}

TEST(TextTable, AnyChangeReachesEveryCellAndTitle) {
  TextTable table({{"a"}, {"b", TextTable::Align::right}});
  table.add_row({"c", "d"});
  EXPECT_EQ(table.with_cells([](std::string_view cell) { return "<" + std::string(cell); }).text(),
            "<a  <b\n<c  <d\n");
  EXPECT_EQ(table.row_count(), 1U);
}

TEST(TextTable, HtmlKeepsMarksFromBeingMarkup) {
  TextTable table({{"name"}, {"n", TextTable::Align::right}});
  table.add_row({"a<b & c", "7"});
  EXPECT_EQ(table.html(),
            "<table>\n<thead><tr><th>name</th><th class=\"number\">n</th></tr></thead>\n"
            "<tbody>\n<tr><td>a&lt;b &amp; c</td><td class=\"number\">7</td></tr>\n"
            "</tbody>\n</table>\n");
}

TEST(TextTable, HtmlLetsARangeStandBelowItsNumber) {
  TextTable table({{"name (of it)"}, {"days", TextTable::Align::right}});
  table.add_row({"a (b)", "63.6 (54.0 .. 74.9)"});
  EXPECT_EQ(table.html(),
            "<table>\n<thead><tr><th>name (of it)</th><th class=\"number\">days</th></tr></thead>\n"
            "<tbody>\n<tr><td>a (b)</td><td class=\"number\">63.6 <wbr>(54.0 .. 74.9)</td></tr>\n"
            "</tbody>\n</table>\n");
}

/// Both columns of texts give way, the widest first, to the width of their longest word and two
/// blanks: 13 + 2 + 13 columns become 7 + 2 + 11.
TEST(TextTable, WrapsAsManyColumnsAsItHasTo) {
  TextTable table({{"a"}, {"b"}});
  table.add_row({"one two three", "four five six"});
  EXPECT_EQ(table.text(0, 20),
            "a        b\n"
            "one two  four five\n"
            "  three    six\n");
}

/// 6 + 2 + 9 + 2 + 10 columns fit in 30, and 2 + 7 more do not.
TEST(TextTable, ContinuesBelowWhereNumbersHaveNoRoom) {
  TextTable table({{"point"}, {"iteration", kRight}, {"throughput", kRight}, {"cost", kRight}});
  table.add_row({"gpus 8", "7.76 s", "541 k", "US$ 1 M"});
  EXPECT_EQ(table.text(0, 30),
            "point   iteration  throughput\n"
            "gpus 8     7.76 s       541 k\n"
            "\n"
            "point      cost\n"
            "gpus 8  US$ 1 M\n");
}

}  // namespace
}  // namespace headway
