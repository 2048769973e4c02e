# SPDX-License-Identifier: Apache-2.0
# Common part of test scripts: a folder of their own in $folder, and the function fail, which prints
# a message and counts it in $failures.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failures=0

fail() {
  echo "$*"
  failures=$((failures + 1))
}

# With $hcasim on PATH, in an empty folder.
as_a_user() {
  mkdir "$folder/bin" "$folder/work"
  ln -s "$hcasim" "$folder/bin/hcasim"
  PATH=$folder/bin:$PATH
  cd "$folder/work" || exit 1
}
