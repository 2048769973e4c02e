/* SPDX-License-Identifier: Apache-2.0 */
/* chakra_file: see chakra_file.h. */
#include "traffic/workload/chakra_file.h"

#include <assert.h>
#include <chakra.pb-c.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/input.h"

#define VARINT_BYTES 10

struct chakra_file {
	char path[CHAKRA_PATH_BYTES];
	uint8_t *bytes;
	uint64_t length, at;
	Chakra__Node *message; /* of the last node; the caller reads its dependencies */
	void (*ignore)(void *context, const char *attribute);
	void *context;
	char *error;
	size_t error_bytes;
};

bool chakra_file_fail(struct chakra_file *file, uint64_t byte, const char *format, ...)
{
	char text[200];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	snprintf(file->error, file->error_bytes, "trace: %s: byte %" PRIu64 ": %s", file->path,
		 byte, text);
	return false;
}

void chakra_file_printable(char name[CHAKRA_NAME_BYTES], const char *from)
{
	size_t i = 0;

	for (; from[i] && i < CHAKRA_NAME_BYTES - 1; i++)
		name[i] = (char)(from[i] < ' ' || from[i] > '~' ? '?' : from[i]);
	name[i] = '\0';
}

/* ---- messages ---- */

/* Reads the length of the message at file->at, and returns the place of its first byte, or NULL. */
static const uint8_t *read_length(struct chakra_file *file, size_t *length)
{
	uint64_t value = 0, at = file->at, begin = at;

	for (unsigned i = 0; i < VARINT_BYTES; i++) {
		if (at == file->length) {
			chakra_file_fail(file, begin, "the file ends inside a length");
			return NULL;
		}
		value |= (uint64_t)(file->bytes[at] & 0x7f) << 7 * i;
		if (!(file->bytes[at++] & 0x80)) {
			if (value > file->length - at) {
				chakra_file_fail(file, begin,
						 "a message of %" PRIu64
						 " bytes begins here, and the file has %" PRIu64
						 " more: it is cut, or no Chakra trace",
						 value, file->length - at);
				return NULL;
			}
			*length = (size_t)value;
			file->at = at + value;
			return file->bytes + at;
		}
	}
	chakra_file_fail(file, begin, "found a length of more than %d bytes; expected a varint",
			 VARINT_BYTES);
	return NULL;
}

static bool read_metadata(struct chakra_file *file)
{
	size_t length;
	const uint8_t *bytes = read_length(file, &length);
	Chakra__GlobalMetadata *message;

	if (!bytes)
		return false;
	message = chakra__global_metadata__unpack(NULL, length, bytes);
	if (!message)
		return chakra_file_fail(file, 0, "the first message is no GlobalMetadata");
	chakra__global_metadata__free_unpacked(message, NULL);
	return true;
}

/* ---- attributes ---- */

static bool read_integer(const Chakra__Attribute *attribute, int64_t *value)
{
	switch (attribute->value_case) {
	case CHAKRA__ATTRIBUTE__VALUE_INT32_VAL:
		*value = attribute->int32_val;
		return true;
	case CHAKRA__ATTRIBUTE__VALUE_INT64_VAL:
		*value = attribute->int64_val;
		return true;
	case CHAKRA__ATTRIBUTE__VALUE_UINT32_VAL:
		*value = attribute->uint32_val;
		return true;
	case CHAKRA__ATTRIBUTE__VALUE_UINT64_VAL:
		*value = (int64_t)attribute->uint64_val;
		return true;
	case CHAKRA__ATTRIBUTE__VALUE_SINT32_VAL:
		*value = attribute->sint32_val;
		return true;
	case CHAKRA__ATTRIBUTE__VALUE_SINT64_VAL:
		*value = attribute->sint64_val;
		return true;
	case CHAKRA__ATTRIBUTE__VALUE_FIXED32_VAL:
		*value = attribute->fixed32_val;
		return true;
	case CHAKRA__ATTRIBUTE__VALUE_FIXED64_VAL:
		*value = (int64_t)attribute->fixed64_val;
		return true;
	case CHAKRA__ATTRIBUTE__VALUE_SFIXED32_VAL:
		*value = attribute->sfixed32_val;
		return true;
	case CHAKRA__ATTRIBUTE__VALUE_SFIXED64_VAL:
		*value = attribute->sfixed64_val;
		return true;
	default:
		return false;
	}
}

static bool read_number(struct chakra_file *file, struct chakra_node *node,
			enum chakra_number which, const Chakra__Attribute *attribute)
{
	int64_t value;

	if (!read_integer(attribute, &value))
		return chakra_file_fail(file, node->byte,
					"node %" PRIu64 ": %s is no integer; expected an integer",
					node->id, attribute->name);
	if (value < 0)
		return chakra_file_fail(file, node->byte,
					"node %" PRIu64 ": %s is %" PRId64 "; expected 0 or more",
					node->id, attribute->name, value);
	node->numbers[which] = (uint64_t)value;
	node->has[which] = true;
	return true;
}

static bool read_group(struct chakra_file *file, struct chakra_node *node,
		       const Chakra__Attribute *attribute)
{
	if (attribute->value_case != CHAKRA__ATTRIBUTE__VALUE_STRING_VAL)
		return chakra_file_fail(file, node->byte,
					"node %" PRIu64 ": pg_name is no string; expected a string",
					node->id);
	if (strlen(attribute->string_val) >= CHAKRA_NAME_BYTES)
		return chakra_file_fail(file, node->byte,
					"node %" PRIu64 ": pg_name has %zu bytes; expected %d at "
					"most",
					node->id, strlen(attribute->string_val),
					CHAKRA_NAME_BYTES - 1);
	memcpy(node->group, attribute->string_val, strlen(attribute->string_val) + 1);
	return true;
}

#define NUMBER_NAME(name) #name,
static const char *const number_names[] = {CHAKRA_NUMBERS(NUMBER_NAME)};

static bool read_attribute(struct chakra_file *file, struct chakra_node *node,
			   const Chakra__Attribute *attribute)
{
	char name[CHAKRA_NAME_BYTES];

	for (unsigned i = 0; i < CHAKRA_NUMBER_COUNT; i++)
		if (strcmp(attribute->name, number_names[i]) == 0)
			return read_number(file, node, (enum chakra_number)i, attribute);
	if (strcmp(attribute->name, "pg_name") == 0)
		return read_group(file, node, attribute);
	chakra_file_printable(name, attribute->name);
	file->ignore(file->context, name);
	return true;
}

/* ---- nodes ---- */

bool chakra_file_next(struct chakra_file *file, struct chakra_node *node)
{
	uint64_t begin = file->at;
	size_t length;
	const uint8_t *bytes;

	if (file->message)
		chakra__node__free_unpacked(file->message, NULL);
	file->message = NULL;
	if (file->at == file->length)
		return false;
	bytes = read_length(file, &length);
	if (!bytes)
		return false;
	file->message = chakra__node__unpack(NULL, length, bytes);
	if (!file->message)
		return chakra_file_fail(file, begin, "a message of %zu bytes is no Node", length);
	const Chakra__Node *message = file->message;

	*node = (struct chakra_node){
		.id = message->id,
		.duration_us = message->duration_micros,
		.byte = begin,
		.dependencies = {message->data_deps, message->ctrl_deps},
		.dependency_counts = {message->n_data_deps, message->n_ctrl_deps},
	};
	if (message->type <= CHAKRA_INVALID || message->type >= CHAKRA_TYPE_COUNT)
		return chakra_file_fail(file, begin,
					"node %" PRIu64 ": type %d; expected a NodeType of 1 to %d",
					node->id, message->type, CHAKRA_TYPE_COUNT - 1);
	node->type = (enum chakra_type)message->type;
	for (size_t i = 0; i < message->n_attr; i++)
		if (!read_attribute(file, node, message->attr[i]))
			return false;
	return true;
}

/* Reads the whole file. */
static bool load(struct chakra_file *file)
{
	FILE *in = input_open(file->path);
	long size = -1;
	bool good;

	if (!in) {
		snprintf(file->error, file->error_bytes, "trace: %s cannot be read: %s", file->path,
			 input_error());
		return false;
	}
	if (fseek(in, 0, SEEK_END) == 0)
		size = ftell(in);
	rewind(in);
	file->bytes = malloc(size > 0 ? (size_t)size : 1);
	good = file->bytes && size >= 0 && fread(file->bytes, 1, (size_t)size, in) == (size_t)size;
	fclose(in);
	if (!good) {
		snprintf(file->error, file->error_bytes, "trace: %s cannot be read whole",
			 file->path);
		return false;
	}
	file->length = (uint64_t)size;
	if (size == 0)
		return chakra_file_fail(file, 0, "the file is empty");
	if (size > 1 && file->bytes[0] == 0x1f && file->bytes[1] == 0x8b)
		return chakra_file_fail(file, 0, "the file is compressed; run gunzip first");
	return true;
}

struct chakra_file *chakra_file_open(const char *path,
				     void (*ignore)(void *context, const char *attribute),
				     void *context, char *error, size_t error_bytes)
{
	struct chakra_file *file = calloc(1, sizeof(*file));

	assert(file && strlen(path) < sizeof(file->path));
	memcpy(file->path, path, strlen(path) + 1);
	file->ignore = ignore;
	file->context = context;
	file->error = error;
	file->error_bytes = error_bytes;
	if (load(file) && read_metadata(file))
		return file;
	chakra_file_close(file);
	return NULL;
}

void chakra_file_close(struct chakra_file *file)
{
	if (file->message)
		chakra__node__free_unpacked(file->message, NULL);
	free(file->bytes);
	free(file);
}
