// saved_cmdlines, saved_tgids, saved_cmdlines_size: names and processes of threads that wrote.
#pragma once

#include "domain/segment_names.hpp"
#include "tracefs/text_file.hpp"
#include "tracefs/trace/trace_instance.hpp"

namespace landtrace::tracefs {

// "1234 app"
class SavedCmdlines : public TextFile {
 public:
  explicit SavedCmdlines(const domain::Users& users) : TextFile(0440), users_(users) {}

 protected:
  Result<std::string> text() override;

 private:
  const domain::Users& users_;
};

// "1234 1230", with the option record-tgid of the top instance.
class SavedTgids : public TextFile {
 public:
  explicit SavedTgids(std::shared_ptr<TraceInstance> top) : TextFile(0440), top_(std::move(top)) {}

 protected:
  Result<std::string> text() override;

 private:
  std::shared_ptr<TraceInstance> top_;
};

// In the kernel, for how many threads there is room. Here there is always room for plan::kMaxTasks; the number is kept.
class SavedCmdlinesSize : public TextFile {
 public:
  SavedCmdlinesSize() : TextFile(0640) {}

 protected:
  Result<std::string> text() override;
  Result<std::size_t> store(const Caller& caller, std::string_view bytes) override;

 private:
  std::uint64_t wanted_ = 128;
};

}  // namespace landtrace::tracefs
