/* SPDX-License-Identifier: Apache-2.0 */
/* Tests key_places: each key of a scenario is found from a map that does not have it. */
#include <stdio.h>
#include <string.h>

#include "hcasim/schema/composite.h"
#include "hcasim/schema/key_places.h"
#include "hcasim/schema/scenario_sections.h"
#include "tests/support/suite.h"

#define TESTS(X) X(hints) X(all)
SUITE(TESTS)

/* clang-format off */
static const struct { const char *path, *hint; } hints[] = {
	{"fabric.kmax", "; did you mean \"fabric.switch.ecn.kmax\"?"},
	{"link", "; did you mean \"fabric.link\"?"},
	{"topology", "; did you mean \"fabric.topology\"?"},
	{"hosts.pcie", "; did you mean \"hosts.hca.pcie\"?"},
	{"fabric.buffer", "; expected fabric.switch.buffer or fabric.switch.plugins.buffer"},
	{"hosts.hca.doorbell", "; adapters with fidelity: detailed have it"},
	{"hosts.host0.hca.doorbell", "; adapters with fidelity: detailed have it"},
	{"hosts.hca.context_cache", "; adapters with fidelity: endpoint have it"},
	{"fabric.topology.leaves", ""}, /* of another kind */
	{"fabric.zzzzzz", ""},
};
/* clang-format on */

static void test_hints(void)
{
	char hint[200];

	for (size_t i = 0; i < ARRAY_SIZE(hints); i++) {
		key_places_hint(hints[i].path, hint, sizeof(hint));
		CU_ASSERT_STRING_EQUAL(hint, hints[i].hint);
	}
}

static void find_all(const struct param *list)
{
	char path[128], hint[200];

	for (; list && list->name; list++) {
		snprintf(path, sizeof(path), "nowhere.%s", list->name);
		key_places_hint(path, hint, sizeof(hint));
		CU_ASSERT_PTR_NOT_NULL(strstr(hint, list->name));
	}
}

static void test_all(void)
{
	static const enum composite_kind kinds[] = {COMPOSITE_HCA, COMPOSITE_ENDPOINT,
						    COMPOSITE_SWITCH, COMPOSITE_LINK};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct composite *composite = composite_of(kinds[i]);

		find_all(composite->list);
		for (const struct param_section *section = composite->sections;
		     section && section->name; section++)
			find_all(section->list);
	}
	for (const struct scenario_section *section = scenario_sections; section->name; section++)
		if (section->place > 0)
			find_all(section->list);
}
