import { type ChangeAction, type CheckedChange, invalid, type Refusal } from '@bunting/contracts';
import type { ProposedChange } from './change-request.ts';
import type { ContentStep } from './events.ts';

/**
 * The effect of a newer change on an earlier one of the same subject: the newer change takes its `place`, is `blended` into it
 * property by property, `drops` it, adds `nothing new`, or is `refused`.
 */
type Meeting = 'place' | 'blended' | 'drops' | 'nothing new' | 'refused';

/** By the newer action, then by the earlier one. Pairs that are not listed do not interact. */
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

/** The properties of a change that decide how it merges. Changes that are not part of a request yet have them as well. */
interface Meetable {
  readonly action: ChangeAction;
  readonly feature?: string | null | undefined;
  readonly payload?: unknown;
}

const membersOf = (payload: unknown): Readonly<Record<string, unknown>> =>
  typeof payload === 'object' && payload !== null ? { ...payload } : {};

/** The id or name of the object that a change affects, comparable among changes whose actions can interact. */
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
 * Refuses an update of an object that an earlier change deletes.
 * @param at the path of the nth newer change in the body
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
 * Adds one change to the changes of a request. A change that replaces another keeps the position, id and snapshot of the replaced one:
 * the snapshot is the state that the request as a whole replaces.
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

/** A checked change as part of a request. */
export const proposed = (
  { action, feature, segment, payload, snapshot }: CheckedChange,
  origin: Pick<ProposedChange, 'id' | 'position' | 'createdBy' | 'createdAt'>,
): ProposedChange => ({ ...origin, action, feature, segment, payload: payload ?? {}, snapshot: snapshot ?? null });
