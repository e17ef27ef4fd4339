// events/SYSTEM/filter
#pragma once

#include "tracefs/text_file.hpp"

namespace landtrace::tracefs {

class SystemFilter : public TextFile {
 public:
  SystemFilter() : TextFile(0640) {}

 protected:
  Result<std::string> text() override;
  Result<std::size_t> store(const Caller& caller, std::string_view bytes) override;
};

}  // namespace landtrace::tracefs
