import type { RequestOf, SearchFeatures } from '@bunting/contracts';
import {
  type Among,
  amongOf,
  archivedOf,
  type Created,
  createdOf,
  type Creators,
  creatorsOf,
  fuzzyTextsOf,
  type Holding,
  isTrue,
  segmentsOf,
  staleOf,
  statusOf,
  tagsOf,
  textsOf,
} from './filters.ts';
import { mostValues, oneOf, type Parameter, readable, refused, wholeNumber } from './parameter.ts';

export const sortKeys = ['createdAt', 'name', 'type', 'project', 'stale', 'lastSeenAt'] as const;
export type SortKey = (typeof sortKeys)[number];

/** What a search sorts by. What is equal in it is in the order of creation, and then of names. */
export interface Sort {
  readonly by: SortKey | { readonly environment: string };
  readonly descending: boolean;
}

/** What is looked for: each parameter of interface 4.5, understood. Everything that is given must hold. */
export interface FeatureQuery {
  /** folded, of which the name or a tag contains at least one; none of them: whatever the name */
  readonly texts: readonly string[];
  /** whether names and tags that are only alike are found as well */
  readonly fuzzy: boolean;
  readonly archived: boolean;
  readonly project: Among | undefined;
  readonly type: Among | undefined;
  readonly createdBy: Creators | undefined;
  /** what `stale` may be */
  readonly stale: readonly boolean[] | undefined;
  readonly tag: Holding | undefined;
  readonly segment: Holding | undefined;
  /** of which one must hold, each written `<environment>:enabled` or `<environment>:disabled` */
  readonly status: readonly string[] | undefined;
  readonly created: Created | undefined;
  readonly sort: Sort | 'relevance';
  readonly favoritesFirst: boolean;
  readonly offset: number;
  readonly limit: number;
}

type AskedQuery = RequestOf<typeof SearchFeatures>['query'];

const environmentPrefix = 'environment:';

const sortedBy = (parameter: Parameter): Sort['by'] => {
  const { text } = parameter;
  const environment = text.startsWith(environmentPrefix) ? text.slice(environmentPrefix.length) : '';
  if (environment !== '') return { environment };
  const by = sortKeys.find((key) => key === text);
  if (by === undefined) throw refused(parameter, `be one of ${sortKeys.join(', ')}, environment:<name>`);
  return by;
};

const statusesOf = (given: readonly string[] | undefined): readonly string[] | undefined => {
  if (given === undefined) return undefined;
  if (given.length === 0 || given.length > mostValues)
    throw refused({ name: 'status', text: `${given.length} of them` }, `be given 1 to ${mostValues} times`);
  return [...new Set(given.map((text) => statusOf(readable('status', text))))];
};

/**
 * Understands the query, by hand and in one pass over each parameter. What cannot be understood is refused: a filter is never
 * left out, and never finds more than it says.
 * @throws Refusal `ValidationError` that names the parameter.
 */
export const featureQueryOf = (request: AskedQuery): FeatureQuery => {
  const read = <T>(
    name: Exclude<keyof AskedQuery, 'status'>,
    understand: (parameter: Parameter) => T,
  ): T | undefined => {
    const text = request[name];
    return text === undefined ? undefined : understand(readable(name, text));
  };
  const fuzzy = read('fuzzy', isTrue) ?? false;
  const texts = read('query', fuzzy ? fuzzyTextsOf : textsOf) ?? [];
  const by = read('sortBy', sortedBy);
  const descending = read('sortOrder', (parameter) => oneOf(parameter, ['asc', 'desc'])) === 'desc';
  return {
    texts,
    fuzzy,
    archived: read('archived', archivedOf) ?? false,
    project: read('project', amongOf),
    type: read('type', amongOf),
    createdBy: read('createdBy', creatorsOf),
    stale: read('state', staleOf),
    tag: read('tag', tagsOf),
    segment: read('segment', segmentsOf),
    status: statusesOf(request.status),
    created: read('createdAt', createdOf),
    sort: by === undefined && fuzzy && texts.length > 0 ? 'relevance' : { by: by ?? 'createdAt', descending },
    favoritesFirst: read('favoritesFirst', isTrue) ?? false,
    offset: read('offset', (parameter) => wholeNumber(parameter, 0)) ?? 0,
    limit: read('limit', (parameter) => wholeNumber(parameter, 1, 1_000)) ?? 50,
  };
};
