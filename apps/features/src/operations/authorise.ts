import { type Access, type Caller, may, noAccess, permissionsFor, type Scope } from '@bunting/contracts';

/**
 * Authorises access to a loaded object. The gateway has authorised the path, which may name another project or environment.
 * @throws Refusal `NoAccessError`.
 */
export const authorise = (caller: Caller, access: Access, where: Scope): void => {
  const wanted = permissionsFor({ permission: access });
  if (wanted.length > 0 && !may(caller, wanted, where)) throw noAccess(wanted, where.environment ?? undefined);
};
