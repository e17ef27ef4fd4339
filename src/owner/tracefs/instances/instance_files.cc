#include "tracefs/instances/instance_files.hpp"

#include "tracefs/current_tracer.hpp"
#include "tracefs/error_log.hpp"
#include "tracefs/events/events_folder.hpp"
#include "tracefs/fixed_text.hpp"
#include "tracefs/set_event.hpp"
#include "tracefs/set_event_pid.hpp"
#include "tracefs/trace/trace_files.hpp"
#include "tracefs/tracing_cpumask.hpp"

namespace landtrace::tracefs {

void add_instance_files(ListFolder& folder, const InstancePtr& instance) {
  folder.add<FixedText>("available_tracers", "nop\n");
  folder.add<CurrentTracer>("current_tracer");
  folder.add<ErrorLog>("error_log", instance);
  folder.add<EventsFolder>("events", instance);
  folder.add<SetEvent>("set_event", instance);
  folder.add<SetEventPid>("set_event_pid", instance, SetEventPid::List::kOnly);
  folder.add<SetEventPid>("set_event_notrace_pid", instance, SetEventPid::List::kNever);
  folder.add<TracingCpumask>("tracing_cpumask", instance);
  add_trace_files(folder, instance->context, instance->trace, instance->index == 0);
}

}  // namespace landtrace::tracefs
