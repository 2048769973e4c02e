/*
 * systemc: where SystemC and TLM-2.0 modules meet the models, on the kernels `hosted` and `reference`. A bridge is C++
 * that implements a C header of ours and includes this one; no C++ name leaves it.
 *
 *     model --event of PRIORITY_SYSTEMC--> bridge --nb_transport_fw(), sc_signal::write() ...--> module
 *     model <--event of PRIORITY_EXTERNAL-- bridge <--systemc_notify() in nb_transport_bw() ...-- module
 *
 * The models' time may run ahead of SystemC's, but never beyond the next thing that SystemC has to do. So a crossing
 * is always an event: one of PRIORITY_SYSTEMC fires when sc_time_stamp() is its time and may touch modules; in any
 * other event sc_time_stamp() means nothing. What a module sends back at an instant comes after all that the models do
 * at that instant. Modules never call a model's function.
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

#ifdef __cplusplus
}
#endif
#endif
