// Reads messages of protocol buffers: numbers, texts and messages within them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace landtrace::fleet {

struct WireField {
  std::uint32_t number = 0;
  bool is_bytes = false;
  std::uint64_t value = 0;  // of a number; 0 of bytes
  std::string_view bytes;
};

// Goes through the fields of a message, those of kinds that are not known here left out.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}

  // nullopt at the end, and where the message makes no sense.
  std::optional<WireField> next();
  // A number alone, of those that stand one behind the other; nullopt likewise.
  std::optional<std::uint64_t> next_number();

  [[nodiscard]] bool is_at_end() const { return is_good_ && rest_.empty(); }

 private:
  std::optional<std::uint64_t> varint();
  std::optional<std::string_view> take(std::uint64_t size);

  std::string_view rest_;
  bool is_good_ = true;
};

}  // namespace landtrace::fleet
