/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tlm_cache: a hand-written TLM-2.0 module that replaces the translation unit: translation_cache.h
 * with tags in C++. With the same parameters, a run gives the same bytes as with the built-in unit
 * (tests/hca/test_modules.c).
 */
#include "hca/module/examples/translation_cache.h"

/* The lines of each set, most recently used first. */
class list_tags
{
      public:
	list_tags(const char *, const struct icm_cache_params &param)
	    : ways(param.ways), sets(param.entries / param.ways)
	{
	}

	bool touch(uint64_t line)
	{
		std::deque<uint64_t> &set = set_of(line);
		auto found = std::find(set.begin(), set.end(), line);

		asked_line = line;
		was_hit = found != set.end();
		if (was_hit) {
			set.erase(found);
			set.push_front(line);
		}
		return was_hit;
	}

	bool insert(uint64_t line, uint64_t *evicted)
	{
		std::deque<uint64_t> &set = set_of(line);
		bool full = set.size() == ways;

		if (full) {
			*evicted = set.back();
			set.pop_back();
		}
		set.push_front(line);
		return full;
	}

	uint64_t forget(uint64_t first, uint64_t count)
	{
		uint64_t removed = 0;

		for (std::deque<uint64_t> &set : sets) {
			auto gone = std::remove_if(set.begin(), set.end(), [=](uint64_t line) {
				return line - first < count; /* wraps below the first line */
			});

			removed += static_cast<uint64_t>(set.end() - gone);
			set.erase(gone, set.end());
		}
		return removed;
	}

	void signals(const struct systemc_tracer *tracer, const std::string &name)
	{
		trace_signal(tracer, asked_line, name + ".line");
		trace_signal(tracer, was_hit, name + ".hit");
	}

      private:
	uint64_t ways;
	std::deque<std::deque<uint64_t>> sets;
	uint64_t asked_line = 0; /* for waveforms */
	bool was_hit = false;

	std::deque<uint64_t> &set_of(uint64_t line)
	{
		return sets[line % sets.size()];
	}
};

HCA_TRANSLATION_MODULE(translation_cache_unit<list_tags>, "tlm_cache",
		       "two set-associative caches, as in the built-in unit",
		       translation_cache_accepts);
