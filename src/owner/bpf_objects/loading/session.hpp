// An object's programs in a domain.
#pragma once

#include <bpf/libbpf.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bpf/map_layout.hpp"
#include "bpf_calls/objects.hpp"

namespace landtrace::loading {

class Session {
 public:
  Session();

  // False: it has been said why not.
  bool load(const char* path);
  // By their sections (section.hpp). An event that is not there yet gets its program when it comes.
  bool attach();
  // Of each that is attached "SYSTEM:EVENT", or "@SYSTEM:EVENT" of one that has a probe of its own, and a 0.
  [[nodiscard]] const std::string& attached() const { return attached_; }

  // Lines and records that have come. False: nobody reads the output.
  bool show_new();
  // All of them.
  void show_maps();
  // Those that have changed since they were shown, under the time. False: nobody reads the output.
  bool show_changed_maps();
  // Programs that did not fit their events, when these came. False: there are none.
  bool complain_of_links();

 private:
  struct CloseObject {
    void operator()(bpf_object* object) const { bpf_object__close(object); }
  };
  bool take_lines();
  void show_lines();
  void show_records();
  // By their names, in the order of the object.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> map_texts() const;

  std::unique_ptr<bpf_object, CloseObject> object_;
  std::byte* data_ = nullptr;
  bpf::MapLayout lines_{};
  struct Ring {
    std::string name;
    bpf_calls::ObjectRef map;
  };
  std::vector<Ring> rings_;
  std::string attached_;
  std::set<std::uint64_t> links_;  // the owner's numbers of them
  std::map<std::string, std::string> shown_;
};

}  // namespace landtrace::loading
