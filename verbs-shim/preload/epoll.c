/* SPDX-License-Identifier: Apache-2.0 */
/* epoll: see epoll.h. */
#include "verbs-shim/preload/epoll.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/socket_state.h"
#include "verbs-shim/preload/sockets.h"

/* The kernel's data of a registration: mark, generation, number. */
#define MARK       UINT64_C(0x9e5c)
#define MARK_SHIFT 48

#define DESCRIPTORS 65536
#define BATCH       256 /* events that one system call returns */
#define READY_MOST  1024

#define PAIR_EVENTS  (EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP | EPOLLRDNORM | EPOLLWRNORM)
#define ALWAYS       (EPOLLERR | EPOLLHUP)
#define EXCLUSIVE_OK (EPOLLIN | EPOLLOUT | ALWAYS | EPOLLWAKEUP | EPOLLET | EPOLLEXCLUSIVE)

/* A registration in the kernel's instance. Returns true to end the search. */
typedef bool visit(void *context, int fd, uint32_t events, uint64_t data);

/* Epoll descriptors of this process that have registrations. */
static uint8_t holds[DESCRIPTORS / 8];

static struct shim_watches *watches(void)
{
	return &shim.memory->watches;
}

static bool is_holder(int fd)
{
	return fd >= 0 && fd < DESCRIPTORS && holds[fd / 8] & 1U << fd % 8;
}

static uint32_t own_process(void)
{
	return (uint32_t)(shim.process - shim.memory->processes);
}

static int fail(int error)
{
	errno = error;
	return -1;
}

static uint64_t data_of(const struct shim_watch *watch)
{
	return MARK << MARK_SHIFT | (uint64_t)watch->generation << 16 |
	       (uint64_t)(watch - watches()->table);
}

static bool is_marked(uint64_t data)
{
	return data >> MARK_SHIFT == MARK;
}

static struct shim_watch *watch_of(uint64_t data)
{
	uint64_t number = data & UINT16_MAX;
	struct shim_watch *watch = &watches()->table[number % SHIM_WATCHES];

	return is_marked(data) && number < SHIM_WATCHES && watch->used && data_of(watch) == data
		       ? watch
		       : NULL;
}

static struct shim_socket *record_of(const struct shim_watch *watch)
{
	return watch->socket < SHIM_SOCKETS ? &shim.memory->sockets[watch->socket] : NULL;
}

/* Returns the start of the list of registrations to which this one belongs. */
static uint32_t *list_of(const struct shim_watch *watch)
{
	struct shim_socket *record = record_of(watch);

	return record ? &record->watches : &watches()->nested;
}

static void release(struct shim_watch *watch)
{
	shim_watch_remove(watches(), list_of(watch), watch);
	shim_watch_free(watches(), watch);
}

/* Visits the registrations of an epoll descriptor, as /proc shows them. */
static void visit_all(int fd, visit *function, void *context)
{
	char path[40], text[4096], *line, *end;
	size_t kept = 0;
	bool done = false;
	ssize_t got;
	int file;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = (int)system_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	while (file >= 0 && !done &&
	       (got = system_call(SYS_read, file, text + kept, sizeof(text) - 1 - kept)) > 0) {
		text[kept + (size_t)got] = '\0';
		for (line = text; !done && (end = strchr(line, '\n')); line = end + 1) {
			unsigned long long data;
			unsigned events;
			int watched;

			if (sscanf(line, "tfd: %d events: %x data: %llx", &watched, &events,
				   &data) == 3)
				done = function(context, watched, events, data);
		}
		kept = strlen(line);
		memmove(text, line, kept);
	}
	if (file >= 0)
		(void)system_call(SYS_close, file);
}

/* ---- events ---- */

static bool is_ready(int fd); /* of an epoll descriptor; see below */

/* Returns the events of the socket. `pair`: those of its pair. */
static uint32_t level(const struct shim_watch *watch, uint32_t pair)
{
	struct shim_socket *record = record_of(watch);
	short wanted = (short)(watch->events & INT16_MAX);

	if (!record)
		return pair & watch->events && is_ready(watch->fd) ? pair & watch->events : 0;
	return (uint16_t)socket_state_events_of(record, watch->fd, wanted,
						(short)(pair & (watch->events | ALWAYS))) &
	       watch->events;
}

/* Puts a level-triggered registration with events on the list. Linux does so when they come. */
static void follow_level(struct shim_watch *watch, uint32_t pair)
{
	if (watch->listed || watch->events & EPOLLET || !level(watch, pair))
		return;
	watch->listed = 1;
	watch->position = ++watches()->stamp;
}

/* The list of ready registrations of an epoll descriptor. */
struct ready {
	struct shim_watch *watch;
	uint32_t pair; /* events of the pair */
};

struct ready_list {
	uint64_t look;
	int count;
	struct ready entries[READY_MOST];
};

/* Returns true if this search had not found the registration. */
static bool enter(struct ready_list *list, struct shim_watch *watch, uint32_t pair)
{
	if (watch->look == list->look)
		return false;
	watch->look = list->look;
	follow_level(watch, pair);
	if (watch->listed && list->count < READY_MOST)
		list->entries[list->count++] = (struct ready){watch, pair};
	return true;
}

static int by_position(const void *one, const void *other)
{
	const struct ready *a = one, *b = other;

	return a->watch->position < b->watch->position ? -1 : 1;
}

/* Adds the registrations whose pairs have no event, and orders the list. */
static void complete(struct ready_list *list, int fd)
{
	uint32_t process = own_process();

	for (uint32_t i = 0; i < watches()->highest; i++) {
		struct shim_watch *watch = &watches()->table[i];

		if (watch->used && watch->listed && watch->epoll == fd && watch->process == process)
			(void)enter(list, watch, 0);
	}
	qsort(list->entries, (size_t)list->count, sizeof(list->entries[0]), by_position);
}

/* Returns the events of a registration on the list. Without events, it leaves the list. A one-shot
 * registration that has reported has no events. */
static uint32_t check(const struct ready *entry)
{
	uint32_t events = level(entry->watch, entry->pair);

	entry->watch->listed = events != 0;
	return events;
}

static void report(struct shim_watch *watch, uint32_t events, struct epoll_event *event)
{
	*event = (struct epoll_event){.events = events, .data.u64 = watch->data};
	watch->listed = !(watch->events & EPOLLET);
	watch->position = ++watches()->stamp;
	if (watch->events & EPOLLONESHOT) {
		watch->events &= SHIM_WATCH_FLAGS;
		watch->listed = 0;
	}
}

/* Reports the list while there is room. Returns the number of all events. */
static int report_all(struct ready_list *list, struct epoll_event *events, int have, int most)
{
	bool others = have > 0;

	for (int i = 0; i < list->count; i++) {
		struct ready *entry = &list->entries[i];
		uint32_t ready;

		entry->watch->passed = have == most && others;
		if (have == most)
			continue;
		ready = check(entry);
		if (ready)
			report(entry->watch, ready, &events[have++]);
	}
	return have;
}

static bool is_among(const struct epoll_event *events, int count, uint64_t data)
{
	while (count > 0)
		if (events[--count].data.u64 == data)
			return true;
	return false;
}

/* The kernel returns registrations in turns, so a repeated one ends the search. */
int epoll_look(int fd, struct epoll_event *events, int most)
{
	struct ready_list list = {.count = 0};
	struct epoll_event batch[BATCH];
	bool more = watches()->highest > 0 && most > 0, urgent = false;
	int have = 0;

	if (!more)
		return (int)system_look(SYS_epoll_pwait, fd, events, most, 0, NULL, 8L);
	list.look = ++watches()->stamp;
	while (more && have < most && !(urgent && have + list.count >= most)) {
		int room = most - have < BATCH ? most - have : BATCH, before = have;
		int count = (int)system_look(SYS_epoll_pwait, fd, batch, room, 0, NULL, 8L);

		if (count < 0)
			return -1;
		more = false;
		for (int i = 0; i < count; i++) {
			struct shim_watch *watch = watch_of(batch[i].data.u64);

			if (!is_marked(batch[i].data.u64) &&
			    !is_among(events, before, batch[i].data.u64))
				events[have++] = batch[i];
			if (!watch || !enter(&list, watch, batch[i].events))
				continue;
			more = true;
			urgent |= watch->listed && watch->passed;
		}
		more = count == room && (more || have > before);
	}
	complete(&list, fd);
	return report_all(&list, events, have, most);
}

void epoll_wake(struct shim_socket *record, enum shim_wake wake)
{
	shim_watches_wake(watches(), record, wake);
	gate_visible();
}

/* ---- an epoll descriptor in poll(), select() and another epoll ---- */

struct inner {
	bool others; /* a descriptor that is not modelled is ready */
	struct ready_list list;
};

static bool visit_inner(void *context, int fd, uint32_t events, uint64_t data)
{
	struct shim_watch *watch = watch_of(data);
	struct pollfd one = {fd, (short)(events & INT16_MAX), 0};
	struct inner *inner = context;

	if (system_look(SYS_poll, &one, 1UL, 0) < 0)
		return false;
	inner->others |= one.revents && !is_marked(data);
	if (watch)
		(void)enter(&inner->list, watch, (uint16_t)one.revents);
	return false;
}

/* As Linux: registrations before the first ready one leave the list. */
static bool is_ready(int fd)
{
	struct inner inner = {.list.look = ++watches()->stamp};

	visit_all(fd, visit_inner, &inner);
	complete(&inner.list, fd);
	for (int i = 0; i < inner.list.count; i++)
		if (check(&inner.list.entries[i]))
			return true;
	return inner.others;
}

bool epoll_is_idle(int fd)
{
	return is_holder(fd) && !is_ready(fd);
}

/* ---- registrations ---- */

struct search {
	int fd;
	struct shim_watch *watch;
};

static bool visit_match(void *context, int fd, uint32_t events, uint64_t data)
{
	struct search *search = context;

	(void)events;
	if (fd == search->fd)
		search->watch = watch_of(data);
	return search->watch != NULL;
}

static struct shim_watch *find(int epoll, int fd, const struct shim_socket *record)
{
	struct search search = {.fd = fd};
	uint32_t process = own_process(), number = record ? record->watches : 0;

	while (number) {
		struct shim_watch *watch = &watches()->table[number - 1];

		if (watch->process == process && watch->epoll == epoll && watch->fd == fd)
			return watch;
		number = watch->next;
	}
	visit_all(epoll, visit_match, &search);
	return search.watch;
}

/* As the kernel does when it inserts or changes a registration. */
static void enter_if_ready(struct shim_watch *watch)
{
	struct pollfd one = {watch->fd, PAIR_EVENTS, 0};

	if (system_look(SYS_poll, &one, 1UL, 0) >= 0 && !watch->listed &&
	    level(watch, (uint16_t)one.revents))
		shim_watch_ready(watches(), watch);
}

static int control(int epoll, int operation, int fd, const struct shim_watch *watch)
{
	struct epoll_event event = {.events = PAIR_EVENTS};

	if (watch)
		event.data.u64 = data_of(watch);
	return (int)system_call(SYS_epoll_ctl, epoll, operation, fd, &event);
}

/* record: NULL if `fd` is an epoll descriptor. */
static int add(int epoll, int fd, struct shim_socket *record, const struct epoll_event *event)
{
	struct shim_watch *watch;

	if (event->events & EPOLLEXCLUSIVE && (!record || event->events & ~EXCLUSIVE_OK))
		return fail(EINVAL);
	watch = shim_watch_new(watches());
	if (!watch)
		return fail(ENOSPC);
	if (control(epoll, EPOLL_CTL_ADD, fd, watch) != 0) {
		shim_watch_free(watches(), watch);
		return -1;
	}
	if (record)
		watch->socket = (uint32_t)(record - shim.memory->sockets);
	shim_watch_add(watches(), list_of(watch), watch);
	watch->process = own_process();
	watch->epoll = epoll;
	watch->fd = fd;
	watch->events = event->events | ALWAYS;
	watch->data = event->data.u64;
	if (epoll < DESCRIPTORS)
		holds[epoll / 8] |= (uint8_t)(1U << epoll % 8);
	enter_if_ready(watch);
	return 0;
}

static int change(struct shim_watch *watch, int epoll, int fd, const struct epoll_event *event)
{
	if ((event->events | watch->events) & EPOLLEXCLUSIVE)
		return fail(EINVAL);
	if (control(epoll, EPOLL_CTL_MOD, fd, watch) != 0)
		return -1;
	watch->events = event->events | ALWAYS;
	watch->data = event->data.u64;
	enter_if_ready(watch);
	return 0;
}

static bool is_epoll(int fd)
{
	static const char epoll[] = "anon_inode:[eventpoll]";
	char path[40], target[sizeof(epoll)];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return system_call(SYS_readlinkat, AT_FDCWD, path, target, sizeof(target)) ==
		       sizeof(epoll) - 1 &&
	       memcmp(target, epoll, sizeof(epoll) - 1) == 0;
}

EXPORT int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
	struct shim_watch *watch = NULL;
	struct shim_socket *record;
	int result;

	if (!shim_active() || !shim.memory->socket_costs.modelled)
		return REAL(epoll_ctl)(epoll, operation, fd, event);
	record = sockets_of(fd);
	if ((!record && !is_epoll(fd)) || (operation != EPOLL_CTL_DEL && !event))
		return REAL(epoll_ctl)(epoll, operation, fd, event);
	if (operation == EPOLL_CTL_ADD)
		return add(epoll, fd, record, event);
	watch = find(epoll, fd, record);
	if (operation == EPOLL_CTL_MOD && watch)
		return change(watch, epoll, fd, event);
	result = REAL(epoll_ctl)(epoll, operation, fd, event);
	if (result == 0 && watch)
		release(watch);
	return result;
}

void epoll_follow(struct shim_socket *old, struct shim_socket *record, int fd)
{
	uint32_t number = old->watches, process = own_process(), *last = &record->watches;

	while (number) {
		struct shim_watch *watch = &watches()->table[number - 1];

		number = watch->next;
		if (watch->fd != fd || watch->process != process ||
		    control(watch->epoll, EPOLL_CTL_ADD, fd, watch) != 0)
			continue;
		shim_watch_remove(watches(), &old->watches, watch);
		watch->socket = (uint32_t)(record - shim.memory->sockets);
		shim_watch_add(watches(), last, watch);
		last = &watch->next;
	}
}

/* Registrations of a socket end with the socket. Those of an epoll descriptor end here. */
void epoll_closed(int fd)
{
	uint32_t process;

	if (!is_holder(fd) || !shim.memory)
		return;
	holds[fd / 8] &= (uint8_t) ~(1U << fd % 8);
	process = own_process();
	for (uint32_t i = 0; i < watches()->highest; i++) {
		struct shim_watch *watch = &watches()->table[i];

		if (watch->used && watch->process == process &&
		    (watch->epoll == fd || (!record_of(watch) && watch->fd == fd)))
			release(watch);
	}
}
