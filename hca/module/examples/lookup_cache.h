/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup_cache: a cache of entries with misses in flight, like hca/context/icm_cache.c, for C++
 * modules that replace the translation unit. The template's parameter is the tag array.
 *
 *     unit --hit() or look_up()--> tags --miss--> slot --owner.fetch_line()--> PCIe
 *     unit <--owner.resume() for all that wait---- slot <---arrived()---- PCIe
 *
 * Tags: constructed from (name, params); bool touch(line), bool insert(line, uint64_t *evicted),
 * uint64_t forget(first, count), as hca/host/tag_array.h has them; void signals(tracer, name).
 */
#ifndef HCA_MODULE_EXAMPLES_LOOKUP_CACHE_H
#define HCA_MODULE_EXAMPLES_LOOKUP_CACHE_H

#include <algorithm>
#include <deque>
#include <memory>

#include "hca/context/icm_cache.h"
#include "hca/module/examples/tlm_translation.h"

enum { ICM_CACHE_TRACE(TRACE_ENUM) };

/* One read of one line. */
struct miss_slot {
	tlm::tlm_generic_payload payload;
	fetch_extension *extension = new fetch_extension; /* extension of the payload */
	bool busy = false;
	bool stale = false;      /* invalidated in flight */
	uint64_t reads_left = 0; /* reads that follow the one in flight */
	std::deque<translation_extension *> waiting;

	miss_slot()
	{
		payload.set_read();
		payload.set_extension(extension);
	}
	miss_slot(const miss_slot &) = delete;

	struct translation_fetch &fetch()
	{
		return extension->record.fetch;
	}
};

struct lookup_cache_owner {
	virtual void fetch_line(miss_slot &slot) = 0; /* Starts the fetch now */
	virtual void resume(translation_extension *who, enum translation_cache part,
			    sim_time at) = 0;
	virtual ~lookup_cache_owner() = default;
};

template <typename Tags> class lookup_cache
{
      public:
	lookup_cache(const char *name, enum translation_cache of, const translation_setup &given,
		     lookup_cache_owner *user)
	    : part(of), setup(given),
	      param(of == TRANSLATION_MPT ? given.params->mpt : given.params->mtt),
	      count(*given.counters[of]), gauge(*given.gauges[of]), owner(user), tags(name, param),
	      slots(param.mshrs)
	{
	}

	/* Looks up an entry. Returns true on a hit and writes the time of the response. Returns
	 * false on a miss and changes nothing. */
	bool hit(uint64_t number, uint32_t tag, sim_time start, sim_time *ready)
	{
		if (!tags.touch(number / param.line_entries))
			return false;
		count.lookups++;
		count_hit(number, tag);
		*ready = response_time(start);
		return true;
	}

	/* Looks up an entry. The owner resumes `who` when the entry is present. */
	void look_up(translation_extension *who, uint64_t number, uint32_t tag, sim_time now)
	{
		const lookup lookup = {who, number, tag};

		count.lookups++;
		if (tags.touch(number / param.line_entries)) {
			count_hit(number, tag);
			owner->resume(who, part, response_time(now));
		} else if (!join_or_fetch(lookup, now)) {
			count.stalls++;
			note(TRACE_ICM_STALL, tag, number, 0);
			stalled.push_back(lookup);
			gauge_wait(&gauge.mshrs, now, true);
			count.waiting_max = std::max<uint64_t>(count.waiting_max, stalled.size());
		}
	}

	/* Returns true if the payload is a fetch of this cache. */
	bool arrived(tlm::tlm_generic_payload *payload, sim_time now)
	{
		for (miss_slot &slot : slots) {
			if (&slot.payload == payload) {
				line_arrived(slot, now);
				return true;
			}
		}
		return false;
	}

	void invalidate(uint64_t first, uint64_t entries)
	{
		uint64_t line = first / param.line_entries;
		uint64_t lines = (first + entries - 1) / param.line_entries - line + 1;

		count.invalidations += tags.forget(line, lines);
		for (miss_slot &slot : slots)
			if (slot.fetch().line - line < lines) /* wraps below the first line */
				slot.stale = true;
	}

	void signals(const struct systemc_tracer *tracer, const std::string &name)
	{
		tags.signals(tracer, name);
		trace_signal(tracer, filled_line, name + ".filled_line");
	}

      private:
	struct lookup {
		translation_extension *who;
		uint64_t number;
		uint32_t tag;
	};

	enum translation_cache part;
	translation_setup setup;
	const struct icm_cache_params &param;
	struct icm_cache_counters &count;
	struct icm_cache_gauges &gauge;
	lookup_cache_owner *owner;
	Tags tags;
	std::deque<miss_slot> slots;
	std::deque<lookup> stalled;
	sim_time response_next = 0;
	uint64_t filled_line = 0; /* for waveforms */

	void note(unsigned point, uint32_t tag, uint64_t first, uint64_t second)
	{
		setup.services->note(setup.adapter, part, point, tag, first, second);
	}

	void count_hit(uint64_t number, uint32_t tag)
	{
		count.hits++;
		note(TRACE_ICM_HIT, tag, number, 0);
	}

	sim_time response_time(sim_time base)
	{
		sim_time at = std::max(base + param.hit_latency, response_next);

		response_next = at + param.interval;
		gauge_serve(&gauge.port, at, param.interval);
		return at;
	}

	/* Returns the slot that reads this line, otherwise a free slot, otherwise nullptr. */
	miss_slot *find_slot(uint64_t line)
	{
		miss_slot *unused = nullptr;

		for (miss_slot &slot : slots) {
			if (!slot.busy)
				unused = unused != nullptr ? unused : &slot;
			else if (slot.fetch().line == line && !slot.stale)
				return &slot;
		}
		return unused;
	}

	bool join_or_fetch(const lookup &lookup, sim_time now)
	{
		uint64_t line = lookup.number / param.line_entries;
		miss_slot *slot = find_slot(line);

		if (slot == nullptr)
			return false;
		slot->waiting.push_back(lookup.who);
		if (slot->busy) {
			count.merges++;
			note(TRACE_ICM_MERGE, lookup.tag, lookup.number, 0);
			return true;
		}
		count.misses++;
		gauge_enter(&gauge.mshrs, now, 1);
		slot->busy = true;
		slot->stale = false;
		slot->reads_left = param.reads - 1;
		slot->fetch().cache = part;
		slot->fetch().line = line;
		slot->fetch().tag = lookup.tag;
		note(TRACE_ICM_MISS, lookup.tag, lookup.number,
		     param.entry_bytes * param.line_entries);
		owner->fetch_line(*slot);
		return true;
	}

	void line_arrived(miss_slot &slot, sim_time now)
	{
		std::deque<translation_extension *> waiting;
		uint64_t evicted;

		if (slot.reads_left > 0) {
			slot.reads_left--;
			owner->fetch_line(slot);
			return;
		}
		note(TRACE_ICM_FILL, slot.fetch().tag, slot.fetch().line * param.line_entries, 0);
		filled_line = slot.fetch().line;
		if (slot.stale) {
			count.stale++;
		} else {
			count.fills++;
			count.evictions += tags.insert(slot.fetch().line, &evicted);
		}
		slot.busy = false;
		gauge_leave(&gauge.mshrs, now, 1);
		waiting.swap(slot.waiting);
		for (translation_extension *who : waiting)
			owner->resume(who, part, response_time(now));
		restart_stalled(now);
	}

	/* Restarts stalled lookups in order, so that no lookup overtakes an earlier one. */
	void restart_stalled(sim_time now)
	{
		while (!stalled.empty()) {
			const lookup lookup = stalled.front();

			if (tags.touch(lookup.number / param.line_entries)) {
				count.hits++;
				owner->resume(lookup.who, part, response_time(now));
			} else if (!join_or_fetch(lookup, now)) {
				break;
			}
			stalled.pop_front();
		}
		gauge_wait(&gauge.mshrs, now, !stalled.empty());
	}
};

#endif
