// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/csv.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace tutti::data {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// Takes a text apart, line by line and field by field.
class Scanner {
 public:
  Scanner(std::string_view text, char separator, std::string file,
          std::deque<std::string>& unescaped)
      : rest_(text), separator_(separator), file_(std::move(file)), unescaped_(unescaped) {}

  std::int64_t line() const { return line_; }

  // Reads the fields of the next line that is not blank, and at which line it begins; false at the
  // end.
  bool next(std::vector<std::string_view>& fields, std::int64_t& first_line) {
    while (!rest_.empty()) {
      fields.clear();
      first_line = line_;
      const std::string_view before = rest_;
      do fields.push_back(field());
      while (take(separator_));
      const std::size_t length = before.size() - rest_.size();
      take('\n');
      ++line_;
      if (!trimmed(before.substr(0, length)).empty()) return true;
    }
    return false;
  }

 private:
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void skip_blanks() {
    while (!rest_.empty() && rest_[0] != separator_ &&
           (rest_[0] == ' ' || rest_[0] == '\t' || rest_[0] == '\r'))
      rest_.remove_prefix(1);
  }

  std::string_view field() {
    skip_blanks();
    if (rest_.starts_with('"')) return quoted();
    const char ends[] = {separator_, '\n'};
    const std::size_t end = std::min(rest_.find_first_of({ends, 2}), rest_.size());
    const std::string_view text = trimmed(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return text;
  }

  std::string_view quoted() {
    const std::int64_t first_line = line_;
    std::size_t end = 1;
    bool doubled = false;
    while (true) {
      end = rest_.find('"', end);
      if (end == std::string_view::npos)
        throw Error("{}: line {}: a quote opens a field and none closes it", file_, first_line);
      if (end + 1 >= rest_.size() || rest_[end + 1] != '"') break;
      doubled = true;
      end += 2;
    }
    const std::string_view text = rest_.substr(1, end - 1);
    line_ += std::count(text.begin(), text.end(), '\n');
    rest_.remove_prefix(end + 1);
    skip_blanks();
    if (!rest_.empty() && rest_[0] != separator_ && rest_[0] != '\n')
      throw Error("{}: line {}: '{}' follows a closing quote, expected a separator '{}'", file_,
                  line_, rest_[0], separator_);
    return doubled ? unescape(text) : text;
  }

  std::string_view unescape(std::string_view text) {
    std::string& plain = unescaped_.emplace_back();
    for (std::size_t i = 0; i < text.size(); ++i) {
      plain += text[i];
      if (text[i] == '"') ++i;  // the second of two quotes
    }
    return plain;
  }

  std::string_view rest_;
  char separator_;
  std::string file_;
  std::deque<std::string>& unescaped_;
  std::int64_t line_ = 1;
};

// The text of the file. Throws Error when it can't be UTF-8.
std::string_view text_of(const MappedFile& bytes, const std::string& file) {
  std::string_view text(reinterpret_cast<const char*>(bytes.bytes().data()), bytes.bytes().size());
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    throw Error("{}: the text is in UTF-16, expected UTF-8; save it as UTF-8", file);
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    throw Error(
        "{}: line {} holds a NUL byte, expected text in UTF-8; a text in UTF-16 is to be saved "
        "as UTF-8",
        file, 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n'));
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // the byte order mark
  return text;
}

// Whether the first line is a header: it holds no number, or a text where the second line has a
// number.
bool is_header(const std::vector<std::string_view>& first,
               const std::vector<std::string_view>& second) {
  const auto is_text = [](std::string_view field) {
    return !number_in(field).has_value() && !is_missing(field);
  };
  const auto is_number = [](std::string_view field) { return number_in(field).has_value(); };
  if (std::none_of(first.begin(), first.end(), is_number)) return true;
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i)
    if (is_text(first[i]) && is_number(second[i])) return true;
  return false;
}

}  // namespace

std::optional<double> number_in(std::string_view field) {
  field = trimmed(field);
  if (field.starts_with('+')) field.remove_prefix(1);
  double number = 0;
  const auto [end, failure] = std::from_chars(field.data(), field.data() + field.size(), number);
  if (failure != std::errc() || end != field.data() + field.size() || !std::isfinite(number))
    return std::nullopt;
  return number;
}

bool is_missing(std::string_view field) {
  std::string word(trimmed(field));
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array<std::string_view, 7> unknown = {"", "?", "na", "n/a", "nan", "null", "none"};
  return std::find(unknown.begin(), unknown.end(), word) != unknown.end();
}

CsvTable::CsvTable(const std::filesystem::path& path, const CsvFormat& format)
    : bytes_(path), path_(path.string()) {
  Scanner scanner(text_of(bytes_, path_), format.separator, path_, unescaped_);
  std::vector<std::string_view> first, fields;
  std::int64_t first_line = 0, line = 0;
  if (!scanner.next(first, first_line)) throw Error("{}: the file holds no rows", path_);
  const auto append = [&](const std::vector<std::string_view>& row, std::int64_t at) {
    if (row.size() != columns_.size())
      throw Error("{}: line {}: {} columns, expected {} as in the first line", path_, at,
                  row.size(), columns_.size());
    fields_.insert(fields_.end(), row.begin(), row.end());
    lines_.push_back(at);
  };
  bool more = scanner.next(fields, line);
  has_header_ = format.header == CsvFormat::yes ||
                (format.header == CsvFormat::automatic && is_header(first, fields));
  for (std::size_t i = 0; i < first.size(); ++i)
    columns_.push_back(has_header_ ? std::string(first[i]) : std::to_string(i));
  if (!has_header_) append(first, first_line);
  for (; more; more = scanner.next(fields, line)) append(fields, line);
  if (lines_.empty()) throw Error("{}: the file holds no rows below its header", path_);
}

std::string CsvTable::place(std::int64_t row, std::size_t column) const {
  return fmt::format("{}: line {}, column {} ({})", path_, lines_[static_cast<std::size_t>(row)],
                     column, columns_[column]);
}

std::vector<std::string> csv_fields(const std::string& line, char separator) {
  std::deque<std::string> unescaped;
  Scanner scanner(line, separator, fmt::format("'{}'", line), unescaped);
  std::vector<std::string_view> fields;
  std::int64_t first_line = 0;
  scanner.next(fields, first_line);
  return {fields.begin(), fields.end()};
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) {
    line += line.empty() ? "\"" : ",\"";
    for (const char c : field) line += c == '"' ? "\"\"" : std::string(1, c);
    line += '"';
  }
  return line;
}

}  // namespace tutti::data
