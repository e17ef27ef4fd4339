#include "ipc/histogram_table.hpp"

#include <cstring>

#include "base/large_pages.hpp"

namespace landtrace::ipc {
namespace {

constexpr std::uint8_t kIsHex = 1, kIsSigned = 2, kIsKept = 4;
constexpr std::uint8_t kMostBits = 64;

template <typename T>
void put(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}
template <typename T, typename Elements>
void put_count(std::string& to, const Elements& elements) {
  put(to, static_cast<T>(elements.size()));
}
void put_text(std::string& to, std::string_view text) {
  put_count<std::uint32_t>(to, text);
  to.append(text);
}

// Once something is wrong, everything that is read is empty: who reads looks at the end.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  T number() {
    T value{};
    const std::string_view taken = take(sizeof value);
    if (!taken.empty()) std::memcpy(&value, taken.data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(number<std::uint32_t>())); }

  // Elements until there are `count` of them, or nothing more to read: the count is not trusted with memory.
  template <typename Element, typename Read>
  std::vector<Element> elements(std::uint64_t count, const Read& read) {
    std::vector<Element> all;
    for (std::uint64_t i = 0; i < count && is_good_; ++i) all.push_back(read());
    return all;
  }

  HistogramTable table() {
    HistogramTable table;
    table.trigger = text();
    table.keys = elements<HistogramKey>(number<std::uint16_t>(), [this] { return key(); });
    table.values = elements<HistogramValue>(number<std::uint16_t>(), [this] { return value(); });
    table.hits = number<std::uint64_t>();
    table.dropped = number<std::uint64_t>();
    table.rows = elements<HistogramRow>(number<std::uint32_t>(), [&] { return row(table); });
    return table;
  }

  [[nodiscard]] bool is_good() const { return is_good_; }
  [[nodiscard]] bool is_at_end() const { return bytes_.empty(); }

 private:
  std::string_view take(std::size_t size) {
    is_good_ = is_good_ && size <= bytes_.size();
    if (!is_good_) return {};
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

  HistogramKey key() {
    HistogramKey key;
    key.kind = static_cast<KeyKind>(number<std::uint8_t>());
    is_good_ = is_good_ && key.kind <= kLastKeyKind;
    key.name = text();
    key.width = number<std::uint64_t>();
    is_good_ = is_good_ && (key.kind != KeyKind::kSteps || std::has_single_bit(key.width));
    key.signed_bits = number<std::uint8_t>();
    is_good_ = is_good_ && key.signed_bits <= kMostBits;
    return key;
  }

  HistogramValue value() {
    HistogramValue value;
    const auto is = number<std::uint8_t>();
    value.is_hex = (is & kIsHex) != 0;
    value.is_signed = (is & kIsSigned) != 0;
    value.is_kept = (is & kIsKept) != 0;
    value.name = text();
    return value;
  }

  HistogramRow row(const HistogramTable& table) {
    HistogramRow row;
    for (const HistogramKey& key : table.keys) row.keys.push_back(key_value(key.kind));
    row.hits = number<std::uint64_t>();
    row.values = elements<std::uint64_t>(table.values.size(), [this] { return number<std::uint64_t>(); });
    return row;
  }

  HistogramKeyValue key_value(KeyKind kind) {
    HistogramKeyValue value;
    if (has_number(kind)) value.number = number<std::uint64_t>();
    if (has_text(kind)) value.text = text();
    if (kind != KeyKind::kStack) return value;
    value.frames = elements<HistogramFrame>(number<std::uint16_t>(), [this] {
      const auto address = number<std::uint64_t>();
      return HistogramFrame{address, text()};
    });
    return value;
  }

  std::string_view bytes_;
  bool is_good_ = true;
};

}  // namespace

HistogramEncoder::HistogramEncoder(std::size_t histograms) {
  put(bytes_, kHistogramVersion);
  put(bytes_, static_cast<std::uint32_t>(histograms));
}

void HistogramEncoder::begin(const HistogramTable& table, std::size_t rows) {
  put_text(bytes_, table.trigger);
  put_count<std::uint16_t>(bytes_, table.keys);
  for (const HistogramKey& key : table.keys) {
    put(bytes_, key.kind);
    put_text(bytes_, key.name);
    put(bytes_, key.width);
    put(bytes_, key.signed_bits);
  }
  put_count<std::uint16_t>(bytes_, table.values);
  for (const HistogramValue& value : table.values) {
    put<std::uint8_t>(bytes_,
                      (value.is_hex ? kIsHex : 0) | (value.is_signed ? kIsSigned : 0) | (value.is_kept ? kIsKept : 0));
    put_text(bytes_, value.name);
  }
  put(bytes_, table.hits);
  put(bytes_, table.dropped);
  put(bytes_, static_cast<std::uint32_t>(rows));
  // What rows without texts have.
  reserve_large(bytes_, bytes_.size() + rows * sizeof(std::uint64_t) * (table.keys.size() + 1 + table.values.size()));
}

void HistogramEncoder::key(KeyKind kind, const HistogramKeyValue& value) {
  if (has_number(kind)) number(value.number);
  if (has_text(kind)) put_text(bytes_, value.text);
  if (kind != KeyKind::kStack) return;
  put_count<std::uint16_t>(bytes_, value.frames);
  for (const HistogramFrame& frame : value.frames) {
    number(frame.address);
    put_text(bytes_, frame.name);
  }
}

std::string encode(const std::vector<HistogramTable>& tables) {
  HistogramEncoder encoder(tables.size());
  for (const HistogramTable& table : tables) {
    encoder.begin(table, table.rows.size());
    for (const HistogramRow& row : table.rows) {
      for (std::size_t i = 0; i < table.keys.size(); ++i) encoder.key(table.keys[i].kind, row.keys[i]);
      encoder.number(row.hits);
      for (const std::uint64_t value : row.values) encoder.number(value);
    }
  }
  return encoder.take();
}

Result<std::vector<HistogramTable>> decode_histograms(std::string_view bytes) {
  Decoder decoder(bytes);
  const auto version = decoder.number<std::uint32_t>();
  if (decoder.is_good() && version != kHistogramVersion) {
    return fail(EPROTO, "histograms in version " + std::to_string(version) + ", which is not known here");
  }
  auto tables =
      decoder.elements<HistogramTable>(decoder.number<std::uint32_t>(), [&decoder] { return decoder.table(); });
  if (!decoder.is_good() || !decoder.is_at_end()) return fail(EPROTO, "histograms that make no sense");
  return tables;
}

}  // namespace landtrace::ipc
