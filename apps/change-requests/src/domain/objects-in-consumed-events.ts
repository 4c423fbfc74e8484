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

/** Events whose data name the parent that a feature gets or loses. */
const dependencyTypes: ReadonlySet<EventType> = new Set<EventType>([
  'feature-dependency-added',
  'feature-dependency-removed',
]);

const projectTypes: ReadonlySet<EventType> = new Set<EventType>([
  'project-environment-removed',
  'project-archived',
  'project-deleted',
]);

/** Rare events of objects that strategies and constraints of any request may name. */
const globalTypes: ReadonlySet<EventType> = new Set<EventType>([
  'strategy-updated',
  'strategy-deleted',
  'strategy-deprecated',
  'context-field-updated',
  'context-field-deleted',
  'environment-deleted',
]);

const deletionTypes: ReadonlySet<EventType> = new Set<EventType>(['user-deleted', 'service-account-deleted']);

/** The objects whose edits may conflict with scheduled requests. */
export interface EditedObjects {
  /** also the parents of features whose dependencies were edited */
  readonly features: readonly string[];
  /** also the segments that edited strategies use */
  readonly segments: readonly number[];
  readonly projects: readonly string[];
  /** whether an object was edited that any request may name */
  readonly isGlobal: boolean;
}

const parentIn = ({ type, data }: ConsumedEvent): string[] => {
  const parent = dependencyTypes.has(type) ? asJsonObject(data)['feature'] : undefined;
  return typeof parent === 'string' ? [parent] : [];
};

const segmentsIn = (event: ConsumedEvent): number[] => {
  if (segmentTypes.has(event.type)) return idsIn(event);
  const used = asJsonObject(event.data)['segments'];
  return event.featureName !== null && Array.isArray(used) ? used.filter((id) => typeof id === 'number') : [];
};

/** The objects that events of the features service report as edited. */
export const editedObjectsIn = (events: readonly ConsumedEvent[]): EditedObjects => {
  const relevant = events.filter(({ type }) => !harmlessTypes.has(type));
  return {
    features: [...new Set(relevant.flatMap((event) => [...[event.featureName ?? []].flat(), ...parentIn(event)]))],
    segments: [...new Set(relevant.flatMap(segmentsIn))],
    projects: [...new Set(relevant.flatMap(({ type, project }) => (projectTypes.has(type) ? (project ?? []) : [])))],
    isGlobal: relevant.some(({ type }) => globalTypes.has(type)),
  };
};

/** The ids of the users that events of the gateway report as deleted. */
export const deletedUserIdsIn = (events: readonly ConsumedEvent[]): number[] => [
  ...new Set(events.filter(({ type }) => deletionTypes.has(type)).flatMap(idsIn)),
];
