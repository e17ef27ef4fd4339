// user_events_data: here programs register events and write them.
#pragma once

#include "tracefs/context.hpp"
#include "tracefs/event_data_file.hpp"
#include "tracefs/node.hpp"

namespace landtrace::tracefs {

class OpenUserEventsData : public EventDataFile {
 public:
  OpenUserEventsData(Context& context, domain::FileId id) : context_(context), id_(id) {}
  ~OpenUserEventsData() override;

  [[nodiscard]] domain::FileId id() const override { return id_; }
  Result<std::size_t> write(const Caller& caller, std::string_view bytes, std::uint64_t offset) override;
  std::optional<domain::DataCall> call(const Caller& caller, unsigned command, std::uint64_t argument) override;

 private:
  Context& context_;
  domain::FileId id_;
};

class UserEventsData : public File {
 public:
  explicit UserEventsData(Context& context) : context_(context) {}

  [[nodiscard]] unsigned mode() const override { return 0640; }
  [[nodiscard]] bool is_event_data() const override { return true; }
  // Always an OpenUserEventsData.
  Result<std::unique_ptr<OpenFile>> open(const Caller& caller, int flags) override;

 private:
  Context& context_;
};

}  // namespace landtrace::tracefs
