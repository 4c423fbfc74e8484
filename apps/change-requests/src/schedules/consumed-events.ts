import { asJsonObject, eventOfMessage, type EventType, type OutboxEvent, type OutboxMessage } from '@bunting/contracts';

type ConsumedEvent = Pick<OutboxEvent, 'type' | 'project' | 'featureName' | 'data' | 'preData'>;

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

interface ReportedObjects extends EditedObjects {
  readonly deletedUserIds: readonly number[];
}

type ObjectReader = (event: ConsumedEvent) => Partial<ReportedObjects>;

/** The ids of the objects in the data of an event before and after it. */
function idsIn({ data, preData }: ConsumedEvent): number[] {
  return [data, preData].map((document) => asJsonObject(document)['id']).filter((id) => typeof id === 'number');
}

/** For events that cannot conflict with a request, and for those that no service emits. */
const nothing: ObjectReader = () => ({});

/** The feature, and the segments of an edited strategy. */
const feature: ObjectReader = ({ featureName, data }) => {
  if (featureName === null) return {};
  const used = asJsonObject(data)['segments'];
  return {
    features: [featureName],
    segments: Array.isArray(used) ? used.filter((id) => typeof id === 'number') : [],
  };
};

/** The feature, and the parent that it gets or loses. */
const featureAndParent: ObjectReader = ({ featureName, data }) => {
  const parent = asJsonObject(data)['feature'];
  return { features: [featureName, parent].filter((name) => typeof name === 'string') };
};

const segment: ObjectReader = (event) => ({ segments: idsIn(event) });
const project: ObjectReader = (event) => ({ projects: event.project === null ? [] : [event.project] });
/** For rare events of objects that strategies and constraints of any request may name. */
const anyRequest: ObjectReader = () => ({ isGlobal: true });
const deletedUser: ObjectReader = (event) => ({ deletedUserIds: idsIn(event) });

/** The objects that an event reports, by its type. */
const objectsByType: Readonly<Record<EventType, ObjectReader>> = {
  'application-created': nothing,
  'feature-created': nothing,
  'feature-deleted': feature,
  'feature-updated': feature,
  'feature-metadata-updated': feature,
  'feature-variants-updated': feature,
  'feature-environment-variants-updated': feature,
  'feature-project-change': feature,
  'feature-archived': feature,
  'feature-revived': feature,
  'feature-import': feature,
  'feature-tagged': nothing,
  'feature-tag-import': feature,
  'feature-strategy-update': feature,
  'feature-strategy-add': feature,
  'feature-strategy-remove': feature,
  'feature-type-updated': nothing,
  'feature-completed': feature,
  'feature-uncompleted': feature,
  'strategy-order-changed': feature,
  'drop-feature-tags': nothing,
  'feature-untagged': nothing,
  'feature-stale-on': feature,
  'feature-stale-off': feature,
  'drop-features': nothing,
  'feature-environment-enabled': feature,
  'feature-environment-disabled': feature,
  'strategy-created': nothing,
  'strategy-deleted': anyRequest,
  'strategy-deprecated': anyRequest,
  'strategy-reactivated': nothing,
  'strategy-updated': anyRequest,
  'strategy-import': nothing,
  'drop-strategies': nothing,
  'context-field-created': nothing,
  'context-field-updated': anyRequest,
  'context-field-deleted': anyRequest,
  'project-access-added': nothing,
  'project-access-user-roles-updated': nothing,
  'project-access-group-roles-updated': nothing,
  'project-access-user-roles-deleted': nothing,
  'project-access-group-roles-deleted': nothing,
  'project-access-updated': nothing,
  'project-created': nothing,
  'project-updated': nothing,
  'project-deleted': project,
  'project-archived': project,
  'project-revived': nothing,
  'project-import': nothing,
  'project-user-added': nothing,
  'project-user-removed': nothing,
  'project-user-role-changed': nothing,
  'project-group-role-changed': nothing,
  'project-group-added': nothing,
  'project-group-removed': nothing,
  'role-created': nothing,
  'role-updated': nothing,
  'role-deleted': nothing,
  'drop-projects': nothing,
  'tag-created': nothing,
  'tag-deleted': nothing,
  'tag-import': nothing,
  'drop-tags': nothing,
  'tag-type-created': nothing,
  'tag-type-deleted': nothing,
  'tag-type-updated': nothing,
  'tag-type-import': nothing,
  'drop-tag-types': nothing,
  'addon-config-created': nothing,
  'addon-config-updated': nothing,
  'addon-config-deleted': nothing,
  'db-pool-update': nothing,
  'user-created': nothing,
  'user-updated': nothing,
  'user-deleted': deletedUser,
  'drop-environments': nothing,
  'environment-import': nothing,
  'environment-created': nothing,
  'environment-updated': nothing,
  'environment-deleted': anyRequest,
  'segment-created': segment,
  'segment-updated': segment,
  'segment-deleted': segment,
  'group-created': nothing,
  'group-updated': nothing,
  'group-deleted': nothing,
  'group-user-added': nothing,
  'group-user-removed': nothing,
  'setting-created': nothing,
  'setting-updated': nothing,
  'setting-deleted': nothing,
  'client-metrics': nothing,
  'client-register': nothing,
  'pat-created': nothing,
  'pat-deleted': nothing,
  'public-signup-token-created': nothing,
  'public-signup-token-user-added': nothing,
  'public-signup-token-updated': nothing,
  'change-request-created': nothing,
  'change-request-discarded': nothing,
  'change-added': nothing,
  'change-discarded': nothing,
  'change-edited': nothing,
  'change-request-rejected': nothing,
  'change-request-approved': nothing,
  'change-request-approval-added': nothing,
  'change-request-cancelled': nothing,
  'change-request-sent-to-review': nothing,
  'change-request-schedule-suspended': nothing,
  'change-request-applied': nothing,
  'change-request-scheduled': nothing,
  'change-request-scheduled-application-success': nothing,
  'change-request-scheduled-application-failure': nothing,
  'change-request-configuration-updated': nothing,
  'api-token-created': nothing,
  'api-token-updated': nothing,
  'api-token-deleted': nothing,
  'feature-favorited': nothing,
  'feature-unfavorited': nothing,
  'project-favorited': nothing,
  'project-unfavorited': nothing,
  'features-exported': nothing,
  'features-imported': nothing,
  'service-account-created': nothing,
  'service-account-deleted': deletedUser,
  'service-account-updated': nothing,
  'feature-potentially-stale-on': feature,
  'feature-dependency-added': featureAndParent,
  'feature-dependency-removed': featureAndParent,
  'feature-dependencies-removed': feature,
  'banner-created': nothing,
  'banner-updated': nothing,
  'banner-deleted': nothing,
  'project-environment-added': nothing,
  'project-environment-removed': project,
  'default-strategy-updated': nothing,
  'segment-import': segment,
  'signal-endpoint-created': nothing,
  'signal-endpoint-updated': nothing,
  'signal-endpoint-deleted': nothing,
  'signal-endpoint-token-created': nothing,
  'signal-endpoint-token-updated': nothing,
  'signal-endpoint-token-deleted': nothing,
  'actions-created': nothing,
  'actions-updated': nothing,
  'actions-deleted': nothing,
  'feature-link-added': feature,
  'feature-link-updated': feature,
  'feature-link-removed': feature,
  'change-request-requested-approvers-updated': nothing,
  'change-request-comment-added': nothing,
  'actions-run-succeeded': nothing,
  'actions-run-failed': nothing,
  'slack-account-linked': nothing,
  'slack-account-unlinked': nothing,
};

/** The objects that events report. An unknown type of a newer server counts as an edit of the feature that it names. */
function objectsIn(events: readonly ConsumedEvent[]): Partial<ReportedObjects>[] {
  return events.map((event) => ((objectsByType as Partial<typeof objectsByType>)[event.type] ?? feature)(event));
}

/** The objects that events of the features service report as edited. */
export function editedObjectsIn(events: readonly ConsumedEvent[]): EditedObjects {
  const objects = objectsIn(events);
  return {
    features: [...new Set(objects.flatMap(({ features = [] }) => features))],
    segments: [...new Set(objects.flatMap(({ segments = [] }) => segments))],
    projects: [...new Set(objects.flatMap(({ projects = [] }) => projects))],
    isGlobal: objects.some(({ isGlobal = false }) => isGlobal),
  };
}

/** A project that was deleted, and when. Its id may be that of another project since. */
export interface DeletedProject {
  readonly id: string;
  readonly at: string;
}

/** The projects that messages of the features service report as deleted. */
export function deletedProjectsIn(
  messages: readonly Pick<OutboxMessage, 'payload' | 'recordedAt'>[],
): DeletedProject[] {
  return messages.flatMap((message) => {
    const { type, project } = eventOfMessage(message);
    return type === 'project-deleted' && project !== null ? { id: project, at: message.recordedAt } : [];
  });
}

/** The ids of the users that events of the gateway report as deleted. */
export function deletedUserIdsIn(events: readonly ConsumedEvent[]): number[] {
  return [...new Set(objectsIn(events).flatMap(({ deletedUserIds = [] }) => deletedUserIds))];
}
