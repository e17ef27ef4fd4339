#include "tracefs/text_file.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace landtrace::tracefs {

class OpenTextFile : public OpenFile {
 public:
  explicit OpenTextFile(std::shared_ptr<TextFile> file) : file_(std::move(file)) {}

  Result<std::size_t> read(const Caller&, std::span<char> to, std::uint64_t offset) override {
    if (offset == 0 || !text_) LT_CHECK(make_text());
    if (offset >= text_->size()) return 0;
    const std::size_t size = std::min<std::size_t>(to.size(), text_->size() - offset);
    std::memcpy(to.data(), text_->data() + offset, size);
    return size;
  }
  Result<std::size_t> write(const Caller& caller, std::string_view bytes, std::uint64_t) override {
    return file_->store_in_turns(caller, bytes, rest_);
  }
  [[nodiscard]] bool takes_turns() const override { return rest_.any() || file_->takes_turns(); }

  [[nodiscard]] bool has_input() override { return to_come_ == nullptr || to_come_->is_there(); }

 private:
  // kNotYet: it is to come, and others have the domain.
  Result<void> make_text() {
    if (!to_come_) {
      text_.reset();
      LT_TRY(auto text, file_->begin_text(to_come_));
      if (!to_come_) {
        text_ = std::move(text);
        return {};
      }
    }
    if (!to_come_->is_there()) return fail(kNotYet);
    const auto came = std::exchange(to_come_, nullptr);
    LT_TRY(text_, came->take());
    return {};
  }

  std::shared_ptr<TextFile> file_;
  std::optional<std::string> text_;
  std::unique_ptr<TextToCome> to_come_;
  Rest rest_;
};

Result<std::string> TextFile::text() { return fail(EINVAL, "the file is not readable"); }
Result<std::string> TextFile::begin_text(std::unique_ptr<TextToCome>&) { return text(); }
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
