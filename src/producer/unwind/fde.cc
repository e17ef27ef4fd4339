#include "unwind/fde.hpp"

namespace landtrace::unwind {
namespace {

constexpr std::uint8_t kSearchTable = 0x3b;  // relative to the header, signed 32 bits: what every linker writes
constexpr std::uint64_t kRow = 8;
constexpr std::uint32_t kLongEntry = 0xffffffff;
constexpr unsigned kMaxAugmentation = 16;

struct IndexRow {
  std::int32_t code;
  std::int32_t entry;
};

// The address of the last entry that begins at or before pc; 0 where there is none.
std::uint64_t search(const Tables& tables, std::uint64_t pc) {
  Cursor cursor(tables, tables.header);
  const auto version = cursor.take<std::uint8_t>();
  const auto frame_encoding = cursor.take<std::uint8_t>();
  const auto count_encoding = cursor.take<std::uint8_t>();
  const auto table_encoding = cursor.take<std::uint8_t>();
  if (version != 1 || table_encoding != kSearchTable || count_encoding == kPointerOmitted) return 0;
  cursor.pointer(frame_encoding, tables.header);
  const std::uint64_t count = cursor.pointer(count_encoding, tables.header);
  if (!cursor.ok() || count == 0 || count > cursor.left() / kRow) return 0;
  const std::byte* const rows = cursor.rest();
  const auto row = [rows](std::uint64_t i) {
    IndexRow at;
    std::memcpy(&at, rows + i * kRow, sizeof at);
    return at;
  };
  const auto code_of = [&](std::uint64_t i) { return tables.header + static_cast<std::uint64_t>(row(i).code); };
  std::uint64_t low = 0;
  std::uint64_t high = count;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (code_of(middle) <= pc ? low : high) = middle;
  }
  return code_of(low) <= pc ? tables.header + static_cast<std::uint64_t>(row(low).entry) : 0;
}

// Enters the entry at the cursor: what is left of it is the entry after its length.
void enter(Cursor& cursor) {
  const auto length = cursor.take<std::uint32_t>();
  if (length == kLongEntry) {
    cursor.limit(cursor.take<std::uint64_t>());
  } else {
    cursor.limit(length);
  }
}

bool take_augmentation(Cursor& cursor, const char* letters, Fde& fde) {
  if (letters[0] == '\0') return true;
  if (letters[0] != 'z') return false;
  fde.has_augmentation = true;
  Cursor data = cursor;
  const std::uint64_t size = data.uleb();
  cursor = data;
  cursor.skip(size);
  data.limit(size);
  for (const char* letter = letters + 1; *letter != '\0'; ++letter) {
    switch (*letter) {
      case 'R':
        fde.pointer_encoding = data.take<std::uint8_t>();
        break;
      case 'P': {
        const auto encoding = data.take<std::uint8_t>();
        data.pointer(encoding);
        break;
      }
      case 'L':
        data.skip(1);
        break;
      case 'S':
        fde.is_signal_frame = true;
        break;
      case 'B':  // pointer authentication with the B key
        break;
      default:  // its data is not known, but how long all data is
        return cursor.ok();
    }
  }
  return data.ok() && cursor.ok();
}

bool read_common_entry(Cursor cursor, Fde& fde) {
  enter(cursor);
  if (cursor.take<std::uint32_t>() != 0) return false;  // no common entry
  const auto version = cursor.take<std::uint8_t>();
  if (version != 1 && version != 3) return false;
  char letters[kMaxAugmentation];
  unsigned count = 0;
  do {
    if (count == kMaxAugmentation) return false;
    letters[count] = cursor.take<char>();
  } while (letters[count++] != '\0');
  fde.code_factor = cursor.uleb();
  fde.data_factor = cursor.sleb();
  fde.return_column = version == 1 ? cursor.take<std::uint8_t>() : cursor.uleb();
  if (!take_augmentation(cursor, letters, fde)) return false;
  fde.initial = cursor;
  return cursor.ok();
}

}  // namespace

bool find_fde(const Tables& tables, std::uint64_t pc, Fde& fde) {
  if (tables.header == 0) return false;
  const std::uint64_t address = search(tables, pc);
  if (address == 0) return false;
  Cursor cursor(tables, address);
  enter(cursor);
  const std::uint64_t link = cursor.address();
  const auto distance = cursor.take<std::uint32_t>();
  if (!cursor.ok() || distance == 0) return false;
  if (!read_common_entry(Cursor(tables, link - distance), fde)) return false;
  fde.begin = cursor.pointer(fde.pointer_encoding, tables.header);
  fde.end = fde.begin + cursor.pointer(fde.pointer_encoding & 0x0f);
  if (fde.has_augmentation) cursor.skip(cursor.uleb());
  fde.instructions = cursor;
  return cursor.ok() && fde.begin <= pc && pc < fde.end;
}

}  // namespace landtrace::unwind
