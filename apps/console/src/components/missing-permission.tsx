import { type AnyOperation, permissionsFor } from '@bunting/contracts';
import { usePermissionCheck } from '../api/permission-check.ts';
import { useMe } from '../api/queries.ts';
import { resourceMessages as text } from '../messages/resources.ts';
import { Notice } from './content.tsx';

interface Where {
  readonly project?: string | undefined;
  readonly environment?: string | undefined;
}

/** A function that says whether the user may call an operation in a project and environment; false while it is not known yet. */
export const useMayCall = (): ((operation: AnyOperation, where?: Where) => boolean) => {
  const may = usePermissionCheck();
  return (operation, where) => {
    const permissions = permissionsFor(operation);
    return permissions.length === 0 || permissions.some((permission) => may(permission, where));
  };
};

/** Says which permission it takes to change what is shown, where the user lacks it. */
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
