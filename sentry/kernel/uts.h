#pragma once
/* Who this kernel says it is: uname(2), /proc/version, /proc/sys/kernel. */
#include "lib/compiler.h"

#define UTS_SYSNAME "Linux"
#define UTS_RELEASE "6.12.0-sentry"
#define UTS_VERSION "#1 SMP PREEMPT_DYNAMIC sentry " SENTRY_VERSION
#define UTS_MACHINE "x86_64"
