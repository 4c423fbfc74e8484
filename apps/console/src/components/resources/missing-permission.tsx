import { type AnyOperation, permissionsFor } from '@bunting/contracts';
import { usePermissionCheck } from '../../api/permission-check.ts';
import { useMe } from '../../api/queries.ts';
import { resourceMessages as text } from '../../messages/resources.ts';
import { Notice } from '../content/content.tsx';

interface Where {
  readonly project?: string | undefined;
  readonly environment?: string | undefined;
}

/** A function that tells whether the user may call an operation in a project and environment; false until the permissions are loaded. */
export const useMayCall = (): ((operation: AnyOperation, where?: Where) => boolean) => {
  const may = usePermissionCheck();
  return (operation, where) => {
    const permissions = permissionsFor(operation);
    return permissions.length === 0 || permissions.some((permission) => may(permission, where));
  };
};

/** Names the permission that changing the page needs, if the user lacks it. */
export const MissingPermission = ({
  operation,
  where,
}: {
  readonly operation: AnyOperation;
  readonly where?: Where;
}) => {
  const mayCall = useMayCall();
  const { data } = useMe();
  if (data === undefined || mayCall(operation, where)) return null;
  return <Notice>{text.readOnly(permissionsFor(operation))}</Notice>;
};
