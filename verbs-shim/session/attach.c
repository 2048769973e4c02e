/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach: processes that attach (started by the session, forked by a program, or replaced by exec)
 * and end. A process first sends one message with one end of a socket pair. It uses the attach
 * socket that all programs of a run inherit.
 */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs-shim/session/state.h"

#define IMAGE_TRIES 3000 /* milliseconds that a new image may take to attach */

struct thread *attach_thread(struct session *session, struct process *process)
{
	for (uint32_t i = 0; i < SHIM_SLOTS; i++) {
		struct thread *thread = &session->threads[i];
		if (thread->state != THREAD_FREE)
			continue;
		memset(&session->shared->slots[i], 0, sizeof(session->shared->slots[i]));
		session->shared->preempted[i] = 0;
		memset(session->shared->charged[i], 0, sizeof(session->shared->charged[i]));
		*thread = (struct thread){.process = process,
					  .slot = &session->shared->slots[i],
					  .state = THREAD_READY,
					  .ahead = session->params.lookahead,
					  .deadline = SIM_NEVER};
		if (session->thread_count <= i)
			session->thread_count = i + 1;
		process->threads++;
		noise_begin(session, thread);
		return thread;
	}
	return NULL;
}

static void drop_threads(struct session *session, struct process *process)
{
	for (uint32_t i = 0; i < session->thread_count; i++)
		if (session->threads[i].process == process) {
			session->threads[i].state = THREAD_FREE;
			pcie_mmio_read_cancel(&session->threads[i].load);
		}
	process->threads = 0;
}

/* SHIM_NO_HOST: none has the name that the program gave. */
static uint32_t host_of(const struct session *session, const struct shim_attach *hello)
{
	if (!hello->host_name[0])
		return hello->host;
	for (uint32_t i = 0; i < session->host_count; i++)
		if (strncmp(session->hosts[i].name, hello->host_name, SHIM_HOST_NAME) == 0)
			return i;
	return SHIM_NO_HOST;
}

static struct process *process_new(struct session *session, const struct shim_attach *hello,
				   uint32_t host)
{
	struct process *parent =
		session->awaiting ? &session->processes[session->await_process] : NULL;

	for (uint32_t i = 0; i < SHIM_PROCESSES; i++) {
		struct process *process = &session->processes[i];
		if (process->alive && process->real_pid == hello->real_pid)
			return process; /* exec */
	}
	/* numbers are reused only after all have been used */
	for (uint32_t tries = 0; tries < SHIM_PROCESSES; tries++) {
		uint32_t i = session->process_count++ % SHIM_PROCESSES;
		struct process *process = &session->processes[i];
		if (process->alive)
			continue;
		process_memory_fini(&process->memory);
		*process = (struct process){
			.session = session,
			.number = i,
			.alive = true,
			.host = host == SHIM_NO_HOST ? hello->host : host,
			.real_pid = hello->real_pid,
			.parent = parent ? (int32_t)parent->number + SHIM_FIRST_PID : 1,
			.socket = -1,
			.program = -1,
			.part_of = parent ? parent->part_of : -1};
		session->shared->processes[i].cpu = session->shared->processes[i].children =
			(struct cpu_time){0};
		session->shared->processes[i].cpus =
			parent ? session->shared->processes[parent->number].cpus
			       : (struct shim_cpus){{0}};
		process->pidfd = (int)syscall(SYS_pidfd_open, hello->real_pid, 0);
		for (uint32_t p = 0; p < session->program_count; p++)
			if (session->programs[p].started && !session->programs[p].ended &&
			    session->programs[p].real_pid == hello->real_pid)
				process->program = process->part_of = (int32_t)p;
		if (parent && hello->kind == ATTACH_FORK)
			files_inherit(session, parent, process);
		return process;
	}
	return NULL;
}

static void welcome(struct session *session, struct process *process, const struct thread *thread,
		    uint32_t host_number)
{
	struct shim_welcome reply = {.process = process->number,
				     .slot = (uint32_t)(thread->slot - session->shared->slots),
				     .parent = process->parent,
				     .host = host_number};
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec part = {&reply, sizeof(reply)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	size_t used = 0;

	snprintf(reply.tree, sizeof(reply.tree), "%s", session->hosts[process->host].tree);
	for (uint32_t i = 0; i < session->host_count && used < sizeof(reply.hosts); i++) {
		const struct session_host *host = &session->hosts[i];
		used += (size_t)snprintf(reply.hosts + used, sizeof(reply.hosts) - used,
					 "%s%s=%u.%u.%u.%u", i ? "," : "", host->name,
					 host->ipv4[0], host->ipv4[1], host->ipv4[2],
					 host->ipv4[3]);
	}
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &process->memory.queue_fd, sizeof(int));
	(void)sendmsg(process->socket, &message, MSG_NOSIGNAL);
}

/* Returns true if a forked child shares mappings with its parent. The simulator decides this
 * because the child attaches at an arbitrary real time. */
static bool shares(const struct session *session, const struct process *process,
		   const struct shim_attach *hello)
{
	return hello->kind == ATTACH_FORK && process->parent >= SHIM_FIRST_PID &&
	       session->shared->processes[process->parent - SHIM_FIRST_PID].shares;
}

/* Refuses a process: closes its socket. The program then ends before its first line, and the run
 * ends with it. */
static void refuse(struct session *session, struct process *process)
{
	fprintf(stderr,
		"hcasim: %s: no address space for the memory of %u processes, which is %llu bytes "
		"each (ulimit -v)\n",
		session->hosts[process->host].name, session->process_count,
		(unsigned long long)SHIM_QUEUE_BYTES);
	session->broken = true;
	close(process->socket);
	process->socket = -1;
	kill(process->real_pid, SIGKILL);
}

struct process *attach_accept(struct session *session, int milliseconds)
{
	struct pollfd waiting = {session->attach_near, POLLIN, 0};
	struct shim_attach hello;
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec part = {&hello, sizeof(hello)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct process *process;
	struct thread *thread;
	struct kernel *kernel;
	uint32_t host;
	int socket = -1;

	if (poll(&waiting, 1, milliseconds) <= 0 ||
	    recvmsg(session->attach_near, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(hello))
		return NULL;
	for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header;
	     header = CMSG_NXTHDR(&message, header))
		if (header->cmsg_type == SCM_RIGHTS)
			memcpy(&socket, CMSG_DATA(header), sizeof(int));
	if (hello.magic != SHIM_MAGIC || hello.host >= session->host_count || socket < 0)
		return NULL;
	host = host_of(session, &hello);
	process = process_new(session, &hello, host);
	if (!process) {
		fprintf(stderr, "hcasim: more than %d processes at a time\n", SHIM_PROCESSES);
		close(socket);
		return NULL;
	}
	if (process->socket >= 0) { /* the new image of a process: its old objects are gone */
		kernel_process_exit(session->hosts[process->host].kernel, &process->kernel);
		files_process_gone(session, process);
		close(process->socket);
		process_memory_fini(&process->memory);
		if (process->timer_count >
		    SHIM_INTERVAL_TIMERS) /* timer_create()'s do not survive */
			process->timer_count = SHIM_INTERVAL_TIMERS;
	}
	if (host != SHIM_NO_HOST)
		process->host = host;
	process->replacing = false;
	process->socket = socket;
	if (!process_memory_init(&process->memory, process)) {
		refuse(session, process);
		return NULL;
	}
	process->kernel = (struct kernel_process){.memory = &process->memory.base,
						  .pid = (int32_t)process->number + SHIM_FIRST_PID};
	drop_threads(session, process);
	thread = attach_thread(session, process);
	assert(thread);
	thread->clock = sim_now(session->sim);
	if (session->running && session->running->process == process)
		thread->clock = session->running->clock;
	kernel = session->hosts[process->host].kernel;
	process->visible_writes = 0;
	session->shared->processes[process->number] = (struct shim_process){
		.real_pid = (uint32_t)hello.real_pid,
		.host = process->host,
		.shares = shares(session, process, &hello),
		.cpus = session->shared->processes[process->number].cpus,
		.cpu = session->shared->processes[process->number].cpu,
		.children = session->shared->processes[process->number].children,
		.store_delay = kernel ? kernel_uar_delay(kernel) : 0};
	session->shared->sharing[process->host] +=
		session->shared->processes[process->number].shares;
	welcome(session, process, thread, host);
	return process;
}

void attach_await_image(struct session *session, struct thread *thread)
{
	struct process *process = thread->process;

	for (int i = 0; i < IMAGE_TRIES; i++) {
		if (__atomic_load_n(&thread->slot->token, __ATOMIC_ACQUIRE) == TOKEN_SIMULATOR)
			return;
		if (attach_accept(session, 1) == process)
			return;
		output_drain(session);
		if (attach_is_dead(process, 0)) {
			attach_died(session, process, sim_now(session->sim));
			return;
		}
	}
	session_note(session, process->host,
		     "a program was replaced by one that runs outside of virtual time (static, "
		     "32-bit or another user's)");
	drop_threads(session, process);
}

bool attach_is_dead(const struct process *process, int milliseconds)
{
	struct pollfd waiting = {process->pidfd, POLLIN, 0};

	return poll(&waiting, 1, milliseconds) > 0;
}

void attach_died(struct session *session, struct process *process, sim_time at)
{
	ends_await_notice();
	session_count_process(session, process);
	drop_threads(session, process);
	process->alive = false;
	output_drain(session);
	if (session->hosts[process->host].kernel)
		kernel_process_exit(session->hosts[process->host].kernel, &process->kernel);
	files_process_gone(session, process);
	close(process->socket);
	close(process->pidfd);
	process->socket = process->pidfd = -1;
	process->timer_count = 0;
	if (session->sockets)
		sockets_look(session->sockets);
	session_visible(session, at);
	if (process->program >= 0) {
		struct program *program = &session->programs[process->program];
		int status = 0;

		if (waitpid(process->real_pid, &status, 0) == process->real_pid) {
			program->exit_code =
				WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
			if (servers_are_asked(session) && program->is_server)
				program->exit_code = 0;
			else if (WIFSIGNALED(status))
				fprintf(stderr, "hcasim: %s: %s was ended by signal %d (%s)\n",
					session->hosts[process->host].name, program->argv[0],
					WTERMSIG(status), strsignal(WTERMSIG(status)));
		}
		program->ended = true;
		session->any_ended = true;
		session->ended_at = at;
		if (session->exit_code == 0)
			session->exit_code = program->exit_code;
	}
	ends_of_killed(session, process, at); /* PR_SET_PDEATHSIG */
}

/* Returns the time of an end that was not announced. */
static sim_time time_of_end(const struct session *session, const struct process *process)
{
	const struct thread *running = session->running;

	return running && running->process == process && running->state == THREAD_RUNNING &&
			       running->clock > sim_now(session->sim)
		       ? running->clock
		       : sim_now(session->sim);
}

/* Returns true if the process has announced its end for a later virtual time. Its end is then
 * served at that time, even if it is already dead. */
static bool is_to_end(const struct session *session, const struct process *process)
{
	for (uint32_t i = 0; i < session->thread_count; i++) {
		const struct thread *thread = &session->threads[i];
		if (thread->process == process && thread->state != THREAD_FREE && thread->request &&
		    thread->last == OP_EXIT)
			return true;
	}
	return false;
}

void attach_find_dead(struct session *session, bool all)
{
	bool found = false;
	sim_time at = sim_now(session->sim);

	for (uint32_t i = 0; i < session->process_count && i < SHIM_PROCESSES; i++) {
		struct process *process = &session->processes[i];
		if (process->alive && attach_is_dead(process, 0) &&
		    (all || !is_to_end(session, process))) {
			at = time_of_end(session, process);
			attach_died(session, process, at);
			found = true;
		}
	}
	if (found && !all) /* a signal may have been for several */
		ends_of_killed(session, NULL, at);
}

/* Checks for unannounced real events: deaths and output. */
void session_look_around(struct session *session)
{
	output_drain(session);
	attach_find_dead(session, false);
}
