# SPDX-License-Identifier: Apache-2.0
# Completion of the hcasim command for bash: source tools/hcasim-completion.bash. The program itself
# prints verbs, options, names of lists and rows, and the keys of --set (--words).

# The words that the program prints for these arguments, of those that begin with $word.
_hcasim_words() {
  mapfile -t COMPREPLY < <(compgen -W "$("$program" "$@" --words 2>/dev/null)" -- "$word")
}

# Words for --set. The scenario is the first word that is a file.
_hcasim_keys() {
  local i
  for ((i = 2; i < COMP_CWORD; i++)); do
    if [[ -f ${COMP_WORDS[i]} ]]; then
      compopt -o nospace 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -S = \
        -W "$("$program" check "${COMP_WORDS[i]}" --words 2>/dev/null)" -- "$word")
      return
    fi
  done
}

_hcasim() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local program=${COMP_WORDS[0]} verb=${COMP_WORDS[1]} i
  COMPREPLY=()
  for ((i = 2; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then # behind it stand programs
      mapfile -t COMPREPLY < <(compgen -c -- "$word")
      return
    fi
  done
  if ((COMP_CWORD == 1)); then
    _hcasim_words help
  elif [[ $before == --set || $before == -s ]]; then
    _hcasim_keys
  elif [[ $before == --engine || $before == -e ]]; then
    mapfile -t COMPREPLY < <(compgen -W 'native systemc systemc-reference' -- "$word")
  elif [[ $word == -* ]]; then
    _hcasim_words help "$verb"
  elif [[ $verb == help ]]; then
    _hcasim_words help
  elif [[ $verb == params || $verb == counters || $verb == published ]]; then
    _hcasim_words "$verb"
  elif [[ $verb == fit && $before != --preset ]]; then
    _hcasim_words published
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -o filenames -F _hcasim hcasim
