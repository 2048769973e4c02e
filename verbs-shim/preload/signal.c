/*
 * signal: the program's handlers, where they meet ours: a handler of the program for SIGSEGV gets what is not a trap of ours,
 * and our own signals cannot be taken away. Timers that end in a signal run on virtual time.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "verbs-shim/preload/shim.h"

#define OURS(number) ((number) == SIGRTMAX - 1 || (number) == SIGRTMAX - 2)

static struct sigaction program_segv; /* what the program set for SIGSEGV */

static void on_segv(int number, siginfo_t *info, void *context)
{
	int saved = errno;

	if (trap_segv(number, info, context)) {
		errno = saved;
		return;
	}
	signal_chain(number, info, context);
}

void signal_chain(int number, void *info, void *context)
{
	struct sigaction plain = {.sa_handler = SIG_DFL};

	if (program_segv.sa_flags & SA_SIGINFO) {
		program_segv.sa_sigaction(number, info, context);
	} else if (program_segv.sa_handler != SIG_DFL && program_segv.sa_handler != SIG_IGN) {
		program_segv.sa_handler(number);
	} else if (program_segv.sa_handler == SIG_DFL || ((siginfo_t *)info)->si_code > 0) {
		/* The instruction is repeated, and ends the program; a signal that was sent is sent again. */
		REAL(sigaction)(SIGSEGV, &plain, NULL);
		if (((siginfo_t *)info)->si_code <= 0)
			(void)syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid),
				      SIGSEGV);
	}
}

EXPORT int sigaction(int number, const struct sigaction *restrict action,
		     struct sigaction *restrict old)
{
	if (!shim_memory || (number != SIGSEGV && !OURS(number)))
		return REAL(sigaction)(number, action, old);
	if (OURS(number)) {
		if (old)
			memset(old, 0, sizeof(*old));
		return 0;
	}
	if (old)
		*old = program_segv;
	if (action)
		program_segv = *action;
	return 0;
}

EXPORT sighandler_t signal(int number, sighandler_t handler)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;

	if (!shim_memory || (number != SIGSEGV && !OURS(number)))
		return REAL(signal)(number, handler);
	if (sigaction(number, &action, &old) != 0)
		return SIG_ERR;
	return old.sa_handler;
}

static const sigset_t *without_ours(int how, const sigset_t *set, sigset_t *changed)
{
	if (!set || !shim_memory || how == SIG_UNBLOCK)
		return set;
	*changed = *set;
	sigdelset(changed, SIGRTMAX - 1);
	sigdelset(changed, SIGRTMAX - 2);
	sigdelset(changed, SIGSEGV);
	return changed;
}

EXPORT int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	sigset_t changed;

	return REAL(pthread_sigmask)(how, without_ours(how, set, &changed), old);
}

EXPORT int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	sigset_t changed;

	return REAL(sigprocmask)(how, without_ours(how, set, &changed), old);
}

EXPORT int setitimer(__itimer_which_t which, const struct itimerval *restrict new,
		     struct itimerval *restrict old)
{
	static struct itimerval current;
	uint64_t first, interval, left;

	if (!shim_active())
		return REAL(setitimer)(which, new, old);
	first = ((uint64_t) new->it_value.tv_sec * 1000000 + (uint64_t) new->it_value.tv_usec) *
		1000000;
	interval = ((uint64_t) new->it_interval.tv_sec * 1000000 +
		    (uint64_t) new->it_interval.tv_usec) *
		   1000000;
	left = (uint64_t)gate_call(OP_TIMER, gate_now() + first, interval, first ? SIGALRM : 0, 0) /
	       1000000;
	if (old) {
		*old = current;
		old->it_value =
			(struct timeval){(time_t)(left / 1000000), (suseconds_t)(left % 1000000)};
	}
	current = *new;
	(void)which;
	return 0;
}

EXPORT unsigned alarm(unsigned seconds)
{
	struct itimerval new = {.it_value = {seconds, 0}}, old;

	if (!shim_active())
		return REAL(alarm)(seconds);
	(void)setitimer(ITIMER_REAL, &new, &old);
	return (unsigned)old.it_value.tv_sec + (old.it_value.tv_usec > 0);
}

EXPORT int pause(void)
{
	if (!shim_active())
		return REAL(pause)();
	shim_self.interrupted = false;
	while (!shim_self.interrupted)
		(void)wait_visible(SHIM_NEVER);
	errno = EINTR;
	return -1;
}

void signal_init(void)
{
	struct sigaction action = {.sa_sigaction = on_segv,
				   .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART};

	REAL(sigaction)(SIGSEGV, NULL, &program_segv);
	REAL(sigaction)(SIGSEGV, &action, NULL);
}
