#include "agent/thread_files.hpp"

#include <fcntl.h>

#include <cstddef>

#include "agent/raw.hpp"

namespace landtrace::agent {
namespace {

void append(char*& out, std::uint64_t number) {
  char digits[20];
  unsigned count = 0;
  do digits[count++] = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  while (count != 0) *out++ = digits[--count];
}

}  // namespace

int open_of_thread(int tasks, long thread, const char* name) {
  char path[64];
  char* out = path;
  append(out, static_cast<std::uint64_t>(thread));
  *out++ = '/';
  for (const char* c = name; *c != '\0'; ++c) *out++ = *c;
  *out = '\0';
  return static_cast<int>(raw(SYS_openat, tasks, raw_address(path), O_RDONLY | O_CLOEXEC));
}

std::uint64_t hexadecimal(const char*& text) {
  if (text[0] == '0' && text[1] == 'x') text += 2;
  std::uint64_t number = 0;
  for (;; ++text) {
    const unsigned digit = static_cast<unsigned char>(*text);
    if (digit >= '0' && digit <= '9') {
      number = number * 16 + (digit - '0');
    } else if (digit >= 'a' && digit <= 'f') {
      number = number * 16 + (digit - 'a' + 10);
    } else {
      return number;
    }
  }
}

const char* value_of(const char* text, const char* name) {
  for (const char* c = text; *c != '\0'; ++c) {
    if (c != text && c[-1] != '\n') continue;
    std::size_t i = 0;
    while (name[i] != '\0' && c[i] == name[i]) ++i;
    if (name[i] == '\0' && c[i] == '\t') return c + i + 1;
  }
  return nullptr;
}

}  // namespace landtrace::agent
