#pragma once

#include <string>
#include <vector>

namespace headway {

/// Where help shows an option.
enum class OptionGroup { input, run, output, help };

/// One option of a command. The table of these is all there is: the parser, both help screens,
/// completion and the man page are made from it, so they cannot disagree.
struct Option {
  std::string name;      ///< "set", without dashes
  char letter = '\0';    ///< of the short form, if it has one
  std::string value;     ///< "FILE"; empty for a switch
  std::string fallback;  ///< what holds without it, as help shows it; may be empty
  std::string help;      ///< a clause, no full stop
  OptionGroup group = OptionGroup::run;
  bool repeatable = false;
  bool changes_result = false;             ///< belongs to the command line that a result records
  std::vector<std::string> words = {};     ///< the only values it takes; any if empty
  std::vector<std::string> excludes = {};  ///< options that do not go with it
};

}  // namespace headway
