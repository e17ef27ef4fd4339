#include "tracefs/user_events/data.hpp"

#include "programs/task.hpp"

namespace landtrace::tracefs {

OpenUserEventsData::~OpenUserEventsData() {
  const auto access = context_.domain.enter();
  context_.domain.files().close(id_);
}

Result<std::size_t> OpenUserEventsData::write(const Caller& caller, std::string_view bytes, std::uint64_t) {
  const iovec vector{const_cast<char*>(bytes.data()), bytes.size()};
  const ssize_t written = context_.proxy().write(id_, caller.tid, caller.who.uid, std::span(&vector, 1));
  if (written < 0) return fail(static_cast<int>(-written));
  return static_cast<std::size_t>(written);
}

std::optional<domain::DataCall> OpenUserEventsData::call(const Caller& caller, unsigned command,
                                                         std::uint64_t argument) {
  return domain::DataCall(context_.domain, id_, caller.tid, caller.who, command, argument);
}

Result<std::unique_ptr<OpenFile>> UserEventsData::open(const Caller& caller, int) {
  const std::uint32_t opener = caller.tid == 0 ? 0 : programs::process_of(caller.tid);
  LT_TRY(const domain::FileId id, context_.domain.registrar().open_file(caller.who.uid, opener));
  return std::make_unique<OpenUserEventsData>(context_, id);
}

}  // namespace landtrace::tracefs
