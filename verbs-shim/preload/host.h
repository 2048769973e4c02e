/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host: the libc functions by which programs ask for the processors, memory, limits and kernel of their
 * host. The scenario gives the answers, whatever the machine is. verbs-shim/session/host_view.c writes files
 * with the same contents.
 *
 * The processors of a thread are kept and answered. They have no other effect: one thread runs at a time.
 */
#ifndef VERBS_SHIM_PRELOAD_HOST_H
#define VERBS_SHIM_PRELOAD_HOST_H

#include <pthread.h>
#include <sched.h>

#include "verbs-shim/protocol.h"

/* Where this thread may run: what a child, a thread or an image after it inherits. */
struct shim_cpus host_cpus(void);

/* Around the creation of the thread with that slot: takes the processors from the attributes, as the machine
 * may lack them, and puts them back. attributes: NULL is possible. */
void host_begin_thread(uint32_t slot, const pthread_attr_t *attributes, cpu_set_t *kept);
void host_end_thread(const pthread_attr_t *attributes, const cpu_set_t *kept);

/* thread.c: of a thread of this process; NULL: it is gone. */
const struct shim_slot *thread_slot(pthread_t thread);

/* sched_getaffinity(2) as the system has it: the bytes that it wrote, or -1 and errno. */
long host_affinity(pid_t id, size_t bytes, void *processors);

/* getcpu(2): the first of the processors where this thread may run; node 0. */
int host_getcpu(unsigned *processor, unsigned *node);

#endif
