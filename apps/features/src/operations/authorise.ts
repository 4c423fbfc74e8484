import { type Access, type Caller, may, noAccess, type Scope } from '@bunting/contracts';

/**
 * Decides again on the object that was found, so that no path opens a door to another.
 * @throws Refusal `NoAccessError`.
 */
export const authorise = (caller: Caller, access: Access, where: Scope): void => {
  if (access === 'authenticated' || access === 'service') return;
  const wanted = typeof access === 'string' ? [access] : access;
  if (!may(caller, wanted, where)) throw noAccess(wanted, where.environment);
};
