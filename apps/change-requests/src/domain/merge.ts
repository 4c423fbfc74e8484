import { type ChangeAction, type CheckedChange, invalid, type Refusal } from '@bunting/contracts';
import type { ProposedChange } from './change-request.ts';
import type { ContentStep } from './events.ts';

/**
 * What becomes of an earlier change when a newer one meets it on the same subject:
 * the newer one takes its `place`, is `blended` into it property by property, `drops` it and stands alone, says `nothing new`,
 * or is `refused`.
 */
type Meeting = 'place' | 'blended' | 'drops' | 'nothing new' | 'refused';

/** The newer action, then the earlier one. Actions that do not meet stand side by side. */
const meetings: Readonly<Record<ChangeAction, Readonly<Partial<Record<ChangeAction, Meeting>>>>> = {
  updateEnabled: { updateEnabled: 'place' },
  patchVariant: { patchVariant: 'place' },
  reorderStrategy: { reorderStrategy: 'place' },
  archiveFeature: { archiveFeature: 'nothing new' },
  addDependency: { addDependency: 'place', deleteDependency: 'place' },
  deleteDependency: { addDependency: 'place', deleteDependency: 'place' },
  addStrategy: {},
  updateStrategy: { updateStrategy: 'blended', deleteStrategy: 'refused' },
  deleteStrategy: { updateStrategy: 'drops', deleteStrategy: 'nothing new' },
  updateSegment: { updateSegment: 'place', deleteSegment: 'refused' },
  deleteSegment: { updateSegment: 'drops', deleteSegment: 'nothing new' },
};

/** What of a change decides which others it meets; a change that is not part of a request yet has it as well. */
interface Meetable {
  readonly action: ChangeAction;
  readonly feature?: string | null | undefined;
  readonly payload?: unknown;
}

const membersOf = (payload: unknown): Readonly<Record<string, unknown>> =>
  typeof payload === 'object' && payload !== null ? { ...payload } : {};

/** What a change is about, among changes whose actions can meet. */
const subjectOf = ({ action, feature, payload }: Meetable): unknown => {
  switch (action) {
    case 'updateStrategy':
    case 'deleteStrategy':
    case 'updateSegment':
    case 'deleteSegment':
      return membersOf(payload)['id'];
    default:
      return feature;
  }
};

const meetingOf = (newer: Meetable, earlier: Meetable): Meeting | undefined => {
  const meeting = meetings[newer.action][earlier.action];
  return meeting !== undefined && subjectOf(newer) === subjectOf(earlier) ? meeting : undefined;
};

const deletedAlready = ({ action }: Meetable, at: string): Refusal => {
  const subject = action === 'updateStrategy' ? 'Strategy' : 'Segment';
  const path = `${at}/payload/id`;
  return invalid(`${subject} is deleted by this change request: the \`${path}\` property names it.`, path);
};

/**
 * Refuses to update what an earlier change deletes, before anybody looks for what will not be there.
 * @param at where the nth of the newer changes stands in the request
 */
export const requireMergeable = (
  earlier: readonly Meetable[],
  newer: readonly Meetable[],
  at: (nth: number) => string,
): void => {
  const before = [...earlier];
  for (const [nth, change] of newer.entries()) {
    if (before.some((other) => meetingOf(change, other) === 'refused')) throw deletedAlready(change, at(nth));
    before.push(change);
  }
};

export interface Merged {
  readonly changes: readonly ProposedChange[];
  readonly steps: readonly ContentStep[];
}

/**
 * Adds one change to those that a request holds already. One that replaces another keeps its place, its id and what was
 * remembered of the state before: that is what the request as a whole replaces.
 */
export const mergeChange = (earlier: readonly ProposedChange[], newer: ProposedChange): Merged => {
  const met = earlier.find((change) => meetingOf(newer, change) !== undefined);
  const added: Merged = { changes: [...earlier, newer], steps: [{ kind: 'added', change: newer }] };
  if (met === undefined) return added;

  const replacedBy = (payload: unknown): Merged => {
    const { action, segment } = newer;
    const change = { ...met, action, segment, payload, snapshot: met.snapshot ?? newer.snapshot };
    return {
      changes: earlier.map((other) => (other === met ? change : other)),
      steps: [{ kind: 'edited', change, before: met }],
    };
  };
  switch (meetingOf(newer, met)) {
    case 'place':
      return replacedBy(newer.payload);
    case 'blended':
      return replacedBy({ ...membersOf(met.payload), ...membersOf(newer.payload) });
    case 'drops':
      return {
        changes: added.changes.filter((other) => other !== met),
        steps: [{ kind: 'discarded', change: met }, ...added.steps],
      };
    case 'refused':
      throw deletedAlready(newer, '');
    default:
      return { changes: earlier, steps: [] };
  }
};

/** A checked change as it will stand in a request. */
export const proposed = (
  { action, feature, segment, payload, snapshot }: CheckedChange,
  origin: Pick<ProposedChange, 'id' | 'position' | 'createdBy' | 'createdAt'>,
): ProposedChange => ({ ...origin, action, feature, segment, payload: payload ?? {}, snapshot: snapshot ?? null });
