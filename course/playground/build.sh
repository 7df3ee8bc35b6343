#!/bin/sh
# Builds kernel.wasm (SIMD) and kernel-plain.wasm (without) from kernel.c, with clang and lld.
# The same compiler gives the same bytes; the committed files were made by Debian's clang 14.
set -e
cd "$(dirname "$0")"
flags="--target=wasm32 -O3 -mbulk-memory -ffp-contract=off -nostdlib -fno-builtin -Wall -Wextra -Werror
       -Wl,--no-entry -Wl,--strip-all"
clang $flags -msimd128 -o kernel.wasm kernel.c
clang $flags -o kernel-plain.wasm kernel.c
