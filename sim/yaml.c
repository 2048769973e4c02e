/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml: converts libyaml's events into a tree whose nodes know their position. Nodes and texts are
 * in chunks that belong to the document. YAML features that a scenario may not use (anchors,
 * aliases, tags, merge keys, several documents) are refused by name. Reading continues after an
 * error, so that one run shows all problems.
 */
#include "sim/input.h"
#include "sim/yaml_document.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define DEPTH_MAX  64
#define FILE_MAX   ((size_t)64 << 20)
#define CHUNK_SIZE ((size_t)16 << 10)

struct yaml_chunk {
	struct yaml_chunk *next;
	size_t used, size;
	_Alignas(16) char bytes[];
};

struct reader {
	struct yaml_document *document;
	struct yaml_errors *errors;
	yaml_parser_t parser;
	yaml_event_t event; /* the next event to process */
	bool broken;        /* libyaml has stopped; its problem is in `errors` */
};

struct key_set { /* entries of the map that is being read, by the hash of their keys */
	const struct yaml_node **slots;
	size_t size, count; /* a power of two */
};

static struct yaml_node *read_node(struct reader *reader, struct yaml_node *parent, unsigned depth);

void *yaml_take(struct yaml_document *document, size_t bytes)
{
	struct yaml_chunk *chunk = document->chunks;
	bytes = (bytes + 15) & ~(size_t)15;
	if (!chunk || chunk->size - chunk->used < bytes) {
		size_t size = bytes > CHUNK_SIZE ? bytes : CHUNK_SIZE;
		chunk = calloc(1, sizeof(*chunk) + size);
		if (!chunk)
			abort();
		chunk->size = size;
		chunk->next = document->chunks;
		document->chunks = chunk;
	}
	void *place = chunk->bytes + chunk->used;
	chunk->used += bytes;
	return place;
}

static const char *take_text(struct yaml_document *document, const char *text, size_t length)
{
	char *copy = yaml_take(document, length + 1);
	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

/* Adds an error at a position without a node. */
static void error_at(struct reader *reader, yaml_mark_t mark, const char *message)
{
	struct yaml_node place = {.file = reader->document->file,
				  .line = (uint32_t)mark.line + 1,
				  .column = (uint32_t)mark.column + 1};
	yaml_error(reader->errors, &place, "%s", message);
}

static void report_syntax(struct reader *reader)
{
	const yaml_parser_t *parser = &reader->parser;
	char message[512];
	yaml_mark_t mark = parser->problem_mark;
	bool tab = strstr(parser->problem, "cannot start any token") != NULL;
	if (parser->error == YAML_READER_ERROR) {
		snprintf(message, sizeof(message), "not a text in UTF-8 (at byte %zu): %s",
			 parser->problem_offset, parser->problem);
		mark = parser->mark;
	} else {
		snprintf(message, sizeof(message), "not YAML: %s%s%s%s", parser->problem,
			 parser->context ? ", " : "", parser->context ? parser->context : "",
			 tab ? " (YAML is indented with blanks, not with tabs)" : "");
	}
	error_at(reader, mark, message);
}

/* Advances to the next event. Returns false if there is none. */
static bool advance(struct reader *reader)
{
	if (reader->broken)
		return false;
	yaml_event_delete(&reader->event);
	if (yaml_parser_parse(&reader->parser, &reader->event) != 0)
		return true;
	report_syntax(reader);
	reader->broken = true;
	reader->event.type = YAML_NO_EVENT;
	return false;
}

static void refuse_decoration(struct reader *reader, const yaml_char_t *anchor,
			      const yaml_char_t *tag)
{
	if (anchor)
		error_at(reader, reader->event.start_mark,
			 "anchors (&name) and aliases (*name) are not allowed; write it out");
	if (tag)
		error_at(reader, reader->event.start_mark, "tags (!name) are not allowed");
}

static struct yaml_node *new_node(struct reader *reader, struct yaml_node *parent,
				  enum yaml_kind kind)
{
	struct yaml_node *node = yaml_take(reader->document, sizeof(*node));
	node->kind = kind;
	node->file = reader->document->file;
	node->line = (uint32_t)reader->event.start_mark.line + 1;
	node->column = (uint32_t)reader->event.start_mark.column + 1;
	node->parent = parent;
	return node;
}

static struct yaml_node *read_scalar(struct reader *reader, struct yaml_node *parent)
{
	struct yaml_node *node = new_node(reader, parent, YAML_SCALAR);
	const char *text = (const char *)reader->event.data.scalar.value;
	size_t length = reader->event.data.scalar.length;
	refuse_decoration(reader, reader->event.data.scalar.anchor, reader->event.data.scalar.tag);
	if (memchr(text, '\0', length))
		error_at(reader, reader->event.start_mark, "a text must not contain a zero byte");
	node->text = take_text(reader->document, text, length);
	node->quoted = reader->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	if (!node->quoted && (length == 0 || strcmp(text, "~") == 0 || strcmp(text, "null") == 0)) {
		node->kind = YAML_NULL;
		node->text = NULL;
	}
	advance(reader);
	return node;
}

static struct yaml_node *read_list(struct reader *reader, struct yaml_node *parent, unsigned depth)
{
	struct yaml_node *list = new_node(reader, parent, YAML_LIST);
	struct yaml_node **last = &list->children;
	refuse_decoration(reader, reader->event.data.sequence_start.anchor,
			  reader->event.data.sequence_start.tag);
	advance(reader);
	while (!reader->broken && reader->event.type != YAML_SEQUENCE_END_EVENT) {
		struct yaml_node *child = read_node(reader, list, depth + 1);
		if (!child)
			continue;
		*last = child;
		last = &child->next;
	}
	advance(reader);
	return list;
}

/* Returns the existing entry with the same key. Returns NULL if there is none; the entry is then
 * added. */
static const struct yaml_node *enter(struct key_set *keys, const struct yaml_node *entry)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
	for (const char *letter = entry->key; *letter != '\0'; letter++)
		hash = (hash ^ (unsigned char)*letter) * UINT64_C(0x100000001b3);
	size_t at = hash & (keys->size - 1);
	for (; keys->slots[at]; at = (at + 1) & (keys->size - 1)) {
		if (strcmp(keys->slots[at]->key, entry->key) == 0)
			return keys->slots[at];
	}
	keys->slots[at] = entry;
	keys->count++;
	return NULL;
}

/* Enlarges the set so that it is at most half full. */
static void make_room(struct key_set *keys)
{
	struct key_set larger = {.size = keys->size > 0 ? 2 * keys->size : 16};
	if (2 * keys->count < keys->size)
		return;
	larger.slots = calloc(larger.size, sizeof(const struct yaml_node *));
	if (!larger.slots)
		abort();
	for (size_t i = 0; i < keys->size; i++) {
		if (keys->slots[i])
			enter(&larger, keys->slots[i]);
	}
	free(keys->slots);
	*keys = larger;
}

/* Reads one key and its value. Returns NULL if the entry is refused. */
static struct yaml_node *read_entry(struct reader *reader, struct yaml_node *map,
				    struct key_set *keys, unsigned depth)
{
	yaml_mark_t mark = reader->event.start_mark;
	const char *key = NULL;
	if (reader->event.type == YAML_SCALAR_EVENT) {
		struct yaml_node *name = read_scalar(reader, map);
		key = name->text;
		if (!key || *key == '\0')
			error_at(reader, mark, "a key is missing before the colon");
		else if (strcmp(key, "<<") == 0)
			error_at(reader, mark, "merge keys (<<) are not allowed; write it out");
	} else {
		error_at(reader, mark, "a key must be a plain text");
		read_node(reader, map, depth + 1);
	}
	if (reader->broken)
		return NULL;
	struct yaml_node *value = read_node(reader, map, depth + 1);
	if (!value || !key)
		return NULL;
	value->key = key;
	value->key_line = (uint32_t)mark.line + 1;
	value->key_column = (uint32_t)mark.column + 1;
	make_room(keys);
	const struct yaml_node *other = enter(keys, value);
	if (!other)
		return value;
	yaml_error_key(reader->errors, value, "\"%s\" is defined twice; first on line %u", key,
		       other->key_line);
	return NULL;
}

static struct yaml_node *read_map(struct reader *reader, struct yaml_node *parent, unsigned depth)
{
	struct yaml_node *map = new_node(reader, parent, YAML_MAP);
	struct yaml_node **last = &map->children;
	struct key_set keys = {0};
	refuse_decoration(reader, reader->event.data.mapping_start.anchor,
			  reader->event.data.mapping_start.tag);
	advance(reader);
	while (!reader->broken && reader->event.type != YAML_MAPPING_END_EVENT) {
		struct yaml_node *entry = read_entry(reader, map, &keys, depth);
		if (!entry)
			continue;
		*last = entry;
		last = &entry->next;
	}
	free(keys.slots);
	advance(reader);
	return map;
}

static struct yaml_node *read_node(struct reader *reader, struct yaml_node *parent, unsigned depth)
{
	if (depth > DEPTH_MAX) {
		error_at(reader, reader->event.start_mark, "nested too deeply");
		reader->broken = true;
		return NULL;
	}
	switch (reader->event.type) {
	case YAML_SCALAR_EVENT:
		return read_scalar(reader, parent);
	case YAML_SEQUENCE_START_EVENT:
		return read_list(reader, parent, depth);
	case YAML_MAPPING_START_EVENT:
		return read_map(reader, parent, depth);
	default: /* an alias; no other event is possible here */
		error_at(reader, reader->event.start_mark,
			 "anchors (&name) and aliases (*name) are not allowed; write it out");
		advance(reader);
		return NULL;
	}
}

static void read_stream(struct reader *reader)
{
	struct yaml_document *document = reader->document;
	advance(reader); /* to the start of the stream */
	advance(reader); /* to the document */
	if (reader->broken)
		return;
	if (reader->event.type == YAML_STREAM_END_EVENT) {
		document->root = new_node(reader, NULL, YAML_NULL);
		document->root->line = document->root->column = 1;
		return;
	}
	advance(reader);
	if (!reader->broken)
		document->root = read_node(reader, NULL, 0);
	if (reader->broken)
		return;
	assert(reader->event.type == YAML_DOCUMENT_END_EVENT);
	advance(reader);
	if (!reader->broken && reader->event.type == YAML_DOCUMENT_START_EVENT)
		error_at(reader, reader->event.start_mark,
			 "a second document (---) is not allowed");
}

static struct yaml_document *read_bytes(const char *name, const char *bytes, size_t length,
					struct yaml_errors *errors)
{
	unsigned before = errors->count;
	struct yaml_document *document = calloc(1, sizeof(*document));
	struct reader reader = {.document = document, .errors = errors};
	if (!document || yaml_parser_initialize(&reader.parser) == 0)
		abort();
	document->file = take_text(document, name, strlen(name));
	yaml_parser_set_input_string(&reader.parser, (const unsigned char *)bytes, length);
	yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
	read_stream(&reader);
	yaml_event_delete(&reader.event);
	yaml_parser_delete(&reader.parser);
	if (errors->count == before)
		return document;
	yaml_close(document);
	return NULL;
}

struct yaml_document *yaml_read_text(const char *name, const char *text, struct yaml_errors *errors)
{
	return read_bytes(name, text, strlen(text), errors);
}

/* Returns all bytes of the file, which the caller frees. Returns NULL and sets errno on failure. */
static char *load(const char *file, size_t *length)
{
	FILE *in = input_open(file);
	char *bytes = NULL;
	size_t size = 0;
	*length = 0;
	if (!in)
		return NULL;
	do {
		size = size == 0 ? 4096 : 2 * size;
		char *larger = realloc(bytes, size);
		if (!larger)
			abort();
		bytes = larger;
		*length += fread(bytes + *length, 1, size - *length, in);
	} while (*length == size && size < FILE_MAX);
	int error = ferror(in) ? errno : *length == size ? EFBIG : 0;
	fclose(in);
	if (error == 0)
		return bytes;
	free(bytes);
	errno = error;
	return NULL;
}

struct yaml_document *yaml_read_file(const char *file, struct yaml_errors *errors)
{
	size_t length = 0;
	char *bytes = load(file, &length);
	if (!bytes) {
		yaml_error(errors, &(struct yaml_node){.file = file}, "cannot be read: %s",
			   input_error());
		return NULL;
	}
	struct yaml_document *document = read_bytes(file, bytes, length, errors);
	free(bytes);
	return document;
}

struct yaml_node *yaml_root(struct yaml_document *document)
{
	return document->root;
}

void yaml_close(struct yaml_document *document)
{
	if (!document)
		return;
	yaml_close(document->attached);
	for (struct yaml_chunk *chunk = document->chunks, *next; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(document);
}
