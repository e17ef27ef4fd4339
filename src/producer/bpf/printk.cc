#include "bpf/printk.hpp"

#include <cerrno>

#include "bpf/helpers.hpp"

namespace landtrace::bpf {
namespace {

class Line {
 public:
  explicit Line(char (&text)[kMaxPrinted]) : text_(text) {}

  void put(char c) {
    if (length_ < kMaxPrinted) text_[length_++] = c;
  }
  void put(const char* text, std::size_t size, std::size_t width, bool left, char fill) {
    if (!left) pad(size, width, fill);
    for (std::size_t i = 0; i < size; ++i) put(text[i]);
    if (left) pad(size, width, ' ');
  }
  [[nodiscard]] std::size_t length() const { return length_; }

 private:
  void pad(std::size_t size, std::size_t width, char fill) {
    for (; width > size; --width) put(fill);
  }

  char (&text_)[kMaxPrinted];
  std::size_t length_ = 0;
};

struct Directive {
  std::size_t width = 0;
  bool left = false;
  bool zeros = false;
  std::uint32_t bits = 32;
  char kind = 0;
};

struct Reader {
  const char* at;
  const char* end;

  [[nodiscard]] char peek() const { return at < end ? *at : '\0'; }
  bool take(char c) {
    if (peek() != c) return false;
    ++at;
    return true;
  }
};

Directive read_directive(Reader& text) {
  Directive found;
  for (;;) {
    if (text.take('-')) {
      found.left = true;
    } else if (text.take('0')) {
      found.zeros = true;
    } else {
      break;
    }
  }
  while (text.peek() >= '0' && text.peek() <= '9' && found.width < kMaxPrinted) {
    found.width = found.width * 10 + static_cast<std::size_t>(*text.at++ - '0');
  }
  if (text.take('l')) {
    text.take('l');
    found.bits = 64;
  } else if (text.take('h')) {
    found.bits = text.take('h') ? 8 : 16;
  }
  found.kind = text.peek();
  if (found.kind != '\0') ++text.at;
  return found;
}

// The digits of `number`, at the end of `digits`.
struct Digits {
  Digits(std::uint64_t number, unsigned base, bool negative, bool upper) {
    do {
      const auto digit = static_cast<unsigned>(number % base);
      text[--first] = static_cast<char>(digit < 10 ? '0' + digit : (upper ? 'A' : 'a') + digit - 10);
      number /= base;
    } while (number != 0);
    if (negative) text[--first] = '-';
  }
  char text[24];
  std::size_t first = sizeof text;
};

void put_number(Line& line, const Directive& as, std::uint64_t number) {
  const bool is_signed = as.kind == 'd' || as.kind == 'i';
  const std::uint32_t unused = 64 - as.bits;
  const auto value = static_cast<std::int64_t>(number << unused) >> unused;
  const bool negative = is_signed && value < 0;
  const std::uint64_t whole = negative ? -static_cast<std::uint64_t>(value)
                                       : (is_signed ? static_cast<std::uint64_t>(value) : number << unused >> unused);
  const unsigned base = as.kind == 'x' || as.kind == 'X' || as.kind == 'p' ? 16 : 10;
  const Digits digits(whole, base, negative, as.kind == 'X');
  line.put(digits.text + digits.first, sizeof digits.text - digits.first, as.width, as.left,
           as.zeros && !as.left ? '0' : ' ');
}

void put_text(Line& line, const Directive& as, Execution& run, std::uint64_t from) {
  char text[128];
  std::size_t length = 0;
  if (from >> 63 != 0) {
    for (; length < sizeof text; ++length) {
      const std::byte* const next = run.readable(from + length, 1);
      if (next == nullptr || *next == std::byte{0}) break;
      text[length] = static_cast<char>(*next);
    }
  } else if (!run.around.read_text(from, text, sizeof text, length)) {
    constexpr char kFault[] = "(fault)";
    line.put(kFault, sizeof kFault - 1, as.width, as.left, ' ');
    return;
  } else if (length > 0 && text[length - 1] == '\0') {
    --length;
  }
  line.put(text, length, as.width, as.left, ' ');
}

bool put_directive(Line& line, const Directive& as, Execution& run, std::uint64_t argument) {
  switch (as.kind) {
    case 'c':
      line.put(static_cast<char>(argument));
      return true;
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
      put_number(line, as, argument);
      return true;
    case 'p': {
      Directive whole = as;
      whole.bits = 64;
      whole.width = 16;
      whole.zeros = true;
      put_number(line, whole, argument);
      return true;
    }
    case 's':
      put_text(line, as, run, argument);
      return true;
    default:
      return false;
  }
}

}  // namespace

std::int64_t print_line(Execution& run, const char* format, std::size_t size, const std::uint64_t (&arguments)[3],
                        char (&line)[kMaxPrinted]) {
  if (size == 0 || format[size - 1] != '\0') return -EINVAL;
  Line out(line);
  Reader text{format, format + size - 1};
  std::size_t next = 0;
  while (text.peek() != '\0') {
    const char c = *text.at++;
    if (c != '%') {
      out.put(c);
    } else if (text.take('%')) {
      out.put('%');
    } else {
      if (next == 3 || !put_directive(out, read_directive(text), run, arguments[next])) return -EINVAL;
      ++next;
    }
  }
  return static_cast<std::int64_t>(out.length());
}

}  // namespace landtrace::bpf
