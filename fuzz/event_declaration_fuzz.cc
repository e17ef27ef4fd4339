// Input: a declaration, a NUL, a payload. Whatever is accepted must survive every text it is turned into, and
// no payload may make the validator or the printer read outside it.
#include <algorithm>
#include <cstring>
#include <memory>
#include <span>

#include "abi/validator.hpp"
#include "base/character.hpp"
#include "event/declaration.hpp"
#include "event/print.hpp"
#include "event_require.hpp"

namespace {

using namespace landtrace;
using namespace landtrace::event;

void check_fields_text(const Declaration& declaration) {
  const std::string text = fields_text(declaration);
  const auto again = parse_fields(text);
  LT_REQUIRE(again && *again == declaration.fields);
  // A field with other white space in it, or a last one without a name, is another one when it is declared again, as in
  // the kernel.
  const bool is_plain = text.find("  ") == text.npos &&
                        std::ranges::none_of(text, [](char c) { return c != ' ' && is_space(c); });
  LT_REQUIRE(declares_same_fields(declaration, text) || !is_plain || text.ends_with(' '));
}

// A `format` file shows an array's brackets empty: neither the spelling of its length nor a "char" written in
// there, which makes it text, can be read back.
bool is_same_in_format(const Field& declared, const Field& read) {
  const auto bracket = declared.type.find('[');
  const auto stem = declared.type.substr(0, bracket);
  const bool is_type_same = bracket == std::string::npos ? read.type == declared.type : read.type.starts_with(stem);
  const bool is_kind_hidden = bracket != std::string::npos && declared.type.find("char", bracket) != std::string::npos;
  return is_type_same && (is_kind_hidden || read.kind == declared.kind) && read.name == declared.name &&
         read.offset == declared.offset && read.size == declared.size && read.is_signed == declared.is_signed;
}

void check_format_text(const Declaration& declaration) {
  const auto parsed = parse_format(format_text(declaration, declaration.name, 60000));
  LT_REQUIRE(parsed && parsed->id == 60000);
  LT_REQUIRE(parsed->declaration.name == declaration.name);
  LT_REQUIRE(parsed->declaration.min_size == declaration.min_size);
  // A field that is itself called "a[3]" reads as an array in `format`, to everyone.
  const auto has_brackets = [](const Field& f) { return f.name.find('[') != std::string::npos; };
  if (std::any_of(declaration.fields.begin(), declaration.fields.end(), has_brackets)) return;
  LT_REQUIRE(std::equal(declaration.fields.begin(), declaration.fields.end(), parsed->declaration.fields.begin(),
                        parsed->declaration.fields.end(), is_same_in_format));
}

void check_payload(const Declaration& declaration, std::string_view input) {
  // A block of its own, of the exact size, so that ASan sees the first byte too many.
  const auto size = static_cast<std::uint32_t>(input.size());
  const auto payload = std::make_unique<std::byte[]>(size);
  if (size != 0) std::memcpy(payload.get(), input.data(), size);

  std::string printed;
  print_fields(printed, declaration, {payload.get(), size});
  if (size < declaration.min_size) return;
  const auto checks = dynamic_field_checks(declaration);
  const auto count = static_cast<std::uint32_t>(checks.size());
  const bool is_valid = abi::payload_is_valid(checks.data(), count, abi::FlatPayload(payload.get()), size);
  // The text may hold that word itself, so only ask where neither the names nor the payload can bring it in.
  const auto text = fields_text(declaration);
  if (is_valid && text.find('<') == std::string::npos && input.find('<') == std::string_view::npos) {
    LT_REQUIRE(printed.find("<OVERFLOW>") == std::string::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto end = std::min(input.find('\0'), input.size());
  const auto declaration = parse_declaration(input.substr(0, end));
  if (!declaration) {
    LT_REQUIRE(declaration.error().code == EINVAL);
    return 0;
  }
  check_fields_text(*declaration);
  check_format_text(*declaration);
  check_payload(*declaration, input.substr(std::min(end + 1, size)));
  return 0;
}
