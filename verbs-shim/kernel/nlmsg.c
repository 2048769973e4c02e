/* SPDX-License-Identifier: Apache-2.0 */
/* nlmsg: see nlmsg.h. */
#include "verbs-shim/kernel/nlmsg.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

uint32_t nlmsg_aligned(uint32_t length)
{
	return (length + NLA_ALIGNTO - 1) / NLA_ALIGNTO * NLA_ALIGNTO;
}

void nlmsg_begin(struct nlmsg *message, const struct nlmsghdr *header)
{
	*message = (struct nlmsg){.length = 0};
	nlmsg_append(message, header, sizeof(*header));
}

void nlmsg_end(struct nlmsg *message)
{
	memcpy(message->bytes + offsetof(struct nlmsghdr, nlmsg_len), &message->length,
	       sizeof(message->length));
}

void nlmsg_append(struct nlmsg *message, const void *bytes, uint32_t length)
{
	assert(message->length + nlmsg_aligned(length) <= sizeof(message->bytes));
	memcpy(message->bytes + message->length, bytes, length);
	message->length += nlmsg_aligned(length);
}

static void put(struct nlmsg *message, uint16_t type, const void *bytes, uint32_t length)
{
	struct nlattr header = {.nla_len = (uint16_t)(sizeof(header) + length), .nla_type = type};

	nlmsg_append(message, &header, sizeof(header));
	nlmsg_append(message, bytes, length);
}

void nlmsg_put_u8(struct nlmsg *message, uint16_t type, uint8_t value)
{
	put(message, type, &value, sizeof(value));
}

void nlmsg_put_u32(struct nlmsg *message, uint16_t type, uint32_t value)
{
	put(message, type, &value, sizeof(value));
}

void nlmsg_put_u64(struct nlmsg *message, uint16_t type, uint64_t value)
{
	put(message, type, &value, sizeof(value));
}

void nlmsg_put_text(struct nlmsg *message, uint16_t type, const char *text)
{
	put(message, type, text, (uint32_t)strlen(text) + 1);
}

uint32_t nlmsg_nest(struct nlmsg *message, uint16_t type)
{
	uint32_t at = message->length;

	put(message, type, "", 0);
	return at;
}

void nlmsg_nest_end(struct nlmsg *message, uint32_t at)
{
	uint16_t length = (uint16_t)(message->length - at);

	memcpy(message->bytes + at + offsetof(struct nlattr, nla_len), &length, sizeof(length));
}
