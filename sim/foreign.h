/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign: guards calls into code outside hcasim, such as plug-ins and modules from shared objects.
 * The caller announces each such call. If the call crashes or does not return, the program ends.
 * Its message names the object and the function.
 *
 *     foreign_enter(path, "on_ack()"); ops->on_ack(...); foreign_leave();
 *
 * A call costs a few stores to the memory of its thread. A watcher inspects all threads once a
 * second. It reports a call that has not returned after FOREIGN_SECONDS as an endless loop.
 */
#ifndef SIM_FOREIGN_H
#define SIM_FOREIGN_H

#ifdef __cplusplus
extern "C" {
#endif

#define FOREIGN_SECONDS 5
#define FOREIGN_EXIT    2 /* exit code for invalid input */

/* Starts to detect crashes and endless loops in guarded calls. Call it before the first guarded
 * call. Further calls have no effect. */
void foreign_watch(void);

/* Mark the start and the end of a guarded call. Guarded calls do not nest. `owner` and `call`
 * must live until foreign_leave(). */
void foreign_enter(const char *owner, const char *call);
void foreign_leave(void);

/* Prints a message that the owner violated the interface, and ends the program. */
void foreign_fail(const char *owner, const char *call, const char *format, ...)
	__attribute__((noreturn, format(printf, 3, 4)));

#ifdef __cplusplus
}
#endif
#endif
