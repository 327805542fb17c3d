// SPDX-License-Identifier: Apache-2.0
// Values as people read them, and as HTML wants them. Unknown numbers are empty texts.
#pragma once

#include <string>

namespace tutti::report {

// Escapes a text for HTML, where it may also be an attribute's value in double quotes.
std::string escaped(const std::string& text);

std::string plain(double value);
std::string percent(double part);
std::string whole(double value);  // digits in groups of three
std::string bytes(double count);  // "12.3 kB", where k is 1000; 0 bytes: ""
std::string duration(double seconds);
std::string brief_duration(double seconds);  // below a second in ms or µs

// The attribute that gives an element the colour of a run.
std::string color_of(std::size_t run);

}  // namespace tutti::report
