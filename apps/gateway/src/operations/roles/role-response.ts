import { describePermission, type RoleWithPermissions, type SavedRole } from '@bunting/contracts';
import type { RoleWithRights } from '../../domain/roles.ts';

/** A role as it is answered: each permission described as in the catalogue. */
export const answeredRole = ({ permissions, ...role }: RoleWithRights): RoleWithPermissions => ({
  ...role,
  permissions: permissions.map(({ name, environment }) => ({
    ...describePermission(name),
    ...(environment ? { environment } : {}),
  })),
});

export const savedRole = (saved: RoleWithRights): SavedRole => {
  const { permissions, ...roles } = answeredRole(saved);
  return { version: 1, roles, ...roles, permissions };
};
