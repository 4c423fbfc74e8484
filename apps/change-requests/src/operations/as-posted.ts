import type { Change } from '@bunting/contracts';
import type { ProposedChange } from '../domain/change-request.ts';

/** A change of a request as it was posted, for the service that knows what it means. */
export const asPosted = ({
  action,
  feature,
  payload,
}: Pick<ProposedChange, 'action' | 'feature' | 'payload'>): Change =>
  (feature === null ? { action, payload } : { action, feature, payload }) as Change;
