#!/bin/sh
# Convert Roman numerals, both ways:
#
#   sh roman.sh 2026      prints MMXXVI
#   sh roman.sh MMXXVI    prints 2026

pairs='1000:M 900:CM 500:D 400:CD 100:C 90:XC 50:L 40:XL 10:X 9:IX 5:V 4:IV 1:I'

fail() {
  echo "roman: $1" >&2
  exit 1
}

to_roman() {
  rest=$1
  numeral=
  for pair in $pairs; do
    while [ "$rest" -ge "${pair%:*}" ]; do
      numeral=$numeral${pair#*:}
      rest=$((rest - ${pair%:*}))
    done
  done
  echo "$numeral"
}

to_number() {
  rest=$1
  number=0
  for pair in $pairs; do
    letters=${pair#*:}
    while [ "${rest#"$letters"}" != "$rest" ]; do
      number=$((number + ${pair%:*}))
      rest=${rest#"$letters"}
    done
  done
  # IIII adds up to 4, but 4 is written IV.
  if [ -n "$rest" ] || [ "$number" -gt 3999 ] || [ "$(to_roman "$number")" != "$1" ]; then
    fail "'$1' is neither a number from 1 to 3999 nor a Roman numeral"
  fi
  echo "$number"
}

case $1 in
  '' | 0*) fail 'give a number from 1 to 3999, or a Roman numeral' ;;
  *[!0-9]*) to_number "$1" ;;
  *) to_roman "$1" ;;
esac
