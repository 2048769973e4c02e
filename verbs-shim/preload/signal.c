/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal: the program's signal handlers. A handler of the program for SIGSEGV receives the signals
 * that are not traps of the library. The program cannot replace the library's handlers.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-shim/preload/insn.h"
#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/trap.h"

#define OURS(number) ((number) == SIGRTMAX - 1 || (number) == SIGRTMAX - 2)

#define DEFERRED 32

static struct sigaction program[NSIG]; /* handlers that on_signal() calls */

static __thread siginfo_t deferred[DEFERRED];

static struct sigaction program_segv; /* the program's action for SIGSEGV */

static void on_segv(int number, siginfo_t *info, void *context)
{
	bool handled, outer = shim_self.carrying;

	shim_self.carrying = true;
	/* The executed instruction may be the program's own store to errno. The value therefore
	 * remains. */
	handled = trap_segv(number, info, context);
	shim_self.carrying = outer;
	shim_self.quiet = false;
	if (!handled)
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
		/* The instruction is repeated, and ends the program. A signal sent by a process is
		 * sent again. */
		REAL(sigaction)(SIGSEGV, &plain, NULL);
		if (((siginfo_t *)info)->si_code <= 0)
			(void)system_call(SYS_tgkill, system_call(SYS_getpid),
					  system_call(SYS_gettid), SIGSEGV);
	}
}

bool signal_is_ignored(int number)
{
	struct sigaction now;

	if (REAL(sigaction)(number, NULL, &now) != 0 || now.sa_handler == SIG_IGN)
		return true;
	return now.sa_handler == SIG_DFL &&
	       (number == SIGCHLD || number == SIGURG || number == SIGWINCH || number == SIGCONT);
}

bool signal_defer(int number, const void *info)
{
	for (uint32_t i = 0; i < shim_self.deferred; i++)
		if (deferred[i].si_signo == number && number < SIGRTMIN)
			return true; /* pending once, as in the kernel. Real-time signals queue. */
	if (shim_self.deferred == DEFERRED)
		return false;
	deferred[shim_self.deferred++] = *(const siginfo_t *)info;
	return true;
}

void signal_deferred(void)
{
	siginfo_t now[DEFERRED];
	uint32_t count = shim_self.deferred;

	memcpy(now, deferred, count * sizeof(now[0]));
	shim_self.deferred = 0;
	for (uint32_t i = 0; i < count; i++)
		(void)system_call(SYS_rt_tgsigqueueinfo, system_call(SYS_getpid),
				  system_call(SYS_gettid), now[i].si_signo, &now[i]);
}

/* While the thread waits for the token, other threads run: its handler waits as well. */
static void on_signal(int number, siginfo_t *info, void *context)
{
	bool outer = shim_self.carrying;
	int saved = errno;

	if (shim_self.slot && shim_self.inside && signal_defer(number, info))
		return;
	timer_signal_taken(info);
	shim_self.interrupted = true;
	insn_distrust();
	shim_self.carrying = shim_self.quiet = false;
	if (program[number].sa_flags & SA_SIGINFO)
		program[number].sa_sigaction(number, info, context);
	else
		program[number].sa_handler(number);
	shim_self.carrying = outer;
	errno = saved;
}

static bool is_handler(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO ||
	       (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

/* A fault is handled at once. A handler that is called once cannot be deferred. */
static bool can_wait(int number, const struct sigaction *action)
{
	return number != SIGBUS && number != SIGFPE && number != SIGILL && number != SIGTRAP &&
	       !(action->sa_flags & (int)SA_RESETHAND);
}

static int set_action(int number, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction before =
		number > 0 && number < NSIG ? program[number] : (struct sigaction){0};
	struct sigaction changed;
	int result;

	if (action && number > 0 && number < NSIG && is_handler(action) &&
	    can_wait(number, action)) {
		changed = *action;
		changed.sa_flags |= SA_SIGINFO;
		changed.sa_sigaction = on_signal;
		program[number] = *action;
		action = &changed;
	}
	result = REAL(sigaction)(number, action, old);
	if (result == 0 && old && old->sa_flags & SA_SIGINFO && old->sa_sigaction == on_signal)
		*old = before;
	return result;
}

EXPORT int sigaction(int number, const struct sigaction *restrict action,
		     struct sigaction *restrict old)
{
	if (!shim.memory)
		return REAL(sigaction)(number, action, old);
	if (number != SIGSEGV && !OURS(number))
		return set_action(number, action, old);
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

	if (!shim.memory)
		return REAL(signal)(number, handler);
	if (sigaction(number, &action, &old) != 0)
		return SIG_ERR;
	return old.sa_handler;
}

static const sigset_t *without_ours(int how, const sigset_t *set, sigset_t *changed)
{
	if (!set || !shim.memory || how == SIG_UNBLOCK)
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

bool signal_begin_mask(const void *mask, void *old)
{
	return mask && sigprocmask(SIG_SETMASK, mask, old) == 0;
}

/* Signals that were pending and unblocked for the wait alone have had their handlers called by
 * now. */
void signal_end_mask(const void *old)
{
	(void)sigprocmask(SIG_SETMASK, old, NULL);
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

EXPORT int sigsuspend(const sigset_t *mask)
{
	sigset_t old;
	bool masked;

	if (!shim_active())
		return REAL(sigsuspend)(mask);
	shim_self.interrupted = false;
	masked = signal_begin_mask(mask, &old);
	while (!shim_self.interrupted)
		(void)wait_visible(SHIM_NEVER);
	if (masked)
		signal_end_mask(&old);
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
