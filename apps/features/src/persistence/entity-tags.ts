import type { Conditional } from '@bunting/contracts';
import { contentTag } from '@bunting/contracts/hashing';
import type { WriteContext } from '@bunting/outbox';
import type { StoredEnvironment } from '../domain/environment.ts';
import type { Feature } from '../domain/feature.ts';
import type { StoredSegment } from '../domain/segment.ts';

/** What a read gives beside the tag that writes are judged by. */
export interface TaggedJson {
  readonly json: string;
  readonly tag: string;
}

/** Something that a unit of work has locked: as it was then, and as it is now; undefined once it is gone. */
export interface Seen<T> {
  readonly before: T;
  after: T | undefined;
}

export interface SeenFeature {
  readonly feature: Feature;
  /** the version that its last edit made */
  readonly edition: number;
}

/** All that a unit of work has locked, for the operation's own subject to be found among it. */
export interface SeenByNow {
  readonly features: ReadonlyMap<string, Seen<SeenFeature>>;
  readonly segments: ReadonlyMap<number, Seen<StoredSegment>>;
  readonly environments: ReadonlyMap<string, Seen<StoredEnvironment>>;
}

interface Params {
  readonly featureName?: string;
  readonly environment?: string;
  readonly strategyId?: string;
  readonly id?: number;
  readonly name?: string;
}

type Tags = (seen: SeenByNow, params: Params, when: 'before' | 'after') => readonly (string | undefined)[] | undefined;

const ofFeature =
  (part: (feature: Feature, params: Params) => unknown): Tags =>
  ({ features }, params, when) => {
    const found = features.get(params.featureName ?? '')?.[when];
    if (found === undefined) return undefined;
    const content = part(found.feature, params);
    // Nothing in the feature is other than it was: its tag is good for its parts as well.
    return [content === undefined ? undefined : contentTag(content), String(found.edition)];
  };

/** The tags that are good for a subject, its own first. */
const tags: Readonly<Record<Conditional, Tags>> = {
  feature: ({ features }, { featureName = '' }, when) => {
    const found = features.get(featureName)?.[when];
    return found === undefined ? undefined : [String(found.edition)];
  },
  'feature environment': ofFeature(({ environments }, { environment = '' }) => environments[environment] ?? nothing),
  strategy: ofFeature(({ environments }, { environment = '', strategyId }) =>
    environments[environment]?.strategies.find(({ id }) => id === strategyId),
  ),
  segment: ({ segments }, { id = 0 }, when) => tagsOfContent(segments.get(id)?.[when]),
  environment: ({ environments }, { name = '' }, when) => tagsOfContent(environments.get(name)?.[when]),
  'change request': () => undefined,
};

/** What a feature is in an environment that it was never touched in. */
export const nothing = { enabled: false, strategies: [], variants: [] };

const tagsOfContent = (content: unknown): readonly string[] | undefined =>
  content === undefined ? undefined : [contentTag(content)];

/**
 * Judges a write by the tags of what it has locked, once all else is decided and before it is committed; and says the tag
 * that its subject has from now on.
 */
export const judge = (
  { conditional, requireMatch, setHeader, params }: WriteContext & { readonly params?: unknown },
  seen: SeenByNow,
) => {
  if (conditional === undefined) return;
  const known = (when: 'before' | 'after') =>
    tags[conditional](seen, params as Params, when)?.filter((tag) => tag !== undefined);
  if (requireMatch !== undefined) {
    const before = known('before');
    if (before === undefined) throw new Error(`Nothing was locked that the write could be judged by: ${conditional}.`);
    requireMatch(before);
  }
  const [now] = known('after') ?? [];
  if (now !== undefined) setHeader('ETag', `"${now}"`);
};
