/* SPDX-License-Identifier: Apache-2.0 */
/*
 * systemc: where SystemC and TLM-2.0 modules meet the models, on the engines `systemc` and `systemc-reference`. A bridge is C++
 * that implements a C header of ours and includes this one; no C++ name leaves it.
 *
 *     model --event of PRIORITY_SYSTEMC--> bridge --nb_transport_fw(), sc_signal::write() ...--> module
 *     model <--event of PRIORITY_EXTERNAL-- bridge <--systemc_notify() in nb_transport_bw() ...-- module
 *
 * The models' time may run ahead of SystemC's, but never beyond the next thing that SystemC has to do. So a crossing
 * is always an event: one of PRIORITY_SYSTEMC fires when sc_time_stamp() is its time and may touch modules; in any
 * other event sc_time_stamp() means nothing. What a module sends back at an instant comes after all that the models do
 * at that instant.
 *
 * A module that takes the delay of its calls for what it is (TLM-2.0 temporal decoupling: the call counts as made at
 * sc_time_stamp() + delay) may also be called inside of any event, after systemc_enter(), and may call back from there:
 *
 *     model --event--> bridge --nb_transport_fw(delay)--> module --returns, or nb_transport_bw(delay)--> bridge --> model
 *
 * Nothing then differs from a model in C: no event is added, and the total order stays as it is.
 */
#ifndef SIM_SYSTEMC_H
#define SIM_SYSTEMC_H

#include "sim/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Calls build(argument) with the run's SystemC context as the current one: before the first sim_run() to create
 * modules (SystemC allows none later), and before sim_destroy() to delete them. false: the run is native. */
bool systemc_call(struct sim *sim, void (*build)(void *argument), void *argument);

/* From a SystemC process: fires the event, of PRIORITY_EXTERNAL and not pending, at sc_time_stamp(). */
void systemc_notify(struct event *event);

/* From any event, or between two sim_run(), before a module is called: makes the run's SystemC context the current one,
 * and says how far the models' time is ahead of sc_time_stamp(). What the module gives SystemC to do then comes before
 * any later event. The run is not native. */
sim_time systemc_enter(struct sim *sim);

/* From now on sc_time_stamp() is the models' time in every event, so that sc_trace() finds each value at its time. The
 * same run, slower. */
void systemc_lockstep(struct sim *sim);

/* sc_time_stamp() of the run. */
sim_time systemc_time_stamp(struct sim *sim);

#ifdef __cplusplus
}
#endif
#endif
