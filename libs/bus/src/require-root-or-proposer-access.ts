import {
  type AnyOperation,
  type Caller,
  isRootPermission,
  may,
  noAccess,
  permissionsFor,
  requireMayPropose,
  rootScope,
} from '@bunting/contracts';

/**
 * Checks of the access that an operation declares what depends on no stored object, so that no endpoint has to: root permissions, which
 * hold in the whole instance, and whether the caller may propose changes in the project of the URL.
 * @throws Refusal `NoAccessError`
 */
export const requireRootOrProposerAccess = (operation: AnyOperation, caller: Caller, params: unknown): void => {
  if (operation.permission === 'proposer')
    return requireMayPropose(caller, (params as { projectId: string }).projectId);
  const permissions = permissionsFor(operation);
  if (permissions.length > 0 && permissions.every(isRootPermission) && !may(caller, permissions, rootScope))
    throw noAccess(permissions);
};
