/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ah: address handles. libmlx5 keeps them itself; on Ethernet it asks the kernel for the next hop's
 * MAC address.
 */
#include <errno.h>

#include "verbs-shim/kernel/commands.h"
#include "verbs-shim/kernel/path.h"

struct address_handle {
	struct object object;
	struct object *pd;
};

int create_ah(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_create_ah, request);
	struct kernel *kernel = command->kernel;
	struct mlx5_ib_create_ah_resp driver = {0};
	if (request.attr.port_num != 1)
		return -EINVAL;
	struct object *pd = command_object(command, OBJECT_PD, request.pd_handle);
	if (!pd)
		return -EINVAL;
	int error = path_check(kernel, &request.attr);
	if (!error && kernel_endpoint(kernel)->link_layer == LINK_ETHERNET)
		error = path_resolve_mac(kernel, request.attr.grh.dgid, driver.dmac);
	if (error)
		return error;
	if (command->driver_out.length && command->driver_out.length < 10)
		return -EINVAL;

	struct address_handle *handle = object_new(&command->context->objects, command->context,
						   OBJECT_AH, sizeof(*handle));
	handle->pd = pd;
	handle->object.user_handle = request.user_handle;
	object_hold(pd);
	struct ib_uverbs_create_ah_resp response = {.ah_handle = handle->object.handle};
	driver.response_length = command_room(&command->driver_out, sizeof(driver));
	error = command_reply(command, &response, sizeof(response));
	if (!error)
		error = command_reply_driver(command, &driver, sizeof(driver));
	if (error)
		destroy_object(&handle->object);
	return error;
}

int destroy_ah(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_destroy_ah, request);
	struct object *handle;
	int error = destroy_find(command, OBJECT_AH, request.ah_handle, &handle);
	return error ? error : destroy_object(handle);
}

int release_ah(struct object *object)
{
	object_drop(container_of(object, struct address_handle, object)->pd);
	return 0;
}
