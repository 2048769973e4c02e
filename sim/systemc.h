/* SPDX-License-Identifier: Apache-2.0 */
/*
 * systemc: the interface between SystemC and TLM-2.0 modules and the models, for the engines
 * `systemc` and `systemc-reference`. A bridge is C++ code that implements a C header of hcasim
 * and includes this header. It exports no C++ names.
 *
 *     model --event of PRIORITY_SYSTEMC---> bridge --nb_transport_fw(), write() ...---> module
 *     model <--event of PRIORITY_EXTERNAL-- bridge <--systemc_notify() in bw()-- module
 *
 * The models' time may run ahead of SystemC's time, but never beyond the next action of
 * SystemC. Every crossing is therefore an event. An event of PRIORITY_SYSTEMC fires when
 * sc_time_stamp() equals its time, and may call modules. In other events sc_time_stamp() is
 * meaningless. Events that a module sends back fire after all events of the models with the
 * same time.
 *
 * A module may honour the delay of its calls (TLM-2.0 temporal decoupling). A call then counts as
 * made at sc_time_stamp() + delay. Such a module may be called inside any event, after
 * systemc_enter(), and may call back from there:
 *
 *     model --event--> bridge --nb_transport_fw(delay)--> module
 *     model <---------- bridge <--returns, or nb_transport_bw(delay)-- module
 *
 * Such a module adds no events and does not change the total order.
 */
#ifndef SIM_SYSTEMC_H
#define SIM_SYSTEMC_H

#include "sim/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Calls build(argument) with the run's SystemC context as the current one. Call it before the
 * first sim_run() to create modules (SystemC allows none later), and before sim_destroy() to
 * delete them. Returns false if the run is native. */
bool systemc_call(struct sim *sim, void (*build)(void *argument), void *argument);

/* Fires the event at sc_time_stamp(). Call it from a SystemC process, with an event of
 * PRIORITY_EXTERNAL that is not pending. */
void systemc_notify(struct event *event);

/* Makes the run's SystemC context the current one. Call it before a call of a module, in an
 * event or between two sim_run(). SystemC then executes the module's actions before any later
 * event. Returns the time by which the models are ahead of sc_time_stamp(). The run must not be
 * native. */
sim_time systemc_enter(struct sim *sim);

/* Keeps sc_time_stamp() equal to the models' time in every event, so that sc_trace() records
 * each value at its time. The results do not change, and the run is slower. */
void systemc_lockstep(struct sim *sim);

/* Returns sc_time_stamp() of the run. */
sim_time systemc_time_stamp(struct sim *sim);

#ifdef __cplusplus
}
#endif
#endif
