/*
 * cmd_spec.c: `spec` and `features`.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/buf.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "runsc-shim/container.h"
#include "runsc-shim/shim.h"

static const char spec_text[] =
    "{\n"
    "  \"ociVersion\": \"1.2.0\",\n"
    "  \"process\": {\n"
    "    \"terminal\": true,\n"
    "    \"user\": {\"uid\": 0, \"gid\": 0},\n"
    "    \"args\": [\"sh\"],\n"
    "    \"env\": [\"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\", "
    "\"TERM=xterm\"],\n"
    "    \"cwd\": \"/\",\n"
    "    \"capabilities\": {\n"
    "      \"bounding\": [\"CAP_AUDIT_WRITE\", \"CAP_KILL\", \"CAP_NET_BIND_SERVICE\"],\n"
    "      \"effective\": [\"CAP_AUDIT_WRITE\", \"CAP_KILL\", \"CAP_NET_BIND_SERVICE\"],\n"
    "      \"permitted\": [\"CAP_AUDIT_WRITE\", \"CAP_KILL\", \"CAP_NET_BIND_SERVICE\"]\n"
    "    },\n"
    "    \"rlimits\": [{\"type\": \"RLIMIT_NOFILE\", \"hard\": 1024, \"soft\": 1024}],\n"
    "    \"noNewPrivileges\": true\n"
    "  },\n"
    "  \"root\": {\"path\": \"rootfs\", \"readonly\": true},\n"
    "  \"hostname\": \"sentry\",\n"
    "  \"mounts\": [\n"
    "    {\"destination\": \"/proc\", \"type\": \"proc\", \"source\": \"proc\"},\n"
    "    {\"destination\": \"/dev\", \"type\": \"tmpfs\", \"source\": \"tmpfs\",\n"
    "     \"options\": [\"nosuid\", \"strictatime\", \"mode=755\", \"size=65536k\"]},\n"
    "    {\"destination\": \"/dev/pts\", \"type\": \"devpts\", \"source\": \"devpts\",\n"
    "     \"options\": [\"nosuid\", \"noexec\", \"newinstance\", \"ptmxmode=0666\", "
    "\"mode=0620\", \"gid=5\"]},\n"
    "    {\"destination\": \"/dev/shm\", \"type\": \"tmpfs\", \"source\": \"shm\",\n"
    "     \"options\": [\"nosuid\", \"noexec\", \"nodev\", \"mode=1777\", \"size=65536k\"]},\n"
    "    {\"destination\": \"/dev/mqueue\", \"type\": \"mqueue\", \"source\": \"mqueue\",\n"
    "     \"options\": [\"nosuid\", \"noexec\", \"nodev\"]},\n"
    "    {\"destination\": \"/sys\", \"type\": \"sysfs\", \"source\": \"sysfs\",\n"
    "     \"options\": [\"nosuid\", \"noexec\", \"nodev\", \"ro\"]}\n"
    "  ],\n"
    "  \"linux\": {\n"
    "    \"namespaces\": [{\"type\": \"pid\"}, {\"type\": \"network\"}, {\"type\": \"ipc\"},\n"
    "                   {\"type\": \"uts\"}, {\"type\": \"mount\"}],\n"
    "    \"maskedPaths\": [\"/proc/acpi\", \"/proc/kcore\", \"/proc/keys\", "
    "\"/proc/latency_stats\",\n"
    "                    \"/proc/timer_list\", \"/proc/sched_debug\", \"/proc/scsi\", "
    "\"/sys/firmware\"],\n"
    "    \"readonlyPaths\": [\"/proc/bus\", \"/proc/fs\", \"/proc/irq\", \"/proc/sys\", "
    "\"/proc/sysrq-trigger\"]\n"
    "  }\n"
    "}\n";

int cmd_spec(int argc, char **argv, struct error *err)
{
    const char *bundle = ".";
    bool rootless = false;
    const struct shim_option options[] = {
        {"bundle", "b", OPT_STRING, &bundle},
        {"rootless", NULL, OPT_FLAG, &rootless},
    };
    char path[4096];

    int r = shim_options(&argc, argv, options, ARRAY_LEN(options), false, err);
    if (r < 0)
        return r;
    (void)snprintf(path, sizeof(path), "%s/config.json", bundle);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return error_errno(err, errno, "%s", path);
    r = fd_write_full(fd, spec_text, strlen(spec_text));
    (void)close(fd);
    return r < 0 ? error_errno(err, -r, "%s", path) : 0;
}

int cmd_features(int argc, char **argv, struct error *err)
{
    struct buf out;
    int r = shim_options(&argc, argv, NULL, 0, false, err);

    if (r < 0)
        return r;
    buf_init(&out, 65536);
    (void)buf_puts(&out, "{\n  \"ociVersionMin\": \"1.0.0\",\n  \"ociVersionMax\": \"1.2.0\",\n"
                         "  \"hooks\": [");
    for (size_t i = 0; i < OCI_HOOK_KINDS; i++)
        (void)buf_printf(&out, "%s\"%s\"", i == 0 ? "" : ", ",
                         oci_hook_name((enum oci_hook_kind)i));
    (void)buf_puts(&out,
                   "],\n  \"mountOptions\": [\"bind\", \"rbind\", \"ro\", \"rw\", \"nosuid\", "
                   "\"suid\", \"nodev\", \"dev\", \"noexec\", \"exec\", \"noatime\", \"atime\", "
                   "\"size\", \"mode\", \"tmpcopyup\"],\n"
                   "  \"linux\": {\n"
                   "    \"namespaces\": [\"cgroup\", \"ipc\", \"mount\", \"network\", \"pid\", "
                   "\"time\", \"user\", \"uts\"],\n"
                   "    \"cgroup\": {\"v1\": true, \"v2\": true, \"systemd\": true, "
                   "\"systemdUser\": true},\n"
                   "    \"seccomp\": {\"enabled\": true, \"archs\": [\"SCMP_ARCH_X86_64\"]},\n"
                   "    \"apparmor\": {\"enabled\": false},\n"
                   "    \"selinux\": {\"enabled\": false}\n  },\n"
                   "  \"annotations\": {\"sentry.version\": \"" SENTRY_VERSION "\"}\n}\n");
    r = print_out(&out, err);
    buf_done(&out);
    return r;
}
