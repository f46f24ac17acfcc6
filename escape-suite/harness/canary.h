#pragma once
/*
 * What lies on the host for an attack to find: a tree of files, listeners on loopback and on unix
 * sockets, and a victim process with a secret in its memory. One set a lane; checked after each
 * run.
 */
#include "lib/compiler.h"

#include <sys/types.h>

#include "escape-suite/harness/findings.h"
#include "escape-suite/harness/scan.h"

struct error;

enum {
    CANARY_TEXT = 14 + SECRET_DIGITS, /* the mark and the digits */
    CANARY_LISTENERS = 5
};

struct canary_listener {
    const char *what;
    int fd;
    bool stream; /* accept, else receive */
};

struct canaries {
    char dir[256]; /* the tree */
    char file[300], unix_path[100], abstract[64];
    char file_secret[CANARY_TEXT + 1], victim_secret[CANARY_TEXT + 1];
    uint64_t tree_hash;
    struct canary_listener listeners[CANARY_LISTENERS];
    unsigned tcp_port, udp_port;
    pid_t victim;
    int victim_ask, victim_answer;
    void *victim_page;
    int leak[4]; /* what a runtime inherits with `leak`: a socket, the tree, the secret file; -1 */
    int leak_peer; /* other end of the socket */
};

/* Below the existing directory base. A new random secret: the mark and digits. */
int canaries_make(struct canaries *c, const char *base, struct error *err) MUST_CHECK;
void canaries_done(struct canaries *c);
/* Everything untouched? Adds a finding for each that is not, and repairs what can be. */
void canaries_check(struct canaries *c, struct findings *f);
int canary_secret(char text[static CANARY_TEXT + 1]) MUST_CHECK;
/* The digits of a secret. */
const char *canary_digits(const char *text);
/* Hash over names, bytes, mode, owner, size and mtime of everything below path. */
uint64_t tree_hash(const char *path);
