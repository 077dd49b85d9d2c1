#!/bin/sh
# Write a number as a Roman numeral: `sh roman.sh 2026` prints MMXXVI.

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

case $1 in
  '' | 0* | *[!0-9]* | [4-9]??? | ?????*) fail 'give a number from 1 to 3999' ;;
  *) to_roman "$1" ;;
esac
