import {
  type ChangeOf,
  type Constraint,
  constraintKey,
  type CreateSegmentBody,
  invalidProperty,
  isEqualContent,
} from '@bunting/contracts';
import { normalizeConstraint } from '../strategies/constraint.ts';
import type { DomainEvent, Feature } from '../features/feature.ts';
import { emptyValue, segmentNameTaken } from '../refusals.ts';
import { fixedResourceLimits } from '../fixed-resource-limits.ts';
import { formatReferrers, type Referrer, requireUnused } from '../require-unused.ts';

/** The content of a segment. */
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
}

export interface SegmentValidationOptions {
  /** whether constraints may use `REGEX` */
  readonly allowsRegex: boolean;
  /** the constraints that are to be replaced; those with `REGEX` may stay after it was turned off */
  readonly before?: readonly Constraint[];
}

/**
 * Validates the constraints of a segment and returns their stored form. Unknown context fields are accepted, since they may be created
 * later.
 */
const normalizeSegmentConstraints = (
  constraints: readonly Constraint[],
  { allowsRegex, before = [] }: SegmentValidationOptions,
  path: string,
): readonly Constraint[] => {
  const unchanged = new Set(before.filter(({ operator }) => operator === 'REGEX').map(constraintKey));
  const normalized = constraints.map((constraint, index) =>
    normalizeConstraint(constraint, `${path}/${index}`, allowsRegex || unchanged.has(constraintKey(constraint))),
  );
  const values = normalized.reduce((sum, constraint) => sum + (constraint.values?.length ?? 0), 0);
  if (values > fixedResourceLimits.valuesPerSegment) {
    throw invalidProperty(`Segments may not have more than ${fixedResourceLimits.valuesPerSegment} values`, path);
  }
  return normalized;
};

/** Refuses the name of a segment that is empty or blank. */
export const requireSegmentName = (name: string, path: string): void => {
  if (name.trim() === '') throw emptyValue(path);
};

/** Validates a segment and returns its stored form. The caller checks that its name is free and its project exists. */
export const normalizeSegment = (
  body: CreateSegmentBody,
  options: SegmentValidationOptions,
  path = '/body',
): SegmentContent => {
  requireSegmentName(body.name, `${path}/name`);
  return {
    name: body.name,
    description: body.description ?? null,
    project: body.project ?? null,
    constraints: normalizeSegmentConstraints(body.constraints, options, `${path}/constraints`),
  };
};

/** The segment after a change, and its events. An unchanged segment is returned as is, without events. */
export interface SegmentDecision {
  readonly segment: StoredSegment;
  readonly events: readonly DomainEvent[];
}

/** The features and default strategies that use a segment. */
export interface SegmentReferrers {
  /** the active features and the default strategies of projects that use it */
  readonly referrers: readonly Referrer[];
  /** the projects that are hidden from the caller: an error message does not name them */
  readonly hidden: readonly string[];
}

/** What an update of a segment depends on: the features and default strategies that use it, the names of segments, and a setting. */
export interface SegmentUpdateContext extends SegmentReferrers, Pick<SegmentValidationOptions, 'allowsRegex'> {
  /** the id of the segment that has a name, if any has */
  readonly idOfName: (name: string) => number | undefined;
}

/** Whether any strategy of a feature uses a segment. */
export const usesSegment = (feature: Feature, id: number): boolean =>
  Object.values(feature.environments).some(({ strategies }) =>
    strategies.some(({ segments }) => segments.includes(id)),
  );

/** The snapshot of a segment in a change: the properties that changes can set. */
export const segmentSnapshot = ({ id, name, description, project, constraints }: StoredSegment) => ({
  id,
  name,
  description,
  project,
  constraints,
});

const segmentData = (segment: StoredSegment) => ({
  id: segment.id,
  name: segment.name,
  description: segment.description,
  project: segment.project,
  constraints: segment.constraints,
  createdBy: segment.createdBy,
  createdAt: segment.createdAt,
});

/** The event of a new segment. */
export const segmentCreated = (segment: StoredSegment): DomainEvent => ({
  type: 'segment-created',
  project: segment.project,
  data: segmentData(segment),
});

/** The event of a deleted segment. */
export const segmentDeleted = (segment: StoredSegment): DomainEvent => ({
  type: 'segment-deleted',
  project: segment.project,
  preData: segmentData(segment),
});

/**
 * The properties that a request sets. It replaces the segment, so that without a project the segment becomes global; an omitted
 * description does not change, as in Unleash.
 */
export const requestedContent = (
  { name, project, constraints, description }: CreateSegmentBody,
  segment: StoredSegment,
): CreateSegmentBody & { readonly project: string | null } => ({
  name,
  description: description === undefined ? segment.description : description,
  project: project ?? null,
  constraints,
});

/** Changes a segment for all strategies that use it. Omitted properties do not change. */
export const updateSegment = (
  segment: StoredSegment,
  { name, description, project, constraints }: Omit<ChangeOf<'updateSegment'>['payload'], 'id'>,
  { referrers, hidden, idOfName, allowsRegex }: SegmentUpdateContext,
  path = '/body',
): SegmentDecision => {
  const content = normalizeSegment(
    {
      name: name ?? segment.name,
      description: description === undefined ? segment.description : description,
      project: project === undefined ? segment.project : project,
      constraints: constraints ?? [],
    },
    { allowsRegex, before: segment.constraints },
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
};

/** Deletes a segment that neither a feature nor a default strategy uses. Returns the event. */
export const deleteSegment = (segment: StoredSegment, { referrers, hidden }: SegmentReferrers): DomainEvent => {
  requireUnused(`Segment ${segment.name}`, referrers, hidden);
  return segmentDeleted(segment);
};
