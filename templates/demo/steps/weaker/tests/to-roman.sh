#!/bin/sh
# Numbers are written as numerals.

for pair in 1:I 4:IV 9:IX 14:XIV 40:XL 90:XC 400:CD 1994:MCMXCIV 2026:MMXXVI 3999:MMMCMXCIX; do
  got=$(sh roman.sh "${pair%:*}")
  if [ "$got" != "${pair#*:}" ]; then
    echo "${pair%:*} should be ${pair#*:}, and is $got"
    exit 1
  fi
done
