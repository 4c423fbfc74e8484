import {
  asJsonObject,
  type Change,
  type ChangeAction,
  changeActions,
  type CheckedChange,
  isSegmentChange,
} from '@bunting/contracts';
import type { ProposedChange } from '../requests/change-request.ts';

/** The id of the strategy or segment that the payload of a change names, if it names one. */
export function payloadIdOf(payload: unknown): unknown {
  return asJsonObject(payload)['id'];
}

/**
 * What a change names in its payload, apart from the feature or the segment that it changes:
 *
 * - `parent`: a feature, in `feature`
 * - `strategy`: a strategy, in `id`
 * - `strategies`: strategies, in the `id` of each element of a list
 * - `segments`: the segments of a strategy, in `segments`
 * - `variants`: the variants of the feature, all of which it replaces
 */
export type PayloadReference = 'parent' | 'strategy' | 'strategies' | 'segments' | 'variants';

const referencesByAction: Readonly<Record<ChangeAction, readonly PayloadReference[]>> = {
  updateSegment: [],
  deleteSegment: [],
  updateSegmentList: [],
  updateEnabled: [],
  addStrategy: ['segments'],
  updateStrategy: ['strategy', 'segments'],
  deleteStrategy: ['strategy'],
  archiveFeature: [],
  patchVariant: ['variants'],
  reorderStrategy: ['strategies'],
  addDependency: ['parent'],
  deleteDependency: [],
};

/** The actions whose payload has all of the references. */
export function actionsWith(...references: readonly PayloadReference[]): readonly ChangeAction[] {
  return changeActions.filter((action) =>
    references.every((reference) => referencesByAction[action].includes(reference)),
  );
}

/** The feature that a change makes the parent of another; undefined for any other change. */
export function parentFeatureOf({
  action,
  payload,
}: {
  readonly action: ChangeAction;
  readonly payload?: unknown;
}): string | undefined {
  const parent = referencesByAction[action].includes('parent') ? asJsonObject(payload)['feature'] : undefined;
  return typeof parent === 'string' ? parent : undefined;
}

/** A checked change as part of a request. */
export function toProposedChange(
  { action, feature, segment, payload, snapshot, featureCreatedAt }: CheckedChange,
  origin: Pick<ProposedChange, 'id' | 'position' | 'createdBy' | 'createdAt'>,
): ProposedChange {
  return {
    ...origin,
    action,
    feature,
    segment,
    payload: payload ?? {},
    snapshot: snapshot ?? null,
    featureCreatedAt: featureCreatedAt ?? null,
  };
}

/** A change in the form of a checked one, before the features service has checked it. */
export function toUncheckedForm(change: Change, segmentName = '', snapshot: unknown = null): CheckedChange {
  const { action, payload } = change;
  return isSegmentChange(change)
    ? { action, feature: null, segment: { id: change.payload.id, name: segmentName }, payload, snapshot }
    : { action, feature: change.feature, segment: null, payload, snapshot };
}

/** The reserved id of the nth new change. */
export function reservedIdOfNthChange(ids: readonly number[], nth: number): number {
  const id = ids[nth];
  if (id === undefined) throw new Error('A change has no id: reserve one for each change with newChangeIds.');
  return id;
}

/** Whether changes affect dependencies between features, by action. */
const affectsDependencies: Readonly<Record<ChangeAction, boolean>> = {
  updateSegment: false,
  deleteSegment: false,
  updateSegmentList: false,
  updateEnabled: false,
  addStrategy: false,
  updateStrategy: false,
  deleteStrategy: false,
  archiveFeature: true,
  patchVariant: false,
  reorderStrategy: false,
  addDependency: true,
  deleteDependency: true,
};

/**
 * The earlier changes that can affect the check of newer ones. Changes of other features matter only for dependencies and for uses of a
 * segment, so the cost of adding does not grow with the size of the request.
 */
export function earlierChangesForCheck(
  newer: readonly Change[],
  earlier: readonly ProposedChange[],
): readonly ProposedChange[] {
  // Any strategy of the project may use the segment, and an earlier change may have taken it away there.
  if (newer.some(({ action }) => action === 'deleteSegment')) return earlier;
  const features = new Set(
    newer.flatMap((change) => (isSegmentChange(change) ? [] : [change.feature, parentFeatureOf(change)])),
  );
  const changesDependencies = newer.some(({ action }) => affectsDependencies[action]);
  return earlier.filter(
    ({ action, feature, segment }) =>
      segment !== null ||
      (feature !== null && features.has(feature)) ||
      (changesDependencies && affectsDependencies[action]),
  );
}

/** A change in the format of the API, which the features service parses. */
export function toWireChange({
  action,
  feature,
  payload,
}: Pick<ProposedChange, 'action' | 'feature' | 'payload'>): Change {
  return (feature === null ? { action, payload } : { action, feature, payload }) as Change;
}

/** A change with its snapshot, in the format of calls of the features service. */
export function toWireChangeWithSnapshot(change: ProposedChange, snapshots: Readonly<Record<string, unknown>> = {}) {
  return {
    id: change.id,
    change: toWireChange(change),
    snapshot: Object.hasOwn(snapshots, change.id) ? snapshots[change.id] : change.snapshot,
    ...(change.featureCreatedAt === null ? {} : { featureCreatedAt: change.featureCreatedAt }),
  };
}
