/* SPDX-License-Identifier: Apache-2.0 */
/* foreign: see foreign.h. */
#include "sim/foreign.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SLOTS       64 /* number of watched threads; further threads are not watched */
#define STACK_BYTES 32768

/* The current guarded call of a thread. */
struct slot {
	const char *_Atomic owner; /* NULL outside of guarded calls */
	const char *_Atomic call;
	atomic_uint_fast64_t calls; /* number of calls so far */
	/* stack of the signal handler, for an overflow of the thread's stack */
	_Alignas(64) unsigned char stack[STACK_BYTES];
};

static struct slot slots[SLOTS];
static atomic_uint slot_count;
static atomic_uint ready; /* number of initialised slots */
static struct slot unwatched;
static _Thread_local struct slot *own;

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
static struct sigaction before[sizeof(crashes) / sizeof(crashes[0])];

static void take_slot(void)
{
	unsigned number = atomic_fetch_add(&slot_count, 1);
	struct slot *slot = number < SLOTS ? &slots[number] : &unwatched;
	stack_t present;

	own = slot;
	if (slot == &unwatched)
		return;
	/* A sanitizer's stack stays: the sanitizer frees the stack that it finds at the end. */
	if (sigaltstack(NULL, &present) == 0 && present.ss_flags & SS_DISABLE)
		sigaltstack(&(stack_t){.ss_sp = slot->stack, .ss_size = STACK_BYTES}, NULL);
	while (atomic_load(&ready) != number) /* waits for threads with lower numbers */
		sched_yield();
	atomic_store(&ready, number + 1);
}

void foreign_enter(const char *owner, const char *call)
{
	if (!own)
		take_slot();
	atomic_store_explicit(&own->call, call, memory_order_relaxed);
	atomic_fetch_add_explicit(&own->calls, 1, memory_order_relaxed);
	atomic_store_explicit(&own->owner, owner, memory_order_release);
}

void foreign_leave(void)
{
	atomic_store_explicit(&own->owner, NULL, memory_order_release);
}

void foreign_fail(const char *owner, const char *call, const char *format, ...)
{
	va_list values;

	fflush(stdout);
	fprintf(stderr, "hcasim: %s: %s: ", owner, call);
	va_start(values, format);
	vfprintf(stderr, format, values);
	va_end(values);
	fputc('\n', stderr);
	_exit(FOREIGN_EXIT);
}

/* ---- crashes ---- */

static void put(const char *text)
{
	size_t left = strlen(text);

	while (left) {
		ssize_t count = write(STDERR_FILENO, text, left);

		if (count <= 0)
			return;
		text += count;
		left -= (size_t)count;
	}
}

static const char *name_of(int number)
{
	return number == SIGSEGV  ? "SIGSEGV"
	       : number == SIGBUS ? "SIGBUS"
	       : number == SIGFPE ? "SIGFPE"
	       : number == SIGILL ? "SIGILL"
				  : "SIGABRT";
}

/* Handles a crash. Outside of guarded calls, the default action applies. */
static void crashed(int number)
{
	const char *owner = own ? atomic_load(&own->owner) : NULL;

	if (owner) {
		put("hcasim: ");
		put(owner);
		put(": ");
		put(atomic_load(&own->call));
		put(" crashed (");
		put(name_of(number));
		put(")\n");
		_exit(FOREIGN_EXIT);
	}
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		if (crashes[i] == number)
			sigaction(number, &before[i], NULL);
	raise(number);
}

/* ---- calls that do not return ---- */

static void *watch(void *unused)
{
	uint64_t calls[SLOTS] = {0};
	unsigned seconds[SLOTS] = {0};

	(void)unused;
	for (;;) {
		unsigned count = atomic_load(&ready);

		nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
		for (unsigned i = 0; i < count; i++) {
			const char *owner = atomic_load(&slots[i].owner);

			if (!owner || calls[i] != atomic_load(&slots[i].calls)) {
				calls[i] = atomic_load(&slots[i].calls);
				seconds[i] = 0;
			} else if (++seconds[i] == FOREIGN_SECONDS) {
				foreign_fail(owner, atomic_load(&slots[i].call),
					     "has not returned after %d s", FOREIGN_SECONDS);
			}
		}
	}
	return NULL;
}

static void begin(void)
{
	struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_ONSTACK | SA_NODEFER};
	pthread_attr_t attributes;
	pthread_t thread;

	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		sigaction(crashes[i], &action, &before[i]);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attributes, watch, NULL))
		fputs("hcasim: no thread to watch plug-ins: endless loops are not detected\n",
		      stderr);
	pthread_attr_destroy(&attributes);
}

void foreign_watch(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, begin);
}
