/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tlm_border: functions that the TLM-2.0 modules share (C++): conversion of times, pooled payloads
 * with their extension, names, signals.
 */
#ifndef HCA_MODULE_EXAMPLES_TLM_BORDER_H
#define HCA_MODULE_EXAMPLES_TLM_BORDER_H

#include <tlm.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <string>
#include <systemc>
#include <vector>

#include "sim/sim.h"
#include "sim/systemc_vcd.h"

static inline sim_time now_and(const sc_core::sc_time &delay)
{
	return sc_core::sc_time_stamp().value() + delay.value();
}

template <typename Extension> struct border_extension : tlm::tlm_extension<Extension> {
	tlm::tlm_extension_base *clone() const override
	{
		return new Extension(static_cast<const Extension &>(*this));
	}
	void copy_from(const tlm::tlm_extension_base &other) override
	{
		static_cast<Extension &>(*this) = static_cast<const Extension &>(other);
	}
};

/* Payloads with one extension each. A payload returns to the pool when it is released. */
class payload_pool : public tlm::tlm_mm_interface
{
      public:
	~payload_pool() override
	{
		for (tlm::tlm_generic_payload *payload : payloads)
			delete payload;
	}

	template <typename Extension> tlm::tlm_generic_payload *take()
	{
		tlm::tlm_generic_payload *payload;

		if (idle.empty()) {
			payload = new tlm::tlm_generic_payload(this);
			payload->set_extension(new Extension);
			payloads.push_back(payload);
			idle.push_back(payload);
		}
		payload = idle.back();
		idle.pop_back();
		payload->acquire();
		return payload;
	}

	void free(tlm::tlm_generic_payload *payload) override
	{
		idle.push_back(payload);
	}

      private:
	std::vector<tlm::tlm_generic_payload *> payloads, idle;
};

/* Returns a name without dots, which SystemC names must not contain. */
static inline std::string identifier(std::string name)
{
	for (char &letter : name)
		letter = letter == '.' ? '_' : letter;
	return name;
}

/* Registers one signal of a module, for its signals(). */
template <typename Signal>
static inline void trace_signal(const struct systemc_tracer *tracer, const Signal &signal,
				const std::string &name)
{
	std::string full = std::string(tracer->block) + "." + name;

	if (tracer->selected(tracer, full.c_str()))
		sc_core::sc_trace(static_cast<sc_core::sc_trace_file *>(tracer->file), signal,
				  full);
}

#endif
