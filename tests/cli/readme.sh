#!/bin/bash
# Proves that what the README shows works as it stands: each line that begins with "$ hcasim", and each --set in its text.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$(realpath "$1")
source=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

mkdir "$folder/bin"
ln -s "$hcasim" "$folder/bin/hcasim"
ln -s "$source/scenarios" "$folder/scenarios"
PATH=$folder/bin:$PATH
cd "$folder" || exit 1

commands=0
while read -r line; do
  commands=$((commands + 1))
  if [[ $line == *" -- "* ]] && ! command -v ib_write_lat >/dev/null; then
    continue
  fi
  eval "$line" >out 2>&1 || {
    echo "$line: exit code $?: $(tail -n 5 out)"
    failures=$((failures + 1))
  }
done < <(sed -n 's/^\$ \(hcasim .*\)/\1/p' "$source/README.md")
[ $commands -ge 3 ] || { echo "only $commands commands in README.md"; failures=$((failures + 1)); }

settings=0
while read -r setting; do
  settings=$((settings + 1))
  hcasim check scenarios/two-hosts-ib.yaml --set "$setting" >out 2>&1 || {
    echo "--set $setting: $(cat out)"
    failures=$((failures + 1))
  }
done < <(grep -o -- '--set [a-z][A-Za-z0-9_.*]*=[^`]*`' "$source/README.md" | sed 's/^--set //; s/`$//')
[ $settings -ge 1 ] || { echo "no --set in README.md"; failures=$((failures + 1)); }
exit $((failures > 0))
