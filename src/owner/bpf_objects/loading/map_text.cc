#include "bpf_objects/loading/map_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "bpf/maps/array.hpp"
#include "bpf/maps/hash.hpp"
#include "bpf/words.hpp"
#include "output/json/string.hpp"

namespace landtrace::loading {
namespace {

using Bytes = std::vector<std::byte>;

std::uint64_t number_in(const std::byte* at, std::uint32_t size) {
  std::uint64_t number = 0;
  std::memcpy(&number, at, std::min<std::uint32_t>(size, 8));
  return number;
}

std::string hex(const std::byte* at, std::uint32_t size) {
  std::string text = "\"";
  for (std::uint32_t i = 0; i < size; ++i) text += fmt::format("{:02x}", std::to_integer<unsigned>(at[i]));
  return text + '"';
}

std::string quoted(const std::byte* at, std::uint32_t size) {
  const auto* const text = reinterpret_cast<const char*>(at);
  std::string result;
  output::json::append_string(result, {text, ::strnlen(text, size)});
  return result;
}

std::string number_text(const std::byte* at, std::uint32_t size, bool is_signed) {
  const std::uint64_t number = number_in(at, size);
  if (!is_signed) return fmt::format("{}", number);
  const std::uint32_t unused = 64 - 8 * size;
  return fmt::format("{}", static_cast<std::int64_t>(number << unused) >> unused);
}

bool is_number(std::uint32_t size) { return size == 1 || size == 2 || size == 4 || size == 8; }

// Types nest: no deeper than this is looked at.
constexpr unsigned kMaxDepth = 16;

std::string json(const btf* types, unsigned type, const std::byte* at, std::uint32_t size, unsigned depth);

std::string struct_json(const btf* types, const btf_type& type, const std::byte* at, std::uint32_t size,
                        unsigned depth) {
  std::string text;
  const auto* const members = btf_members(&type);
  for (std::uint32_t i = 0; i < btf_vlen(&type); ++i) {
    const std::uint32_t begin = btf_member_bit_offset(&type, i) / 8;
    const auto bytes = btf__resolve_size(types, members[i].type);
    if (bytes < 0 || begin + static_cast<std::uint64_t>(bytes) > size || btf_member_bitfield_size(&type, i) != 0)
      continue;
    text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", btf__name_by_offset(types, members[i].name_off),
                        json(types, members[i].type, at + begin, static_cast<std::uint32_t>(bytes), depth + 1));
  }
  return '{' + text + '}';
}

std::string array_json(const btf* types, const btf_type& type, const std::byte* at, std::uint32_t size,
                       unsigned depth) {
  const auto* const array = btf_array(&type);
  const auto element = btf__resolve_size(types, array->type);
  if (element <= 0) return hex(at, size);
  const int resolved = btf__resolve_type(types, array->type);
  const btf_type* const of = resolved < 0 ? nullptr : btf__type_by_id(types, static_cast<unsigned>(resolved));
  const char* const name = of == nullptr ? "" : btf__name_by_offset(types, of->name_off);
  if (element == 1 && of != nullptr && btf_is_int(of) && std::strcmp(name, "char") == 0) return quoted(at, size);
  std::string text;
  const auto bytes = static_cast<std::uint32_t>(element);
  for (std::uint32_t i = 0; i + bytes <= size; i += bytes) {
    text += (i == 0 ? "" : ",") + json(types, array->type, at + i, bytes, depth + 1);
  }
  return '[' + text + ']';
}

std::string json(const btf* types, unsigned type, const std::byte* at, std::uint32_t size, unsigned depth) {
  const int resolved = types == nullptr || type == 0 || depth > kMaxDepth ? -1 : btf__resolve_type(types, type);
  const btf_type* const known = resolved < 0 ? nullptr : btf__type_by_id(types, static_cast<unsigned>(resolved));
  if (known == nullptr) return is_number(size) ? number_text(at, size, false) : hex(at, size);
  if (btf_is_composite(known)) return struct_json(types, *known, at, size, depth);
  if (btf_is_array(known)) return array_json(types, *known, at, size, depth);
  if (!is_number(size)) return hex(at, size);
  return number_text(at, size, btf_is_int(known) && (btf_int_encoding(known) & BTF_INT_SIGNED) != 0);
}

struct Row {
  Bytes key;
  std::string text;
  std::uint64_t order;
};

// Of a per-CPU map the sum, where values are numbers.
std::string value_text(const bpf_calls::Object& map, const Bytes& key, const btf* types, unsigned type) {
  const bpf::MapLayout& layout = map.layout;
  std::uint64_t sum = 0;
  std::string parts;
  Bytes value(bpf::rounded(layout.value_size, 8));
  for (std::uint32_t row = 0; row < layout.rows; ++row) {
    const std::byte* const at =
        layout.is_hash() ? bpf::Hash(map.data, layout).find(key.data(), row)
                         : bpf::Array(map.data, layout).find(static_cast<std::uint32_t>(number_in(key.data(), 4)), row);
    if (at == nullptr) return "";
    bpf::copy_out(value.data(), at, layout.value_size);
    sum += number_in(value.data(), layout.value_size);
    parts += (row == 0 ? "" : ",") + json(types, type, value.data(), layout.value_size, 0);
  }
  if (layout.rows == 1) return parts;
  return is_number(layout.value_size) ? fmt::format("{} [{}]", sum, parts) : '[' + parts + ']';
}

std::vector<Row> rows_of(const bpf_calls::Object& map, const btf* types, unsigned key_type, unsigned value_type) {
  // More are not shown: who wants them reads the map.
  constexpr std::size_t kMaxRows = 10'000;
  const bpf::MapLayout& layout = map.layout;
  std::vector<Row> rows;
  Bytes key(bpf::rounded(layout.key_size, 8));
  const auto add = [&] {
    const std::string value = value_text(map, key, types, value_type);
    if (value.empty()) return;
    rows.push_back({key, json(types, key_type, key.data(), layout.key_size, 0) + ": " + value,
                    is_number(layout.key_size) ? number_in(key.data(), layout.key_size) : 0});
  };
  if (layout.is_array()) {
    for (std::uint32_t i = 0; i < layout.max_entries && rows.size() < kMaxRows; ++i) {
      std::memcpy(key.data(), &i, sizeof i);
      add();
    }
    return rows;
  }
  const bpf::Hash hash(map.data, layout);
  Bytes next(key.size());
  for (bool more = hash.next(nullptr, next.data()) == 0; more && rows.size() < kMaxRows;) {
    key = next;
    add();
    more = hash.next(key.data(), next.data()) == 0;
  }
  return rows;
}

}  // namespace

std::string map_text(const bpf_calls::Object& map, const char* name, const btf* types, unsigned key_type,
                     unsigned value_type) {
  std::vector<Row> rows = rows_of(map, types, key_type, value_type);
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return a.order != b.order ? a.order < b.order : a.key < b.key; });
  std::string text = fmt::format("{}:\n", name);
  for (const Row& row : rows) text += fmt::format("  {}\n", row.text);
  if (!map.layout.is_hash()) return text;
  const std::uint64_t dropped = bpf::load_relaxed(&bpf::Hash(map.data, map.layout).header().dropped);
  if (dropped != 0) text += fmt::format("  ({} insertions found the map full)\n", dropped);
  return text;
}

std::string record_json(const btf* types, const std::byte* data, std::uint32_t size) {
  unsigned found = 0;
  for (unsigned i = 1; types != nullptr && i < btf__type_cnt(types); ++i) {
    const btf_type* const type = btf__type_by_id(types, i);
    if (!btf_is_struct(type) || type->size != size || type->name_off == 0) continue;
    if (found != 0) return hex(data, size);
    found = i;
  }
  return found == 0 ? hex(data, size) : json(types, found, data, size, 0);
}

}  // namespace landtrace::loading
