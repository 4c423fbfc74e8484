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
  readonly state?: string;
  readonly approvedBy?: readonly number[];
  readonly scheduledBy?: number;
}

type Told = { readonly kind: NotificationKind; readonly to: readonly number[]; readonly alsoActor?: true };

/** By event type: who is told of an event of a change request. */
const rulesOfChangeRequests: Readonly<
  Partial<
    Record<
      EventType,
      (people: PeopleOfChangeRequest, data: DataOfEvent, preData: DataOfEvent) => Told | readonly Told[]
    >
  >
> = {
  'change-request-sent-to-review': ({ author, reviewers, state }, _, before) => {
    // Told late, as after an outage, it may be decided already.
    if (state !== 'In review') return [];
    const asked: Told = { kind: 'review-requested', to: [...reviewers, ...(before.approvedBy ?? [])] };
    const isBack = before.state !== undefined && before.state !== 'Draft';
    return isBack ? [asked, { kind: 'change-request-returned', to: [author, before.scheduledBy ?? 0] }] : asked;
  },
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
  'change-request-schedule-suspended': ({ author }, _, { scheduledBy = 0 }) => ({
    kind: 'change-request-failed',
    to: [author, scheduledBy],
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
function keyOf(kind: NotificationKind, uid: string, event: Event, changeRequest?: PeopleOfChangeRequest): string {
  const { groupType, groupId, featureName } = event;
  // A restored database gives numbers again.
  const requestUid = changeRequest?.uid ?? changeRequestOf(event);
  if (kind === 'change-request-applied') return `applied ${requestUid}`;
  return kind === 'flag-changed' && groupId != null ? `${groupType} ${requestUid ?? groupId} ${featureName}` : uid;
}

/** The sentence of an event; those whose review it asks are told that, not that a list was changed. */
function summaryFor(kind: NotificationKind, { summary, createdBy, type }: Event): string {
  if (summary == null) return `${createdBy}: ${type}`;
  return kind === 'review-requested'
    ? summary.replace('updated the requested reviewers of', 'asks you to review')
    : summary;
}

/** What people are told of an event of the log. Who caused it is not told, nor of a flag's change the author of the request that made it. */
export function noticesOf(
  { uid, event }: { readonly uid: string; readonly event: Event },
  people: People,
): readonly Notice[] {
  const { type, createdByUserId, createdBy } = event;
  const data = (event.data ?? {}) as DataOfEvent;
  const changeRequestId = changeRequestOf(event) ?? null;
  const changeRequest = changeRequestId === null ? undefined : people.changeRequests.get(changeRequestId);
  const rule = rulesOfChangeRequests[type];
  const isOfRequest = rule !== undefined;
  const told = isOfRequest
    ? changeRequest && rule(changeRequest, data, (event.preData ?? {}) as DataOfEvent)
    : isAbout(event, people.followers);
  const actor = createdByUserId ?? 0;
  const ownRequest = isOfRequest ? changeRequestId : null;
  const knowing = new Set(isOfRequest || changeRequest === undefined ? [] : [changeRequest.author]);
  return [told ?? []].flat().flatMap(({ kind, to, alsoActor = false }) => {
    const userIds = [...new Set(alsoActor ? [...to, actor] : to)].filter(
      (id) => id > 0 && !knowing.has(id) && (alsoActor || id !== actor),
    );
    if (userIds.length === 0) return [];
    // Of one event a person is told one thing.
    for (const id of userIds) knowing.add(id);
    return {
      key: keyOf(kind, uid, event, changeRequest),
      userIds,
      kind,
      createdAt: event.createdAt,
      createdBy: actor === systemCaller.id ? null : createdBy,
      createdByUserId: actor > 0 ? actor : null,
      title: isOfRequest ? changeRequest?.title || `#${changeRequestId}` : (event.featureName ?? ''),
      summary: summaryFor(kind, event),
      comment: shortened(data.comment ?? data.reason),
      project: event.project ?? null,
      environment: event.environment ?? null,
      featureName: event.featureName ?? null,
      changeRequestId: ownRequest,
      path: pathOf(event, ownRequest),
    };
  });
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

/** A project that an event reports as deleted, and when. */
export interface DeletedProject {
  readonly id: string;
  readonly at: string;
}

/** The projects that events report as deleted. */
export function deletedProjectOf({ type, project, createdAt }: Event): DeletedProject | undefined {
  return type === 'project-deleted' && project != null ? { id: project, at: createdAt } : undefined;
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
  const [project = '*', ...others] = token.projects;
  const kind = token.isPersonal ? 'Your personal access token' : 'The API token';
  return {
    key: `token ${token.id} ${token.expiresAt} ${days}`,
    userIds: [token.userId],
    kind: 'token-expiring',
    createdAt: now.toISOString(),
    createdBy: null,
    createdByUserId: null,
    title: token.name,
    summary: `${kind} **${name}** ends on ${dateFormat.format(new Date(token.expiresAt))} UTC`,
    comment: null,
    // One for several projects has none, by which it would be hidden while another is visible.
    project: project === '*' || others.length > 0 ? null : project,
    environment: null,
    featureName: null,
    changeRequestId: null,
    path: token.isPersonal ? '/profile' : '/admin/api-tokens',
  };
}
