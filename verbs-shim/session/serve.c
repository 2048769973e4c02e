/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve: what a thread asks for, carried out at the thread's clock. A served thread goes on (THREAD_READY), or it waits.
 */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "verbs-shim/session/state.h"

#define EXIT_TRIES \
	60000 /* milliseconds that a process may take to end, on a machine with other work */

static void send_descriptor(struct process *process, int fd)
{
	char byte = 'f', control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec part = {&byte, 1};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	(void)sendmsg(process->socket, &message, MSG_NOSIGNAL);
}

/* Passes on what the emulated kernel answered: result, descriptors, ranges. */
static void answer(struct session *session, struct thread *thread, const struct kernel_call *call)
{
	struct shim_slot *slot = thread->slot;
	struct process *process = thread->process;

	slot->result = call->result;
	slot->file_count = slot->range_count = slot->region_count = slot->polled = 0;
	slot->retired = slot->retired_record = slot->unwatched = (struct shim_range){0};
	if (call->result >= 0) {
		slot->retired = (struct shim_range){call->retired.address, call->retired.length, 0};
		slot->retired_record = (struct shim_range){call->retired_record.address,
							   call->retired_record.length, 0};
		slot->unwatched =
			(struct shim_range){call->unwatched.address, call->unwatched.length, 0};
		process_memory_forget(&process->memory, call->retired.address, call->retired.length,
				      SHARED_RING);
		process_memory_forget(&process->memory, call->retired_record.address,
				      call->retired_record.length, SHARED_RING);
		process_memory_forget(&process->memory, call->unwatched.address,
				      call->unwatched.length, SHARED_REGION);
	}
	slot->registers = call->registers;
	slot->watched_address = call->watched.address;
	slot->watched_length = call->watched.length;
	for (uint32_t i = 0; i < call->file_count; i++) {
		uint32_t id = files_add(session, process->host, &call->files[i], process);
		if (id == 0) {
			session_note(session, process->host,
				     "no more descriptors for device files");
			slot->result = -EMFILE;
			return;
		}
		slot->files[i].kind = (uint32_t)call->files[i].kind;
		slot->files[i].id = id;
		slot->files[i].number_at = call->files[i].number_at;
		slot->file_count++;
		send_descriptor(process, session->files[id - 1].far);
	}
	for (uint32_t i = 0; i < call->shared_count; i++)
		process_memory_share(&process->memory, call->shared[i].address,
				     call->shared[i].length, call->shared_polled[i], slot);
	if (call->watched.length)
		process_memory_share_region(&process->memory, call->watched.address,
					    call->watched.length, slot);
	thread->clock += call->latency + session->cpu.system_call;
}

static bool read_text(struct process *process, uint64_t address, char *text, size_t room)
{
	for (size_t i = 0; i < room; i++) {
		if (!memory_read(&process->memory.base, address + i, &text[i], 1))
			return false;
		if (text[i] == '\0')
			return true;
	}
	return false;
}

static void serve_start(struct session *session, struct thread *thread)
{
	(void)session;
	thread->slot->result = 0;
}

static void serve_open(struct session *session, struct thread *thread)
{
	struct kernel_call call = {.process = &thread->process->kernel};
	struct kernel *kernel = session->hosts[thread->process->host].kernel;
	char path[PATH_MAX];

	if (!read_text(thread->process, thread->slot->arguments[0], path, sizeof(path)))
		call.result = -EFAULT;
	else if (kernel && strcmp(path, KERNEL_REFRESH_COUNTERS) == 0)
		call.result =
			kernel_write_counters(kernel, session->hosts[thread->process->host].tree);
	else if (!kernel || !kernel_has_path(kernel, path))
		call.result = -ENOENT;
	else
		kernel_open(kernel, &call, path, (int)thread->slot->arguments[1]);
	session->asked_for_mad |= strcmp(path, KERNEL_REFUSED_MAD) == 0;
	answer(session, thread, &call);
}

static void serve_file_call(struct session *session, struct thread *thread)
{
	struct kernel_call call = {.process = &thread->process->kernel};
	const uint64_t *arguments = thread->slot->arguments;
	struct session_file *file = files_get(session, arguments[0]);

	if (!file)
		call.result = -EBADF;
	else if (thread->slot->op == OP_IOCTL)
		kernel_ioctl(file->file, &call, arguments[1], arguments[2]);
	else if (thread->slot->op == OP_WRITE)
		kernel_write(file->file, &call, arguments[1], arguments[2]);
	else
		kernel_mmap(file->file, &call, arguments[1], arguments[2], (int)arguments[3]);
	if (call.result >= 0 && call.page_bytes &&
	    pwrite(file->near, call.page, call.page_bytes, call.result) != (ssize_t)call.page_bytes)
		call.result = -ENOMEM;
	answer(session, thread, &call);
}

static void load_done(struct pcie_mmio_read *read)
{
	struct thread *thread = container_of(read, struct thread, load);
	struct session *session = thread->process->session;

	memcpy(&thread->slot->result, read->bytes, sizeof(thread->slot->result));
	session_wake(session, thread, sim_now(session->sim));
}

static void serve_load(struct session *session, struct thread *thread)
{
	const uint64_t *arguments = thread->slot->arguments;
	struct session_file *file = files_get(session, arguments[0]);

	thread->slot->result = 0;
	if (!file || arguments[2] < 1 || arguments[2] > sizeof(thread->slot->result))
		return;
	thread->load = (struct pcie_mmio_read){.length = (uint32_t)arguments[2], .done = load_done};
	thread->state = THREAD_LOAD;
	kernel_load(file->file, arguments[1], &thread->load);
}

static void serve_mapped(struct session *session, struct thread *thread)
{
	(void)session;
	process_memory_forget(&thread->process->memory, thread->slot->arguments[0],
			      thread->slot->arguments[1], SHARED_ANY);
}

static void serve_close(struct session *session, struct thread *thread)
{
	struct session_file *file = files_get(session, thread->slot->arguments[0]);

	if (file)
		files_drop(session, thread->process, file);
	thread->clock += session->cpu.system_call;
}

/* The adapter has no room for the thread's store: the processor stands still until `at`, and all that follows is the later. */
static void stall_store(struct thread *thread, uint32_t count, sim_time at)
{
	struct shim_slot *slot = thread->slot;
	sim_time late = at - thread->clock;

	for (uint32_t i = thread->stores_served; i < count; i++)
		slot->stores[i].clock += late;
	slot->clock += late;
	thread->clock = at;
}

bool serve_store(struct session *session, struct thread *thread)
{
	const struct shim_slot *slot = thread->slot;
	uint32_t count = __atomic_load_n(&slot->store_count, __ATOMIC_ACQUIRE);
	const struct shim_store *store = &slot->stores[thread->stores_served];
	struct session_file *file;
	sim_time ask_at;

	if (thread->stores_served >= count || count > SHIM_STORES)
		return false;
	file = files_get(session, store->file);
	if (file && !kernel_uar_has_room(file->file, &ask_at)) {
		stall_store(thread, count, ask_at);
		return true;
	}
	session->doorbells++;
	if (file && store->length <= SHIM_BYTES)
		kernel_uar_write(file->file, store->offset, store->bytes, store->length);
	thread->stores_served++;
	thread->clock = thread->stores_served < count ? store[1].clock : slot->clock;
	return true;
}

static void serve_spin(struct session *session, struct thread *thread)
{
	const struct shim_process *shared = &session->shared->processes[thread->process->number];

	session->spins++;
	if (shared->visible_writes == thread->slot->arguments[1] &&
	    (!thread->slot->peers || peers_look(thread) == thread->peers))
		session_poll(thread, thread->slot->arguments[2] != 0);
}

static void serve_os_wait(struct session *session, struct thread *thread)
{
	(void)session;
	thread->state = THREAD_OS;
	thread->deadline = thread->slot->arguments[0];
	if (thread->deadline < thread->clock)
		thread->deadline = thread->clock;
}

static void serve_sleep(struct session *session, struct thread *thread)
{
	(void)session;
	thread->state = THREAD_ASLEEP;
	thread->deadline = thread->slot->arguments[0];
	if (thread->deadline < thread->clock)
		thread->deadline = thread->clock;
}

static void serve_thread_new(struct session *session, struct thread *thread)
{
	struct thread *created = attach_thread(session, thread->process);

	thread->clock += session->cpu.thread;
	if (!created) {
		thread->slot->result = -EAGAIN;
		return;
	}
	created->clock = thread->clock + 1; /* its creator, which is to make it, goes on before */
	created->state = THREAD_READY;
	thread->slot->result = created->slot - session->shared->slots;
}

static void serve_thread_exit(struct session *session, struct thread *thread)
{
	thread->state = THREAD_FREE;
	thread->process->threads--;
	session_visible(session, thread->clock);
}

static void serve_thread_failed(struct session *session, struct thread *thread)
{
	uint64_t slot = thread->slot->arguments[0];

	if (slot < SHIM_SLOTS && session->threads[slot].process == thread->process) {
		session->threads[slot].state = THREAD_FREE;
		thread->process->threads--;
	}
}

/* Names a program that is about to start outside of virtual time, with what is no simulation for it. */
static void name_outside(struct session *session, const struct thread *thread)
{
	static const char *const reasons[OUTSIDE_COUNT] = {
#define REASON(name, meaning) [name] = meaning,
		SHIM_OUTSIDE(REASON)};
	uint64_t outside = thread->slot->arguments[0];
	char path[PATH_MAX], text[PATH_MAX + 256];

	if (outside == OUTSIDE_NOT || outside >= OUTSIDE_COUNT ||
	    !read_text(thread->process, thread->slot->arguments[1], path, sizeof(path)))
		return;
	snprintf(text, sizeof(text),
		 "%s %s: it runs outside of virtual time, with the machine's clocks, network and "
		 "adapters",
		 path, reasons[outside]);
	session_note(session, thread->process->host, text);
}

static void serve_spawn(struct session *session, struct thread *thread)
{
	name_outside(session, thread);
	session->awaiting = 1;
	session->await_process = thread->process->number;
}

static void serve_spawned(struct session *session, struct thread *thread)
{
	int32_t real_pid = (int32_t)thread->slot->arguments[0];
	struct process *child = NULL;

	thread->clock += session->cpu.process;
	thread->slot->result = 0;
	for (int tries = 0; real_pid > 0 && tries < 200; tries++) {
		for (uint32_t i = 0; i < SHIM_PROCESSES; i++)
			if (session->processes[i].alive &&
			    session->processes[i].real_pid == real_pid)
				child = &session->processes[i];
		if (child)
			break;
		if (!attach_accept(session, 10) && kill(real_pid, 0) != 0)
			break;
	}
	session->awaiting = 0;
	if (child) {
		thread->slot->result = (int64_t)child->number + SHIM_FIRST_PID;
		for (uint32_t i = 0; i < session->thread_count; i++)
			if (session->threads[i].process == child &&
			    session->threads[i].clock < thread->clock)
				session->threads[i].clock = thread->clock;
	} else if (real_pid > 0) {
		session->outside = true;
		session_note(session, thread->process->host,
			     "a child program runs outside of virtual time (static, 32-bit or "
			     "another user's)");
	}
}

static void serve_exec(struct session *session, struct thread *thread)
{
	struct process *process = thread->process;

	name_outside(session, thread);
	thread->clock += session->cpu.process;
	process->replacing = true;
}

static void serve_exec_failed(struct session *session, struct thread *thread)
{
	(void)session;
	thread->process->replacing = false;
}

static void serve_exit(struct session *session, struct thread *thread)
{
	struct process *process = thread->process;

	for (uint32_t i = 0; i < session->thread_count; i++)
		if (session->threads[i].process == process)
			session->threads[i].state = THREAD_LEAVING;
	for (int i = 0; i < EXIT_TRIES; i++) {
		if (attach_is_dead(process, 1)) {
			attach_died(session, process);
			session_visible(session, thread->clock);
			return;
		}
		output_drain(session);
	}
	session_note(session, process->host,
		     "a process does not end although it said so; it is killed");
	kill(process->real_pid, SIGKILL);
}

static void serve_timer(struct session *session, struct thread *thread)
{
	struct process *process = thread->process;
	const uint64_t *arguments = thread->slot->arguments;
	uint32_t number = (uint32_t)(arguments[3] & 0xffff) % SHIM_TIMERS;
	struct process_timer *old;

	while (process->timer_count <= number)
		process->timers[process->timer_count++] = (struct process_timer){0};
	old = &process->timers[number];
	thread->slot->result =
		old->signal && old->at > thread->clock ? (int64_t)(old->at - thread->clock) : 0;
	*old = (struct process_timer){.at = arguments[0] < thread->clock ? thread->clock
									 : arguments[0],
				      .interval = arguments[1],
				      .signal = (uint32_t)arguments[2],
				      .taker = (uint32_t)(arguments[3] >> 16)};
	for (uint32_t i = 0; i < session->thread_count; i++)
		if (session->threads[i].process == process &&
		    session->threads[i].signalled == number + 1)
			session->threads[i].signalled = 0; /* it is another one now */
	thread->clock += session->cpu.system_call;
}

typedef void serve_function(struct session *session, struct thread *thread);

static serve_function *const serve[OP_COUNT] = {
	[OP_START] = serve_start,
	[OP_YIELD] = serve_start,
	[OP_OPEN] = serve_open,
	[OP_IOCTL] = serve_file_call,
	[OP_WRITE] = serve_file_call,
	[OP_MMAP] = serve_file_call,
	[OP_LOAD] = serve_load,
	[OP_MAPPED] = serve_mapped,
	[OP_CLOSE] = serve_close,
	[OP_MMIO] = serve_start,
	[OP_SPIN] = serve_spin,
	[OP_OS_WAIT] = serve_os_wait,
	[OP_SLEEP] = serve_sleep,
	[OP_THREAD_NEW] = serve_thread_new,
	[OP_THREAD_EXIT] = serve_thread_exit,
	[OP_THREAD_FAILED] = serve_thread_failed,
	[OP_SPAWN] = serve_spawn,
	[OP_SPAWNED] = serve_spawned,
	[OP_EXEC] = serve_exec,
	[OP_EXEC_FAILED] = serve_exec_failed,
	[OP_EXIT] = serve_exit,
	[OP_TIMER] = serve_timer,
};

void serve_request(struct session *session, struct thread *thread)
{
	uint32_t op = thread->slot->op;

	if (op >= OP_COUNT || !serve[op]) {
		session_note(session, thread->process->host,
			     "a program sent a request that does not exist; it is ended");
		kill(thread->process->real_pid, SIGKILL);
		thread->state = THREAD_LEAVING;
		return;
	}
	serve[op](session, thread);
}
