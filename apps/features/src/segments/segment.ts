import {
  type AnyOperation,
  authorise,
  type Caller,
  type ChangeOf,
  type Constraint,
  type CreateSegmentBody,
  invalidProperty,
  isEqualContent,
  maySee,
  type Permission,
  rootScope,
  type SegmentList,
  type SegmentListChange,
} from '@bunting/contracts';
import type { Decision, DomainEvent, Feature } from '../features/feature.ts';
import { formatReferrers, type Referrer, requireUnreservedName, requireUnused } from '../names.ts';
import type { ProjectContext } from '../projects/project-context.ts';
import { emptyValue, segmentNameTaken, unknownProject } from '../refusals.ts';
import { type ConstraintValidationOptions, validateSegmentConstraints } from '../strategies/constraint.ts';
import { replaceStrategyContent } from '../strategies/edit-strategy.ts';
import { normalizeSegmentIds, strategyOf, type StrategyRef } from '../strategies/strategy.ts';

export interface SegmentContent {
  readonly name: string;
  readonly description: string | null;
  /** the one project that may use it; null: every project */
  readonly project: string | null;
  readonly constraints: readonly Constraint[];
}

/** A named, reusable set of constraints. */
export interface StoredSegment extends SegmentContent {
  readonly id: number;
  readonly createdBy: string;
  readonly createdAt: string;
  /** of whose ids a user must have one */
  readonly list?: SegmentList;
}

/** The context fields that constraints may name and their legal values, and the constraints that are replaced. */
export type SegmentValidationOptions = Pick<ConstraintValidationOptions, 'projectContext' | 'before'>;

/** Refuses the name of a segment that is empty, blank or reserved. */
export function requireSegmentName(name: string, path: string): void {
  if (name.trim() === '') throw emptyValue(path);
  requireUnreservedName(name, path);
}

/** Validates a segment and returns its stored form. The caller checks that its name is free and its project exists. */
export function normalizeSegment(
  body: CreateSegmentBody,
  options: SegmentValidationOptions,
  path = '/body',
): SegmentContent {
  requireSegmentName(body.name, `${path}/name`);
  return {
    name: body.name,
    description: body.description ?? null,
    project: body.project ?? null,
    constraints: validateSegmentConstraints(body.constraints, { ...options, path: `${path}/constraints` }),
  };
}

/** The segment after a change, and its events. An unchanged segment is returned as is, without events. */
export interface SegmentDecision {
  readonly segment: StoredSegment;
  readonly events: readonly DomainEvent[];
}

export interface SegmentReferrers {
  /** the active features and the default strategies of projects that use it */
  readonly referrers: readonly Referrer[];
  /** the projects that are hidden from the caller: an error message does not name them */
  readonly hidden: readonly string[];
}

/** What an update of a segment depends on: what uses it, the names of segments, and what its constraints are validated against. */
export interface SegmentUpdateContext extends SegmentReferrers, Pick<SegmentValidationOptions, 'projectContext'> {
  /** the id of the segment that has a name, if any has */
  readonly idOfName: (name: string) => number | undefined;
}

/** Whether any strategy of a feature uses a segment. */
export function usesSegment(feature: Feature, id: number): boolean {
  return Object.values(feature.environments).some(({ strategies }) =>
    strategies.some(({ segments }) => segments.includes(id)),
  );
}

/** The snapshot of a segment in a change: the properties that changes can set, and the list, which goes with a segment that is deleted. */
export function segmentSnapshot({ id, name, description, project, constraints, list }: StoredSegment) {
  return {
    id,
    name,
    description,
    project,
    constraints,
    ...(list === undefined ? {} : { list }),
  };
}

function segmentData(segment: StoredSegment) {
  return {
    id: segment.id,
    name: segment.name,
    description: segment.description,
    project: segment.project,
    constraints: segment.constraints,
    createdBy: segment.createdBy,
    createdAt: segment.createdAt,
    ...(segment.list === undefined ? {} : { list: segment.list }),
  };
}

/** The event of a new segment. */
export function segmentCreated(segment: StoredSegment): DomainEvent {
  return {
    type: 'segment-created',
    project: segment.project,
    data: segmentData(segment),
  };
}

export function segmentDeleted(segment: StoredSegment): DomainEvent {
  return {
    type: 'segment-deleted',
    project: segment.project,
    preData: segmentData(segment),
  };
}

/**
 * The properties that a request sets. It replaces the segment, so that without a project the segment becomes global; an omitted
 * description does not change, as in Unleash.
 */
export function requestedContent(
  { name, project, constraints, description }: CreateSegmentBody,
  segment: StoredSegment,
): CreateSegmentBody & { readonly project: string | null } {
  return {
    name,
    description: description === undefined ? segment.description : description,
    project: project ?? null,
    constraints,
  };
}

/** Changes a segment for all strategies that use it. Omitted properties do not change. */
export function updateSegment(
  segment: StoredSegment,
  { name, description, project, constraints }: Omit<ChangeOf<'updateSegment'>['payload'], 'id'>,
  { referrers, hidden, idOfName, projectContext }: SegmentUpdateContext,
  path = '/body',
): SegmentDecision {
  const content = normalizeSegment(
    {
      name: name ?? segment.name,
      description: description === undefined ? segment.description : description,
      project: project === undefined ? segment.project : project,
      constraints: constraints ?? [],
    },
    { projectContext, before: segment.constraints },
    path,
  );
  const after = { ...segment, ...content, constraints: constraints ? content.constraints : segment.constraints };
  if ((idOfName(after.name) ?? segment.id) !== segment.id) {
    throw segmentNameTaken();
  }
  if (after.project !== null && after.project !== segment.project) {
    const foreignReferrers = referrers
      .filter((referrer) => referrer.project !== after.project)
      .map(({ project }) => ({ name: project, project }));
    if (foreignReferrers.length > 0) {
      const reason = 'Invalid project. Segment is being used by strategies in other projects';
      throw invalidProperty(`${reason}: ${formatReferrers(foreignReferrers, hidden)}`, `${path}/project`);
    }
  }
  if (isEqualContent(after, segment)) return { segment, events: [] };
  const event: DomainEvent = {
    type: 'segment-updated',
    project: after.project,
    data: segmentData(after),
    preData: segmentData(segment),
  };
  return { segment: after, events: [event] };
}

/** The event of a changed list. It has the numbers of ids, and none of the ids, which may be personal data. */
export function segmentListChanged(
  before: StoredSegment,
  after: StoredSegment,
  { added, removed }: Pick<SegmentListChange, 'added' | 'removed'>,
): DomainEvent {
  return {
    type: 'segment-updated',
    project: after.project,
    data: { ...segmentData(after), listChange: { added, removed } },
    preData: segmentData(before),
  };
}

/** Deletes a segment that neither a feature nor a default strategy uses. Returns the event. */
export function deleteSegment(segment: StoredSegment, { referrers, hidden }: SegmentReferrers): DomainEvent {
  requireUnused(`Segment ${segment.name}`, referrers, hidden);
  return segmentDeleted(segment);
}

/** Replaces the segments of a strategy. Emits nothing when they are the same. */
export function setStrategySegments(
  feature: Feature,
  ref: StrategyRef,
  segmentIds: readonly number[],
  projectContext: ProjectContext,
): Decision {
  const before = strategyOf(feature, ref);
  // `replaceStrategyContent` validates them, too, but its errors would name another property than that of this request.
  const segments = normalizeSegmentIds(segmentIds, {
    before: before.segments,
    project: feature.project,
    projectContext,
    path: '/body/segmentIds',
  });
  return replaceStrategyContent(feature, ref, { ...before, segments }, { projectContext, path: '/body' });
}

interface SegmentAccess {
  /** the permission that a global segment requires, in all projects */
  readonly atRoot: Permission;
  /** the operation: a segment of a project requires any of its permissions, in that project */
  readonly operation: AnyOperation;
}

/** Authorises the caller to create, edit or delete a segment of a project, or a global one where `project` is null. */
export function authoriseSegment(caller: Caller, { atRoot, operation }: SegmentAccess, project: string | null): void {
  if (project === null) return authorise(caller, atRoot, rootScope);
  authorise(caller, operation.permission, { project });
  if (!maySee(caller, project)) throw unknownProject(project, '/body/project');
}
