#include "code/frames.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>

namespace landtrace::code {
namespace {

// DW_EH_PE_*: how a pointer is written.
constexpr std::uint8_t kOmitted = 0xff;
constexpr std::uint8_t kIndirect = 0x80;
constexpr std::uint8_t kFromHere = 0x10;
constexpr std::uint8_t kApplication = 0x70;
constexpr std::uint8_t kFormat = 0x0f;

constexpr std::uint64_t kReturnAddressColumn = 16;

// Bytes at an address. Beyond their end all is 0, and ok() is false.
class Cursor {
 public:
  Cursor(std::string_view bytes, std::uint64_t address) : bytes_(bytes), address_(address) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
  [[nodiscard]] std::uint64_t address() const { return address_ + at_; }
  void skip(std::uint64_t size) {
    if (size > left()) {
      ok_ = false;
      size = left();
    }
    at_ += size;
  }
  template <typename T>
  T take() {
    T value{};
    if (sizeof value > left()) {
      ok_ = false;
      return value;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::uint64_t uleb() {
    bool negative = false;
    unsigned bits = 0;
    return leb(negative, bits);
  }
  std::uint64_t sleb() {
    bool negative = false;
    unsigned bits = 0;
    const std::uint64_t value = leb(negative, bits);
    return negative && bits < 64 ? value | ~0ull << bits : value;
  }
  std::string_view text() {
    const std::size_t size = std::min(bytes_.substr(at_).find('\0'), left());
    const std::string_view found = bytes_.substr(at_, size);
    skip(size + 1);
    return found;
  }
  // A pointer of that encoding; nothing for those that no linker writes for code.
  std::optional<std::uint64_t> pointer(std::uint8_t encoding) {
    const std::uint64_t here = address();
    std::optional<std::uint64_t> value = number(encoding & kFormat);
    const std::uint8_t application = encoding & kApplication;
    if (!value || (application != 0 && application != kFromHere)) return std::nullopt;
    if (application == kFromHere && *value != 0) *value += here;
    return value;
  }
  std::optional<std::uint64_t> number(std::uint8_t format) {
    switch (format) {
      case 0x0:
      case 0x4:
      case 0xc:
        return take<std::uint64_t>();
      case 0x1:
        return uleb();
      case 0x2:
        return take<std::uint16_t>();
      case 0x3:
        return take<std::uint32_t>();
      case 0x9:
        return sleb();
      case 0xa:
        return static_cast<std::uint64_t>(std::int64_t{take<std::int16_t>()});
      case 0xb:
        return static_cast<std::uint64_t>(std::int64_t{take<std::int32_t>()});
      default:
        return std::nullopt;
    }
  }

 private:
  std::uint64_t leb(bool& negative, unsigned& bits) {
    std::uint64_t value = 0;
    for (bits = 0; bits < 70;) {
      const auto byte = take<std::uint8_t>();
      if (bits < 64) value |= std::uint64_t{byte & 0x7fu} << bits;
      bits += 7;
      negative = (byte & 0x40) != 0;
      if ((byte & 0x80) == 0) return value;
    }
    ok_ = false;
    return 0;
  }

  std::string_view bytes_;
  std::uint64_t address_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

// A CIE: what many frames have in common.
struct Common {
  std::uint8_t address_encoding = 0;
  std::uint8_t table_encoding = kOmitted;
  bool has_augmentation = false;
  bool is_signal = false;
  bool has_no_return_address = false;
};

// Is the return address undefined before the first instruction?
bool undefines_return_address(Cursor instructions) {
  while (instructions.ok() && instructions.left() != 0) {
    const auto operation = instructions.take<std::uint8_t>();
    switch (operation) {
      case 0x00:  // nop
        break;
      case 0x07:  // undefined
        if (instructions.uleb() == kReturnAddressColumn) return true;
        break;
      case 0x0c:  // def_cfa
        instructions.uleb();
        [[fallthrough]];
      case 0x0d:  // def_cfa_register
      case 0x0e:  // def_cfa_offset
        instructions.uleb();
        break;
      default:
        if (operation >> 6 != 2) return false;  // not `offset`: something goes on, or is not known
        instructions.uleb();
    }
  }
  return false;
}

std::optional<Common> read_common(Cursor entry) {
  Common common;
  const auto version = entry.take<std::uint8_t>();
  if (version != 1 && version != 3) return std::nullopt;
  const std::string_view augmentation = entry.text();
  entry.uleb();
  entry.sleb();
  if (version == 1) {
    entry.take<std::uint8_t>();
  } else {
    entry.uleb();
  }
  if (augmentation.empty()) return entry.ok() ? std::optional(common) : std::nullopt;
  if (augmentation[0] != 'z') return std::nullopt;
  common.has_augmentation = true;
  const std::uint64_t size = entry.uleb();
  Cursor behind = entry;
  behind.skip(size);
  for (const char letter : augmentation.substr(1)) {
    if (letter == 'R') common.address_encoding = entry.take<std::uint8_t>();
    if (letter == 'L') common.table_encoding = entry.take<std::uint8_t>();
    if (letter == 'P') std::ignore = entry.number(entry.take<std::uint8_t>() & kFormat);
    if (letter == 'S') common.is_signal = true;
  }
  common.has_no_return_address = undefines_return_address(behind);
  if (!entry.ok()) return std::nullopt;
  return common;
}

std::optional<Frame> read_frame(Cursor entry, const Common& common) {
  Frame frame;
  const auto begin = entry.pointer(common.address_encoding);
  const auto size = entry.number(common.address_encoding & kFormat);
  if (!begin || !size || *begin == 0 || *size == 0 || *begin > ~0ull - *size) return std::nullopt;
  frame.begin = *begin;
  frame.end = *begin + *size;
  frame.is_signal = common.is_signal;
  if (common.has_augmentation) {
    const std::uint64_t augmentation = entry.uleb();
    Cursor behind = entry;
    behind.skip(augmentation);
    const bool has_table = common.table_encoding != kOmitted && (common.table_encoding & kIndirect) == 0;
    if (has_table && augmentation != 0) frame.exceptions = entry.pointer(common.table_encoding).value_or(0);
    entry = behind;
  }
  frame.has_no_return_address = common.has_no_return_address || undefines_return_address(entry);
  if (!entry.ok()) return std::nullopt;
  return frame;
}

// A window of an image as a cursor.
std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace

std::vector<Frame> read_frames(std::string_view section, std::uint64_t address) {
  std::vector<Frame> frames;
  std::unordered_map<std::size_t, std::optional<Common>> commons;
  for (std::size_t at = 0; section.size() - at >= 8;) {
    std::uint32_t size = 0;
    std::memcpy(&size, section.data() + at, 4);
    const std::size_t body = at + 4;
    // 0 ends it; a size of 64 bits is for more than 4 GB.
    if (size == 0 || size < 4 || size > section.size() - body) break;
    Cursor entry(section.substr(0, body + size), address);
    entry.skip(body);
    const auto back = entry.take<std::uint32_t>();
    if (back == 0) {
      commons[at] = read_common(entry);
    } else if (const auto common = commons.find(body - back); common != commons.end() && common->second) {
      if (const auto frame = read_frame(entry, *common->second)) frames.push_back(*frame);
    }
    at = body + size;
  }
  std::sort(frames.begin(), frames.end(), [](const Frame& a, const Frame& b) { return a.begin < b.begin; });
  return frames;
}

std::uint64_t frames_of_index(Reader& reader, std::uint64_t index) {
  const Bytes bytes = reader.at(index, 16);
  Cursor cursor(as_text(bytes), index);
  const auto version = cursor.take<std::uint8_t>();
  const auto encoding = cursor.take<std::uint8_t>();
  cursor.skip(2);
  const auto begin = cursor.pointer(encoding);
  return version == 1 && cursor.ok() && begin ? *begin : 0;
}

void read_landing_pads(Reader& reader, const Frame& frame, std::size_t& budget, std::vector<std::uint64_t>& pads) {
  if (frame.exceptions == 0) return;
  // Its head says how long it is; pieces are read so that each holds whole records.
  Cursor head(as_text(reader.at(frame.exceptions, 64)), frame.exceptions);
  std::uint64_t base = frame.begin;
  if (const auto encoding = head.take<std::uint8_t>(); encoding != kOmitted) {
    const auto pointer = head.pointer(encoding);
    if (!pointer) return;
    base = *pointer;
  }
  if (head.take<std::uint8_t>() != kOmitted) head.uleb();
  const auto format = static_cast<std::uint8_t>(head.take<std::uint8_t>() & kFormat);
  const std::uint64_t size = head.uleb();
  if (!head.ok()) return;
  std::uint64_t at = head.address();
  if (size > ~0ull - at) return;
  for (const std::uint64_t end = at + size; at < end && budget != 0; --budget) {
    Cursor record(as_text(reader.at(at, 64)), at);
    std::ignore = record.number(format);
    std::ignore = record.number(format);
    const auto pad = record.number(format);
    record.uleb();
    if (!record.ok() || !pad) return;
    if (*pad != 0) pads.push_back(base + *pad);
    at = record.address();
  }
}

}  // namespace landtrace::code
