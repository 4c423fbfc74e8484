import { type Access, type Caller, may, noAccess, type Scope } from '@bunting/contracts';

/**
 * Authorises access to a loaded object. The gateway has authorised the path, which may name another project or environment.
 * @throws Refusal `NoAccessError`.
 */
export const authorise = (caller: Caller, access: Access, where: Scope): void => {
  if (access === 'authenticated' || access === 'public' || access === 'service') return;
  const wanted = typeof access === 'string' ? [access] : access;
  if (!may(caller, wanted, where)) throw noAccess(wanted, where.environment ?? undefined);
};
