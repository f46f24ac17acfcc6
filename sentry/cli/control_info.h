#pragma once
/*
 * What the control socket tells about a sandbox.
 */
#include "lib/compiler.h"

struct control_stats;

/* A memfd with *ret_n struct control_process, or -errno. */
int control_info_processes(uint32_t *ret_n) MUST_CHECK;
void control_info_stats(struct control_stats *ret);
