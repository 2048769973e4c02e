/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host: libc functions that report the processors, memory, limits and kernel of the host. The
 * scenario gives the values, independently of the machine. verbs-shim/session/host_view.c writes
 * files with the same contents.
 *
 * The affinity of a thread is stored and reported. It has no other effect, because one thread runs
 * at a time.
 */
#ifndef VERBS_SHIM_PRELOAD_HOST_H
#define VERBS_SHIM_PRELOAD_HOST_H

#include <pthread.h>
#include <sched.h>

#include "verbs-shim/protocol.h"

/* Returns the processors of this thread. Children, threads and images that it creates inherit
 * them. */
struct shim_cpus host_cpus(void);

/* Surround the creation of the thread with that slot. The first removes the processors from the
 * attributes, because the machine may lack them. The second restores them. `attributes` may be
 * NULL. */
void host_begin_thread(uint32_t slot, const pthread_attr_t *attributes, cpu_set_t *kept);
void host_end_thread(const pthread_attr_t *attributes, const cpu_set_t *kept);

/* Returns the slot of a thread of this process, or NULL if the thread has ended. thread.c */
const struct shim_slot *thread_slot(pthread_t thread);

/* Implements the system call sched_getaffinity(2): returns the bytes written, or -1 with errno. */
long host_affinity(pid_t id, size_t bytes, void *processors);

/* Implements getcpu(2): the first processor of this thread, and node 0. */
int host_getcpu(unsigned *processor, unsigned *node);

#endif
