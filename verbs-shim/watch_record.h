/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_record: registrations of modelled sockets with epoll, shared by the preloaded library and
 * the simulator. The kernel's epoll knows only the Unix pair of a socket. A registration is
 * therefore kept here, and the kernel keeps its number (preload/epoll.c).
 */
#ifndef VERBS_SHIM_WATCH_RECORD_H
#define VERBS_SHIM_WATCH_RECORD_H

#include <stdint.h>
#include <sys/epoll.h>

#include "verbs-shim/socket_record.h"

#define SHIM_WATCHES 16384

/* Flags of a registration, which are no events. */
#define SHIM_WATCH_FLAGS (EPOLLWAKEUP | EPOLLONESHOT | EPOLLET | EPOLLEXCLUSIVE)

struct shim_watch {
	/* 1: in use. */
	uint32_t used;
	/* Distinguishes registrations that had the same number. */
	uint32_t generation;
	/* Number of the socket. SHIM_SOCKETS: the registration is of an epoll descriptor. */
	uint32_t socket;
	/* Number of the next registration of the socket, of an epoll descriptor, or of the next
	 * unused one, + 1. 0: none. */
	uint32_t next;
	/* The process that registered, and its descriptors. */
	uint32_t process;
	int32_t epoll, fd;
	/* The program's events and data. */
	uint32_t events;
	uint64_t data;
	/* 1: the registration is in the list of ready ones. Its position is a stamp. passed: the
	 * last call had no room for it beside events of other descriptors. */
	uint32_t listed, passed;
	uint64_t position;
	/* The last call that found it. */
	uint64_t look;
};

struct shim_watches {
	/* Orders wake-ups and calls of a run. */
	uint64_t stamp;
	/* Number of registrations that were ever in use; an unused one below it, + 1, or 0; the
	 * first registration of an epoll descriptor, + 1, or 0. */
	uint32_t highest, unused, nested;
	struct shim_watch table[SHIM_WATCHES];
};

/* Returns an unused registration, which is now in use, or NULL. */
static inline struct shim_watch *shim_watch_new(struct shim_watches *watches)
{
	struct shim_watch *watch;
	uint32_t generation;

	if (watches->unused) {
		watch = &watches->table[watches->unused - 1];
		watches->unused = watch->next;
	} else if (watches->highest < SHIM_WATCHES) {
		watch = &watches->table[watches->highest++];
	} else {
		return NULL;
	}
	generation = watch->generation + 1;
	*watch = (struct shim_watch){.used = 1, .generation = generation, .socket = SHIM_SOCKETS};
	return watch;
}

static inline void shim_watch_free(struct shim_watches *watches, struct shim_watch *watch)
{
	watch->used = 0;
	watch->next = watches->unused;
	watches->unused = (uint32_t)(watch - watches->table) + 1;
}

/* Add a registration to the list that starts at *first, and remove it. */
static inline void shim_watch_add(struct shim_watches *watches, uint32_t *first,
				  struct shim_watch *watch)
{
	watch->next = *first;
	*first = (uint32_t)(watch - watches->table) + 1;
}

static inline void shim_watch_remove(struct shim_watches *watches, uint32_t *first,
				     const struct shim_watch *watch)
{
	uint32_t number = (uint32_t)(watch - watches->table) + 1;

	while (*first && *first != number)
		first = &watches->table[*first - 1].next;
	if (*first)
		*first = watch->next;
}

/* Frees all registrations of a socket. */
static inline void shim_watches_forget(struct shim_watches *watches, struct shim_socket *record)
{
	while (record->watches) {
		struct shim_watch *watch = &watches->table[record->watches - 1];

		record->watches = watch->next;
		shim_watch_free(watches, watch);
	}
}

/* Puts a registration on the list of ready ones, and the registrations of its epoll descriptor.
 * Linux: ep_poll_callback(). */
static inline void shim_watch_ready(struct shim_watches *watches, struct shim_watch *watch)
{
	uint32_t number = watches->nested;

	if (!watch->listed)
		watch->position = ++watches->stamp;
	watch->listed = 1;
	while (number) {
		struct shim_watch *outer = &watches->table[number - 1];

		if (outer->process == watch->process && outer->fd == watch->epoll &&
		    outer->events & (EPOLLIN | EPOLLRDNORM))
			shim_watch_ready(watches, outer);
		number = outer->next;
	}
}

/* Wakes whoever waits for the socket by epoll, as the wait queue of a socket does in Linux. */
static inline void shim_watches_wake(struct shim_watches *watches, struct shim_socket *record,
				     enum shim_wake wake)
{
	static const uint32_t kinds[SHIM_WAKES] = {
		[WAKE_INPUT] = EPOLLIN | EPOLLPRI | EPOLLRDNORM | EPOLLRDBAND,
		[WAKE_OUTPUT] = EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND,
		[WAKE_STATE] = ~(uint32_t)SHIM_WATCH_FLAGS,
	};
	uint32_t number = record->watches;

	while (number) {
		struct shim_watch *watch = &watches->table[number - 1];

		if (watch->events & kinds[wake])
			shim_watch_ready(watches, watch);
		number = watch->next;
	}
}

#endif
