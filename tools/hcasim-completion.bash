# Completion of the hcasim command for bash:  source tools/hcasim-completion.bash
# Verbs and options come from the program itself (hcasim help --words), so they cannot go stale.
_hcasim() {
  local word=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]} i
  COMPREPLY=()
  for ((i = 2; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then # behind it stand programs
      mapfile -t COMPREPLY < <(compgen -c -- "$word")
      return
    fi
  done
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$("$program" help --words 2>/dev/null)" -- "$word")
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("$program" help --words "${COMP_WORDS[1]}" 2>/dev/null)" -- "$word")
  elif [[ ${COMP_WORDS[1]} == help ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("$program" help --words 2>/dev/null)" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -o filenames -F _hcasim hcasim
