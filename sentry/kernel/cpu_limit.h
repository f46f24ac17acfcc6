#pragma once
/*
 * RLIMIT_CPU of a process: SIGXCPU at the soft limit and every second after it, SIGKILL at the hard
 * one. (The limit of the whole run is another matter: verdict.c.)
 */
#include "lib/compiler.h"

struct thread_group;

void cpu_limit_init(struct thread_group *tg);
/* The limit was set or inherited. */
void cpu_limit_changed(struct thread_group *tg);
