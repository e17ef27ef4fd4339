// error_log: why the last commands were refused. Truncation clears it.
#pragma once

#include "tracefs/instance_state.hpp"
#include "tracefs/text_file.hpp"

namespace landtrace::tracefs {

class ErrorLog : public TextFile {
 public:
  explicit ErrorLog(InstancePtr instance) : TextFile(0640), instance_(std::move(instance)) {}

 protected:
  Result<std::string> text() override { return instance_->errors.text(); }
  Result<std::size_t> store(const Caller&, std::string_view bytes) override { return bytes.size(); }
  Result<void> truncate(const Caller&) override {
    instance_->errors.clear();
    return {};
  }

 private:
  InstancePtr instance_;
};

}  // namespace landtrace::tracefs
