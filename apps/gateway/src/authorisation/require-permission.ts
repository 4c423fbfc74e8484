import { type Caller, type Permission, may, noAccess, refusal } from '@bunting/contracts';
import type { Principal } from '../domain/principal.ts';

/** Refuses SDK tokens, which are not for the Admin API. @throws Refusal `NoAccessError` */
export const requireAdminApiAccess = ({ mayCallAdminApi }: Principal): void => {
  if (!mayCallAdminApi)
    throw refusal('NoAccessError', 'invalid token: expected a different token type for this endpoint');
};

/** @throws Refusal `NoAccessError` for a caller without one of the permissions in the project and environment of the path */
export const requirePermission = (
  caller: Caller,
  accepted: readonly Permission[],
  { projectId, environment }: { readonly projectId?: string; readonly environment?: string },
): void => {
  if (!may(caller, accepted, { project: projectId, environment })) throw noAccess(accepted);
};
