// Library: what a program asks of an event that it has opened, by ioctl() and read().
#include <sys/ioctl.h>

#include "perf/attr.hpp"
#include "perf/library.hpp"

namespace landtrace::perf {
namespace {

constexpr std::size_t kLongestFilter = 4096;

}  // namespace

Result<long> Library::for_all(Event& event, void* argument, bool on) {
  const bool whole_group = (reinterpret_cast<std::uintptr_t>(argument) & PERF_IOC_FLAG_GROUP) != 0;
  for (Event* const one : whole_group ? *event.group : std::vector<Event*>{&event}) {
    if (!on) {
      disable(*one);
      continue;
    }
    LT_CHECK(enable(*one));
  }
  return 0;
}

Result<long> Library::set_filter(Event& event, void* argument) {
  std::string filter(kLongestFilter, '\0');
  std::size_t size = 0;
  const auto* const from = static_cast<const char*>(argument);
  while (size < filter.size() && copy_in(filter.data() + size, from + size, 1) && filter[size] != '\0') ++size;
  if (size == filter.size()) return fail(EINVAL);
  if (size == 0 && !copy_in(filter.data(), from, 1)) return fail(EFAULT);
  filter.resize(size);
  if (event.is_dummy) return fail(EINVAL);
  if (filter == "0") filter.clear();  // as in a `filter` file: none
  LT_CHECK(tracepoints_.check_filter(event.tracepoint, filter));
  if (filter == event.filter) return 0;
  const bool listens = event.source != nullptr || event.counter != nullptr;
  if (listens) {
    std::ignore = pull();
    if (event.counter != nullptr) event.counter->hush(event);
    listening_.end(event);
  }
  event.filter = filter;
  if (event.is_on || event.waits_for_exec) {
    LT_CHECK(listening_.begin(event, tracepoints_.socket()));
  }
  return 0;
}

Result<long> Library::set_period(Event& event, void* argument) {
  std::uint64_t period = 0;
  if (!copy_in(&period, argument, sizeof period)) return fail(EFAULT);
  if (!event.is_sampled() || period == 0 || (period >> 63) != 0) return fail(EINVAL);
  event.period = event.attr.freq != 0 ? 1 : period;
  event.until_sample = event.period;
  return 0;
}

Result<long> Library::refresh(Event& event, void* argument) {
  if (event.attr.inherit != 0 || !event.is_sampled()) return fail(EINVAL);
  const auto samples = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(argument));
  event.samples_left += samples;
  LT_CHECK(enable(event));
  return 0;
}

Result<long> Library::ioctl(std::uint32_t handle, unsigned long request, void* argument) {
  Event* const event = find(handle);
  if (event == nullptr) return fail(ENODEV);
  switch (request) {
    case PERF_EVENT_IOC_ENABLE:
      return for_all(*event, argument, true);
    case PERF_EVENT_IOC_DISABLE:
      return for_all(*event, argument, false);
    case PERF_EVENT_IOC_RESET:
      std::ignore = pull();
      if (event->counter != nullptr && event->is_on) {
        event->counter->hush(*event);
        LT_CHECK(event->counter->listen(*event));
      }
      event->count = 0;
      return 0;
    case PERF_EVENT_IOC_REFRESH:
      return refresh(*event, argument);
    case PERF_EVENT_IOC_PERIOD:
      return set_period(*event, argument);
    case PERF_EVENT_IOC_ID:
      if (!copy_out(argument, &event->id, sizeof event->id)) return fail(EFAULT);
      return 0;
    case PERF_EVENT_IOC_SET_FILTER:
      return set_filter(*event, argument);
    case PERF_EVENT_IOC_PAUSE_OUTPUT:
      if (!event->output) return fail(EINVAL);
      // What has happened before is there.
      std::ignore = pull();
      event->output->pause(argument != nullptr);
      return 0;
    case PERF_EVENT_IOC_SET_BPF:
      return fail(EOPNOTSUPP);
    // Of breakpoints alone.
    case PERF_EVENT_IOC_MODIFY_ATTRIBUTES:
      return fail(EOPNOTSUPP);
    case PERF_EVENT_IOC_QUERY_BPF:
      return fail(EINVAL);
    default:
      return fail(ENOTTY);
  }
}

Result<long> Library::set_output(std::uint32_t handle, int fd, std::uint32_t to) {
  Event* const event = find(handle);
  if (event == nullptr) return fail(ENODEV);
  if (fd == -1) {
    move_output(*event, nullptr);
    return 0;
  }
  if (to == 0) {
    if (!is_kernel_event(fd)) return fail(EBADF);
    LT_TRY(std::shared_ptr<OutputRing> ring, kernel_.replace_memory(fd));
    move_output(*event, std::move(ring));
    return 0;
  }
  const Event* const other = find(to);
  if (other == nullptr) return fail(EBADF);
  if (other == event) return fail(EINVAL);
  if (other->cpu != event->cpu) return fail(EINVAL);
  if (other->attr.write_backward != event->attr.write_backward) return fail(EINVAL);
  if (!other->output) return fail(EINVAL);
  move_output(*event, other->output);
  return 0;
}

Reading Library::reading_of(Event& event) {
  const std::uint64_t now = arch::monotonic_ns();
  const std::uint64_t on_ns = event.enabled_ns + (event.is_on ? now - event.on_since_ns : 0);
  const std::uint64_t count = event.counter != nullptr ? event.counter->count(event) : event.count;
  return {count, on_ns, on_ns, event.id, event.lost};
}

Result<long> Library::read(std::uint32_t handle, void* buffer, std::size_t size) {
  Event* const event = find(handle);
  if (event == nullptr) return fail(ENODEV);
  std::ignore = pull();
  std::vector<Reading> readings;
  const bool is_group = (event->attr.read_format & PERF_FORMAT_GROUP) != 0;
  for (Event* const one : is_group ? *event->group : std::vector<Event*>{event}) readings.push_back(reading_of(*one));
  const std::vector<std::uint64_t> words = make_reading(event->attr.read_format, readings);
  const std::size_t bytes = words.size() * sizeof words[0];
  if (size < bytes) return fail(ENOSPC);
  if (!copy_out(buffer, words.data(), bytes)) return fail(EFAULT);
  return static_cast<long>(bytes);
}

}  // namespace landtrace::perf
