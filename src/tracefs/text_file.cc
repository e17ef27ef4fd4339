#include "tracefs/text_file.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace landtrace::tracefs {

class OpenTextFile : public OpenFile {
 public:
  explicit OpenTextFile(std::shared_ptr<TextFile> file) : file_(std::move(file)) {}

  Result<std::size_t> read(const Caller&, std::span<char> to, std::uint64_t offset) override {
    if (offset == 0 || !text_) {
      LT_TRY(text_, file_->text());
    }
    if (offset >= text_->size()) return 0;
    const std::size_t size = std::min<std::size_t>(to.size(), text_->size() - offset);
    std::memcpy(to.data(), text_->data() + offset, size);
    return size;
  }
  Result<std::size_t> write(const Caller& caller, std::string_view bytes, std::uint64_t) override {
    return file_->store(caller, bytes);
  }

 private:
  std::shared_ptr<TextFile> file_;
  std::optional<std::string> text_;
};

Result<std::string> TextFile::text() { return fail(EINVAL, "the file is not readable"); }
Result<std::size_t> TextFile::store(const Caller&, std::string_view) {
  return fail(EINVAL, "the file is not writable");
}
Result<void> TextFile::truncate(const Caller&) { return {}; }
Result<void> TextFile::check_open(const Caller&, int) { return {}; }

Result<std::unique_ptr<OpenFile>> TextFile::open(const Caller& caller, int flags) {
  LT_CHECK(check_open(caller, flags));
  if ((flags & O_TRUNC) != 0 && (flags & O_ACCMODE) != O_RDONLY) LT_CHECK(truncate(caller));
  return std::make_unique<OpenTextFile>(shared_from_this());
}

std::string_view trimmed(std::string_view bytes) {
  constexpr const char* kSpace = " \t\n\v\f\r";
  const auto first = bytes.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return bytes.substr(first, bytes.find_last_not_of(kSpace) - first + 1);
}

Result<std::uint64_t> number_in(std::string_view bytes, int base) {
  bytes = bytes.substr(0, bytes.find('\0'));
  if (bytes.ends_with('\n')) bytes.remove_suffix(1);
  if (bytes.starts_with('+')) bytes.remove_prefix(1);
  if (base == 0) {
    base = 10;
    if (bytes.size() > 2 && bytes[0] == '0' && (bytes[1] | 0x20) == 'x') {
      base = 16;
      bytes.remove_prefix(2);
    } else if (bytes.size() > 1 && bytes[0] == '0') {
      base = 8;
      bytes.remove_prefix(1);
    }
  }
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), number, base);
  if (error == std::errc::result_out_of_range) return fail(ERANGE, "the number is too large");
  if (error != std::errc{} || end != bytes.data() + bytes.size()) return fail(EINVAL, "a number was expected");
  return number;
}

}  // namespace landtrace::tracefs
