#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tutti/data/digits_data.cpp from the digits that scikit-learn carries.

    tools/digits_to_cpp.py [digits.csv.gz] > tutti/data/digits_data.cpp

The default input is the file of Debian's package python3-sklearn: one line per image, 64 pixels of
0 to 16 and the label. A pixel becomes a letter, 'A' + value; the label stays a digit at the end.
"""
import gzip
import sys

path = "/usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz"
if len(sys.argv) > 1:
    path = sys.argv[1]

print("// SPDX-License-Identifier: CC-BY-4.0")
print("// Written by tools/digits_to_cpp.py; where the images come from is told in digits.md.")
print('#include "tutti/data/digits_data.h"\n')
print("namespace tutti::data {\n")
print("// clang-format off")
print("const char digit_rows[digit_count][digit_pixels + 2] = {")
count = 0
with gzip.open(path, "rt") as lines:
    for line in lines:
        values = [int(float(word)) for word in line.split(",")]
        pixels, label = values[:-1], values[-1]
        if len(pixels) != 64 or not all(0 <= p <= 16 for p in pixels) or not 0 <= label <= 9:
            sys.exit(f"{path}: line {count + 1}: expected 64 pixels of 0 to 16 and a label of 0 to 9")
        print('"' + "".join(chr(ord("A") + p) for p in pixels) + f'{label}",')
        count += 1
if count != 1797:
    sys.exit(f"{path}: {count} images, expected 1797")
print("};")
print("// clang-format on\n")
print("}  // namespace tutti::data")
