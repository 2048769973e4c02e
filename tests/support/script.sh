# What scripts of tests begin with: a folder of their own in $folder, and fail, which says what is wrong and counts it in $failures.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failures=0

fail() {
  echo "$*"
  failures=$((failures + 1))
}
