#include "fleet/frame_rows.hpp"

#include "fleet/wire.hpp"

namespace landtrace::fleet {
namespace {

// Numbers of fields in docs/fleet.proto.
namespace raw {
constexpr std::uint32_t kTable = 15;
enum TableField : std::uint32_t { kKey = 2, kValue, kAllHits, kDropped, kRow };
enum RowField : std::uint32_t { kNumbers = 1, kText, kHits, kValues };
}  // namespace raw

constexpr std::uint64_t kMostPower = 64;

tl::unexpected<Error> bad_frame() { return fail(EPROTO, "a frame that makes no sense"); }

// Fields stand in the order of their numbers, keys first: every version writes them so.
class RowScanner {
 public:
  bool scan(std::string_view bytes, std::size_t values) {
    row_ = {};
    values_.clear();
    const char* const begin = bytes.data();
    std::uint32_t last = 0;
    WireReader reader(bytes);
    while (const auto field = reader.next()) {
      if (field->number < last) return false;
      last = field->number;
      if (field->number == raw::kNumbers || field->number == raw::kText) {
        row_.key = {begin, static_cast<std::size_t>(field->bytes.data() + field->bytes.size() - begin)};
      }
      if (field->number == raw::kHits) row_.hits = field->value;
      if (field->number == raw::kValues && !read_values(field->bytes)) return false;
    }
    row_.values = values_;
    return reader.is_at_end() && values_.size() == values;
  }
  [[nodiscard]] const RawRow& row() const { return row_; }

 private:
  bool read_values(std::string_view bytes) {
    WireReader numbers(bytes);
    while (const auto number = numbers.next_number()) values_.push_back(*number);
    return numbers.is_at_end();
  }

  RawRow row_;
  std::vector<std::uint64_t> values_;
};

}  // namespace

Result<RawTable> table_of(std::string_view frame) {
  RawTable table;
  WireReader reader(frame);
  while (const auto field = reader.next()) {
    if (field->number != raw::kTable) continue;
    WireReader parts(field->bytes);
    for (auto part = parts.next(); part && part->number != raw::kRow; part = parts.next()) {
      if (part->number == raw::kAllHits) table.hits = part->value;
      if (part->number == raw::kDropped) table.dropped = part->value;
      if (part->number != raw::kKey && part->number != raw::kValue) continue;
      table.shape += std::to_string(part->number) + ":" + std::to_string(part->bytes.size()) + ":";
      table.shape += part->bytes;
    }
  }
  if (!reader.is_at_end()) return bad_frame();
  return table;
}

Result<void> for_each_row(std::string_view frame, std::size_t values, const std::function<void(const RawRow&)>& take) {
  RowScanner scanner;
  WireReader reader(frame);
  while (const auto field = reader.next()) {
    if (field->number != raw::kTable) continue;
    WireReader table(field->bytes);
    while (const auto part = table.next()) {
      if (part->number != raw::kRow) continue;
      if (!scanner.scan(part->bytes, values)) return bad_frame();
      take(scanner.row());
    }
    if (!table.is_at_end()) return bad_frame();
  }
  if (!reader.is_at_end()) return bad_frame();
  return {};
}

Result<ipc::HistogramRow> row_of_key(const ipc::HistogramTable& shape, std::string_view key) {
  ipc::HistogramRow row;
  std::vector<std::uint64_t> numbers;
  std::vector<std::string_view> texts;
  WireReader reader(key);
  while (const auto field = reader.next()) {
    if (field->number == raw::kText) texts.push_back(field->bytes);
    WireReader packed(field->number == raw::kNumbers ? field->bytes : std::string_view());
    while (const auto number = packed.next_number()) numbers.push_back(*number);
  }
  std::size_t number = 0, text = 0;
  for (const ipc::HistogramKey& one : shape.keys) {
    const bool is_text = one.kind == ipc::KeyKind::kText;
    if (is_text ? text == texts.size() : number == numbers.size()) return bad_frame();
    ipc::HistogramKeyValue& value = row.keys.emplace_back();
    if (is_text) {
      value.text = texts[text++];
    } else {
      value.number = numbers[number++];
      if (one.kind == ipc::KeyKind::kLog2 && value.number > kMostPower) return bad_frame();
    }
  }
  if (!reader.is_at_end() || text != texts.size() || number != numbers.size()) return bad_frame();
  return row;
}

}  // namespace landtrace::fleet
