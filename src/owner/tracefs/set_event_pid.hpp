// set_event_pid: the threads whose events the instance takes; an empty list is all threads.
// set_event_notrace_pid: the threads whose events it does not take.
// A write adds to the list, or fails and changes nothing.
#pragma once

#include "tracefs/instance_state.hpp"
#include "tracefs/text_file.hpp"

namespace landtrace::tracefs {

class SetEventPid : public TextFile {
 public:
  enum class List { kOnly, kNever };
  SetEventPid(InstancePtr instance, List list) : TextFile(0640), instance_(std::move(instance)), list_(list) {}

 protected:
  Result<std::string> text() override;
  Result<std::size_t> store(const Caller& caller, std::string_view bytes) override;
  Result<void> truncate(const Caller&) override { return set({}); }

 private:
  [[nodiscard]] const domain::Threads& current(const domain::Instance& instance) const;
  Result<void> set(domain::Threads threads);

  InstancePtr instance_;
  List list_;
};

}  // namespace landtrace::tracefs
