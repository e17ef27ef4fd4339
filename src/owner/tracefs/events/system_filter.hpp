// events/SYSTEM/filter
#pragma once

#include "tracefs/events/selection.hpp"
#include "tracefs/text_file.hpp"

namespace landtrace::tracefs {

class SystemFilter : public TextFile {
 public:
  SystemFilter(InstancePtr instance, Selection system)
      : TextFile(0640), instance_(std::move(instance)), system_(std::move(system)) {}

 protected:
  Result<std::string> text() override;
  Result<std::size_t> store(const Caller& caller, std::string_view bytes) override;

 private:
  InstancePtr instance_;
  Selection system_;
};

}  // namespace landtrace::tracefs
