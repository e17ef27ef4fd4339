// Input: what a program says of its structs, a NUL, a payload. It must never make the printer read outside the payload.
#include <algorithm>
#include <cstring>
#include <memory>

#include "event/description.hpp"
#include "event/print.hpp"
#include "event_require.hpp"

using namespace landtrace::event;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view description = input.substr(0, input.find('\0'));
  auto declaration = parse_declaration("e u8 n; struct a first 8; struct b second 64");
  LT_REQUIRE(declaration);
  describe_structs(*declaration, description);
  // A block of its own, of the exact size, so that ASan sees the first byte too many.
  const std::string_view rest = input.substr(std::min(description.size() + 1, size));
  const auto payload = std::make_unique<std::byte[]>(rest.size());
  if (!rest.empty()) std::memcpy(payload.get(), rest.data(), rest.size());
  std::string text;
  print_fields(text, *declaration, {payload.get(), rest.size()});
  LT_REQUIRE(!text.empty());
  return 0;
}
