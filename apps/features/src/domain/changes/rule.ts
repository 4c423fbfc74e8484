import type { ChangeOf, FeatureAction, SegmentAction } from '@bunting/contracts';
import type { DomainEvent, Feature } from '../features/feature.ts';
import type { StoredSegment } from '../constraints/segment.ts';
import type { ProjectContext } from '../project-context.ts';

/** A feature that uses a segment. */
export interface FeatureReference {
  readonly name: string;
  readonly project: string;
}

/** Everything that changes may touch or must know, as it is before them. It is loaded first and handed in. */
export interface ChangeContext {
  readonly project: string;
  readonly environment: string;
  readonly projectContext: ProjectContext;
  /** the moment, as the API writes it */
  readonly now: string;
  readonly newStrategyId: () => string;
  /** by name: the features that changes are about, and those that they are to depend on; archived and foreign ones too */
  readonly features: ReadonlyMap<string, Feature>;
  /** by name of a feature: the active features that depend on it */
  readonly children: ReadonlyMap<string, readonly string[]>;
  /** by id: the segments that changes are about */
  readonly segments: ReadonlyMap<number, StoredSegment>;
  /** by id of a segment: the active features that use it */
  readonly segmentUsers: ReadonlyMap<number, readonly FeatureReference[]>;
  /** by name, of the names that segments are to get: the segment that has it */
  readonly segmentsByName: ReadonlyMap<string, number>;
}

/** What a change comes to: what it is about afterwards, what is told, and its payload as it is stored. */
export interface RuleResult<Subject> {
  readonly subject: Subject;
  readonly events: readonly DomainEvent[];
  readonly payload: unknown;
}

/** When a change has its turn: the phases make the result independent of the order in which changes were proposed. */
export type Phase = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

export interface Rule<Change, Subject, After> {
  readonly phase: Phase;
  /** the part of the change that a refusal of its meaning names */
  readonly errorPath: '/feature' | '/payload' | '/payload/feature' | '/payload/id' | '/payload/name';
  /** What the change would replace, as it is now. Throws where something must be there and is not. */
  readonly snapshot: (subject: Subject, change: Change, context: ChangeContext) => unknown;
  /** What the change means. `at` is where the change stands in the request. */
  readonly decide: (subject: Subject, change: Change, context: ChangeContext, at: string) => RuleResult<After>;
}

export type FeatureRule<A extends FeatureAction> = Rule<ChangeOf<A>, Feature, Feature>;
export type SegmentRule<A extends SegmentAction> = Rule<ChangeOf<A>, StoredSegment, StoredSegment | null>;
