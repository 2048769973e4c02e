/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign: calls into code that is not hcasim's: plug-ins and modules from shared objects. Whoever makes such a call says so, and then
 * a crash in it, or a call that does not return, ends the program with a message that names the object and the function.
 *
 *     foreign_enter(path, "on_ack()"); ops->on_ack(...); foreign_leave();
 *
 * A call costs a few stores to memory of its thread. A watcher looks at all threads once a second: a call that is the
 * same FOREIGN_SECONDS later is taken for an endless loop.
 */
#ifndef SIM_FOREIGN_H
#define SIM_FOREIGN_H

#ifdef __cplusplus
extern "C" {
#endif

#define FOREIGN_SECONDS 5
#define FOREIGN_EXIT    2 /* the exit code: the input is bad */

/* Before the first call: crashes and endless loops in calls are seen from now on. Again: nothing happens. */
void foreign_watch(void);

/* Around a call, not nested. `owner` and `call` live until foreign_leave(). */
void foreign_enter(const char *owner, const char *call);
void foreign_leave(void);

/* The owner has done what it must not: says so, and ends the program. */
void foreign_fail(const char *owner, const char *call, const char *format, ...)
	__attribute__((noreturn, format(printf, 3, 4)));

#ifdef __cplusplus
}
#endif
#endif
