import type { ChangeAction, ChangeRequestState, Granted, RecordedEvent } from '@bunting/contracts';

/** Someone as the request remembers them; a user who is gone has no name. */
export interface Person {
  readonly id: number;
  readonly name: string | null;
}

/** Who does something now, and when. */
export interface Actor {
  readonly by: { readonly id: number; readonly name: string };
  readonly now: Date;
}

/** One action that is proposed, on one feature or one segment. Immutable: an edit makes another with the same id. */
export interface ProposedChange {
  readonly id: number;
  readonly position: number;
  readonly action: ChangeAction;
  readonly feature: string | null;
  readonly segment: { readonly id: number; readonly name: string } | null;
  readonly payload: unknown;
  /** what the change replaces, as it was when the change was proposed */
  readonly snapshot: unknown;
  readonly createdBy: Person;
  readonly createdAt: string;
}

/** An approval or a rejection. */
export interface Verdict {
  readonly createdBy: { readonly id: number; readonly name: string };
  readonly createdAt: string;
}

/** When an approved request is to be applied, and on whose behalf. */
export interface Schedule {
  readonly status: 'pending' | 'failed' | 'suspended';
  readonly scheduledAt: string;
  readonly by: { readonly id: number; readonly name: string };
  readonly reason: string | null;
  /** by id of a change: what it would have replaced when the time was set */
  readonly snapshots: Readonly<Record<string, unknown>>;
}

/** The reply, as text, that whoever sends a request again with the same key is to be given once it has been carried out. */
export interface PendingReply {
  readonly once: {
    readonly scope: string;
    readonly key: string;
    readonly operation: string;
    readonly fingerprint: string;
    readonly granted?: readonly Granted[];
  };
  readonly reply: string;
}

/** That somebody has decided to apply the request, and that it is not known yet what became of it. */
export interface Applying {
  readonly by: { readonly id: number; readonly name: string };
  readonly since: string;
  /** whether the clock decided it */
  readonly scheduled: boolean;
  readonly promised?: PendingReply | undefined;
}

export interface Comment {
  readonly id: number;
  readonly text: string;
  readonly createdBy: Person;
  readonly createdAt: string;
}

/** Changes of one project and environment that are agreed on together. */
export interface ChangeRequest {
  readonly id: number;
  /** never given twice, unlike an id after a restore; null of a request that is older than these uids */
  readonly uid: string | null;
  readonly project: string;
  readonly environment: string;
  readonly title: string | null;
  readonly state: ChangeRequestState;
  readonly minApprovals: number;
  readonly createdBy: Person;
  readonly createdAt: string;
  /** one more with every edit of the content, so that a reader can tell whether it is still what they saw */
  readonly revision: number;
  /** when each state was last entered */
  readonly stateTimestamps: Readonly<Record<string, string>>;
  /** by position */
  readonly changes: readonly ProposedChange[];
  readonly approvals: readonly Verdict[];
  readonly rejections: readonly Verdict[];
  readonly comments: readonly Comment[];
  /** exactly while the request is scheduled */
  readonly schedule: Schedule | null;
  readonly applying: Applying | null;
  /** how often it was decided to apply the request */
  readonly attempts: number;
  /** ids of the users whose approval is asked for, in the order in which they were named */
  readonly requestedApprovers: readonly number[];
}

/** What a rule decided: how the request is from now on, and what there is to tell about it. */
export interface Decision {
  readonly request: ChangeRequest;
  readonly events: readonly RecordedEvent[];
}
