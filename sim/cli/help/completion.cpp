#include "sim/cli/help/completion.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/cli/command.h"

namespace headway {
namespace {

class Candidates {
 public:
  explicit Candidates(const std::string& begun) : begun_(begun) {}

  void add(const std::string& word, std::string_view about = "") {
    if (word.starts_with(begun_)) lines_ += fmt::format("{}\t{}\n", word, about);
  }
  void add_all(const std::vector<std::string>& words) {
    for (const std::string& word : words) add(word);
  }
  [[nodiscard]] std::string lines() && { return std::move(lines_); }

 private:
  const std::string& begun_;
  std::string lines_;
};

bool is_spelt(const Option& option, std::string_view word) {
  return word == "--" + option.name ||
         (option.letter != '\0' && word == fmt::format("-{}", option.letter));
}

}  // namespace

std::string candidates(const std::vector<std::string>& words) {
  if (words.empty()) return "";
  Candidates found(words.back());
  if (words.size() == 1) {
    for (const Command& command : commands()) found.add(command.name, command.summary);
    found.add("-h", "what there is");
    found.add("--help", "what there is");
    found.add("--version", "the version");
    return std::move(found).lines();
  }
  const auto command = std::ranges::find(commands(), words.front(), &Command::name);
  if (command == commands().end()) return "";
  const auto before = std::ranges::find_if(command->options, [&](const Option& option) {
    return !option.value.empty() && is_spelt(option, words[words.size() - 2]);
  });
  if (before != command->options.end()) {
    found.add_all(before->words);
  } else if (words.back().starts_with('-')) {
    for (const Option& option : command->options) {
      if (option.letter != '\0') found.add(fmt::format("-{}", option.letter), option.help);
      found.add("--" + option.name, option.help);
    }
  } else if (words.size() == 2) {
    found.add_all(command->words);
  }
  return std::move(found).lines();
}

std::string bash_completion() {
  return R"(# bash completion of headway; to be sourced, or kept as
# ~/.local/share/bash-completion/completions/headway
_headway() {
  local IFS=$'\n'
  COMPREPLY=($(headway __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o bashdefault -o default -F _headway headway
)";
}

std::string zsh_completion() {
  return R"(#compdef headway
# zsh completion of headway; to be kept as _headway in a folder of $fpath
_headway() {
  local -a found
  found=("${(@f)$(headway __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=("${(@)found:#}")
  if (( ! $#found )); then
    _files
    return
  fi
  found=("${(@)found//:/\\:}")
  found=("${(@)found//$'\t'/:}")
  _describe -t headway headway found
}
_headway "$@"
)";
}

std::string fish_completion() {
  return R"(# fish completion of headway; to be kept as ~/.config/fish/completions/headway.fish
function __headway_complete
  set -l words (commandline -opc) (commandline -ct)
  headway __complete $words[2..-1] 2>/dev/null
end
complete -c headway -a '(__headway_complete)'
)";
}

}  // namespace headway
