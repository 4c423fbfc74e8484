import { type AnyOperation, permissionsFor } from '@bunting/contracts';
import { useMe } from '../../api/queries.ts';
import { resourceMessages as text } from '../../messages/resources.ts';
import { Notice } from '../content/notice.tsx';
import { type PermissionPlace, useMayCall } from '../../api/use-may-call.ts';

/** Names the permission that changing the page needs, if the user lacks it. */
export const MissingPermissionNotice = ({
  operation,
  where,
}: {
  readonly operation: AnyOperation;
  readonly where?: PermissionPlace;
}) => {
  const mayCall = useMayCall();
  const { data } = useMe();
  if (data === undefined || mayCall(operation, where)) return null;
  return <Notice>{text.readOnly(permissionsFor(operation))}</Notice>;
};
