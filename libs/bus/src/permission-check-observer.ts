import { type AnyOperation, type Caller, isRootPermission, observeChecks, permissionsFor } from '@bunting/contracts';

/**
 * Whether only the endpoint can check the permission of a write: the permission may be granted in a project, and the URL, by which the gateway
 * checks permissions, names no project.
 */
export const isCheckedByEndpoint = (operation: AnyOperation): boolean =>
  operation.http !== undefined &&
  operation.http.method !== 'GET' &&
  !operation.http.url.includes(':projectId') &&
  permissionsFor(operation).some((permission) => !isRootPermission(permission));

/**
 * Observes the permission checks of one call, for `checkReplies`: returns the caller to call the endpoint with, and a function that throws,
 * after the endpoint's success, unless it has checked a permission of the contract.
 */
export const permissionCheckObserver = (operation: AnyOperation, caller: Caller) => {
  const permissions = permissionsFor(operation);
  let isChecked = !isCheckedByEndpoint(operation);
  return {
    caller: observeChecks(caller, (passed) => {
      if ('may' in passed && passed.may.some((permission) => permissions.includes(permission))) isChecked = true;
    }),
    requireChecked: (): void => {
      if (!isChecked)
        throw new Error(`${operation.subject} has succeeded without a check of the permission in its contract.`);
    },
  };
};
