#include "tracefs/events/ftrace_folder.hpp"

#include <fmt/format.h>

#include "output/text/own_events.hpp"
#include "plan/segments.hpp"
#include "tracefs/events/event_hist.hpp"
#include "tracefs/events/event_inject.hpp"
#include "tracefs/events/event_trigger.hpp"
#include "tracefs/fixed_text.hpp"

namespace landtrace::tracefs {
namespace {

class EventsListFolder : public ListFolder {
 public:
  [[nodiscard]] unsigned mode() const override { return 0755; }
};

std::string format_of(std::string_view name, unsigned id, std::string_view fields, std::string_view print) {
  return fmt::format(
      "name: {}\nID: {}\nformat:\n"
      "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
      "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
      "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
      "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
      "{}\nprint fmt: {}\n",
      name, id, fields, print);
}

// print: text that is written to trace_marker.
std::shared_ptr<Folder> make_print(const InstancePtr& instance) {
  const EventRef print(instance, instance->context.domain.events().print());
  auto folder = std::make_shared<EventsListFolder>();
  folder->add<FixedText>("format", format_of("print", plan::kPrintId,
                                             "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
                                             "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n",
                                             R"("%ps: %s", (void *)REC->ip, REC->buf)"));
  folder->add<FixedText>("id", fmt::format("{}\n", plan::kPrintId));
  folder->add<EventHist>("hist", print);
  folder->add<PrintInject>("inject", print);
  folder->add<EventTrigger>("trigger", print);
  return folder;
}

// raw_data: bytes that are written to trace_marker_raw.
std::shared_ptr<Folder> make_raw_data() {
  auto folder = std::make_shared<EventsListFolder>();
  folder->add<FixedText>("format", format_of("raw_data", plan::kRawDataId,
                                             "\tfield:unsigned int id;\toffset:8;\tsize:4;\tsigned:0;\n"
                                             "\tfield:char buf[];\toffset:12;\tsize:0;\tsigned:0;\n",
                                             R"("id:%04x %08x", REC->id, (int)REC->buf[0])"));
  folder->add<FixedText>("hist", "");
  return folder;
}

// user_stack: a thread's stack, which triggers record.
std::shared_ptr<Folder> make_user_stack() {
  auto folder = std::make_shared<EventsListFolder>();
  folder->add<FixedText>("format", output::user_stack_type().format);
  folder->add<FixedText>("hist", "");
  folder->add<FixedText>("id", fmt::format("{}\n", plan::kUserStackId));
  return folder;
}

}  // namespace

std::shared_ptr<Folder> make_ftrace_folder(const InstancePtr& instance) {
  auto folder = std::make_shared<EventsListFolder>();
  folder->put("print", make_print(instance));
  folder->put("raw_data", make_raw_data());
  folder->put("user_stack", make_user_stack());
  return folder;
}

}  // namespace landtrace::tracefs
