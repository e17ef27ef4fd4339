#include "output/page/base64.hpp"

#include <cstdint>

namespace landtrace::output::page {
namespace {

constexpr char kBase64Digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::uint32_t octet(std::string_view bytes, std::size_t i) {
  return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u;
}

}  // namespace

void append_base64(std::string& out, std::string_view bytes) {
  const std::size_t begin = out.size();
  out.resize(begin + (bytes.size() + 2) / 3 * 4);
  char* to = out.data() + begin;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::uint32_t three = octet(bytes, i) << 16 | octet(bytes, i + 1) << 8 | octet(bytes, i + 2);
    for (int shift = 18; shift >= 0; shift -= 6) *to++ = kBase64Digits[three >> shift & 63];
  }
  const std::size_t padding = (3 - bytes.size() % 3) % 3;
  out.replace(out.size() - padding, padding, padding, '=');
}

}  // namespace landtrace::output::page
