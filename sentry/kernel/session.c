/*
 * session.c: process groups and sessions (setpgid(2), setsid(2), credentials(7)).
 *
 * A pgrp lives while it has members, a session while it has pgrps; both are counted.
 */
#include "sentry/kernel/session.h"

#include "lib/compiler.h"

#include "abi/errno.h"

#include "lib/alloc.h"
#include "sentry/fs/dev/tty.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/task.h"

static struct list_head pgrps = {&pgrps, &pgrps};

static void session_put(struct session *s)
{
    if (--s->ref == 0)
        kfree(s);
}

static void pgrp_put(struct pgrp *pg)
{
    if (--pg->ref != 0)
        return;
    list_del_init(&pg->all_link);
    session_put(pg->session);
    kfree(pg);
}

struct pgrp *pgrp_by_id(uint32_t pgid)
{
    struct pgrp *pg;
    list_for_each_entry (pg, &pgrps, all_link) {
        if (pg->id == pgid)
            return pg;
    }
    return NULL;
}

static struct pgrp *pgrp_new(uint32_t id, struct session *s)
{
    struct pgrp *pg = kalloc(sizeof(*pg));
    if (pg == NULL)
        return NULL;
    pg->ref = 1;
    pg->id = id;
    pg->session = s;
    s->ref++;
    list_init(&pg->members);
    list_add_tail(&pgrps, &pg->all_link);
    return pg;
}

/* Takes over the caller's reference of pg. */
static void pgrp_enter(struct thread_group *tg, struct pgrp *pg CONSUMES)
{
    pgrp_leave(tg);
    tg->pgrp = pg;
    list_add_tail(&pg->members, &tg->pgrp_link);
}

void pgrp_leave(struct thread_group *tg)
{
    if (tg->pgrp == NULL)
        return;
    list_del_init(&tg->pgrp_link);
    pgrp_put(tg->pgrp);
    tg->pgrp = NULL;
}

int session_new(struct thread_group *tg)
{
    struct session *s = kalloc(sizeof(*s));
    if (s == NULL)
        return -ENOMEM;
    s->ref = 1;
    s->id = tg->pid;
    struct pgrp *pg = pgrp_new(tg->pid, s);
    session_put(s);
    if (pg == NULL)
        return -ENOMEM;
    pgrp_enter(tg, pg);
    return 0;
}

int pgrp_join(struct thread_group *tg, uint32_t pgid)
{
    struct pgrp *pg = pgrp_by_id(pgid);
    if (pg != NULL) {
        if (tg->pgrp == pg)
            return 0;
        pg->ref++;
    } else {
        pg = pgrp_new(pgid, tg->pgrp->session);
        if (pg == NULL)
            return -ENOMEM;
    }
    pgrp_enter(tg, pg);
    return 0;
}

/* No member has a parent in another group of the same session (POSIX): nobody could continue it. */
bool pgrp_is_orphaned(const struct pgrp *pg, const struct thread_group *ignore)
{
    struct thread_group *tg;
    list_for_each_entry (tg, &pg->members, pgrp_link) {
        if (tg == ignore || tg->zombie || tg->parent == NULL || tg->parent->pgrp == NULL)
            continue;
        if (tg->parent->pgrp != pg && tg->parent->pgrp->session == pg->session)
            return false;
    }
    return true;
}

static bool pgrp_has_stopped(const struct pgrp *pg, const struct thread_group *ignore)
{
    struct thread_group *tg;
    list_for_each_entry (tg, &pg->members, pgrp_link) {
        if (tg != ignore && tg->stop == GROUP_STOPPED)
            return true;
    }
    return false;
}

static void pgrp_check_orphaned(struct pgrp *pg, const struct thread_group *exiting)
{
    if (!pgrp_is_orphaned(pg, exiting) || !pgrp_has_stopped(pg, exiting))
        return;
    uint32_t id = pg->id;
    signal_send_kernel_pgrp(id, LX_SIGHUP);
    signal_send_kernel_pgrp(id, LX_SIGCONT);
}

void session_check_orphan(struct thread_group *child, const struct thread_group *exiting)
{
    if (child->pgrp != NULL && exiting->pgrp != NULL && child->pgrp != exiting->pgrp &&
        child->pgrp->session == exiting->pgrp->session)
        pgrp_check_orphaned(child->pgrp, exiting);
}

void session_check_orphans(struct thread_group *exiting)
{
    if (exiting->pgrp == NULL)
        return;
    if (exiting->parent != NULL && exiting->parent->pgrp != NULL &&
        exiting->parent->pgrp != exiting->pgrp &&
        exiting->parent->pgrp->session == exiting->pgrp->session)
        pgrp_check_orphaned(exiting->pgrp, exiting);
    struct session *s = exiting->pgrp->session;
    if (s->id == exiting->pid && s->tty != NULL)
        tty_session_exit(s);
}
