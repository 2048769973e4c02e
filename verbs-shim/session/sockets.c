/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sockets: connects the simulated sockets (sockets/) to the session: calls of threads, descriptors,
 * and threads that wait.
 */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "verbs-shim/session/state.h"

#define STUCK_AFTER (1 * MS) /* least time to the next event before the events are examined */

static void ready(void *context, uint32_t host, uint32_t number)
{
	struct session *session = context;
	sim_time now = sim_now(session->sim);

	session->hosts[host].sockets_ready++;
	for (uint32_t i = 0; i < session->thread_count; i++) {
		struct thread *thread = &session->threads[i];
		uint64_t socket;
		sim_time free_at;

		if (thread->state != THREAD_OS || thread->process->host != host)
			continue;
		socket = thread->slot->request.os_wait.socket;
		if (socket != SHIM_ANY_SOCKET && socket != number + UINT64_C(1))
			continue;
		thread->slot->result = 0;
		free_at = cores_free_at(session, thread);
		session_wake(session, thread, free_at > now ? free_at : now);
		session_charge(session, thread, CPU_scheduling, session->cpu.block);
	}
}

bool sockets_missed(const struct session *session, const struct thread *thread)
{
	return thread->slot->request.os_wait.socket != SHIM_NO_SOCKET &&
	       session->hosts[thread->process->host].sockets_ready != thread->sockets_looked;
}

void sockets_take(struct session *session)
{
	if (!session->sockets ||
	    (!session->untaken && session->outside_count == 0 && !session->outside))
		return;
	session->untaken = false;
	sockets_look(session->sockets);
}

static void send_signal(void *context, int32_t receiver, int number)
{
	struct session *session = context;

	(void)kill(receiver, number);
	session_visible(session, sim_now(session->sim));
}

void sockets_serve(struct session *session, struct thread *thread)
{
	const struct shim_socket_request *request = &thread->slot->request.socket;
	int far = -1;

	thread->slot->result = -ENOSYS;
	if (!session->sockets || request->call >= SOCKET_CALLS || request->number >= SHIM_SOCKETS)
		return;
	thread->slot->result = sockets_call(session->sockets, thread->process->host,
					    (enum shim_socket_call)request->call,
					    (uint32_t)request->number, request->value, &far);
	if (far >= 0) {
		serve_descriptor(thread->process, far);
		close(far);
	}
}

static bool is_ethernet(const struct session *session)
{
	struct hca *hca = kernel_hca(session->hosts[0].kernel);

	return port_link_layer(hca_port(hca)) == LINK_ETHERNET;
}

void session_connect(struct session *session, const struct socket_params *params,
		     struct endpoints *endpoints)
{
	static const struct socket_services services = {
		.ready = ready, .occupy = cores_occupy, .signal = send_signal, .runs = cores_run};
	struct shim_memory *shared = session->shared;

	session->socket_params = params;
	shared->socket_costs.mtu_bytes = (uint32_t)params->mtu;
	for (uint32_t i = 0; i < session->host_count; i++)
		kernel_set_interface_mtu(session->hosts[i].kernel, (uint32_t)params->mtu);
	if (params->mode == SOCKETS_FREE) {
		fprintf(stderr, "hcasim: sockets: free: TCP streams take no link time, and rates "
				"and latencies over them mean nothing\n");
		return;
	}
	if (session->verbose)
		fprintf(stderr,
			"hcasim: sockets: modelled: TCP and UDP with an MTU of %lu bytes, %s\n",
			params->mtu,
			is_ethernet(session)
				? "by frames through each host's adapter, which share "
				  "its port with RDMA"
				: "at the rate of each host's link, as Ethernet, beside "
				  "RDMA and not shared with it");
	session->sockets =
		sockets_create(session->sim, params, (uint32_t)session->cpu.cores, shared->sockets,
			       &shared->watches, endpoints, &services, session);
	for (uint32_t i = 0; i < session->host_count; i++)
		sockets_add_host(session->sockets, session->hosts[i].name, session->hosts[i].ipv4,
				 kernel_hca(session->hosts[i].kernel));
	shared->socket_costs =
		(struct shim_socket_costs){.modelled = 1,
					   .mtu_bytes = (uint32_t)params->mtu,
					   .burst_bytes = (uint32_t)params->burst,
					   .send_segment = params->send_segment,
					   .receive_segment = params->receive_segment,
					   .receive_packet = params->receive_packet,
					   .receive_page = params->receive_page,
					   .copy_bps = params->copy};
}

sim_time sockets_next_event(struct session *session)
{
	sim_time next = sim_next(session->sim);

	if (session->sockets && next < SIM_NEVER && next - sim_now(session->sim) >= STUCK_AFTER &&
	    sockets_are_stuck(session->sockets))
		return SIM_NEVER;
	return next;
}

static const char *host_name(void *context, uint32_t host)
{
	const struct session *session = context;

	return session->hosts[host].name;
}

void sockets_report(const struct session *session)
{
	if (session->sockets)
		sockets_report_stuck(session->sockets, stderr, host_name);
}

void sockets_close(struct session *session)
{
	sockets_destroy(session->sockets);
	session->sockets = NULL;
}
