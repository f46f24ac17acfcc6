#pragma once
/*
 * Process groups and sessions as the tty layer and the handlers see them; objects in task.h.
 */
#include "lib/compiler.h"

#include "sentry/kernel/task.h"

static inline struct session *task_session(const struct task *t)
{
    return t->group->pgrp->session;
}

static inline bool task_is_session_leader(const struct task *t)
{
    return task_session(t)->id == t->group->pid;
}
