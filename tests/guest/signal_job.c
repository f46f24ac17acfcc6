/* Job control: stop, continue, and what the parent sees. */
#include "facts.h"

static sigset_t chld;

/* Takes the next SIGCHLD (if the step sends one), then what waitpid says. */
static void wait_for(const char *label, pid_t pid, int options, bool signal_comes)
{
    siginfo_t si = {0};
    char text[64] = "";
    int st = 0;
    if (signal_comes) {
        NEED(sigwaitinfo(&chld, &si));
        snprintf(text, sizeof(text), "; SIGCHLD code %d status %d", si.si_code, si.si_status);
    }
    pid_t r = waitpid(pid, &st, options);
    if (r == pid)
        say("%s: %s%s", label, status_text(st), text);
    else if (r == 0)
        say("%s: nothing%s", label, text);
    else
        say("%s: %s", label, errno_name(errno));
}

/* Whether a SIGCHLD is pending; takes it. */
static bool chld_pending(void)
{
    struct timespec zero = {0, 0};
    return sigtimedwait(&chld, NULL, &zero) == SIGCHLD;
}

static void on_chld(int signo)
{
    (void)signo;
}

static pid_t sleeper(void)
{
    pid_t pid = NEED(fork());
    if (pid == 0)
        for (;;)
            pause();
    /* Its parent is in another group of the session, so the group is not orphaned. */
    NEED(setpgid(pid, pid));
    return pid;
}

int main(void)
{
    struct sigaction sa = {.sa_handler = on_chld};
    siginfo_t si;
    int st;
    facts_start();
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    NEED(sigprocmask(SIG_BLOCK, &chld, NULL));
    NEED(sigaction(SIGCHLD, &sa, NULL));

    pid_t pid = sleeper();
    wait_for("running", pid, WNOHANG | WUNTRACED | WCONTINUED, false);
    kill(pid, SIGSTOP);
    wait_for("after SIGSTOP", pid, WUNTRACED, true);
    wait_for("reported once", pid, WUNTRACED | WNOHANG, false);
    kill(pid, SIGTERM);
    wait_for("SIGTERM while stopped does nothing yet", pid, WNOHANG | WUNTRACED, false);
    kill(pid, SIGCONT);
    wait_for("SIGCONT, then SIGTERM", pid, 0, false);
    chld_pending();

    pid = sleeper();
    kill(pid, SIGTSTP);
    wait_for("after SIGTSTP", pid, WUNTRACED, true);
    kill(pid, SIGCONT);
    wait_for("after SIGCONT", pid, WCONTINUED, true);
    wait_for("reported once", pid, WCONTINUED | WNOHANG, false);
    kill(pid, SIGCONT);
    nap(50);
    wait_for("SIGCONT of a running process", pid, WCONTINUED | WNOHANG, false);
    kill(pid, SIGSTOP);
    NEED(waitid(P_PID, (id_t)pid, &si, WSTOPPED | WNOWAIT));
    say("waitid: code %d status %d pid ok %d", si.si_code, si.si_status, si.si_pid == pid);
    NEED(waitid(P_PID, (id_t)pid, &si, WSTOPPED));
    say("WNOWAIT left it: code %d", si.si_code);
    chld_pending();
    kill(pid, SIGKILL);
    wait_for("SIGKILL of a stopped process", pid, 0, true);

    sa.sa_flags = SA_NOCLDSTOP;
    NEED(sigaction(SIGCHLD, &sa, NULL));
    pid = NEED(fork());
    if (pid == 0) {
        raise(SIGSTOP);
        _exit(5);
    }
    NEED(waitpid(pid, &st, WUNTRACED));
    say("stopped itself: %s; SA_NOCLDSTOP: signal %d", status_text(st), chld_pending());
    kill(pid, SIGCONT);
    NEED(waitpid(pid, &st, 0));
    say("continued and ended: %s; signal %d", status_text(st), chld_pending());

    /* An orphaned process group does not stop for SIGTSTP. */
    pid = NEED(fork());
    if (pid == 0) {
        setsid();
        raise(SIGTSTP);
        _exit(6);
    }
    NEED(waitpid(pid, &st, WUNTRACED));
    say("SIGTSTP in an orphaned group: %s", status_text(st));
    remove_work_dir();
    return 0;
}
