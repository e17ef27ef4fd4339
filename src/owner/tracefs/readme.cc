#include "tracefs/readme.hpp"

namespace landtrace::tracefs {

// In the shape of the kernel's own, because scripts search it for the names of what they need.
const char* const kReadme = R"(Landtrace mini-HOWTO:

These files do what those of the kernel's tracefs do, for the events of
user-space programs. Nobody but the owner, root and the group that the mount
was given reads or writes them; the group can be changed:
	mount -o remount,[gid=<gid>] /sys/kernel/tracing

# echo 1 > events/enable : record all events that there are
# cat trace              : see what was recorded
# echo 0 > tracing_on    : keep what was recorded, record nothing more
# echo > trace           : empty the buffer

 Events:
  available_events	- Every event, as <system>:<event>
  set_event		- The enabled events; write names to enable them
	    accepts: <system>:<event>, <system>:*, *:<event>, *:*, <name>
	             with a '!' in front the event is disabled again
  set_event_pid		- Only threads with these ids record events
  set_event_notrace_pid	- Threads with these ids record none
  dynamic_events	- Create/append/remove/show the dynamic events
  kprobe_events		- Create/append/remove/show the dynamic events at
			  functions of libraries and programs, by their names
  uprobe_events		- Create/append/remove/show the dynamic events at
			  places in files
	  accepts: event-definitions (one definition per line)
	   Format: p[:[<group>/][<event>]] <place> [<args>]
	           r[maxactive][:[<group>/][<event>]] <place> [<args>]
	           u:<event> [<type> <field>;...]
	           s:[synthetic/]<event> <field> [<field>]
	           e[:[<group>/][<event>]] <attached-group>.<attached-event> [<args>] [if <filter>]
	           -:[<group>/][<event>]
	    place: [<module>:]<symbol>[+<offset>]|<memaddr>
place (kretprobe): [<module>:]<symbol>[+<offset>]%return|<memaddr>
   place (uprobe): <path>:<offset>[%return][(ref_ctr_offset)]
	     args: <name>=fetcharg[:type]
	 fetcharg: (%<register>|$<efield>), @<address>, @<symbol>[+|-<offset>],
	           $stack<index>, $stack, $retval, $comm, $arg<N>,
	           +|-[u]<offset>(<fetcharg>), \imm-value, \"imm-string"
	     type: s8/16/32/64, u8/16/32/64, x8/16/32/64, char, string, symbol,
	           b<bit-width>@<bit-offset>/<container-size>, ustring,
	           symstr, <type>\[<array-size>\]
	    field: <stype> <name>;
  A <module> is the name of a library or a program; one that is not there is
  waited for. A <path> may be followed by <symbol>[+<offset>] as well.
  kprobe_profile, uprobe_profile
			- How often each of them was hit
  synthetic_events	- Create/append/remove/show the synthetic events
	  example: echo 'late u64 us; char who[]; long[] stack' >> synthetic_events
  user_events_data	- Programs register user_events here, and write them
  user_events_status	- The registered user_events, and those in use
  events/enable, events/<system>/enable, events/<system>/<event>/enable
			- Write 0/1 to disable/enable; reads X for a mixture
  events/<system>/<event>/format
			- The fields of the event, and how it is printed
  events/<system>/<event>/id
			- The number that stands for the event in raw buffers
  events/<system>/<event>/filter
			- If set, only events passing filter are traced
  events/<system>/<event>/trigger
			- If set, a command to perform when event is hit
  events/<system>/<event>/hist
			- The tables of the event's hist triggers, each of them
			  a hist trigger that was written to trigger
	   Format: hist:keys=<field1[,field2,...]>
	            [:<var1>=<field|var_ref|numeric_literal>[,<var2>=...]]
	            [:values=<field1[,field2,...]>][:sort=<field1[,field2]>]
	            [:size=#entries][:pause][:continue][:clear]
	            [:name=histname1][:nohitcount][:clock=<clock>]
	            [:<handler>.<action>] [if <filter>]
	   A key can be any field, or the special string 'common_stacktrace',
	   'common_timestamp' or 'common_cpu'; how it is shown:
	            .hex .sym .sym-offset .execname .syscall .log2
	            .buckets=size .usecs .stacktrace
	   An entry is sorted .ascending or .descending
	   <var1> may be computed, with + - * and /
	   handlers: onmatch(matching.event), onmax(var), onchange(var)
	   actions:  trace(<synthetic_event>,param list),
	             <synthetic_event>(param list),
	             save(field,...), snapshot()
	   enable_hist:<system>:<event>, disable_hist:<system>:<event>
			- As triggers: let that event's histograms count, or not
  events/<system>/<event>/inject
			- Records the event by hand
	   Format: <field> = <number> <field> = "<text>" ...

 Buffers:
  trace			- What the buffer holds
  trace_pipe		- The same as it comes, and what was read is gone
  per_cpu/cpuN/		- The same for one CPU
  snapshot		- A second buffer, to keep what the first one holds now
  tracing_on		- Whether anything is recorded
  trace_marker		- What is written here stands among the events
  trace_marker_raw	- The same for binary data
  trace_clock		- The clock of the time stamps
  timestamp_mode	- How the buffer keeps them
  trace_options, options/
			- How the buffer is printed and how it is filled;
			  'no' in front of a name switches it off
  buffer_size_kb	- The size of each CPU's buffer
  buffer_total_size_kb	- The size of all of them
  tracing_cpumask	- The CPUs that were chosen

 More:
  instances		- mkdir instances/foo makes a tree of buffers and
			  enabled events of its own, rmdir removes it
  error_log		- Why the last commands were refused
  current_tracer, available_tracers
			- There is one, nop: events are all there is
)";

}  // namespace landtrace::tracefs
