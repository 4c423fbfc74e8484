import type { Change } from '@bunting/contracts';
import type { ProposedChange } from '../../requests/change-request.ts';

/** A change in the format of the API, which the features service parses. */
export const toWireChange = ({
  action,
  feature,
  payload,
}: Pick<ProposedChange, 'action' | 'feature' | 'payload'>): Change =>
  (feature === null ? { action, payload } : { action, feature, payload }) as Change;

/** A change with its snapshot, in the format of calls of the features service. */
export const toWireChangeWithSnapshot = (
  change: ProposedChange,
  snapshots: Readonly<Record<string, unknown>> = {},
) => ({
  id: change.id,
  change: toWireChange(change),
  snapshot: Object.hasOwn(snapshots, change.id) ? snapshots[change.id] : change.snapshot,
});
