/*
 * options.c: command lines as runc reads them.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "lib/error.h"
#include "lib/parse.h"
#include "runsc-shim/shim.h"
#include "sentry/cli/boot.h"

enum {
    MAX_ID = 1024
};

static const struct shim_option *find(const struct shim_option *options, size_t n, const char *name,
                                      size_t len)
{
    for (size_t i = 0; i < n; i++) {
        const struct shim_option *o = &options[i];
        if (strlen(o->name) == len && strncmp(o->name, name, len) == 0)
            return o;
        if (o->alias != NULL && strlen(o->alias) == len && strncmp(o->alias, name, len) == 0)
            return o;
    }
    return NULL;
}

static int set_flag(const struct shim_option *o, const char *value, struct error *err)
{
    if (value == NULL || strcmp(value, "true") == 0 || strcmp(value, "1") == 0)
        *(bool *)o->to = true;
    else if (strcmp(value, "false") == 0 || strcmp(value, "0") == 0)
        *(bool *)o->to = false;
    else
        return error_set(err, EINVAL, "--%s: '%s' is neither true nor false", o->name, value);
    return 0;
}

static int set_value(const struct shim_option *o, const char *value, struct error *err)
{
    struct shim_list *list = o->to;

    if (o->kind == OPT_STRING) {
        *(const char **)o->to = value;
    } else if (o->kind == OPT_LIST) {
        if (list->n == SHIM_LIST_MAX)
            return error_set(err, E2BIG, "--%s is there more than %d times", o->name,
                             SHIM_LIST_MAX);
        list->v[list->n++] = value;
    }
    return 0;
}

/* The option at argv[*i]; *i is moved over a value that follows. */
static int take(int argc, char **argv, int *i, const struct shim_option *options, size_t n,
                struct error *err)
{
    const char *word = argv[*i] + 1;

    if (*word == '-')
        word++;
    size_t len = strcspn(word, "=");
    const char *value = word[len] == '=' ? word + len + 1 : NULL;
    const struct shim_option *o = find(options, n, word, len);
    if (o == NULL)
        return error_set(err, EINVAL, "unknown option '%s'", argv[*i]);
    if (o->kind == OPT_FLAG)
        return set_flag(o, value, err);
    if (value == NULL) {
        if (*i + 1 >= argc)
            return error_set(err, EINVAL, "option '%s' needs a value", argv[*i]);
        value = argv[++*i];
    }
    return set_value(o, value, err);
}

int shim_options(int *argc, char **argv, const struct shim_option *options, size_t n,
                 bool first_ends, struct error *err)
{
    int left = 0, i = 1;
    bool ended = false;

    for (; i < *argc; i++) {
        const char *word = argv[i];
        if (!ended && strcmp(word, "--") == 0) {
            ended = true;
        } else if (!ended && word[0] == '-' && word[1] != '\0') {
            int r = take(*argc, argv, &i, options, n, err);
            if (r < 0)
                return r;
        } else {
            argv[left++] = argv[i];
            ended = ended || first_ends;
        }
    }
    argv[left] = NULL;
    *argc = left;
    return 0;
}

int shim_id_check(const char *id, struct error *err)
{
    if (id[0] == '\0')
        return error_set(err, EINVAL, "container id cannot be empty");
    if (strlen(id) > MAX_ID || strcmp(id, ".") == 0 || strcmp(id, "..") == 0)
        return error_set(err, EINVAL, "invalid container ID format");
    for (const char *c = id; *c != '\0'; c++) {
        if (!isascii((unsigned char)*c) ||
            (!isalnum((unsigned char)*c) && strchr("_+-.", *c) == NULL))
            return error_set(err, EINVAL, "invalid container ID format");
    }
    return 0;
}

int shim_id(int argc, char **argv, int min, int max, const char **ret_id, struct error *err)
{
    if (argc < min)
        return error_set(err, EINVAL, "needs %s", min == 1 ? "a container id" : "more arguments");
    if (max > 0 && argc > max)
        return error_set(err, EINVAL, "too many arguments");
    int r = shim_id_check(argv[0], err);
    if (r == 0)
        *ret_id = argv[0];
    return r;
}

int shim_preserve_fds(const char *text, int *ret_count, struct error *err)
{
    uint64_t n = 0;

    if (text != NULL && parse_u64(text, 0, BOOT_MAX_PRESERVED, &n, NULL) < 0)
        return error_set(err, EINVAL, "--preserve-fds: '%s' is not between 0 and %d", text,
                         BOOT_MAX_PRESERVED);
    for (int i = 0; i < (int)n; i++) {
        if (fcntl(3 + i, F_GETFD) < 0)
            return error_set(err, EBADF, "--preserve-fds: descriptor %d is not open", 3 + i);
    }
    *ret_count = (int)n;
    return 0;
}
