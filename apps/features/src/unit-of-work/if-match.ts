import type { IfMatchTarget } from '@bunting/contracts';
import { contentTag } from '@bunting/contracts/hashing';
import type { WriteContext } from '@bunting/outbox';
import { environmentContent, type StoredEnvironment } from '../environments/environment.ts';
import { type Feature, inEnvironment } from '../features/feature.ts';
import type { StoredSegment } from '../segments/segment.ts';

/** JSON for a reply, and the entity tag that conditional writes of it must match. */
export interface JsonWithEntityTag {
  readonly json: string;
  readonly tag: string;
}

/** An object that a transaction has locked: as it was read, and as it is stored now; undefined once it is removed. */
export interface BeforeAndAfter<T> {
  readonly before: T;
  after: T | undefined;
}

export interface VersionedFeature {
  readonly feature: Feature;
  /** the version of the feature after its last edit */
  readonly editVersion: number;
}

/** The objects that a transaction has locked. The operation's own subject is among them. */
interface LockedObjects {
  readonly features: ReadonlyMap<string, BeforeAndAfter<VersionedFeature>>;
  readonly segments: ReadonlyMap<number, BeforeAndAfter<StoredSegment>>;
  readonly environments: ReadonlyMap<string, BeforeAndAfter<StoredEnvironment>>;
}

interface Params {
  readonly featureName?: string;
  readonly environment?: string;
  readonly strategyId?: string;
  readonly id?: number;
  readonly name?: string;
}

/** A function for the entity tags that match a subject before or after the write; undefined if it is not locked or does not exist. */
type EntityTagsOfSubject = (
  locked: LockedObjects,
  params: Params,
  time: 'before' | 'after',
) => (() => readonly (string | undefined)[]) | undefined;

function ofFeature(part: (feature: Feature, params: Params) => unknown): EntityTagsOfSubject {
  return ({ features }, params, time) => {
    const state = features.get(params.featureName ?? '')?.[time];
    if (state === undefined) return undefined;
    return () => {
      const content = part(state.feature, params);
      // The feature's own tag is accepted for its parts, too: if it matches, no part of the feature has changed.
      return [content === undefined ? undefined : contentTag(content), String(state.editVersion)];
    };
  };
}

/** The entity tags that match a subject, its own first. */
const entityTagsOfTarget: Readonly<Record<IfMatchTarget, EntityTagsOfSubject>> = {
  feature: ({ features }, { featureName = '' }, time) => {
    const state = features.get(featureName)?.[time];
    return state === undefined ? undefined : () => [String(state.editVersion)];
  },
  'feature environment': ofFeature((feature, { environment = '' }) => inEnvironment(feature, environment)),
  strategy: ofFeature((feature, { environment = '', strategyId }) =>
    inEnvironment(feature, environment).strategies.find(({ id }) => id === strategyId),
  ),
  segment: ({ segments }, { id = 0 }, time) => entityTagsOfContent(segments.get(id)?.[time]),
  environment: ({ environments }, { name = '' }, time) => {
    const environment = environments.get(name)?.[time];
    return entityTagsOfContent(environment && environmentContent(environment));
  },
  // Those of other services.
  'change request': () => undefined,
  integration: () => undefined,
  'action set': () => undefined,
};

function entityTagsOfContent(content: unknown): (() => readonly string[]) | undefined {
  return content === undefined ? undefined : () => [contentTag(content)];
}

/**
 * Refuses a write whose `If-Match` header does not match what it has locked, and sets the `ETag` header to the subject's new tag.
 * Runs last in the transaction: a write that is invalid anyway is refused for that reason.
 */
export function checkIfMatchAndSetETag(
  { ifMatchTarget, requireIfMatch, setHeader, params }: WriteContext & { readonly params?: unknown },
  locked: LockedObjects,
) {
  if (ifMatchTarget === undefined) return;
  const tagsOf = (time: 'before' | 'after') => entityTagsOfTarget[ifMatchTarget](locked, params as Params, time);
  const before = tagsOf('before');
  // Also without the header, so that the first test of an operation finds it.
  if (before === undefined)
    throw new Error(`A conditional write of a ${ifMatchTarget} did not lock it, so If-Match cannot be checked.`);
  requireIfMatch?.(before().filter((tag) => tag !== undefined));
  const tag = tagsOf('after')?.().find((one) => one !== undefined);
  if (tag !== undefined) setHeader('ETag', `"${tag}"`);
}
