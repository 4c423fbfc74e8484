import { describePermission, type RoleWithPermissions, type SavedRole } from '@bunting/contracts';
import type { RoleWithGrants } from '../../access/roles/role.ts';

/** A role as the API returns it: each permission with its description from the catalogue. */
export const toRoleResponse = ({ permissions, ...role }: RoleWithGrants): RoleWithPermissions => ({
  ...role,
  permissions: permissions.map(({ name, environment }) => ({
    ...describePermission(name),
    ...(environment ? { environment } : {}),
  })),
});

export const toSavedRoleResponse = (saved: RoleWithGrants): SavedRole => {
  const { permissions, ...roles } = toRoleResponse(saved);
  return { version: 1, roles, ...roles, permissions };
};
