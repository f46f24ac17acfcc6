#pragma once
/*
 * mount_options.h: the words in a mount's `options`.
 */
#include "runsc-shim/oci_config.h"

struct error;

struct mount_options {
    uint32_t flags; /* BOOT_MS_* */
    bool bind;
    bool recursive; /* rbind */
    bool copy_up;   /* tmpcopyup: the tmpfs begins with what is below it */
    uint64_t size;  /* of a tmpfs, 0: not given */
    bool mode_given;
    uint32_t mode;
    uint32_t uid, gid;   /* of a tmpfs's root */
    uint64_t max_inodes; /* nr_inodes */
};

/* Words that mean nothing here (propagation, labels) are taken; a word that nobody knows is an
 * error, as an engine would otherwise believe that it counts. */
int mount_options_parse(const struct oci_strings *words, struct mount_options *ret,
                        struct error *err) MUST_CHECK;
/* What /proc/mounts may say of a source: never a path of the host. */
char *mount_source_word(const char *source);
