import { type Change, type CheckedChange, isSegmentChange } from '@bunting/contracts';
import type { ProposedChange } from '../../requests/change-request.ts';

/** A checked change as part of a request. */
export const toProposedChange = (
  { action, feature, segment, payload, snapshot }: CheckedChange,
  origin: Pick<ProposedChange, 'id' | 'position' | 'createdBy' | 'createdAt'>,
): ProposedChange => ({ ...origin, action, feature, segment, payload: payload ?? {}, snapshot: snapshot ?? null });

/** A change in the form of a checked one, before the features service has checked it. */
export const toUncheckedForm = (change: Change, segmentName = '', snapshot: unknown = null): CheckedChange => {
  const { action, payload } = change;
  return isSegmentChange(change)
    ? { action, feature: null, segment: { id: change.payload.id, name: segmentName }, payload, snapshot }
    : { action, feature: change.feature, segment: null, payload, snapshot };
};

/** The reserved id of the nth new change. */
export const reservedIdOfNthChange = (ids: readonly number[], nth: number): number => {
  const id = ids[nth];
  if (id === undefined) throw new Error('A change has no id: reserve one for each change with newChangeIds.');
  return id;
};
