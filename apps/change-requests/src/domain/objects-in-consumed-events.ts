import { asJsonObject, type EventType, type OutboxEvent } from '@bunting/contracts';

type ConsumedEvent = Pick<OutboxEvent, 'type' | 'project' | 'featureName' | 'data' | 'preData'>;

/** The ids of the objects in the data of an event before and after it. */
const idsIn = ({ data, preData }: ConsumedEvent): number[] =>
  [data, preData].map((document) => asJsonObject(document)['id']).filter((id) => typeof id === 'number');

/** Events of features that cannot conflict with a change request. */
const harmlessTypes: ReadonlySet<EventType> = new Set<EventType>([
  'feature-created',
  'feature-tagged',
  'feature-untagged',
  'feature-favorited',
  'feature-unfavorited',
]);

const segmentTypes: ReadonlySet<EventType> = new Set<EventType>([
  'segment-created',
  'segment-updated',
  'segment-deleted',
  'segment-import',
]);

const deletionTypes: ReadonlySet<EventType> = new Set<EventType>(['user-deleted', 'service-account-deleted']);

/** The objects whose edits may conflict with scheduled requests. */
export interface EditedObjects {
  readonly features: readonly string[];
  readonly segments: readonly number[];
  readonly projects: readonly string[];
}

/** The features, segments and projects that events of the features service report as edited. */
export const editedObjectsIn = (events: readonly ConsumedEvent[]): EditedObjects => {
  const relevant = events.filter(({ type }) => !harmlessTypes.has(type));
  const unlinked = relevant.filter(({ type }) => type === 'project-environment-removed');
  return {
    features: [...new Set(relevant.flatMap(({ featureName }) => featureName ?? []))],
    segments: [...new Set(relevant.filter(({ type }) => segmentTypes.has(type)).flatMap(idsIn))],
    projects: [...new Set(unlinked.flatMap(({ project }) => project ?? []))],
  };
};

/** The ids of the users that events of the gateway report as deleted. */
export const deletedUserIdsIn = (events: readonly ConsumedEvent[]): number[] => [
  ...new Set(events.filter(({ type }) => deletionTypes.has(type)).flatMap(idsIn)),
];
