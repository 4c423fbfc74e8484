import {
  asJsonObject,
  type ChangeAction,
  invalid,
  isJsonObject,
  type JsonObject,
  type Refusal,
} from '@bunting/contracts';
import type { ProposedChange } from '../requests/change-request.ts';
import type { ContentStep } from '../requests/events.ts';
import { payloadIdOf } from './proposed-change.ts';

/**
 * How a newer change combines with an earlier one of the same subject: `replace` puts it in the place of the earlier change, `merge`
 * overwrites the properties of the earlier change that it has, `drop` removes the earlier change and appends the newer one, `ignore` adds
 * nothing, and `reject` refuses the newer change.
 */
type MergeRule = 'replace' | 'merge' | 'drop' | 'ignore' | 'reject';

/** By the newer action, then by the earlier one. Pairs that are not listed do not interact. */
const mergeRules: Readonly<Record<ChangeAction, Readonly<Partial<Record<ChangeAction, MergeRule>>>>> = {
  updateEnabled: { updateEnabled: 'replace' },
  patchVariant: { patchVariant: 'replace' },
  reorderStrategy: { reorderStrategy: 'replace' },
  archiveFeature: { archiveFeature: 'ignore' },
  addDependency: { addDependency: 'replace', deleteDependency: 'replace' },
  deleteDependency: { addDependency: 'replace', deleteDependency: 'replace' },
  addStrategy: {},
  updateStrategy: { updateStrategy: 'merge', deleteStrategy: 'reject' },
  deleteStrategy: { updateStrategy: 'drop', deleteStrategy: 'ignore' },
  updateSegment: { updateSegment: 'replace', deleteSegment: 'reject' },
  updateSegmentList: { updateSegmentList: 'replace', deleteSegment: 'reject' },
  deleteSegment: { updateSegment: 'drop', updateSegmentList: 'drop', deleteSegment: 'ignore' },
};

/** The properties of a change that decide how it merges. Changes that are not part of a request yet have them as well. */
interface MergeableChange {
  readonly action: ChangeAction;
  readonly feature?: string | null | undefined;
  readonly payload?: unknown;
}

/** The id or name of the object that a change affects, comparable among changes whose actions can interact. */
function subjectOf({ action, feature, payload }: MergeableChange): unknown {
  switch (action) {
    case 'updateStrategy':
    case 'deleteStrategy':
    case 'updateSegment':
    case 'updateSegmentList':
    case 'deleteSegment':
      return payloadIdOf(payload);
    default:
      return feature;
  }
}

function mergeRuleOf(newer: MergeableChange, earlier: MergeableChange): MergeRule | undefined {
  const rule = mergeRules[newer.action][earlier.action];
  return rule !== undefined && subjectOf(newer) === subjectOf(earlier) ? rule : undefined;
}

function deletedAlready({ action }: MergeableChange, basePath: string): Refusal {
  const subject = action === 'updateStrategy' ? 'Strategy' : 'Segment';
  const path = `${basePath}/payload/id`;
  return invalid(`${subject} is deleted by this change request: the \`${path}\` property names it.`, path);
}

/**
 * Refuses an update of an object that an earlier change deletes.
 * @param pathOf the path of the nth newer change in the body
 */
export function requireMergeable(
  earlier: readonly MergeableChange[],
  newer: readonly MergeableChange[],
  pathOf: (nth: number) => string,
): void {
  const before = [...earlier];
  for (const [nth, change] of newer.entries()) {
    if (before.some((other) => mergeRuleOf(change, other) === 'reject')) throw deletedAlready(change, pathOf(nth));
    before.push(change);
  }
}

/**
 * The order in which the changes of a request are applied once newer ones are merged into it, as indexes into the earlier changes followed
 * by the newer ones. A replaced earlier change is omitted. A newer change that is merged into another follows it.
 */
export function orderOfApplication(
  earlier: readonly MergeableChange[],
  newer: readonly MergeableChange[],
): readonly number[] {
  const all = [...earlier, ...newer];
  const order = [...earlier.keys()];
  for (const [nth, change] of newer.entries()) {
    const index = earlier.length + nth;
    const ruleFor = (other: number): MergeRule | undefined => {
      const existing = all[other];
      return existing && mergeRuleOf(change, existing);
    };
    const place = order.findLastIndex((other) => ['replace', 'merge'].includes(ruleFor(other) ?? ''));
    order.splice(place < 0 ? order.length : place + 1, 0, index);
    const replaced = order.findIndex(
      (other) => other < earlier.length && ['replace', 'drop'].includes(ruleFor(other) ?? ''),
    );
    if (replaced >= 0) order.splice(replaced, 1);
  }
  return order;
}

/** The update of a strategy with a newer one in it: by property, and by parameter as long as the type of the strategy stays. */
function mergeUpdates({ payload, snapshot }: ProposedChange, newer: JsonObject): JsonObject {
  const earlier = asJsonObject(payload);
  const merged = { ...earlier, ...newer };
  const type = earlier['name'] ?? asJsonObject(snapshot)['name'];
  const keepsType = newer['name'] === undefined || newer['name'] === type;
  return keepsType && isJsonObject(earlier['parameters']) && isJsonObject(newer['parameters'])
    ? { ...merged, parameters: { ...earlier['parameters'], ...newer['parameters'] } }
    : merged;
}

type ReplacedState = Pick<ProposedChange, 'snapshot' | 'featureCreatedAt'>;

/** Whether the feature of the existing change was deleted, and that of the newer one has got its name. */
function isOfNamesake(existing: ReplacedState, newer: ReplacedState): boolean {
  return existing.featureCreatedAt !== null && existing.featureCreatedAt !== newer.featureCreatedAt;
}

/** What a change replaces that takes the place of another: the state that the request as a whole replaces. */
export function replacedState(existing: ReplacedState, newer: ReplacedState): ReplacedState {
  const snapshot = isOfNamesake(existing, newer) ? newer.snapshot : (existing.snapshot ?? newer.snapshot);
  return { snapshot, featureCreatedAt: newer.featureCreatedAt ?? existing.featureCreatedAt };
}

/** The changes of a request after a change was merged into them, and the steps that led there. */
export interface MergedChanges {
  readonly changes: readonly ProposedChange[];
  readonly steps: readonly ContentStep[];
}

/**
 * Adds one change to the changes of a request. A change that replaces another keeps the position, id and snapshot of the replaced one:
 * the snapshot is the state that the request as a whole replaces.
 */
export function mergeChange(earlier: readonly ProposedChange[], newer: ProposedChange): MergedChanges {
  const existing = earlier.find((change) => mergeRuleOf(newer, change) !== undefined);
  const added: MergedChanges = { changes: [...earlier, newer], steps: [{ kind: 'added', change: newer }] };
  if (existing === undefined) return added;

  const replacedBy = (payload: unknown): MergedChanges => {
    const { action, segment } = newer;
    const change = { ...existing, action, segment, payload, ...replacedState(existing, newer) };
    return {
      changes: earlier.map((other) => (other === existing ? change : other)),
      steps: [{ kind: 'edited', change, before: existing }],
    };
  };
  switch (mergeRuleOf(newer, existing)) {
    case 'replace':
      return replacedBy(newer.payload);
    case 'merge':
      return replacedBy(mergeUpdates(existing, asJsonObject(newer.payload)));
    case 'drop':
      return {
        changes: added.changes.filter((other) => other !== existing),
        steps: [{ kind: 'discarded', change: existing }, ...added.steps],
      };
    case 'reject':
      throw deletedAlready(newer, '');
    default:
      return isOfNamesake(existing, newer) ? replacedBy(newer.payload) : { changes: earlier, steps: [] };
  }
}
