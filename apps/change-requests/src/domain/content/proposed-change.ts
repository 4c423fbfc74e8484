import {
  asJsonObject,
  type Change,
  type ChangeAction,
  type CheckedChange,
  invalid,
  isClosedState,
  isSegmentChange,
} from '@bunting/contracts';
import type { ChangeRequest, ProposedChange } from '../change-request.ts';

/** A checked change as part of a request. */
export const toProposedChange = (
  { action, feature, segment, payload, snapshot }: CheckedChange,
  origin: Pick<ProposedChange, 'id' | 'position' | 'createdBy' | 'createdAt'>,
): ProposedChange => ({ ...origin, action, feature, segment, payload: payload ?? {}, snapshot: snapshot ?? null });

/** A change in the form of a checked one, before the features service has checked it. */
export const uncheckedChange = (change: Change, segmentName = '', snapshot: unknown = null): CheckedChange => {
  const { action, payload } = change;
  return isSegmentChange(change)
    ? { action, feature: null, segment: { id: change.payload.id, name: segmentName }, payload, snapshot }
    : { action, feature: change.feature, segment: null, payload, snapshot };
};

/** The id of the strategy or segment that the payload of a change names, if it names one. */
export const idIn = (payload: unknown): unknown => asJsonObject(payload)['id'];

/** The feature that a change makes the parent of another; undefined for any other change. */
export const parentOf = ({
  action,
  payload,
}: {
  readonly action: ChangeAction;
  readonly payload?: unknown;
}): string | undefined => {
  const parent = action === 'addDependency' ? asJsonObject(payload)['feature'] : undefined;
  return typeof parent === 'string' ? parent : undefined;
};

/** The reserved id of the nth new change. */
export const changeIdAt = (ids: readonly number[], nth: number): number => {
  const id = ids[nth];
  if (id === undefined) throw new Error('A change has no id: reserve one for each change with newChangeIds.');
  return id;
};

/** Refuses to evaluate the changes of a closed request, as the playground would. */
export const requireStillProposed = ({ id, state }: Pick<ChangeRequest, 'id' | 'state'>): void => {
  if (isClosedState(state))
    throw invalid(
      `Change request ${id} is closed (${state}): its changes are not proposed any more.`,
      '/body/changeRequest',
    );
};
