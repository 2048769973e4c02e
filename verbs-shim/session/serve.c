/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve: executes requests of threads at their clock. A served thread continues (THREAD_READY) or
 * waits.
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
#include "verbs-shim/sockets/sockets.h"

#define EXIT_TRIES \
	60000 /* milliseconds that a process may take to end, on a machine with other work */

void serve_descriptor(struct process *process, int fd)
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

static struct shim_range without_place(struct kernel_range range)
{
	return (struct shim_range){.address = range.address, .length = range.length};
}

/* Returns memory that was shared with the adapter to the process. */
static void give_back(struct process_memory *memory, struct shim_response *response,
		      const struct kernel_call *call)
{
	response->retired = without_place(call->retired);
	response->retired_record = without_place(call->retired_record);
	response->unwatched = without_place(call->unwatched);
	process_memory_forget(memory, call->retired.address, call->retired.length, SHARED_RING);
	process_memory_forget(memory, call->retired_record.address, call->retired_record.length,
			      SHARED_RING);
	process_memory_forget(memory, call->unwatched.address, call->unwatched.length,
			      SHARED_REGION);
}

/* Passes on the reply of the emulated kernel: result, descriptors, ranges. */
static void respond_to_call(struct session *session, struct thread *thread,
			    const struct kernel_call *call)
{
	struct shim_response *response = &thread->slot->response;
	struct process *process = thread->process;

	thread->slot->result = call->result;
	response->file_count = response->range_count = response->region_count = response->polled =
		0;
	response->retired = response->retired_record = response->unwatched = (struct shim_range){0};
	if (call->result >= 0)
		give_back(&process->memory, response, call);
	response->registers = call->registers;
	response->ring = call->ring;
	response->watched = (struct shim_span){call->watched.address, call->watched.length};
	for (uint32_t i = 0; i < call->file_count; i++) {
		uint32_t id = files_add(session, process->host, &call->files[i], process);
		if (id == 0) {
			session_note(session, process->host,
				     "no more descriptors for device files");
			thread->slot->result = -EMFILE;
			return;
		}
		response->files[i].kind = (uint32_t)call->files[i].kind;
		response->files[i].id = id;
		response->files[i].number_at = call->files[i].number_at;
		response->file_count++;
		serve_descriptor(process, session->files[id - 1].far);
	}
	for (uint32_t i = 0; i < call->shared_count; i++)
		process_memory_share(&process->memory, call->shared[i].address,
				     call->shared[i].length, call->shared_polled[i], response);
	if (call->watched.length)
		process_memory_share_region(&process->memory, call->watched.address,
					    call->watched.length, response);
	session_charge(session, thread, CPU_system_call, session->cpu.system_call);
	session_charge(session, thread, call->registers_memory ? CPU_registration : CPU_verbs,
		       call->latency);
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
	const struct shim_open *request = &thread->slot->request.open;
	struct kernel_call call = {.process = &thread->process->kernel};
	struct kernel *kernel = session->hosts[thread->process->host].kernel;
	char path[PATH_MAX];

	if (!read_text(thread->process, request->path, path, sizeof(path)))
		call.result = -EFAULT;
	else if (kernel && strcmp(path, KERNEL_REFRESH_COUNTERS) == 0)
		call.result =
			kernel_write_counters(kernel, session->hosts[thread->process->host].tree);
	else if (!kernel || !kernel_has_path(kernel, path))
		call.result = -ENOENT;
	else
		kernel_open(kernel, &call, path, (int)request->flags);
	session->asked_for_mad |= strcmp(path, KERNEL_REFUSED_MAD) == 0;
	respond_to_call(session, thread, &call);
}

static void serve_ioctl(struct session *session, struct thread *thread)
{
	const struct shim_ioctl *request = &thread->slot->request.ioctl;
	struct kernel_call call = {.process = &thread->process->kernel};
	struct session_file *file = files_get(session, request->file);

	if (!file)
		call.result = -EBADF;
	else
		kernel_ioctl(file->file, &call, request->request, request->argument);
	respond_to_call(session, thread, &call);
}

static void serve_write(struct session *session, struct thread *thread)
{
	const struct shim_write *request = &thread->slot->request.write;
	struct kernel_call call = {.process = &thread->process->kernel};
	struct session_file *file = files_get(session, request->file);

	if (!file)
		call.result = -EBADF;
	else
		kernel_write(file->file, &call, request->bytes, request->length);
	respond_to_call(session, thread, &call);
}

static void serve_mmap(struct session *session, struct thread *thread)
{
	const struct shim_mmap *request = &thread->slot->request.mmap;
	struct kernel_call call = {.process = &thread->process->kernel};
	struct session_file *file = files_get(session, request->file);

	if (!file)
		call.result = -EBADF;
	else
		kernel_mmap(file->file, &call, request->offset, request->length,
			    (int)request->protection);
	if (call.result >= 0 && call.page_bytes &&
	    pwrite(file->near, call.page, call.page_bytes, call.result) != (ssize_t)call.page_bytes)
		call.result = -ENOMEM;
	respond_to_call(session, thread, &call);
}

static void serve_ring(struct session *session, struct thread *thread)
{
	const struct shim_mmap *request = &thread->slot->request.mmap;
	struct kernel_call call = {.process = &thread->process->kernel};
	struct session_file *file = files_get(session, request->file);

	if (!file)
		call.result = -EBADF;
	else
		kernel_map_ring(file->file, &call, request->offset, request->protection);
	respond_to_call(session, thread, &call);
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
	const struct shim_load *request = &thread->slot->request.load;
	struct session_file *file = files_get(session, request->file);

	thread->slot->result = 0;
	if (!file || request->length < 1 || request->length > sizeof(thread->slot->result))
		return;
	thread->load =
		(struct pcie_mmio_read){.length = (uint32_t)request->length, .done = load_done};
	thread->state = THREAD_LOAD;
	session_trace(thread, TRACE_LOAD, request->offset);
	kernel_load(file->file, request->offset, &thread->load);
}

static void serve_mapped(struct session *session, struct thread *thread)
{
	const struct shim_mapped *request = &thread->slot->request.mapped;

	(void)session;
	process_memory_forget(&thread->process->memory, request->address, request->length,
			      SHARED_ANY);
}

static void serve_close(struct session *session, struct thread *thread)
{
	struct session_file *file = files_get(session, thread->slot->request.close.file);

	if (file)
		files_drop(session, thread->process, file);
	session_charge(session, thread, CPU_system_call, session->cpu.system_call);
}

/* Delays a thread whose store finds no room at the adapter. The processor stalls until `at`, and
 * all later actions are delayed. */
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
	session_trace(thread, TRACE_STORE, store->length);
	if (file && store->length <= SHIM_BYTES)
		kernel_uar_write(file->file, store->offset, store->bytes, store->length);
	thread->stores_served++;
	thread->clock = thread->stores_served < count ? store[1].clock : slot->clock;
	return true;
}

static void serve_spin(struct session *session, struct thread *thread)
{
	const struct shim_spin *request = &thread->slot->request.spin;

	session->spins++;
	if (thread->process->visible_writes == request->visible_writes &&
	    (!thread->slot->peers || peers_look(thread) == thread->peers))
		session_poll(thread, request->by_clocks != 0);
}

static void serve_os_wait(struct session *session, struct thread *thread)
{
	session_trace(thread, TRACE_WAIT, 0);
	thread->state = THREAD_OS;
	thread->deadline = thread->slot->request.os_wait.deadline;
	if (thread->deadline < thread->clock)
		thread->deadline = thread->clock;
	thread->slot->result = 0;
	if (sockets_missed(session, thread))
		thread->state = THREAD_READY;
}

static void serve_sleep(struct session *session, struct thread *thread)
{
	(void)session;
	session_trace(thread, TRACE_SLEEP, 0);
	thread->state = THREAD_ASLEEP;
	thread->deadline = thread->slot->request.sleep.deadline;
	if (thread->deadline < thread->clock)
		thread->deadline = thread->clock;
}

static void serve_thread_new(struct session *session, struct thread *thread)
{
	struct thread *created = attach_thread(session, thread->process);

	session_charge(session, thread, CPU_process, session->cpu.thread);
	if (!created) {
		thread->slot->result = -EAGAIN;
		return;
	}
	created->clock = thread->clock + 1; /* the creating thread continues first */
	created->state = THREAD_READY;
	created->creator = thread;
	thread->created = created;
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
	uint64_t slot = thread->slot->request.thread_failed.slot;

	if (slot < SHIM_SLOTS && session->threads[slot].process == thread->process) {
		session->threads[slot].state = THREAD_FREE;
		thread->process->threads--;
	}
}

/* Reports a program that is about to start outside virtual time. */
static void name_outside(struct session *session, const struct thread *thread)
{
	static const char *const reasons[OUTSIDE_COUNT] = {
#define REASON(name, meaning) [name] = meaning,
		SHIM_OUTSIDE(REASON)};
	const struct shim_image *request = &thread->slot->request.image;
	uint64_t outside = request->outside;
	char path[PATH_MAX], text[PATH_MAX + 256];

	if (outside == OUTSIDE_NOT || outside >= OUTSIDE_COUNT ||
	    !read_text(thread->process, request->path, path, sizeof(path)))
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
	int32_t real_pid = (int32_t)thread->slot->request.spawned.real_pid;
	struct process *child = NULL;

	session_charge(session, thread, CPU_process, session->cpu.process);
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
	session_charge(session, thread, CPU_process, session->cpu.process);
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
	handover_release(session, thread);
	for (int i = 0; i < EXIT_TRIES; i++) {
		if (attach_is_dead(process, 1)) {
			attach_died(session, process, thread->clock);
			return;
		}
		output_drain(session);
	}
	session_note(session, process->host,
		     "a process announced its end and does not end; it is killed");
	kill(process->real_pid, SIGKILL);
}

static void serve_timer(struct session *session, struct thread *thread)
{
	struct process *process = thread->process;
	const struct shim_timer *request = &thread->slot->request.timer;
	uint32_t number = (uint32_t)request->number % SHIM_TIMERS;
	struct process_timer *old;

	while (process->timer_count <= number)
		process->timers[process->timer_count++] = (struct process_timer){0};
	old = &process->timers[number];
	thread->slot->result =
		old->signal && old->at > thread->clock ? (int64_t)(old->at - thread->clock) : 0;
	*old = (struct process_timer){.at = request->deadline < thread->clock ? thread->clock
									      : request->deadline,
				      .interval = request->interval,
				      .signal = (uint32_t)request->signal,
				      .taker = (uint32_t)request->taker};
	for (uint32_t i = 0; i < session->thread_count; i++)
		if (session->threads[i].process == process &&
		    session->threads[i].signalled == number + 1)
			session->threads[i].signalled = 0; /* it is a different timer now */
	session_charge(session, thread, CPU_system_call, session->cpu.system_call);
}

typedef void serve_function(struct session *session, struct thread *thread);

static serve_function *const serve[OP_COUNT] = {
	[OP_START] = serve_start,
	[OP_YIELD] = serve_start,
	[OP_OPEN] = serve_open,
	[OP_IOCTL] = serve_ioctl,
	[OP_WRITE] = serve_write,
	[OP_MMAP] = serve_mmap,
	[OP_RING] = serve_ring,
	[OP_LOAD] = serve_load,
	[OP_MAPPED] = serve_mapped,
	[OP_CLOSE] = serve_close,
	[OP_MMIO] = serve_start,
	[OP_SPIN] = serve_spin,
	[OP_OS_WAIT] = serve_os_wait,
	[OP_SOCKET] = sockets_serve,
	[OP_SLEEP] = serve_sleep,
	[OP_THREAD_NEW] = serve_thread_new,
	[OP_THREAD_EXIT] = serve_thread_exit,
	[OP_KILL] = serve_start,
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
			     "a program sent an unknown request; it is ended");
		kill(thread->process->real_pid, SIGKILL);
		thread->state = THREAD_LEAVING;
		return;
	}
	if (op != OP_SOCKET && op != OP_YIELD)
		sockets_take(session);
	serve[op](session, thread);
}
