/*
 * ptrace_access.c: who may look into whom (__ptrace_may_access in Linux, ptrace(2)): the same ids,
 * a dumpable target that has no more capabilities, or CAP_SYS_PTRACE. Yama's ptrace_scope is 0.
 */
#include "lib/compiler.h"

#include "sentry/kernel/cred.h"
#include "sentry/kernel/ptrace.h"
#include "sentry/kernel/task.h"

static bool same_ids(const struct cred *o, uint32_t uid, uint32_t gid)
{
    return uid == o->uid && uid == o->euid && uid == o->suid && gid == o->gid && gid == o->egid &&
           gid == o->sgid;
}

bool ptrace_may_access(const struct task *caller, const struct task *target, enum ptrace_mode mode)
{
    const struct cred *c = caller->cred, *o = target->cred;
    bool fs = mode == PTRACE_MODE_FSCREDS;

    if (caller->group == target->group || cred_capable(c, LX_CAP_SYS_PTRACE))
        return true;
    if (!same_ids(o, fs ? c->fsuid : c->uid, fs ? c->fsgid : c->gid))
        return false;
    if (target->mm != NULL && !target->group->dumpable)
        return false;
    return (o->cap_permitted & ~(fs ? c->cap_effective : c->cap_permitted)) == 0;
}

bool ptrace_may_be_tracer(const struct task *tracer, const struct task *t)
{
    return (t->cred->cap_permitted & ~tracer->cred->cap_permitted) == 0 ||
           cred_capable(tracer->cred, LX_CAP_SYS_PTRACE);
}

bool ptrace_may_copy(const struct task *tracer, const struct task *t)
{
    return t->group->dumpable || cred_capable(tracer->cred, LX_CAP_SYS_PTRACE);
}

bool ptrace_forbids_setid(const struct task *t)
{
    return task_traced(t) && !cred_capable(t->ptrace->tracer->cred, LX_CAP_SYS_PTRACE) &&
           !cred_capable(t->cred, LX_CAP_SETUID);
}
