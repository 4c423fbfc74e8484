import { refusal } from '@bunting/contracts';
import type { ChangeRequest } from '../requests/change-request.ts';

/** @throws Refusal `ConflictError` while an attempt to apply the request is in progress. */
export const requireNotBeingApplied = ({ applying }: Pick<ChangeRequest, 'applying'>): void => {
  if (applying !== null) throw refusal('ConflictError', 'Change request is being applied');
};
