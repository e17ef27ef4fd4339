// Rows as ClickHouse takes and gives them in its format RowBinary: values one behind the other, in the order of the
// columns. Numbers are little-endian; a text or an array has its size before it, as a varint.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace landtrace::fleet {

class RowWriter {
 public:
  explicit RowWriter(std::string& out) : out_(out) {}

  template <typename T>
  void number(T value) {
    for (unsigned byte = 0; byte < sizeof value; ++byte) out_ += static_cast<char>(value >> (8 * byte));
  }
  void size(std::uint64_t count);
  void text(std::string_view text);
  void numbers(const std::vector<std::uint64_t>& values);
  void texts(const std::vector<std::string>& values);

 private:
  std::string& out_;
};

// What is missing at the end reads as 0 or "", and is_good() is false from then on.
class RowReader {
 public:
  explicit RowReader(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  T number() {
    const std::string_view bytes = take(sizeof(T));
    T value = 0;
    for (std::size_t byte = 0; byte < bytes.size(); ++byte) {
      value |= static_cast<T>(static_cast<T>(static_cast<unsigned char>(bytes[byte])) << (8 * byte));
    }
    return value;
  }
  std::string_view text();

  [[nodiscard]] bool is_good() const { return is_good_; }
  [[nodiscard]] bool is_at_end() const { return !is_good_ || rest_.empty(); }

 private:
  std::string_view take(std::uint64_t size);

  std::string_view rest_;
  bool is_good_ = true;
};

}  // namespace landtrace::fleet
