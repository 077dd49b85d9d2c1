#!/bin/sh
# Numerals are read as numbers, there and back, and misspelled ones are refused.

for number in 1 4 9 14 40 90 400 1994 2026 3999; do
  numeral=$(sh roman.sh "$number")
  got=$(sh roman.sh "$numeral")
  if [ "$got" != "$number" ]; then
    echo "$numeral should be $number, and is $got"
    exit 1
  fi
done

for wrong in IIII VX IC MMMM ABC; do
  if sh roman.sh "$wrong" 2>/dev/null; then
    echo "'$wrong' should be refused"
    exit 1
  fi
done
