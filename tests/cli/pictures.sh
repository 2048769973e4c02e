#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that each picture of docs/pictures/ with a text (NAME.pic) is drawn as this text says, is well-formed, and stands in a
# page. Arguments: the hcasim program, the top of the source tree.
top=$(realpath "$2")
. "$(dirname "$0")/../support/script.sh"

python3 "$top/tools/pictures" "$folder" || exit 1
for text in "$top"/docs/pictures/*.pic; do
  name=$(basename "$text" .pic)
  cmp -s "$folder/$name.svg" "$top/docs/pictures/$name.svg" || fail "docs/pictures/$name.svg is not that of $name.pic; run tools/pictures"
  python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$folder/$name.svg" || fail "$name.svg is malformed"
  grep -rq "pictures/$name.svg" "$top/docs" --include=*.md || fail "no page shows $name.svg"
done
exit $((failures > 0))
