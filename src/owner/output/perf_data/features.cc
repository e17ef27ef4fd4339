#include "output/perf_data/features.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "base/fd.hpp"
#include "output/trace_dat/put.hpp"

namespace landtrace::output::perf_data {
namespace {

using trace_dat::put;

// With its NULs, as perf pads them.
std::string text(std::string_view words) {
  constexpr std::size_t kAlign = 64;
  const std::size_t size = (words.size() + kAlign) / kAlign * kAlign;
  std::string bytes;
  put(bytes, static_cast<std::uint32_t>(size));
  bytes += words;
  bytes.resize(sizeof(std::uint32_t) + size, '\0');
  return bytes;
}

// The first "KEY : VALUE" line of /proc/cpuinfo; "unknown" where there is none.
std::string cpu_fact(const std::string& cpuinfo, std::string_view key) {
  std::istringstream lines(cpuinfo);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with(key) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

// As perf names x86-64 processors: VENDOR,FAMILY,MODEL,STEPPING.
std::string cpu_id(const std::string& cpuinfo) {
  return cpu_fact(cpuinfo, "vendor_id") + ',' + cpu_fact(cpuinfo, "cpu family") + ',' + cpu_fact(cpuinfo, "model\t") +
         ',' + cpu_fact(cpuinfo, "stepping");
}

std::string cpu_counts() {
  std::string bytes;
  put(bytes, static_cast<std::uint32_t>(std::max(::sysconf(_SC_NPROCESSORS_CONF), 1l)));
  put(bytes, static_cast<std::uint32_t>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1l)));
  return bytes;
}

}  // namespace

std::vector<std::pair<Feature, std::string>> machine_features() {
  utsname name{};
  ::uname(&name);
  const std::string cpuinfo = read_file("/proc/cpuinfo").value_or("");
  std::string command;
  put(command, std::uint32_t{1});
  command += text("landtrace");
  return {{Feature::kHostname, text(name.nodename)},
          {Feature::kOsRelease, text(name.release)},
          {Feature::kVersion, text("landtrace")},
          {Feature::kArch, text(name.machine)},
          {Feature::kCpus, cpu_counts()},
          {Feature::kCpuDescription, text(cpu_fact(cpuinfo, "model name"))},
          {Feature::kCpuId, text(cpu_id(cpuinfo))},
          {Feature::kCommandLine, command}};
}

std::string sample_time_feature(std::uint64_t first_ns, std::uint64_t last_ns) {
  std::string bytes;
  put(bytes, first_ns);
  put(bytes, last_ns);
  return bytes;
}

std::string event_descriptions_feature(const std::vector<DescribedAttr>& attrs) {
  std::string bytes;
  put(bytes, static_cast<std::uint32_t>(attrs.size()));
  put(bytes, kAttrBytes);
  for (const DescribedAttr& attr : attrs) {
    bytes += attr.bytes;
    put(bytes, std::uint32_t{1});
    bytes += text(attr.name);
    put(bytes, attr.id);
  }
  return bytes;
}

}  // namespace landtrace::output::perf_data
