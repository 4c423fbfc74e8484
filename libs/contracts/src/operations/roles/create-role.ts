import { RoleBody, SavedRole } from '../../model/access/role.ts';
import { defineOperation } from '../../operation.ts';

/** Creates a role. Emits `role-created`. */
export const CreateRole = defineOperation({
  subject: 'call.gateway.create-role',
  operationId: 'createRole',
  summary: 'Create a role',
  description: 'Adds a role with permissions, everywhere or for single environments.',
  tag: 'Roles',
  http: {
    method: 'POST',
    url: '/api/admin/roles',
    location: (_request, created: SavedRole) => `roles/${created.id}`,
  },
  permission: 'ADMIN',
  body: RoleBody,
  reply: SavedRole,
  errors: ['ValidationError', 'NameExistsError'],
});
