/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epoll: registrations of modelled sockets, by the rules of Linux (fs/eventpoll.c).
 *
 *     epoll_ctl() --> registration (watch_record.h) <--number-- the kernel's epoll instance
 *
 * The kernel watches the Unix pair of a modelled socket, for any event and level-triggered. Its
 * data is the number of the registration. epoll_look() reads these numbers. The state of the
 * sockets, and the wake-ups that the simulator counts, then determine the events.
 */
#ifndef VERBS_SHIM_PRELOAD_EPOLL_H
#define VERBS_SHIM_PRELOAD_EPOLL_H

#include <stdbool.h>
#include <sys/epoll.h>

#include "verbs-shim/watch_record.h"

/* As epoll_wait(2) with a timeout of 0. */
int epoll_look(int fd, struct epoll_event *events, int most);

/* Returns true if `fd` is an epoll descriptor with registrations of modelled sockets, and nothing
 * is ready. The kernel may report that it is readable. */
bool epoll_is_idle(int fd);

/* Wakes whoever waits for a socket by epoll. */
void epoll_wake(struct shim_socket *record, enum shim_wake wake);

/* Another record took the place of `old` at the descriptor: registrations follow. */
void epoll_follow(struct shim_socket *old, struct shim_socket *record, int fd);

/* The program closed a descriptor. */
void epoll_closed(int fd);

#endif
