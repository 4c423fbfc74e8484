import type { Settings } from 'meilisearch';
import { createHash } from 'node:crypto';

const values = [
  ...[
    'archived',
    'stale',
    'project',
    'type',
    'creatorId',
    'creatorName',
    'tags',
    'segments',
    'statuses',
    'favoritedBy',
  ],
  'generation',
];
const ranges = ['createdAt', 'nameEnds', 'ends'];
const filterable = (attributePatterns: string[], comparison: boolean) => ({
  attributePatterns,
  features: { facetSearch: false, filter: { equality: true, comparison } },
});

/** More than there will ever be: what a search finds is never cut. */
export const mostHits = 10_000_000;

/** How an index must be set for its answers to be exact. */
export const indexSettings = {
  displayedAttributes: ['id', 'version', 'generation', 'position'],
  searchableAttributes: ['name', 'words', 'tagTexts'],
  // Without a comparison, what a text begins with would be looked for among all values, from the first.
  filterableAttributes: [filterable(values, false), filterable(ranges, true)],
  sortableAttributes: [
    ...['id', 'length', 'stale', 'lastSeenAt', 'byCreation', 'byCreationFalling', 'byType', 'byProject'],
    'byEnvironment',
  ],
  // What is sorted by comes before what is alike; and what is equally alike is in the order of creation.
  rankingRules: ['sort', 'words', 'typo', 'proximity', 'exactness', 'byCreation:asc'],
  typoTolerance: { enabled: true },
  facetSearch: false,
  pagination: { maxTotalHits: mostHits },
  // Who runs out of time answers in the wrong order, and does not say so. Nobody waits that long: slow is late, and not wrong.
  searchCutoffMs: 30_000,
} satisfies Settings;

/** Raised whenever documents are written in another way: an index that was built before is built anew. */
const documentFormat = 1;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** The same text for the same settings, in whatever order their members come. */
const canonical = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(canonical);
  if (!isObject(value)) return value;
  return Object.keys(value)
    .toSorted()
    .map((key) => [key, canonical(value[key])]);
};

/** What an index is set to, of all that matters here, in a few characters. */
export const settingsPrint = (actual: unknown): string => {
  const mattering = Object.keys(indexSettings).map((key) => (isObject(actual) ? actual[key] : undefined));
  const text = JSON.stringify([documentFormat, canonical(indexSettings), canonical(mattering)]);
  return createHash('sha256').update(text).digest('hex');
};
