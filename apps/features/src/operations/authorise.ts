import { type Access, type Caller, may, noAccess, permissionsFor, type Scope } from '@bunting/contracts';

/**
 * Authorises access to a loaded object. The gateway has authorised the path, which may name another project or environment.
 * @throws Refusal `NoAccessError`.
 */
export const authorise = (caller: Caller, access: Access, where: Scope): void => {
  const permissions = permissionsFor({ permission: access });
  if (permissions.length > 0 && !may(caller, permissions, where))
    throw noAccess(permissions, where.environment ?? undefined);
};
