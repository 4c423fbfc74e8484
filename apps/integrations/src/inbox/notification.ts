import {
  type Event,
  type EventType,
  type GetPeopleOfChangeRequest,
  type ListFeatureFollowers,
  type ListTokensNearTheirEnd,
  type Notification,
  type NotificationKind,
  type ReplyOf,
  systemCaller,
} from '@bunting/contracts';

/** Something to tell some people, once: a person is told of a `key` a single time. */
export interface Notice extends Omit<Notification, 'id' | 'isRead'> {
  readonly key: string;
  readonly userIds: readonly number[];
}

export type PeopleOfChangeRequest = ReplyOf<typeof GetPeopleOfChangeRequest>;
export type Followers = ReplyOf<typeof ListFeatureFollowers>;

/** What is known of the people whom the events of a page concern. */
export interface People {
  /** by id; without those that do not exist any more */
  readonly changeRequests: ReadonlyMap<number, PeopleOfChangeRequest>;
  readonly followers: Followers;
}

interface DataOfEvent {
  readonly changeRequestId?: unknown;
  readonly approvals?: number;
  readonly minApprovals?: number;
  readonly comment?: unknown;
  readonly reason?: unknown;
  readonly reviewers?: readonly number[];
}

type Told = { readonly kind: NotificationKind; readonly to: readonly number[]; readonly alsoActor?: true };

/** By event type: who is told of an event of a change request. */
const rulesOfChangeRequests: Readonly<
  Partial<Record<EventType, (people: PeopleOfChangeRequest, data: DataOfEvent, preData: DataOfEvent) => Told>>
> = {
  // Told late, as after an outage, it may be decided already.
  'change-request-sent-to-review': ({ reviewers, state }) => ({
    kind: 'review-requested',
    to: state === 'In review' ? reviewers : [],
  }),
  'change-request-requested-approvers-updated': (people, { reviewers = [] }, before) => ({
    kind: 'review-requested',
    to: people.state === 'In review' ? reviewers.filter((id) => !(before.reviewers ?? []).includes(id)) : [],
  }),
  // The last approval is told of by the event of the approved request.
  'change-request-approval-added': ({ author }, { approvals = 0, minApprovals = 0 }) => ({
    kind: 'change-request-approved',
    to: approvals < minApprovals ? [author] : [],
  }),
  'change-request-approved': ({ author }) => ({ kind: 'change-request-approved', to: [author] }),
  'change-request-rejected': ({ author }) => ({ kind: 'change-request-rejected', to: [author] }),
  'change-request-cancelled': ({ author }) => ({ kind: 'change-request-rejected', to: [author] }),
  'change-request-scheduled': ({ author }) => ({ kind: 'change-request-scheduled', to: [author] }),
  'change-request-applied': ({ author }) => ({ kind: 'change-request-applied', to: [author] }),
  // Who has scheduled it acted before, and is not there when it happens.
  'change-request-scheduled-application-success': ({ author }) => ({
    kind: 'change-request-applied',
    to: [author],
    alsoActor: true,
  }),
  'change-request-scheduled-application-failure': ({ author }) => ({
    kind: 'change-request-failed',
    to: [author],
    alsoActor: true,
  }),
  'change-request-schedule-suspended': ({ author }) => ({
    kind: 'change-request-failed',
    to: [author],
    alsoActor: true,
  }),
  'change-request-comment-added': ({ author, participants, state }) => ({
    kind: 'change-request-commented',
    to: state === 'Draft' ? [] : [author, ...participants],
  }),
};

/** Changes of a flag in an environment, and those that hold in all of them. */
const changesInEnvironment: readonly EventType[] = [
  'feature-environment-enabled',
  'feature-environment-disabled',
  'feature-environment-variants-updated',
  'feature-strategy-add',
  'feature-strategy-update',
  'feature-strategy-remove',
  'strategy-order-changed',
];
const changesEverywhere: readonly EventType[] = ['feature-archived', 'feature-revived'];
const staleness: readonly EventType[] = ['feature-stale-on', 'feature-potentially-stale-on'];

/** The change request that an event is about, or whose application caused it. */
export function changeRequestOf(event: Event): number | undefined {
  if (rulesOfChangeRequests[event.type] !== undefined) {
    const id = (event.data as DataOfEvent | null)?.changeRequestId;
    return typeof id === 'number' ? id : undefined;
  }
  const isOfChangeRequest = event.groupType === 'change-request' && followedFeatureOf(event) !== undefined;
  return isOfChangeRequest ? Number(event.groupId) : undefined;
}

/** Whether an event is told to those who may review the change request. */
export function asksForReview({ type }: Pick<Event, 'type'>): boolean {
  return type === 'change-request-sent-to-review';
}

/** The feature whose followers are told of an event, if it happens in production where it happens in an environment. */
export function followedFeatureOf({ type, featureName }: Pick<Event, 'type' | 'featureName'>): string | undefined {
  const isFollowed = [...changesInEnvironment, ...changesEverywhere, ...staleness].includes(type);
  return isFollowed ? (featureName ?? undefined) : undefined;
}

const maxComment = 500;

function shortened(text: unknown): string | null {
  if (typeof text !== 'string' || text.trim() === '') return null;
  return text.length <= maxComment ? text : `${text.slice(0, maxComment - 1).toWellFormed()}…`;
}

function pathOf({ project, featureName }: Event, changeRequestId: number | null): string {
  if (project == null) return '/events';
  const path = `/projects/${encodeURIComponent(project)}`;
  if (changeRequestId !== null) return `${path}/change-requests/${changeRequestId}`;
  return featureName == null ? path : `${path}/features/${encodeURIComponent(featureName)}`;
}

function isAbout(event: Event, { features, productionEnvironments }: Followers): Told | undefined {
  const feature = features.find(({ name }) => name === event.featureName);
  if (feature === undefined) return undefined;
  const to = [feature.createdBy, ...feature.favoriteOf];
  if (staleness.includes(event.type)) return { kind: 'flag-stale', to };
  const isInProduction =
    changesEverywhere.includes(event.type) || productionEnvironments.includes(event.environment ?? '');
  return isInProduction ? { kind: 'flag-changed', to } : undefined;
}

/** What a person is told of once: an event, but an act that changes a flag in several ways is one thing, as is a scheduled application. */
function keyOf(kind: NotificationKind, uid: string, event: Event, changeRequestId: number | null): string {
  const { groupType, groupId, featureName } = event;
  if (kind === 'change-request-applied') return `applied ${changeRequestId}`;
  return kind === 'flag-changed' && groupId != null ? `${groupType} ${groupId} ${featureName}` : uid;
}

/** Whom an event of the log is told to; undefined for nobody. Who caused it is not told, nor of a flag's change the author of the request that made it. */
export function noticeOf(
  { uid, event }: { readonly uid: string; readonly event: Event },
  people: People,
): Notice | undefined {
  const { type, createdByUserId, createdBy } = event;
  const data = (event.data ?? {}) as DataOfEvent;
  const changeRequestId = changeRequestOf(event) ?? null;
  const changeRequest = changeRequestId === null ? undefined : people.changeRequests.get(changeRequestId);
  const rule = rulesOfChangeRequests[type];
  const told =
    rule === undefined
      ? isAbout(event, people.followers)
      : changeRequest && rule(changeRequest, data, (event.preData ?? {}) as DataOfEvent);
  if (told === undefined) return undefined;
  const actor = createdByUserId ?? 0;
  const isOfRequest = rule !== undefined;
  const knows = [
    ...(told.alsoActor === true ? [] : [actor]),
    ...(isOfRequest || changeRequest === undefined ? [] : [changeRequest.author]),
  ];
  const to = [...told.to, ...(told.alsoActor === true ? [actor] : [])];
  const ownRequest = isOfRequest ? changeRequestId : null;
  const userIds = [...new Set(to)].filter((id) => id > 0 && !knows.includes(id));
  if (userIds.length === 0) return undefined;
  return {
    key: keyOf(told.kind, uid, event, ownRequest),
    userIds,
    kind: told.kind,
    createdAt: event.createdAt,
    createdBy: actor === systemCaller.id ? null : createdBy,
    title: isOfRequest ? changeRequest?.title || `#${changeRequestId}` : (event.featureName ?? ''),
    summary: event.summary ?? `${createdBy}: ${type}`,
    comment: shortened(data.comment ?? data.reason),
    project: event.project ?? null,
    environment: event.environment ?? null,
    featureName: event.featureName ?? null,
    changeRequestId: ownRequest,
    path: pathOf(event, ownRequest),
  };
}

/** A review that is not asked for any more: of one person who has given it, or of all whom it was asked of. */
export interface SettledReview {
  readonly changeRequestId: number;
  readonly userId: number | null;
  readonly at: string;
}

const closing: readonly EventType[] = ['change-request-rejected', 'change-request-cancelled', 'change-request-applied'];

/** The review that an event settles. */
export function settledReviewOf(event: Event): SettledReview | undefined {
  const changeRequestId = changeRequestOf(event);
  const isGiven = event.type === 'change-request-approval-added';
  if (changeRequestId === undefined || !(isGiven || closing.includes(event.type))) return undefined;
  return { changeRequestId, userId: isGiven ? (event.createdByUserId ?? 0) : null, at: event.createdAt };
}

/** The ids of users that events report as deleted. */
export function deletedUserOf({ type, preData }: Event): number | undefined {
  const id = (preData as { readonly id?: unknown } | null)?.id;
  return type === 'user-deleted' && typeof id === 'number' ? id : undefined;
}

const dayMs = 86_400_000;
/** The days before the end of a token at which its creator is told. */
const noticeDays = [1, 7];
/** For how many days tokens are looked at. */
export const tokenDays = 7;

const dateFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

/** What its creator is told of a token that ends soon; undefined if the token was created later than that. */
export function noticeOfToken(
  token: ReplyOf<typeof ListTokensNearTheirEnd>['tokens'][number],
  now: Date,
): Notice | undefined {
  const days = noticeDays.find((some) => token.livesMs <= some * dayMs);
  if (days === undefined || token.lifetimeMs <= days * dayMs) return undefined;
  const name = token.name.replaceAll(/([\\`*_[\]<>])/g, String.raw`\$1`);
  const kind = token.isPersonal ? 'Your personal access token' : 'The API token';
  return {
    key: `token ${token.id} ${token.expiresAt} ${days}`,
    userIds: [token.userId],
    kind: 'token-expiring',
    createdAt: now.toISOString(),
    createdBy: null,
    title: token.name,
    summary: `${kind} **${name}** ends on ${dateFormat.format(new Date(token.expiresAt))} UTC`,
    comment: null,
    project: null,
    environment: null,
    featureName: null,
    changeRequestId: null,
    path: token.isPersonal ? '/profile' : '/admin/api-tokens',
  };
}
