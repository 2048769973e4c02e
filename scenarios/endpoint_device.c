/* endpoint_device: see endpoint_device.h. */
#include "scenarios/endpoint_device.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
const struct param_group endpoint_device_groups[] = {
	{"port", port_param_list, offsetof(struct endpoint_device, port), "its port"},
	{0}};
/* clang-format on */

static bool choose(struct endpoint_device *device, const char *name, char *why, size_t why_bytes)
{
	struct congestion congestion;
	if (strlen(name) >= CONGESTION_NAME_BYTES) {
		snprintf(why, why_bytes, "the name is too long");
		return false;
	}
	if (!congestion_init(&congestion, name, why, why_bytes))
		return false;
	if (device->congestion.ops != NULL)
		congestion_fini(&device->congestion);
	device->congestion = congestion;
	snprintf(device->congestion_name, CONGESTION_NAME_BYTES, "%s", name);
	return true;
}

static void init(void *params)
{
	char why[128];
	bool good = choose(params, "none", why, sizeof(why));
	assert(good);
}

static void read_name(struct yaml_node *node, struct endpoint_device *device,
		      struct yaml_errors *errors)
{
	char why[256];
	const char *name = yaml_expect_text(node, "a congestion control's name", errors);
	if (name != NULL && !choose(device, name, why, sizeof(why)))
		yaml_error(errors, node, "%s", why);
}

static void read_congestion(struct yaml_node *node, void *params, struct yaml_errors *errors)
{
	struct endpoint_device *device = params;
	if (node->kind == YAML_SCALAR) {
		read_name(node, device, errors);
		return;
	}
	if (!yaml_expect_map(node, "a congestion control's name, or preset: and its parameters",
			     errors))
		return;
	struct yaml_node *preset = yaml_get(node, "preset");
	if (preset != NULL)
		read_name(preset, device, errors);
	for (struct yaml_node *entry = node->children; entry != NULL; entry = entry->next) {
		char why[256];
		if (entry == preset)
			continue;
		entry->used = true;
		const char *text = yaml_expect_text(entry, "a value", errors);
		if (text != NULL &&
		    !congestion_set(&device->congestion, entry->key, text, why, sizeof(why)))
			yaml_error(errors, entry, "%s", why);
	}
}

static void print(const void *params, unsigned indent, FILE *out)
{
	const struct endpoint_device *device = params;
	char text[sizeof(struct param_text)];
	fprintf(out, "%*scongestion:\n%*spreset: \"%s\"\n", (int)indent, "", (int)indent + 2, "",
		device->congestion_name);
	for (const struct param *param = device->congestion.ops->params;
	     param != NULL && param->name != NULL; param++) {
		const char *quote = param->kind == PARAM_TEXT ? "\"" : "";
		param_print(param, device->congestion.params, text, sizeof(text));
		fprintf(out, "%*s%s: %s%s%s\n", (int)indent + 2, "", param->name, quote, text,
			quote);
	}
}

const struct composite_extra endpoint_device_extra = {"congestion", init, read_congestion, print};

void endpoint_device_destroy(struct endpoint_device *device)
{
	if (device == NULL)
		return;
	congestion_fini(&device->congestion);
	free(device);
}
