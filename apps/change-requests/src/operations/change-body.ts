import type { Change } from '@bunting/contracts';
import type { ProposedChange } from '../domain/change-request.ts';

/** A change in the format of the API, which the features service parses. */
export const changeBody = ({
  action,
  feature,
  payload,
}: Pick<ProposedChange, 'action' | 'feature' | 'payload'>): Change =>
  (feature === null ? { action, payload } : { action, feature, payload }) as Change;
