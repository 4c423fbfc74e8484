import type {
  ChangeOf,
  ChangeRequestOverwrite,
  ConflictCause,
  FeatureAction,
  Refusal,
  SegmentAction,
} from '@bunting/contracts';
import type { DomainEvent, Feature } from '../features/feature.ts';
import { shortName } from '../refusals.ts';
import type { StoredSegment } from '../segments/segment.ts';
import type { ChangeContext } from './change-context.ts';
import type { SnapshotComparison } from './snapshots.ts';

/** A change that applying adds so that no enabled feature is left without an active strategy. */
export interface ImpliedChange {
  readonly action: 'addStrategy' | 'updateEnabled';
  readonly payload: Record<string, unknown>;
}

/** The result of a change: the changed feature or segment, the events, and the payload to store. */
export interface HandlerResult<Subject> {
  readonly subject: Subject;
  readonly events: readonly DomainEvent[];
  readonly payload: unknown;
  /** the change that applying this one adds, if any */
  readonly implied?: ImpliedChange;
}

/** The order of application, which makes the result independent of the order in which changes were proposed. */
export const phases = [
  'update segments',
  'remove dependencies',
  // Before strategies are deleted, which may be among them.
  'reorder strategies',
  'change strategies',
  'replace variants',
  'add dependencies',
  'turn features on or off',
  'archive features',
  'delete segments',
] as const;

export type Phase = (typeof phases)[number];

/** What a handler reads besides its subject. */
interface OtherReads {
  readonly features?: readonly string[];
  /** names that changes give to segments, and that other segments may have already */
  readonly segmentNames?: readonly string[];
  /** the roots of staged lists that changes give to segments */
  readonly stagedLists?: readonly string[];
}

/** The complete rules of one action of a change: the operations add none. */
export interface ActionHandler<Change, Subject, After> {
  readonly phase: Phase;
  /** the part of the change that a validation error names */
  readonly errorPath: '/feature' | '/payload' | '/payload/feature' | '/payload/id' | '/payload/name' | '/payload/root';
  /** What the operation has to load besides the subject. */
  readonly alsoReads: (change: Change) => OtherReads;
  /** The current value that the change would replace. @throws Refusal when a required object does not exist. */
  readonly snapshot: (subject: Subject, change: Change, context: ChangeContext) => unknown;
  /** The edits since the snapshot that the change would overwrite. */
  readonly overwrites: (change: Change, states: SnapshotComparison) => ChangeRequestOverwrite[];
  /** Applies the change. @param path JSON pointer of the change within the request */
  readonly decide: (subject: Subject, change: Change, context: ChangeContext, path: string) => HandlerResult<After>;
  /** The conflict to report for a refusal of `decide`, from the state in which it refused; undefined for an invalid payload. */
  readonly conflict: (
    refused: Refusal,
    subject: Subject,
    change: Change,
    context: ChangeContext,
  ) => ConflictCause | undefined;
}

export type FeatureActionHandler<A extends FeatureAction> = ActionHandler<ChangeOf<A>, Feature, Feature>;

export type SegmentActionHandler<A extends SegmentAction> = ActionHandler<
  ChangeOf<A>,
  StoredSegment,
  StoredSegment | null
>;

export const strategyDeletedCause: ConflictCause = { code: 'strategy-deleted', message: 'Strategy has been deleted' };

export function segmentDeletedCause(id: number): ConflictCause {
  return {
    code: 'segment-missing',
    message: `Segment ${id} has been deleted`,
  };
}

export function segmentOfAnotherProjectCause(name: string, project: string): ConflictCause {
  return {
    code: 'segment-foreign',
    message: `Segment ${shortName(name)} does not belong to project "${project}"`,
  };
}

/**
 * The properties that a payload has, with their values after the change.
 * @param properties all properties that a payload can have; its type refuses an incomplete list
 */
export function payloadAfterChange<Property extends string>(
  properties: Readonly<Record<Property, true>>,
  payload: Readonly<Partial<Record<Property, unknown>>>,
  after: Readonly<Record<Property, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(
    (Object.keys(properties) as Property[])
      .filter((property) => payload[property] !== undefined)
      .map((property) => [property, after[property]]),
  );
}
