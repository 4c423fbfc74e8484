import type { ClientStrategy, DeliveryScope } from '@bunting/contracts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import type { FeatureEntry, EnvironmentPart } from '../store/feature-entries.ts';
import type { ScopeFilter } from './scope-filter.ts';
import type { Positions, ScopeRevision } from './scope-revision.ts';

/** The JSON members of a part with the constraints of its segments in the strategies, for SDKs without support for segments. */
const withInlinedSegments = ({ json }: EnvironmentPart, store: DeliveryStore): string => {
  const part = JSON.parse(`{${json}}`) as { readonly strategies: readonly ClientStrategy[] };
  const strategies = part.strategies.map(({ segments = [], constraints, ...strategy }) => ({
    ...strategy,
    constraints: [
      ...constraints,
      ...segments.flatMap((id) => JSON.parse(`[${store.segment(id)?.constraints ?? ''}]`) as typeof constraints),
    ],
  }));
  return JSON.stringify({ ...part, strategies }).slice(1, -1);
};

/** Reads from the delivery store what belongs to a scope, in the form in which its clients get it. */
export const scopeReader = (
  store: DeliveryStore,
  { environment, inlineSegments }: DeliveryScope,
  { isVisible, hasLeftScope, formerConcernsScope }: ScopeFilter,
  positionOf: Positions['ofFeature'],
  { usedSegmentIds, segmentsLeft }: Pick<ScopeRevision, 'usedSegmentIds' | 'segmentsLeft'>,
) => {
  /** A feature as JSON, in pieces. */
  const piecesOf = (feature: FeatureEntry): readonly string[] => {
    const part = store.partOf(feature, environment);
    const isInlined = inlineSegments && part.segments.length > 0;
    return [feature.jsonPrefix, isInlined ? withInlinedSegments(part, store) : part.json, feature.jsonSuffix];
  };

  return {
    isVisible,
    hasLeftScope,
    formerConcernsScope,
    /** the ids of the segments that visible features use */
    usedSegmentIds,
    segmentsLeft,
    /** The position of the newest change of a feature in the environment of the scope. */
    positionOf,
    /** The position of the newest change of what a client gets of a feature. */
    contentPositionOf: (feature: FeatureEntry): number =>
      inlineSegments
        ? store
            .partOf(feature, environment)
            .segments.reduce((newest, id) => Math.max(newest, store.segment(id)?.position ?? 0), positionOf(feature))
        : positionOf(feature),
    segmentIdsOf: (feature: FeatureEntry): readonly number[] => store.partOf(feature, environment).segments,
    piecesOf,
    jsonOf: (feature: FeatureEntry): string => piecesOf(feature).join(''),
    /** The features of the scope, in the order of their names. */
    *visibleFeatures(): Generator<FeatureEntry> {
      for (const feature of store.features()) if (isVisible(feature)) yield feature;
    },
    /** The segments that the features use, as a JSON list without its brackets. */
    segmentList: (): string =>
      [...usedSegmentIds()]
        .sort((one, other) => one - other)
        .flatMap((id) => store.segment(id)?.json ?? [])
        .join(','),
  };
};
export type ScopeReader = ReturnType<typeof scopeReader>;
