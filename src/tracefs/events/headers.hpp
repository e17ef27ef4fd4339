// events/header_page and events/header_event: how the raw pages of a buffer are laid out.
#pragma once

#include "tracefs/text_file.hpp"

namespace landtrace::tracefs {

class HeaderPage : public TextFile {
 public:
  HeaderPage() : TextFile(0440) {}

 protected:
  Result<std::string> text() override {
    return "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
           "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
           "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
           "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
  }
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
