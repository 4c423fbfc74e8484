import { type AnyOperation, permissionsFor } from '@bunting/contracts';
import { useMe } from '../../api/queries-and-mutations.ts';
import { missingPermission } from '../../text/permission-words.ts';
import { Notice } from '../content/notice.tsx';
import type { PermissionScope } from '../../api/grants.ts';
import { useMayCall } from '../../api/permissions.ts';

/** Tells a user who may not call `operation`, by which the page is edited, which permissions that takes. */
export function MissingPermissionNotice({
  operation,
  scope,
}: {
  readonly operation: AnyOperation;
  readonly scope?: PermissionScope;
}) {
  const mayCall = useMayCall();
  const { data } = useMe();
  if (data === undefined || mayCall(operation, scope)) return null;
  return (
    <Notice>
      You can look, but not change anything here: that takes {missingPermission(permissionsFor(operation))}.
    </Notice>
  );
}
