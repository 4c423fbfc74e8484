import { asJsonObject, type ChangeAction, changeActions } from '@bunting/contracts';

/** The id of the strategy or segment that the payload of a change names, if it names one. */
export const payloadIdOf = (payload: unknown): unknown => asJsonObject(payload)['id'];

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
export const actionsWith = (...references: readonly PayloadReference[]): readonly ChangeAction[] =>
  changeActions.filter((action) => references.every((reference) => referencesByAction[action].includes(reference)));

/** The feature that a change makes the parent of another; undefined for any other change. */
export const parentFeatureOf = ({
  action,
  payload,
}: {
  readonly action: ChangeAction;
  readonly payload?: unknown;
}): string | undefined => {
  const parent = referencesByAction[action].includes('parent') ? asJsonObject(payload)['feature'] : undefined;
  return typeof parent === 'string' ? parent : undefined;
};
