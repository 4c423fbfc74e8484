import type { ChangeAction, ChangeRequestState, PassedCheck, OutboxEvent } from '@bunting/contracts';

/** A user as stored with the request. The names of a deleted user are null. */
export interface UserRef {
  readonly id: number;
  readonly name: string | null;
  /** the name by which the API calls the user, if it is another; null also for rows from before it was stored */
  readonly username?: string | null;
}
/** A user who acts. The name is that of events, an e-mail address if the user has one. */
export interface NamedUser extends UserRef {
  readonly name: string;
}

/** The user who performs an operation, and its time. */
export interface Actor {
  readonly by: NamedUser;
  readonly now: Date;
}

/** One proposed action on one feature or one segment. Immutable: an edit creates another object with the same id. */
export interface ProposedChange {
  readonly id: number;
  readonly position: number;
  readonly action: ChangeAction;
  readonly feature: string | null;
  readonly segment: { readonly id: number; readonly name: string } | null;
  readonly payload: unknown;
  /** the state that the change replaces, as of its proposal */
  readonly snapshot: unknown;
  readonly createdBy: UserRef;
  readonly createdAt: string;
}

/** An approval or a rejection. */
export interface Review {
  readonly createdBy: NamedUser;
  readonly createdAt: string;
}

/** The states of a schedule: to be applied, failed at its time, or stopped before it. */
export const scheduleStatuses = ['pending', 'failed', 'suspended'] as const;

/** The time at which an approved request is applied, and the user on whose behalf. */
export interface Schedule {
  readonly status: (typeof scheduleStatuses)[number];
  readonly scheduledAt: string;
  readonly by: { readonly id: number; readonly name: string };
  readonly reason: string | null;
  /** by change id: the state that the change would have replaced when the time was set */
  readonly snapshots: Readonly<Record<string, unknown>>;
}

/** The encrypted reply for retries with the same `Idempotency-Key`, without the key. It is stored when the request has been applied. */
export interface PendingReply {
  readonly scope: string;
  readonly hashedKey: string;
  readonly operation: string;
  readonly fingerprint: string;
  readonly passedChecks: readonly PassedCheck[];
  readonly encryptedReply: string;
}

/** An attempt to apply the request whose outcome is not stored yet. */
export interface ApplyAttempt {
  readonly by: NamedUser;
  /** the name of the user for display, if it is another */
  readonly displayName?: string | undefined;
  readonly since: string;
  /** whether the schedule started it, rather than a user */
  readonly scheduled: boolean;
  /** the comment of the user, which is added to the request when it has been applied */
  readonly comment?: Pick<Comment, 'id' | 'text'> | undefined;
  /** the protected environments for which the request was approved when the attempt began; absent from older versions */
  readonly authorisedEnvironments?: readonly string[] | undefined;
  /** the number of approvals that it needed then */
  readonly minApprovals?: number | undefined;
  /** the reply to retries of the write that started the attempt */
  readonly pendingReply?: PendingReply | undefined;
}

export interface Comment {
  readonly id: number;
  readonly text: string;
  readonly createdBy: UserRef;
  readonly createdAt: string;
}

/** Changes of one project and environment that are reviewed and applied together. */
export interface ChangeRequest {
  readonly id: number;
  /** unique even after a restored backup, unlike the id; null for requests created before uids existed */
  readonly uid: string | null;
  readonly project: string;
  readonly environment: string;
  readonly title: string | null;
  readonly state: ChangeRequestState;
  readonly minApprovals: number;
  readonly createdBy: UserRef;
  readonly createdAt: string;
  /** incremented by every edit of the content, so that a reviewer can detect an edit since they read it */
  readonly revision: number;
  /** when each state was last entered */
  readonly stateTimestamps: Readonly<Record<string, string>>;
  /** by position */
  readonly changes: readonly ProposedChange[];
  readonly approvals: readonly Review[];
  readonly rejections: readonly Review[];
  readonly comments: readonly Comment[];
  /** set if and only if the request is scheduled */
  readonly schedule: Schedule | null;
  readonly applying: ApplyAttempt | null;
  /** the number of attempts to apply the request */
  readonly attempts: number;
  /** ids of the users whose approval the author requested, in the order given */
  readonly requestedApprovers: readonly number[];
}

/** The project and environment of a request. */
export type EnvironmentRef = Pick<ChangeRequest, 'project' | 'environment'>;

/** A request as the path of an operation names it. */
export interface RequestPath {
  readonly projectId: string;
  readonly id: number;
}

/** The result of a domain rule: the new state of the request, and the events to emit. */
export interface ChangeRequestDecision {
  readonly request: ChangeRequest;
  readonly events: readonly OutboxEvent[];
}

/** A decision that emits nothing. */
export const withoutEvents = (request: ChangeRequest): ChangeRequestDecision => ({ request, events: [] });
