import type { FeatureState, RequestOf, SearchFeatures } from '@bunting/contracts';
import fc from 'fast-check';
import { reachOf } from '../src/documents/reach.ts';
import { aFeature, stateInEnvironment, tagged } from './builders.ts';
import type { Criterion, NaiveSearch, World } from './naive-search.ts';

type SearchQuery = RequestOf<typeof SearchFeatures>['query'];

const projects = ['default', 'shop', 'Shop', 'shop-2'];
const types = ['release', 'experiment', 'kill-switch', 'operational'];
const people = ['Mia', 'mia', 'O\'Neil "Bob"', '100%'];
const tags = [
  'simple:red',
  'simple:Red',
  'simple:a:b',
  'team:red',
  'simple:100%',
  'simple:a_c',
  'simple:abc',
  String.raw`simple:back\slash`,
  `simple:'quoted" {}`,
  'simple:a,b',
  'emoji:🚀 größer',
  'hebrew:\u200fשלום',
];
const segments = ['beta users', 'Beta users', "o'brien", '{"a"}', '100%_x'];
const environments = ['development', 'production', 'eu.prod'];
const rules = [
  [],
  [{ name: 'flexibleRollout', share: '0' }],
  [{ name: 'flexibleRollout', share: '25' }],
  [{ name: 'default' }, { name: 'userWithId' }],
];
const nameParts = ['checkout', 'Checkout', 'dark', 'a_c', 'abc', '~', "(x)'", '100.', 'MODE', '!'];
const descriptions = [null, 'Decides who sees the checkout', '100% of the a_c', 'GRÖßER, größer', ' '];
const activeStages = ['initial', 'pre-live', 'live', 'completed'];
const days = ['2026-01-01', '2026-01-02', '2026-01-03', '2026-01-04'];

/** Generates features that differ little: many of their values are equal or similar. */
export function generatedWorld(size: number, seed: number): World {
  const timestamp = fc
    .tuple(fc.constantFrom(...days), fc.constantFrom('00:00:00.000', '12:30:00.001', '23:59:59.999'))
    .map(([day, time]) => `${day}T${time}Z`);
  const environment = fc.constantFrom(...environments);
  const feature = fc.record({
    nameParts: fc.array(fc.constantFrom(...nameParts), { minLength: 1, maxLength: 3 }),
    project: fc.constantFrom(...projects),
    type: fc.constantFrom(...types),
    stale: fc.boolean(),
    createdAt: timestamp,
    archivedAt: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: timestamp }),
    lastSeenAt: fc.option(timestamp),
    creator: fc.nat(people.length - 1),
    tags: fc.uniqueArray(fc.constantFrom(...tags), { maxLength: 4 }),
    segments: fc.uniqueArray(fc.integer({ min: 1, max: segments.length }), { maxLength: 3 }),
    favoritedBy: fc.subarray([7, 8]),
    environments: fc.uniqueArray(fc.tuple(environment, fc.boolean(), fc.constantFrom(...rules)), {
      selector: ([name]) => name,
    }),
    dependencyType: fc.constantFrom('parent', 'child', null),
    activeStage: fc.constantFrom(...activeStages),
  });
  const features = fc
    .sample(feature, { numRuns: size, seed })
    .map(({ nameParts: parts, creator, activeStage, ...generated }, index) => {
      const stage = generated.archivedAt === null ? activeStage : 'archived';
      return aFeature({
        ...generated,
        name: `${parts.join('-')}-${index}`,
        description: descriptions[index % descriptions.length] ?? null,
        createdBy: { id: creator - 1, name: people[creator] ?? '', imageUrl: `https://bunting.example/${creator}` },
        tags: tagged(...generated.tags),
        lifecycle: { stage, status: stage === 'completed' ? 'kept' : null, enteredStageAt: generated.createdAt },
        environments: generated.environments
          .map(([name, enabled, ofEnvironment]) =>
            stateInEnvironment(name, {
              enabled,
              sortOrder: environments.indexOf(name),
              yes: index,
              rules: [...ofEnvironment],
            }),
          )
          .toSorted((one, other) => one.sortOrder - other.sortOrder),
      });
    });
  return { features, segments: new Map(segments.map((name, index) => [index + 1, name])) };
}

interface GeneratedCriterion extends Criterion {
  readonly query: Partial<SearchQuery>;
  /** whether the search is one of archived features, where it has no other word about them; undefined for those of both kinds */
  readonly archived?: boolean | undefined;
}

type Parameter = Exclude<keyof SearchQuery, 'status'>;

function someOf(values: readonly string[]): fc.Arbitrary<string[]> {
  return fc.array(fc.constantFrom(...values), { minLength: 1, maxLength: 3 });
}
const comma = fc.constantFrom(',', ', ');

function among(
  parameter: Parameter,
  values: readonly string[],
  isOneOf: (feature: FeatureState, listed: readonly string[]) => boolean,
): fc.Arbitrary<GeneratedCriterion> {
  return fc
    .record({ operator: fc.constantFrom('IS', 'IS_NOT', 'IS_ANY_OF', 'IS_NONE_OF'), listed: someOf(values), comma })
    .map(({ operator, listed, comma: between }) => ({
      query: { [parameter]: `${operator}:${listed.join(between)}` },
      holds: (feature) => isOneOf(feature, listed) === ['IS', 'IS_ANY_OF'].includes(operator),
    }));
}

function holding(
  parameter: Parameter,
  values: readonly string[],
  valuesOf: (feature: FeatureState, segmentNames: readonly string[]) => readonly string[],
): fc.Arbitrary<GeneratedCriterion> {
  return fc
    .record({
      operator: fc.constantFrom(
        'INCLUDE',
        'DO_NOT_INCLUDE',
        'INCLUDE_ALL_OF',
        'INCLUDE_ANY_OF',
        'EXCLUDE_IF_ANY_OF',
        'EXCLUDE_ALL',
      ),
      listed: someOf(values),
      comma,
    })
    .map(({ operator, listed, comma: between }) => ({
      query: { [parameter]: `${operator}:${listed.join(between)}` },
      holds: (feature, segmentNames) => {
        const featureValues = valuesOf(feature, segmentNames);
        const hasAny = listed.some((value) => featureValues.includes(value));
        const hasAll = listed.every((value) => featureValues.includes(value));
        if (operator === 'INCLUDE' || operator === 'INCLUDE_ANY_OF') return hasAny;
        if (operator === 'INCLUDE_ALL_OF') return hasAll;
        return operator === 'EXCLUDE_ALL' ? !hasAll : !hasAny;
      },
    }));
}

const status = fc
  .record({
    wanted: fc.array(
      fc.tuple(
        fc.constantFrom(...environments, 'nowhere'),
        fc.constantFrom('enabled', 'disabled', 'none', 'partial', 'all'),
      ),
      { minLength: 1, maxLength: 4 },
    ),
    everyEnvironment: fc.constantFrom(undefined, 'false', 'true', 'IS:true'),
  })
  .map(({ wanted, everyEnvironment }): GeneratedCriterion => ({
    query: { status: wanted.map((each) => each.join(':')), ...(everyEnvironment && { everyEnvironment }) },
    holds: (feature) => {
      const isHeldIn = (place: string): boolean =>
        feature.environments.some((environment) => {
          const statuses = [environment.enabled ? 'enabled' : 'disabled', reachOf(environment)?.extent];
          return environment.name === place && wanted.some(([name, one]) => name === place && statuses.includes(one));
        });
      const places = wanted.map(([name]) => name);
      return everyEnvironment?.endsWith('true') === true ? places.every(isHeldIn) : places.some(isHeldIn);
    },
  }));

const stages = among('lifecycle', [...activeStages, 'archived'], ({ lifecycle }, listed) =>
  listed.includes(lifecycle?.stage ?? ''),
).map((criterion): GeneratedCriterion => {
  const [operator, listed = ''] = criterion.query.lifecycle?.split(':') ?? [];
  const wanted = new Set(listed.split(',').map((stage) => stage.trim()));
  if ((operator !== 'IS' && operator !== 'IS_ANY_OF') || !wanted.has('archived')) return criterion;
  return { ...criterion, archived: wanted.size === 1 ? true : undefined };
});

const created = fc
  .tuple(fc.boolean(), fc.constantFrom('2025-12-31', ...days, '2026-02-28'))
  .map(([before, day]): GeneratedCriterion => ({
    query: { createdAt: `${before ? 'IS_BEFORE' : 'IS_ON_OR_AFTER'}:${day}` },
    holds: ({ createdAt }) => createdAt < `${day}T00:00:00.000Z` === before,
  }));

const lastSeen = fc
  .tuple(fc.boolean(), fc.constantFrom('2025-12-31', ...days, '2026-02-28'))
  .map(([before, day]): GeneratedCriterion => ({
    query: { lastSeenAt: `${before ? 'IS_BEFORE' : 'IS_ON_OR_AFTER'}:${day}` },
    holds: ({ lastSeenAt }) => lastSeenAt !== null && lastSeenAt < `${day}T00:00:00.000Z` === before,
  }));

const favorite = fc.boolean().map((wanted): GeneratedCriterion => ({
  query: { favorite: String(wanted) },
  holds: ({ favoritedBy }, _segmentNames, userId) => favoritedBy.includes(userId) === wanted,
}));

const pieces = [
  'check',
  'CHECKOUT-d',
  'a_c',
  '_',
  '%',
  'a',
  'b',
  '-1',
  '\\',
  "'",
  'simple:',
  'SIMPLE:R',
  'red',
  'GRÖSSER',
  'GRÖßER',
  '🚀',
  'שלום',
  '(x',
  'xyz',
  ':a:b',
];
const text = someOf(pieces).map((wanted): GeneratedCriterion => ({
  query: { query: wanted.join(' , ') },
  holds: ({ name, tags: held }) =>
    [name, ...held.map(({ type, value }) => `${type}:${value}`)].some((looked) =>
      wanted.some((piece) => looked.toLowerCase().includes(piece.toLowerCase())),
    ),
}));

const described = someOf(['the', 'CHECKOUT', '%', 'a_c', 'grösser', 'GRÖßER', ' who ', 'xyz', 'o']).map(
  (wanted): GeneratedCriterion => ({
    query: { description: `CONTAINS:${wanted.join(' , ')}` },
    holds: ({ description }) =>
      wanted.some((piece) => description?.toLowerCase().includes(piece.trim().toLowerCase()) === true),
  }),
);

const criteria = [
  among('project', [...projects, 'default-2', 'none'], (feature, listed) => listed.includes(feature.project)),
  among('type', [...types, 'RELEASE'], (feature, listed) => listed.includes(feature.type)),
  among('state', ['active', 'stale'], ({ stale }, listed) => listed.includes(stale ? 'stale' : 'active')),
  among('createdBy', ['-1', '0', '1', '99', ...people], ({ createdBy: { id, name } }, listed) =>
    listed.some((value) => value === name || value === String(id)),
  ),
  holding('tag', [...tags, 'simple:none'], (feature) => feature.tags.map(({ type, value }) => `${type}:${value}`)),
  holding('segment', [...segments, 'none'], (_feature, segmentNames) => segmentNames),
  status,
  stages,
  created,
  lastSeen,
  favorite,
  text,
  described,
];

/** A search as a query, and the same search for the naive implementation. */
export interface GeneratedSearch {
  readonly query: SearchQuery;
  readonly naive: NaiveSearch;
  readonly hiddenProjects: readonly string[];
}

const yesOrNo = fc.option(fc.constantFrom('true', 'false'), { nil: undefined });

/** Searches with any of the filters, alone and combined, in any order, on any page. */
export const generatedSearch: fc.Arbitrary<GeneratedSearch> = fc
  .record({
    // Many filters together usually find nothing, so that one, two or no filter are more frequent.
    wanted: fc
      .oneof(
        { weight: 3, arbitrary: fc.subarray(criteria, { maxLength: 2 }) },
        { weight: 1, arbitrary: fc.subarray(criteria) },
      )
      .chain((chosen) => fc.tuple(...chosen)),
    archived: fc.constantFrom(undefined, 'true', 'false', 'IS:true', 'IS:false'),
    sortBy: fc.constantFrom(
      undefined,
      'createdAt',
      'name',
      'type',
      'project',
      'stale',
      'lastSeenAt',
      ...[...environments, 'nowhere'].flatMap((name) => [`environment:${name}`, `reach:${name}`]),
    ),
    sortOrder: fc.constantFrom(undefined, 'asc', 'desc'),
    favoritesFirst: yesOrNo,
    offset: fc.option(fc.oneof(fc.nat(20), fc.nat(300), fc.constant(999_999_999)), { nil: undefined }),
    limit: fc.option(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constant(1000)), { nil: undefined }),
    userId: fc.constantFrom(7, 8, -42),
    hidden: fc.oneof(
      { weight: 5, arbitrary: fc.constant<string[]>([]) },
      { weight: 1, arbitrary: fc.subarray(projects) },
    ),
  })
  .map(({ wanted, archived, sortBy, sortOrder, favoritesFirst, offset, limit, userId, hidden }) => {
    const plain = { archived, sortBy, sortOrder, favoritesFirst, offset: offset?.toString(), limit: limit?.toString() };
    const definedParameters = Object.entries(plain).filter(([, value]) => value !== undefined);
    const isVisible: Criterion = { holds: ({ project }) => !hidden.includes(project) };
    return {
      query: Object.assign(
        {},
        ...wanted.map(({ query: request }) => request),
        Object.fromEntries(definedParameters),
      ) as SearchQuery,
      hiddenProjects: hidden,
      naive: {
        criteria: [...wanted, isVisible],
        archived:
          archived === undefined
            ? (wanted.find((criterion) => 'archived' in criterion) ?? { archived: false }).archived
            : archived.endsWith('true'),
        sortBy: sortBy ?? 'createdAt',
        descending: sortOrder === 'desc',
        favoritesFirst: favoritesFirst === 'true',
        offset: offset ?? 0,
        limit: limit ?? 50,
        userId,
      },
    };
  });
