/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session: selects the next thread and its horizon. There is one execution token, so at most one
 * thread of all programs runs. It runs within a window of virtual time, which ends when another
 * thread could act. The order is (virtual time, host, process, thread), and threads come before
 * events of the same time. Simulated time never advances beyond the time at which a thread can act.
 */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "verbs-shim/session/host_view.h"
#include "verbs-shim/session/state.h"

/* clang-format off */
#define CPU_ROW(...) PARAM_ROW(struct cpu_params, __VA_ARGS__)
#define SESSION_ROW(...) PARAM_ROW(struct session_params, __VA_ARGS__)
const struct param session_cpu_param_list[] = {CPU_PARAMS(CPU_ROW) {.name = NULL}};
const struct param session_param_list[] = {SESSION_PARAMS(SESSION_ROW) {.name = NULL}};
static const struct block_type programs_type = {
	.name = "programs",
	.trace_points = (const struct trace_point[]){PROGRAMS_TRACE(TRACE_ENTRY){0}},
};
/* clang-format on */

#define EXIT_REFUSED  2    /* same as for invalid input */
#define OUTSIDE_LOOKS 1000 /* replaces IDLE_LOOKS while such a thread may return */
/* number of checks without any possible action before a deadlock is reported */
#define IDLE_LOOKS 5
#define CHUNK      (1 * MS) /* simulated time between checks for deaths while no program runs */
#define LOOK_AGAIN \
	(64 * US) /* interval after which a polling thread checks again; it doubles each time */
#define MONOTONIC_BASE UINT64_C(1000000000000)

static volatile sig_atomic_t end_signal;

static void on_end_signal(int number)
{
	end_signal = number;
}

bool session_is_ending(void)
{
	return end_signal != 0;
}

uint64_t session_real_ns(void)
{
	struct timespec now;

	(void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now); /* see place_share_counter() */
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void session_note(struct session *session, uint32_t host, const char *text)
{
	for (uint32_t i = 0; i < session->note_count; i++)
		if (strncmp(session->notes[i], text, sizeof(session->notes[i]) - 1) == 0)
			return;
	if (session->note_count < SESSION_NOTES)
		snprintf(session->notes[session->note_count++], sizeof(session->notes[0]), "%s",
			 text);
	fprintf(stderr, "hcasim: %s: %s\n", session->hosts[host].name, text);
}

void session_trace(const struct thread *thread, unsigned point, uint64_t value)
{
	struct session *session = thread->process->session;

	trace(&session->hosts[thread->process->host].block, point, 0,
	      (uint64_t)(thread - session->threads), value);
}

void session_wake(struct session *session, struct thread *thread, sim_time at)
{
	if (thread->state != THREAD_READY)
		session_trace(thread, TRACE_WAKE, 0);
	thread->state = THREAD_READY;
	if (thread->clock < at)
		thread->clock = at;
	session->woken = true;
	if (session->in_run)
		sim_stop(session->sim);
}

static bool polls(const struct shim_slot *slot, uint64_t address, uint64_t length)
{
	uint32_t count = slot->span_count < SHIM_SPANS ? slot->span_count : SHIM_SPANS;

	for (uint32_t i = 0; i < count; i++)
		if (slot->spans[i].address < address + length &&
		    address < slot->spans[i].address + slot->spans[i].length)
			return true;
	return count == 0;
}

void session_visible_write(struct process *process, uint64_t address, uint64_t length)
{
	struct session *session = process->session;
	sim_time found =
		sim_now(session->sim) + session->cpu.poll + session->hosts[process->host].dma_wait;

	process->visible_writes++;
	for (uint32_t i = 0; i < session->thread_count; i++) {
		struct thread *thread = &session->threads[i];
		if (thread->process == process && thread->state == THREAD_VISIBLE_WRITE &&
		    polls(thread->slot, address, length))
			session_found(thread, found);
	}
}

void session_found(struct thread *thread, sim_time at)
{
	thread->patience = 0;
	session_wake(thread->process->session, thread, at);
}

void session_visible(struct session *session, sim_time at)
{
	for (uint32_t i = 0; i < session->thread_count; i++)
		if (session->threads[i].looked == session->visible)
			session->threads[i].unseen_at = at;
	session->visible++;
	session->visible_at = at;
	if (session->in_run) {
		session->woken = true;
		sim_stop(session->sim);
	}
}

uint32_t session_timer_fired(struct process *process, uint32_t timer, sim_time now,
			     uint32_t *missed)
{
	struct process_timer *fired = &process->timers[timer];
	uint32_t number = fired->signal;

	*missed = 0;
	if (!fired->interval) {
		fired->signal = 0;
		return number;
	}
	if (now > fired->at)
		*missed = (uint32_t)((now - fired->at) / fired->interval);
	fired->at += (*missed + UINT64_C(1)) * fired->interval;
	return number;
}

void session_wake_signal(struct process *process, uint32_t timer)
{
	struct session *session = process->session;
	struct process_timer *fired = &process->timers[timer];
	uint32_t missed;

	for (uint32_t i = 0; i < session->thread_count; i++) {
		struct thread *thread = &session->threads[i];
		if (thread->process != process || thread->state == THREAD_FREE ||
		    thread->state == THREAD_LEAVING || (fired->taker && fired->taker != i + 1))
			continue;
		if (thread->state == THREAD_OUTSIDE) {
			(void)syscall(SYS_tgkill, process->real_pid, thread->slot->tid,
				      session_timer_fired(process, timer, fired->at, &missed));
			return;
		}
		thread->signalled = timer + 1;
		if (thread->state != THREAD_READY && thread->state != THREAD_LOAD)
			session_wake(session, thread, fired->at);
		return;
	}
	fired->signal = 0; /* the process of this signal has ended */
}

/* Puts a polling thread to sleep. Detection of polling is a heuristic, so the thread reads its
 * memory again before much virtual time passes. */
void session_poll(struct thread *thread, bool by_clocks)
{
	thread->state = THREAD_VISIBLE_WRITE;
	thread->by_clocks = by_clocks;
	session_trace(thread, TRACE_POLL, thread->slot->request.spin.address);
	if (by_clocks) {
		thread->deadline = thread->clock + thread->process->session->params.lookahead;
		return;
	}
	if (thread->patience == 0)
		thread->patience = LOOK_AGAIN;
	else if (thread->patience < SEC)
		thread->patience *= 2;
	thread->deadline = thread->clock + thread->patience;
}

/* Handles the request with which a thread returned the token. */
void session_returned(struct session *session, struct thread *thread)
{
	struct shim_slot *slot = thread->slot;

	sim_time acted = slot->clock;
	uint32_t waiting;

	if (slot->store_count > SHIM_STORES)
		slot->store_count = thread->stores_served;
	waiting = slot->store_count - thread->stores_served;
	if (waiting > 0 && slot->op == OP_MMIO)
		acted = slot->stores[slot->store_count - 1].clock;
	thread->clock = waiting > 0 ? slot->stores[thread->stores_served].clock : slot->clock;
	thread->state = THREAD_READY;
	thread->request = true;
	thread->last = slot->op < OP_COUNT ? (enum shim_op)slot->op : OP_NONE;
	if (waiting > 0 || (slot->op != OP_OS_WAIT && slot->op != OP_SPIN && slot->op != OP_YIELD))
		session->idle = 0;
	if (waiting > 0 || slot->op != OP_SPIN)
		thread->patience = 0;
	horizon_adapt(session, thread);
	session->unread |= !slot->quiet;
	session->untaken |= !slot->quiet;
	if (slot->dirty) {
		slot->dirty = 0;
		session_visible(session, acted);
	}
	if (slot->op == OP_SPIN && slot->peers)
		thread->peers = peers_look(thread);
	if (session->hosts[thread->process->host].kernel)
		kernel_host_ran(session->hosts[thread->process->host].kernel, acted);
	peers_acted(session, thread, acted);
	if (slot->op == OP_THREAD_EXIT)
		ends_await_thread(thread);
	else if (slot->op == OP_KILL)
		ends_of_killed(session, NULL, acted);
	thread->looked =
		session->visible; /* recorded before others act, so that their actions wake it */
	thread->sockets_looked = session->hosts[thread->process->host].sockets_ready;
}

static void log_interaction(struct session *session, const struct thread *thread, sim_time at,
			    enum shim_op op)
{
	session->hash = (session->hash ^ at) * UINT64_C(0x100000001b3);
	session->hash = (session->hash ^ (op + (uint64_t)(thread - session->threads) * OP_COUNT)) *
			UINT64_C(0x100000001b3);
}

/* A signal that came before the request was served ends the wait that the request began. */
static void wake_signalled(struct session *session, struct thread *thread)
{
	if (thread->signalled && (thread->state == THREAD_ASLEEP || thread->state == THREAD_OS ||
				  thread->state == THREAD_VISIBLE_WRITE))
		session_wake(session, thread, thread->clock);
}

static void act(struct session *session, struct thread *thread, sim_time when, sim_time second)
{
	if (thread->state != THREAD_READY)
		session_trace(thread, TRACE_WAKE, 0);
	if (thread->state == THREAD_VISIBLE_WRITE) { /* by clocks: it reads its memory again */
		thread->state = THREAD_READY;
		thread->clock = when;
		return;
	}
	if (thread->state == THREAD_ASLEEP) {
		thread->slot->result = 0;
		thread->state = THREAD_READY;
		thread->clock = when;
	} else if (thread->state == THREAD_OS) {
		thread->slot->result =
			when >= thread->deadline && thread->looked == session->visible;
		thread->state = THREAD_READY;
		thread->clock = when;
		if (!thread->slot->result)
			session_charge(session, thread, CPU_scheduling, session->cpu.block);
		return; /* its place in the order has changed */
	}
	if (thread->request) {
		sim_time at = thread->clock;
		if (serve_store(session, thread)) {
			log_interaction(session, thread, at, OP_MMIO);
			return;
		}
		thread->request = false;
		if (thread->slot->op != OP_MMIO)
			log_interaction(session, thread, at, thread->slot->op);
		serve_request(session, thread);
		wake_signalled(session, thread);
	} else {
		struct horizons horizons = horizon_of(session, thread, second);

		handover_grant(session, thread, &horizons);
	}
}

static bool all_ended(const struct session *session)
{
	for (uint32_t i = 0; i < session->program_count; i++)
		if (!session->programs[i].ended)
			return false;
	return true;
}

/* Returns true if a program was started and has not ended. */
static bool any_runs(const struct session *session)
{
	for (uint32_t i = 0; i < session->program_count; i++)
		if (session->programs[i].started && !session->programs[i].ended)
			return true;
	return false;
}

static void kill_all(struct session *session, int number)
{
	for (uint32_t i = 0; i < SHIM_PROCESSES; i++)
		if (session->processes[i].alive)
			kill(session->processes[i].real_pid, number);
}

/* Advances simulated time, at most to `until` or to the first event that concerns a thread. */
static void run_events(struct session *session, sim_time until)
{
	session->in_run = true;
	session->woken = false;
	sim_run(session->sim, until);
	session->in_run = false;
}

/* Waits for a change outside the simulation when no thread can act and no event is left. All
 * threads check once more. This includes threads that were found polling although they only read
 * the same memory twice. */
static void wait_real(struct session *session)
{
	session_look_around(session);
	if (session->sockets)
		sockets_look(session->sockets);
	(void)attach_accept(session, 2);
	session_visible(session, sim_now(session->sim));
	for (uint32_t i = 0; i < session->thread_count; i++)
		if (session->threads[i].state == THREAD_VISIBLE_WRITE)
			session_wake(session, &session->threads[i], sim_now(session->sim));
}

static void loop(struct session *session)
{
	uint32_t iterations = 0;

	while (!all_ended(session) && !end_signal && !session->broken) {
		struct thread *thread, *again;
		struct process *timed;
		sim_time when, second, next, timer, first, start;
		uint32_t number;

		/* before a thread is picked, because the check may find it dead */
		if (++iterations % 1024 == 0)
			session_look_around(session);
		if (session->outside_count > 0 && withdraw_return(session))
			continue;
		servers_review(session);
		if (start_program(session))
			continue;
		thread = order_pick(session, &when, &second);
		timed = order_timer(session, &number, &timer);
		start = start_next(session);
		next = !thread && !timed && start == SIM_NEVER ? sockets_next_event(session)
							       : sim_next(session->sim);
		first = when < next ? when : next;
		if (start < first)
			first = start;
		if (timer < first)
			first = timer;
		again = order_impatient(session, first);
		if (servers_are_late(session, again ? again->deadline : first)) {
			kill_all(session, SIGKILL);
			return;
		}
		if (session->params.limit &&
		    (again ? again->deadline : first) > session->params.limit) {
			fprintf(stderr, "hcasim: the limit of virtual time is reached\n");
			session->exit_code = session->exit_code ? session->exit_code : 4;
			kill_all(session, SIGKILL);
			return;
		}
		if (again && first < SIM_NEVER) {
			if (again->deadline > sim_now(session->sim))
				run_events(session, again->deadline);
			if (again->state == THREAD_VISIBLE_WRITE &&
			    again->deadline <= sim_now(session->sim))
				session_wake(session, again, sim_now(session->sim));
			continue;
		}
		if (timed && timer < when && timer <= next && timer <= start) {
			run_events(session,
				   timer > sim_now(session->sim) ? timer : sim_now(session->sim));
			if (!session->woken)
				session_wake_signal(timed, number);
			continue;
		}
		if (start < SIM_NEVER && start <= when && start <= next) {
			run_events(session, start);
			continue;
		}
		if (!thread && next >= SIM_NEVER) {
			if (session->idle++ <
				    (session->outside_count ? OUTSIDE_LOOKS : IDLE_LOOKS) ||
			    session->outside) {
				wait_real(session);
				continue;
			}
			if (servers_are_asked(session))
				servers_name_killed(session);
			else
				deadlock_report(session);
			kill_all(session, SIGKILL);
			return;
		}
		if (!thread || when > next) {
			sim_time until = thread && when < next + CHUNK ? when : next + CHUNK;
			again = order_impatient(session, until);
			if (again)
				until = again->deadline > next ? again->deadline : next;
			run_events(session, until);
			if (!session->woken && !thread)
				session_look_around(session);
			continue;
		}
		if (when > sim_now(session->sim))
			run_events(session, when);
		act(session, thread, when, second);
	}
}

struct session *session_create(struct sim *sim, const struct cpu_params *cpu,
			       const struct session_params *params, bool color, bool verbose)
{
	struct session *session = calloc(1, sizeof(*session));
	int pair[2];

	assert(session);
	session->sim = sim;
	session->cpu = *cpu;
	session->params = *params;
	session->color = color;
	session->verbose = verbose;
	session->hash = UINT64_C(0xcbf29ce484222325);
	session->last_process = UINT32_MAX;
	session->supervisor = supervise_socket();
	session->shared_fd = memfd_create("hcasim-slots", 0);
	assert(session->shared_fd >= 0 &&
	       ftruncate(session->shared_fd, sizeof(*session->shared)) == 0);
	session->shared = mmap(NULL, sizeof(*session->shared), PROT_READ | PROT_WRITE, MAP_SHARED,
			       session->shared_fd, 0);
	assert(session->shared != MAP_FAILED);
	assert(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	session->attach_near = pair[0];
	session->attach_far = pair[1];
	return session;
}

void session_destroy(struct session *session)
{
	sockets_close(session);
	for (uint32_t i = 0; i < SHIM_PROCESSES; i++)
		process_memory_fini(&session->processes[i].memory);
	for (uint32_t i = 0; i < session->host_count; i++)
		block_fini(&session->hosts[i].block);
	munmap(session->shared, sizeof(*session->shared));
	close(session->shared_fd);
	close(session->attach_near);
	close(session->attach_far);
	free(session);
}

struct kernel_host *session_add_host(struct session *session, const char *name,
				     const uint8_t ipv4[4])
{
	struct session_host *host = &session->hosts[session->host_count];
	char block[sizeof(host->name) + sizeof(".programs")];

	assert(session->host_count < SESSION_HOSTS);
	host->session = session;
	host->number = session->host_count++;
	snprintf(host->name, sizeof(host->name), "%s", name);
	snprintf(block, sizeof(block), "%s.programs", name);
	block_init(&host->block, session->sim, &programs_type, block, NULL, NULL);
	memcpy(host->ipv4, ipv4, 4);
	files_init_host(host);
	return &host->base;
}

void session_set_kernel(struct session *session, uint32_t host, struct kernel *kernel)
{
	assert(host < session->host_count);
	session->hosts[host].kernel = kernel;
	session->hosts[host].dma_wait = kernel ? kernel_dma_wait(kernel) : 0;
}

bool session_add_program(struct session *session, uint32_t host, char *const argv[], sim_time start,
			 bool is_server, char *error, size_t error_bytes)
{
	struct program *program = &session->programs[session->program_count];

	assert(host < session->host_count && argv[0]);
	if (session->program_count == SESSION_PROGRAMS) {
		snprintf(error, error_bytes, "more than %d programs", SESSION_PROGRAMS);
		return false;
	}
	if (!launch_find(argv[0], program->path, error, error_bytes))
		return false;
	program->host = host;
	program->argv = argv;
	program->start = start;
	program->is_server = is_server;
	session->program_count++;
	return true;
}

int session_run(struct session *session)
{
	struct sigaction action = {.sa_handler = on_end_signal};
	struct shim_memory *shared = session->shared;

	shared->magic = SHIM_MAGIC;
	shared->tsc_hz = session->cpu.tsc;
	shared->realtime_base_ns = SESSION_REALTIME_BASE;
	shared->monotonic_base_ns = MONOTONIC_BASE;
	shared->cost_clock_read = session->cpu.clock_read;
	shared->cost_system_call = session->cpu.system_call;
	shared->cost_mmio_store = session->cpu.mmio_store;
	shared->post_interval = session->cpu.post_interval;
	shared->lock_handoff = session->cpu.lock_handoff;
	shared->seed = sim_seed(session->sim);
	processor_leaves(session->cpu.processor, &shared->leaves);
	host_view_fill(&session->cpu, &shared->host);
	place_choose(session, session_real_ns());
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	session->one_output = output_is_one();
	place_share_counter(true);
	loop(session);
	if (session->broken)
		session->exit_code = EXIT_REFUSED;
	if (end_signal) {
		kill_all(session, end_signal);
		for (int i = 0; i < 100 && any_runs(session); i++) {
			usleep(10000);
			output_drain(session);
			attach_find_dead(session, true);
		}
		session->exit_code = 128 + end_signal;
	}
	kill_all(session, SIGKILL);
	for (int i = 0; i < 200; i++) {
		bool alive = false;
		output_drain(session);
		attach_find_dead(session, true);
		for (uint32_t p = 0; p < SHIM_PROCESSES; p++)
			alive |= session->processes[p].alive;
		if (!alive)
			break;
		usleep(1000);
	}
	output_drain(session);
	place_share_counter(false);
	place_release(session);
	launch_clean(session);
	if (session->withdrawn)
		fprintf(stderr,
			"hcasim: warning: threads blocked %lu times in system calls that hcasim "
			"does not track; results may differ between runs\n",
			session->withdrawn);
	if (shared->filters_ignored)
		fprintf(stderr, "hcasim: warning: filters of system calls (seccomp) that programs "
				"install have no effect\n");
	streams_report(session);
	if (session->asked_for_mad && session->exit_code == 0) {
		fprintf(stderr, "hcasim: exit code 1: a program asked for umad, which is not "
				"modelled, and ended with 0\n");
		session->exit_code = 1;
	}
	if (session->verbose)
		fprintf(stderr,
			"hcasim: %.3f us of virtual time, %lu hand-offs, %lu doorbells, %lu polls, "
			"interaction trace %016lx\n",
			(double)sim_now(session->sim) / (double)US, session->handoffs,
			session->doorbells, session->spins, session->hash);
	return session->exit_code;
}

uint64_t session_trace_hash(const struct session *session)
{
	return session->hash;
}
