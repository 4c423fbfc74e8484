import {
  type AnyOperation,
  type Caller,
  isRootPermission,
  may,
  noAccess,
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
