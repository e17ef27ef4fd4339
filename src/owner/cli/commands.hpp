// The commands of `landtrace`, one file each.
#pragma once

#include "cli/command_line.hpp"

namespace landtrace::cli {

void add_record(Program& program);
void add_report(Program& program);
void add_tail(Program& program);
void add_export(Program& program);
void add_view(Program& program);
void add_ui(Program& program);
void add_list(Program& program);
void add_functions(Program& program);
void add_attach(Program& program);
void add_recover(Program& program);
void add_hist(Program& program);
void add_latency(Program& program);
void add_top_functions(Program& program);
void add_top(Program& program);
void add_flame(Program& program);
void add_run(Program& program);
void add_bpf(Program& program);
void add_cat(Program& program);
void add_write(Program& program);
void add_ls(Program& program);
void add_mkdir(Program& program);
void add_rmdir(Program& program);
void add_mount(Program& program);
void add_umount(Program& program);
void add_domain(Program& program);
void add_doctor(Program& program);
void add_fleet(Program& program);
void add_collect(Program& program);

}  // namespace landtrace::cli
