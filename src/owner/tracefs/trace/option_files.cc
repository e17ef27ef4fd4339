#include "tracefs/trace/option_files.hpp"

#include "language/words.hpp"

namespace landtrace::tracefs {

Result<std::string> TraceOptionsFile::text() {
  LT_CHECK(instance_->get());
  std::string text;
  for (std::size_t i = 0; i < kTraceOptions; ++i) {
    const auto option = static_cast<TraceOption>(i);
    if (!instance_->options()[option]) text += "no";
    text += name_of(option);
    text += '\n';
  }
  return text;
}

Result<std::size_t> TraceOptionsFile::store(const Caller&, std::string_view bytes) {
  LT_CHECK(instance_->get());
  if (bytes.empty()) return 0;
  std::string_view name = trimmed(language::until_nul(bytes));
  const bool on = !name.starts_with("no");
  if (!on) name.remove_prefix(2);
  const auto option = option_named(name);
  if (!option) return fail(EINVAL, "no such option");
  LT_CHECK(instance_->set_option(*option, on));
  return bytes.size();
}

Result<std::string> OptionFile::text() {
  LT_CHECK(instance_->get());
  return instance_->options()[option_] ? "1\n" : "0\n";
}

Result<std::size_t> OptionFile::store(const Caller&, std::string_view bytes) {
  LT_CHECK(instance_->get());
  LT_TRY(const std::uint64_t number, number_in(bytes, 10));
  if (number > 1) return fail(EINVAL, "an option is 0 or 1");
  if ((number == 1) != instance_->options()[option_]) LT_CHECK(instance_->set_option(option_, number == 1));
  return bytes.size();
}

std::shared_ptr<Folder> make_options_folder(const std::shared_ptr<TraceInstance>& instance, bool top) {
  auto folder = std::make_shared<ListFolder>();
  for (std::size_t i = 0; i < kTraceOptions; ++i) {
    const auto option = static_cast<TraceOption>(i);
    if (top || !is_of_the_top(option)) folder->add<OptionFile>(std::string(name_of(option)), instance, option);
  }
  return folder;
}

}  // namespace landtrace::tracefs
