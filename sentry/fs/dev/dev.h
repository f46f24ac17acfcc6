#pragma once
/* Device numbers of /dev, shared by the files of this folder. */
#include "lib/compiler.h"

#include "abi/tty.h"

#include "sentry/fs/file.h"
#include "sentry/fs/vfs.h"

enum {
    DEV_NULL_MINOR = 3,
    DEV_ZERO_MINOR = 5,
    DEV_FULL_MINOR = 7,
    DEV_RANDOM_MINOR = 8,
    DEV_URANDOM_MINOR = 9,
};
