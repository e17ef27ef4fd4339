// trace_options, and a file for each in options/.
#pragma once

#include "tracefs/list_folder.hpp"
#include "tracefs/text_file.hpp"
#include "tracefs/trace/trace_instance.hpp"

namespace landtrace::tracefs {

class TraceOptionsFile : public TextFile {
 public:
  explicit TraceOptionsFile(std::shared_ptr<TraceInstance> instance) : TextFile(0640), instance_(std::move(instance)) {}

 protected:
  Result<std::string> text() override;
  // "irq-info" or "noirq-info".
  Result<std::size_t> store(const Caller& caller, std::string_view bytes) override;

 private:
  std::shared_ptr<TraceInstance> instance_;
};

class OptionFile : public TextFile {
 public:
  OptionFile(std::shared_ptr<TraceInstance> instance, TraceOption option)
      : TextFile(0640), instance_(std::move(instance)), option_(option) {}

 protected:
  Result<std::string> text() override;
  Result<std::size_t> store(const Caller& caller, std::string_view bytes) override;

 private:
  std::shared_ptr<TraceInstance> instance_;
  TraceOption option_;
};

std::shared_ptr<Folder> make_options_folder(const std::shared_ptr<TraceInstance>& instance, bool top);

}  // namespace landtrace::tracefs
