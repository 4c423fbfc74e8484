import {
  type AnyOperation,
  type Caller,
  isRootPermission,
  may,
  noAccess,
  observeChecks,
  permissionsFor,
  rootScope,
} from '@bunting/contracts';

/**
 * Checks the permission of an operation where it holds in the whole instance: such a permission depends on no object, so endpoints do not
 * check it again.
 * @throws Refusal `NoAccessError`
 */
export const requireRootPermission = (operation: AnyOperation, caller: Caller): void => {
  const wanted = permissionsFor(operation);
  if (wanted.length > 0 && wanted.every(isRootPermission) && !may(caller, wanted, rootScope)) throw noAccess(wanted);
};

/**
 * Whether only the endpoint can check the permission of a write: it may be granted in a project, and the URL, by which the gateway checks it,
 * names none.
 */
const isCheckedByEndpoint = (operation: AnyOperation): boolean =>
  operation.http !== undefined &&
  operation.http.method !== 'GET' &&
  !operation.http.url.includes(':projectId') &&
  permissionsFor(operation).some((permission) => !isRootPermission(permission));

/** The caller of a call under test, and a check, after its success, that the endpoint has checked a permission of the contract. */
export const observedCaller = (operation: AnyOperation, caller: Caller) => {
  const wanted = permissionsFor(operation);
  let isChecked = !isCheckedByEndpoint(operation);
  return {
    caller: observeChecks(caller, (passed) => {
      if ('may' in passed && passed.may.some((permission) => wanted.includes(permission))) isChecked = true;
    }),
    requireChecked: (): void => {
      if (!isChecked)
        throw new Error(`${operation.subject} has succeeded without a check of the permission in its contract.`);
    },
  };
};
