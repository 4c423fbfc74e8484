import { RoleBody, RoleWithPermissions } from '../../model/access.ts';
import { defineOperation } from '../../operation.ts';

/** Create a role. Tells `role-created`. */
export const CreateRole = defineOperation({
  subject: 'call.gateway.create-role',
  operationId: 'createRole',
  summary: 'Create a role',
  description: 'Adds a role with permissions, everywhere or for single environments.',
  tag: 'Roles',
  http: {
    method: 'POST',
    url: '/api/admin/roles',
    status: 201,
    location: (_request, created: RoleWithPermissions) => `roles/${created.id}`,
  },
  permission: 'ADMIN',
  body: RoleBody,
  reply: RoleWithPermissions,
  errors: ['ValidationError', 'NameExistsError'],
});
