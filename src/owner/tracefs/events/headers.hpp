// events/header_page and events/header_event: how the raw pages of a buffer are laid out.
#pragma once

#include "tracefs/instance_state.hpp"
#include "tracefs/text_file.hpp"

namespace landtrace::tracefs {

class HeaderPage : public TextFile {
 public:
  explicit HeaderPage(InstancePtr instance) : TextFile(0440), instance_(std::move(instance)) {}

 protected:
  Result<std::string> text() override {
    LT_CHECK(instance_->get());
    const std::uint64_t size = instance_->trace->buffer.sub_buffer_bytes() - buffer::kSubBufferHeader;
    return "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
           "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
           "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
           "\tfield: char data;\toffset:16;\tsize:" +
           std::to_string(size) + ";\tsigned:0;\n";
  }

 private:
  InstancePtr instance_;
};

class HeaderEvent : public TextFile {
 public:
  HeaderEvent() : TextFile(0440) {}

 protected:
  Result<std::string> text() override {
    return "# compressed entry header\n"
           "\ttype_len    :    5 bits\n"
           "\ttime_delta  :   27 bits\n"
           "\tarray       :   32 bits\n"
           "\n"
           "\tpadding     : type == 29\n"
           "\ttime_extend : type == 30\n"
           "\ttime_stamp : type == 31\n"
           "\tdata max type_len  == 28\n";
  }
};

}  // namespace landtrace::tracefs
