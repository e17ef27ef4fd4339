#include "fleet/frame.hpp"

#include <bit>

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
};
enum TableField : std::uint32_t { kTrigger = 1, kKey, kValue, kHits, kDropped, kRow };
enum KeyField : std::uint32_t { kKind = 1, kKeyName, kWidth, kSignedBits };
enum ValueField : std::uint32_t { kValueName = 1, kIs };
enum RowField : std::uint32_t { kNumbers = 1, kText, kRowHits, kValues };
constexpr std::uint64_t kIsHex = 1, kIsSigned = 2, kIsKept = 4;
constexpr std::uint64_t kMostBits = 64;

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
    numbers_.clear();
    for (std::size_t i = 0; i < table.keys.size(); ++i) {
      if (table.keys[i].kind != KeyKind::kText) append_number(numbers_, row.keys[i].number);
    }
    put_text(row_, kNumbers, numbers_);
    for (std::size_t i = 0; i < table.keys.size(); ++i) {
      if (table.keys[i].kind == KeyKind::kText) proto::put(row_, kText, std::string_view(row.keys[i].text));
    }
    put_number(row_, kRowHits, row.hits);
    numbers_.clear();
    for (const std::uint64_t value : row.values) append_number(numbers_, value);
    put_text(row_, kValues, numbers_);
    return row_;
  }

 private:
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

// The next of the row's keys, from `at` on, that is of this kind.
std::size_t next_key(const ipc::HistogramTable& table, std::size_t at, bool is_text) {
  while (at < table.keys.size() && (table.keys[at].kind == KeyKind::kText) != is_text) ++at;
  return at;
}

bool read_row(std::string_view bytes, const ipc::HistogramTable& table, ipc::HistogramRow& row) {
  WireReader reader(bytes);
  row.keys.resize(table.keys.size());
  std::size_t number_at = 0, text_at = 0;
  bool is_good = true;
  while (const auto field = reader.next()) {
    if (field->number == kRowHits) row.hits = field->value;
    if (field->number == kText) {
      text_at = next_key(table, text_at, true);
      is_good = is_good && text_at < table.keys.size();
      if (is_good) row.keys[text_at++].text = field->bytes;
    }
    if (field->number != kNumbers && field->number != kValues) continue;
    WireReader numbers(field->bytes);
    while (const auto number = numbers.next_number()) {
      if (field->number == kValues) {
        row.values.push_back(*number);
        continue;
      }
      number_at = next_key(table, number_at, false);
      is_good = is_good && number_at < table.keys.size();
      if (is_good) row.keys[number_at++].number = *number;
    }
    is_good = is_good && numbers.is_at_end();
  }
  const bool is_whole = next_key(table, number_at, false) == table.keys.size() &&
                        next_key(table, text_at, true) == table.keys.size() &&
                        row.values.size() == table.values.size();
  return is_good && reader.is_at_end() && is_whole;
}

// Rows are behind what they are of: encode() writes them there.
bool read_table(std::string_view bytes, ipc::HistogramTable& table) {
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
    if (!is_good) return false;
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

Result<Frame> decode(std::string_view bytes, bool with_table) {
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
    if (std::string* const text = text_of(frame, field->number)) *text = field->bytes;
    if (std::uint64_t* const number = number_of(frame, field->number)) *number = field->value;
    if (field->number == kIsLast) frame.is_last = field->value != 0;
    if (field->number == kTable && with_table) is_good = is_good && read_table(field->bytes, frame.table);
  }
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
  return out;
}

Result<Frame> decode_frame(std::string_view bytes) { return decode(bytes, true); }
Result<Frame> decode_head(std::string_view bytes) { return decode(bytes, false); }

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
    LT_TRY(Frame frame, decode_frame(field->bytes));
    frames.push_back(std::move(frame));
  }
  if (!reader.is_at_end()) return fail(EPROTO, "frames that make no sense");
  return frames;
}

}  // namespace landtrace::fleet
