#include "tracefs/text_file.hpp"

#include <algorithm>
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
    return file_->store_in_turns(caller, bytes, rest_);
  }
  [[nodiscard]] bool takes_turns() const override { return rest_.any() || file_->takes_turns(); }

 private:
  std::shared_ptr<TextFile> file_;
  std::optional<std::string> text_;
  Rest rest_;
};

Result<std::string> TextFile::text() { return fail(EINVAL, "the file is not readable"); }
Result<std::size_t> TextFile::store(const Caller&, std::string_view) {
  return fail(EINVAL, "the file is not writable");
}
Result<std::size_t> TextFile::store_in_turns(const Caller& caller, std::string_view bytes, Rest&) {
  return store(caller, bytes);
}
Result<void> TextFile::truncate(const Caller&) { return {}; }
Result<void> TextFile::check_open(const Caller&, int) { return {}; }

Result<std::unique_ptr<OpenFile>> TextFile::open(const Caller& caller, int flags) {
  LT_CHECK(check_open(caller, flags));
  if ((flags & O_TRUNC) != 0 && (flags & O_ACCMODE) != O_RDONLY) LT_CHECK(truncate(caller));
  return std::make_unique<OpenTextFile>(shared_from_this());
}

}  // namespace landtrace::tracefs
