#include "fleet/frame.hpp"

#include <algorithm>
#include <bit>

#include "fleet/parse_json.hpp"
#include "fleet/wire.hpp"
#include "output/perfetto/proto.hpp"

namespace landtrace::fleet {
namespace {

namespace proto = output::proto;

enum FrameField : std::uint32_t {
  kVersion = 1,
  kHost,
  kBoot,
  kDomain,
  kLabels,
  kOrder,
  kEvent,
  kGeneration,
  kSequence,
  kTime,
  kIsLast,
  kStarts,
  kEnds,
  kLost,
  kTable,
  kSlow,
};
enum TableField : std::uint32_t { kTrigger = 1, kKey, kValue, kHits, kDropped, kRow };
enum KeyField : std::uint32_t { kKind = 1, kKeyName, kWidth, kSignedBits };
enum ValueField : std::uint32_t { kValueName = 1, kIs };
enum RowField : std::uint32_t { kNumbers = 1, kText, kRowHits, kValues };
// Keys are as in rows.
enum SlowField : std::uint32_t { kSlowNs = 3, kSlowTime, kSlowThread, kSlowTask, kSlowFields, kSlowStack, kSlowHost };
constexpr std::uint64_t kIsHex = 1, kIsSigned = 2, kIsKept = 4;
constexpr std::uint64_t kMostBits = 64;
// A table of one host has bounds.
struct Room {
  std::size_t text = kMostFrameText;
  std::size_t columns = 64;
  std::size_t cells = kMostCells;
  std::size_t slow = kMostSlow;
  std::size_t slow_bytes = kMostSlowBytes;
};
constexpr std::size_t kAny = ~std::size_t{0};
constexpr Room kNoTable{kMostFrameText, 0, 0, 0, 0};
constexpr Room kAnyTable{kAny, kAny, kAny, kAny, kAny};

using ipc::KeyKind;

void append_number(std::string& out, std::uint64_t number) {
  char bytes[proto::kLongestVarint];
  proto::append(out, bytes, proto::put_varint(bytes, number));
}

void put_text(std::string& out, std::uint32_t field, std::string_view text) {
  if (!text.empty()) proto::put(out, field, text);
}
void put_number(std::string& out, std::uint32_t field, std::uint64_t number) {
  if (number != 0) proto::put(out, field, number);
}

// A row's message, in room that is used again.
class RowEncoder {
 public:
  const std::string& encode(const ipc::HistogramTable& table, const ipc::HistogramRow& row) {
    row_.clear();
    put_keys(table, row.keys);
    put_number(row_, kRowHits, row.hits);
    numbers_.clear();
    for (const std::uint64_t value : row.values) append_number(numbers_, value);
    put_text(row_, kValues, numbers_);
    return row_;
  }

  const std::string& encode(const ipc::HistogramTable& table, const Slow& slow) {
    row_.clear();
    put_keys(table, slow.keys);
    put_number(row_, kSlowNs, slow.ns);
    put_number(row_, kSlowTime, slow.time_ns);
    put_number(row_, kSlowThread, static_cast<std::uint32_t>(slow.tid));
    put_text(row_, kSlowTask, slow.task);
    put_text(row_, kSlowFields, slow.fields);
    for (const std::string& frame : slow.stack) proto::put(row_, kSlowStack, std::string_view(frame));
    put_text(row_, kSlowHost, slow.host);
    return row_;
  }

 private:
  void put_keys(const ipc::HistogramTable& table, const std::vector<ipc::HistogramKeyValue>& keys) {
    numbers_.clear();
    for (std::size_t i = 0; i < table.keys.size(); ++i) {
      if (table.keys[i].kind != KeyKind::kText) append_number(numbers_, keys[i].number);
    }
    put_text(row_, kNumbers, numbers_);
    for (std::size_t i = 0; i < table.keys.size(); ++i) {
      if (table.keys[i].kind == KeyKind::kText) proto::put(row_, kText, std::string_view(keys[i].text));
    }
  }

  std::string row_;
  std::string numbers_;
};

std::string encode(const ipc::HistogramTable& table) {
  std::string out, part;
  put_text(out, kTrigger, table.trigger);
  for (const ipc::HistogramKey& key : table.keys) {
    part.clear();
    put_number(part, kKind, static_cast<std::uint64_t>(key.kind));
    put_text(part, kKeyName, key.name);
    put_number(part, kWidth, key.width);
    put_number(part, kSignedBits, key.signed_bits);
    proto::put(out, kKey, std::string_view(part));
  }
  for (const ipc::HistogramValue& value : table.values) {
    part.clear();
    put_text(part, kValueName, value.name);
    put_number(part, kIs,
               (value.is_hex ? kIsHex : 0) | (value.is_signed ? kIsSigned : 0) | (value.is_kept ? kIsKept : 0));
    proto::put(out, kValue, std::string_view(part));
  }
  put_number(out, kHits, table.hits);
  put_number(out, kDropped, table.dropped);
  RowEncoder rows;
  for (const ipc::HistogramRow& row : table.rows) proto::put(out, kRow, std::string_view(rows.encode(table, row)));
  return out;
}

bool read_key(std::string_view bytes, ipc::HistogramKey& key) {
  WireReader reader(bytes);
  std::uint64_t kind = 0, bits = 0;
  while (const auto field = reader.next()) {
    if (field->number == kKind) kind = field->value;
    if (field->number == kKeyName) key.name = field->bytes;
    if (field->number == kWidth) key.width = field->value;
    if (field->number == kSignedBits) bits = field->value;
  }
  if (!reader.is_at_end() || kind > static_cast<std::uint64_t>(ipc::kLastKeyKind) || bits > kMostBits) return false;
  key.kind = static_cast<KeyKind>(kind);
  key.signed_bits = static_cast<std::uint8_t>(bits);
  return key.kind != KeyKind::kSteps || std::has_single_bit(key.width);
}

bool read_value(std::string_view bytes, ipc::HistogramValue& value) {
  WireReader reader(bytes);
  while (const auto field = reader.next()) {
    if (field->number == kValueName) value.name = field->bytes;
    if (field->number != kIs) continue;
    value.is_hex = (field->value & kIsHex) != 0;
    value.is_signed = (field->value & kIsSigned) != 0;
    value.is_kept = (field->value & kIsKept) != 0;
  }
  return reader.is_at_end();
}

// What is one of 2^0 to 2^64 in the programs.
bool fits(const ipc::HistogramKey& key, std::uint64_t number) {
  return key.kind != KeyKind::kLog2 || number <= kMostBits;
}

// The keys of a row, as its fields come.
class KeyReader {
 public:
  KeyReader(const ipc::HistogramTable& table, std::vector<ipc::HistogramKeyValue>& keys) : table_(table), keys_(keys) {
    keys_.resize(table_.keys.size());
  }

  // False: there is no such key.
  bool take(const WireField& field) {
    if (field.number == kText) {
      text_at_ = next(text_at_, true);
      if (text_at_ >= table_.keys.size()) return false;
      keys_[text_at_++].text = field.bytes;
    }
    if (field.number != kNumbers) return true;
    WireReader numbers(field.bytes);
    while (const auto number = numbers.next_number()) {
      number_at_ = next(number_at_, false);
      if (number_at_ >= table_.keys.size() || !fits(table_.keys[number_at_], *number)) return false;
      keys_[number_at_++].number = *number;
    }
    return numbers.is_at_end();
  }
  [[nodiscard]] bool is_whole() const {
    return next(number_at_, false) == table_.keys.size() && next(text_at_, true) == table_.keys.size();
  }

 private:
  // From `at` on, of this kind.
  [[nodiscard]] std::size_t next(std::size_t at, bool is_text) const {
    while (at < table_.keys.size() && (table_.keys[at].kind == KeyKind::kText) != is_text) ++at;
    return at;
  }

  const ipc::HistogramTable& table_;
  std::vector<ipc::HistogramKeyValue>& keys_;
  std::size_t number_at_ = 0;
  std::size_t text_at_ = 0;
};

bool read_row(std::string_view bytes, const ipc::HistogramTable& table, ipc::HistogramRow& row) {
  WireReader reader(bytes);
  KeyReader keys(table, row.keys);
  bool is_good = true;
  while (const auto field = reader.next()) {
    if (field->number == kRowHits) row.hits = field->value;
    is_good = is_good && keys.take(*field);
    if (field->number != kValues) continue;
    WireReader values(field->bytes);
    while (const auto value = values.next_number()) row.values.push_back(*value);
    is_good = is_good && values.is_at_end();
  }
  return is_good && reader.is_at_end() && keys.is_whole() && row.values.size() == table.values.size();
}

bool read_slow(std::string_view bytes, const ipc::HistogramTable& table, Slow& slow) {
  WireReader reader(bytes);
  KeyReader keys(table, slow.keys);
  bool is_good = true;
  while (const auto field = reader.next()) {
    is_good = is_good && keys.take(*field);
    if (field->number == kSlowNs) slow.ns = field->value;
    if (field->number == kSlowTime) slow.time_ns = field->value;
    if (field->number == kSlowThread) slow.tid = static_cast<std::int32_t>(static_cast<std::uint32_t>(field->value));
    if (field->number == kSlowTask) slow.task = field->bytes;
    if (field->number == kSlowFields) slow.fields = field->bytes;
    if (field->number == kSlowStack) slow.stack.emplace_back(field->bytes);
    if (field->number == kSlowHost) slow.host = field->bytes;
  }
  return is_good && reader.is_at_end() && keys.is_whole() && !is_nested_too_deep(slow.fields);
}

bool has_room(const ipc::HistogramTable& table, Room room) {
  const std::size_t columns = table.keys.size() + table.values.size();
  const bool has_long_name = (!table.keys.empty() && table.keys.back().name.size() > room.text) ||
                             (!table.values.empty() && table.values.back().name.size() > room.text);
  return !has_long_name && columns <= room.columns && table.rows.size() * (columns + 1) <= room.cells;
}

// Rows are behind what they are of: encode() writes them there.
bool read_table(std::string_view bytes, Room room, ipc::HistogramTable& table) {
  WireReader reader(bytes);
  bool is_good = true;
  while (const auto field = reader.next()) {
    switch (field->number) {
      case kTrigger:
        table.trigger = field->bytes;
        break;
      case kKey:
        is_good = is_good && table.rows.empty() && read_key(field->bytes, table.keys.emplace_back());
        break;
      case kValue:
        is_good = is_good && table.rows.empty() && read_value(field->bytes, table.values.emplace_back());
        break;
      case kHits:
        table.hits = field->value;
        break;
      case kDropped:
        table.dropped = field->value;
        break;
      case kRow:
        is_good = is_good && read_row(field->bytes, table, table.rows.emplace_back());
        break;
      default:
        break;
    }
    if (!is_good || !has_room(table, room)) return false;
  }
  return reader.is_at_end();
}

// Where a field is to be kept.
std::string* text_of(Frame& frame, std::uint32_t field) {
  switch (field) {
    case kHost:
      return &frame.host;
    case kBoot:
      return &frame.boot;
    case kDomain:
      return &frame.domain;
    case kLabels:
      return &frame.labels;
    case kOrder:
      return &frame.order;
    case kEvent:
      return &frame.event;
    default:
      return nullptr;
  }
}

std::uint64_t* number_of(Frame& frame, std::uint32_t field) {
  switch (field) {
    case kGeneration:
      return &frame.generation;
    case kSequence:
      return &frame.sequence;
    case kTime:
      return &frame.time_ns;
    case kStarts:
      return &frame.unpaired.starts;
    case kEnds:
      return &frame.unpaired.ends;
    case kLost:
      return &frame.unpaired.lost;
    default:
      return nullptr;
  }
}

Result<Frame> decode(std::string_view bytes, Room room) {
  Frame frame;
  WireReader reader(bytes);
  std::uint64_t version = 0;
  bool is_good = true;
  while (const auto field = reader.next()) {
    if (field->number == kVersion) version = field->value;
    if (version > kFrameVersion) {
      return fail(EPROTO,
                  "a frame of version " + std::to_string(version) + ", which is not known here: update this one");
    }
    if (std::string* const text = text_of(frame, field->number)) {
      if (field->bytes.size() > room.text) return fail(EPROTO, "a frame with a text longer than 4 KB before its table");
      *text = field->bytes;
    }
    if (std::uint64_t* const number = number_of(frame, field->number)) *number = field->value;
    if (field->number == kIsLast) frame.is_last = field->value != 0;
    if (field->number == kTable && room.cells > 0) is_good = is_good && read_table(field->bytes, room, frame.table);
    if (field->number != kSlow || frame.slowest.size() >= room.slow || field->bytes.size() > room.slow_bytes) continue;
    room.slow_bytes -= field->bytes.size();
    is_good = is_good && read_slow(field->bytes, frame.table, frame.slowest.emplace_back());
  }
  // One that stands before the table was read with other keys than the table has.
  const auto has_its_keys = [&](const Slow& slow) { return slow.keys.size() == frame.table.keys.size(); };
  is_good = is_good && std::ranges::all_of(frame.slowest, has_its_keys);
  if (!is_good || !reader.is_at_end() || version == 0) return fail(EPROTO, "a frame that makes no sense");
  return frame;
}

}  // namespace

std::string encode(const Frame& frame) {
  std::string out;
  proto::put(out, kVersion, kFrameVersion);
  put_text(out, kHost, frame.host);
  put_text(out, kBoot, frame.boot);
  put_text(out, kDomain, frame.domain);
  put_text(out, kLabels, frame.labels);
  put_text(out, kOrder, frame.order);
  put_text(out, kEvent, frame.event);
  put_number(out, kGeneration, frame.generation);
  put_number(out, kSequence, frame.sequence);
  put_number(out, kTime, frame.time_ns);
  put_number(out, kIsLast, frame.is_last ? 1 : 0);
  put_number(out, kStarts, frame.unpaired.starts);
  put_number(out, kEnds, frame.unpaired.ends);
  put_number(out, kLost, frame.unpaired.lost);
  proto::put(out, kTable, std::string_view(encode(frame.table)));
  RowEncoder rows;
  for (const Slow& slow : frame.slowest) proto::put(out, kSlow, std::string_view(rows.encode(frame.table, slow)));
  return out;
}

Result<Frame> decode_frame(std::string_view bytes) { return decode(bytes, Room()); }
Result<Frame> decode_head(std::string_view bytes) { return decode(bytes, kNoTable); }

Result<ipc::HistogramTable> decode_shape(std::string_view bytes) {
  ipc::HistogramTable shape;
  bool is_good = true;
  WireReader reader(bytes);
  while (const auto field = reader.next()) {
    if (field->number != kTable) continue;
    WireReader parts(field->bytes);
    for (auto part = parts.next(); part && part->number != kRow && is_good; part = parts.next()) {
      if (part->number == kKey) is_good = read_key(part->bytes, shape.keys.emplace_back());
      if (part->number == kValue) is_good = read_value(part->bytes, shape.values.emplace_back());
      is_good = is_good && has_room(shape, Room());
    }
  }
  if (!is_good || !reader.is_at_end()) return fail(EPROTO, "a frame that makes no sense");
  return shape;
}

std::string encode(const std::vector<Frame>& frames) {
  std::string out;
  for (const Frame& frame : frames) proto::put(out, 1, std::string_view(encode(frame)));
  return out;
}

Result<std::vector<Frame>> decode_frames(std::string_view bytes) {
  std::vector<Frame> frames;
  WireReader reader(bytes);
  while (const auto field = reader.next()) {
    if (field->number != 1) continue;
    LT_TRY(Frame frame, decode(field->bytes, kAnyTable));
    frames.push_back(std::move(frame));
  }
  if (!reader.is_at_end()) return fail(EPROTO, "frames that make no sense");
  return frames;
}

}  // namespace landtrace::fleet
