// Input: a `format` file, a NUL, a payload. Whatever is accepted has its fields within a record, and prints
// any payload without a read outside it.
#include <algorithm>
#include <cstring>
#include <memory>
#include <span>

#include "abi/validator.hpp"
#include "event/declaration.hpp"
#include "event/print.hpp"
#include "event_require.hpp"

namespace {

using namespace landtrace;
using namespace landtrace::event;

void check_bounds(const Declaration& declaration) {
  LT_REQUIRE(declaration.min_size <= kMaxFieldBytes);
  for (const Field& field : declaration.fields) {
    LT_REQUIRE(field.offset >= abi::kEntryHeaderSize);
    LT_REQUIRE(field.offset - abi::kEntryHeaderSize + field.size <= declaration.min_size);
  }
  for (const abi::DynamicFieldCheck& check : dynamic_field_checks(declaration)) {
    LT_REQUIRE(check.payload_offset + sizeof(std::uint32_t) <= declaration.min_size);
  }
}

void check_payload(const Declaration& declaration, std::string_view input) {
  const auto size = static_cast<std::uint32_t>(input.size());
  const auto payload = std::make_unique<std::byte[]>(size);
  if (size != 0) std::memcpy(payload.get(), input.data(), size);

  std::string printed;
  print_fields(printed, declaration, {payload.get(), size});
  if (size < declaration.min_size) return;
  const auto checks = dynamic_field_checks(declaration);
  const auto count = static_cast<std::uint32_t>(checks.size());
  (void)abi::payload_is_valid(checks.data(), count, abi::FlatPayload(payload.get()), size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto end = std::min(input.find('\0'), input.size());
  const auto parsed = parse_format(input.substr(0, end));
  if (!parsed) {
    LT_REQUIRE(parsed.error().code == EINVAL);
    return 0;
  }
  check_bounds(parsed->declaration);
  (void)format_text(parsed->declaration, parsed->declaration.name, parsed->id);
  (void)fields_text(parsed->declaration);
  check_payload(parsed->declaration, input.substr(std::min(end + 1, size)));
  return 0;
}
