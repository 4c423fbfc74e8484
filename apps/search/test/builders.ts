import { type FeatureState, type OutboxMessage, type SegmentState, type StateOf } from '@bunting/contracts';
import { gravatarUrlOf } from '@bunting/contracts/hashing';

/** The state of a feature: by default a release flag of the default project, enabled nowhere. */
export function aFeature(overrides: Partial<FeatureState> = {}): FeatureState {
  return {
    name: 'dark-mode',
    project: 'default',
    type: 'release',
    description: null,
    stale: false,
    impressionData: false,
    createdAt: '2026-01-01T12:00:00.000Z',
    archivedAt: null,
    lastSeenAt: null,
    createdBy: { id: 7, name: 'Mia', imageUrl: gravatarUrlOf('mia@bunting.example') },
    dependencyType: null,
    tags: [],
    segments: [],
    favoritedBy: [],
    environments: [],
    ...overrides,
  };
}

/** The state of a feature in one environment. */
export function stateInEnvironment(
  name: string,
  overrides: Partial<FeatureState['environments'][number]> = {},
): FeatureState['environments'][number] {
  return {
    name,
    type: name,
    enabled: false,
    sortOrder: 1,
    variantCount: 0,
    lastSeenAt: null,
    hasStrategies: false,
    hasEnabledStrategies: false,
    yes: 0,
    no: 0,
    ...overrides,
  };
}

/** Tags as they are written in a filter. */
export function tagged(...tags: readonly string[]): FeatureState['tags'] {
  return tags.map((tag) => ({ type: tag.slice(0, tag.indexOf(':')), value: tag.slice(tag.indexOf(':') + 1) }));
}

export function featureState(state: FeatureState, version = 1): StateOf<'feature'> {
  return {
    entity: 'feature',
    id: state.name,
    version,
    state,
  };
}

export function deletedFeatureState(name: string, version: number): StateOf<'feature'> {
  return {
    entity: 'feature',
    id: name,
    version,
    state: null,
  };
}

export function segmentState(id: number, name: string, version = 1): StateOf<'segment'> {
  const state: SegmentState = { id, name, project: null };
  return { entity: 'segment', id: String(id), version, state };
}

export type AnyState = StateOf<'feature'> | StateOf<'segment'>;

/** States as messages of the outbox. */
export function messagesOf(states: readonly AnyState[]): OutboxMessage[] {
  return states.map((payload, index) => ({
    position: index + 1,
    uid: '8f0f1c7e-6c1b-4a43-9d3a-0d2f6a0c9b11',
    type: payload.entity,
    recordedAt: '2026-01-01T00:00:00Z',
    traceparent: null,
    payload,
  }));
}
