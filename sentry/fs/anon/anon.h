#pragma once
/*
 * The anonymous super: home of files that no path leads to (pipes, sockets, eventfds, ...). Made on
 * first use; kernel_done drops it with anon_super_done after all files are gone.
 */
#include "lib/compiler.h"

void anon_super_done(void);
