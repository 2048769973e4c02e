#compdef hcasim
# SPDX-License-Identifier: Apache-2.0
# Completion of the hcasim command for zsh: a copy named _hcasim in a folder of fpath. Verbs, options
# and keys come from the program itself (--words), so they cannot go stale.

# Offers the words that the program prints for these arguments.
_hcasim_words() {
  local -a offered
  offered=(${(f)"$(${words[1]} "$@" --words 2>/dev/null)"})
  offered=(${=offered})
  compadd -a offered
}

# Offers what --set takes: the scenario is the first word that is a file.
_hcasim_keys() {
  local word
  local -a keys
  for word in ${words[3,CURRENT-1]}; do
    if [[ -f $word ]]; then
      keys=(${(f)"$(${words[1]} check "$word" --words 2>/dev/null)"})
      compadd -S = -a keys
      return
    fi
  done
}

_hcasim() {
  local verb=${words[2]} before=${words[CURRENT-1]} word=${words[CURRENT]}
  if (( ${words[3,CURRENT-1][(I)--]} )); then # behind it stand programs
    _command_names -e
  elif (( CURRENT == 2 )); then
    _hcasim_words help
  elif [[ $before == --set || $before == -s ]]; then
    _hcasim_keys
  elif [[ $before == --engine || $before == -e ]]; then
    compadd native systemc systemc-reference
  elif [[ $word == -* ]]; then
    _hcasim_words help "$verb"
  elif [[ $verb == help ]]; then
    _hcasim_words help
  elif [[ $verb == (params|counters|published) ]]; then
    _hcasim_words "$verb"
  elif [[ $verb == fit && $before != --preset ]]; then
    _hcasim_words published
  else
    _files
  fi
}

_hcasim "$@"
