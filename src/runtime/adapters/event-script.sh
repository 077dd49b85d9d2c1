#!/bin/sh
[ -x __program__ ] && exec __program__ __call__ || exit 0
