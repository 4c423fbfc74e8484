import { type AnyOperation, permissionsFor } from '@bunting/contracts';
import { useMe } from '../../api/queries.ts';
import { resourceMessages as text } from '../../messages/resources.ts';
import { Notice } from '../content/notice.tsx';
import { useMayCall } from '../../api/use-may-call.ts';
import type { PermissionScope } from '../../api/use-permission-check.ts';

/** Names the permissions of an operation that the page is edited with, if the user has none of them. */
export const MissingPermissionNotice = ({
  operation,
  scope,
}: {
  readonly operation: AnyOperation;
  readonly scope?: PermissionScope;
}) => {
  const mayCall = useMayCall();
  const { data } = useMe();
  if (data === undefined || mayCall(operation, scope)) return null;
  return <Notice>{text.readOnly(permissionsFor(operation))}</Notice>;
};
