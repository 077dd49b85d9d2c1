#!/bin/sh
# Numbers are written as numerals, and nothing else is.

for pair in 1:I 4:IV 9:IX 14:XIV 40:XL 90:XC 400:CD 1994:MCMXCIV 2026:MMXXVI 3999:MMMCMXCIX; do
  got=$(sh roman.sh "${pair%:*}")
  if [ "$got" != "${pair#*:}" ]; then
    echo "${pair%:*} should be ${pair#*:}, and is $got"
    exit 1
  fi
done

for wrong in '' 0 4000 ten 1.5 -3; do
  if sh roman.sh "$wrong" 2>/dev/null; then
    echo "'$wrong' should be refused"
    exit 1
  fi
done
