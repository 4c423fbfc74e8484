import { describe, expect, it } from 'vitest';
import { parseFeatureQuery } from '../search/feature-query.ts';
import { escapedKey, unescapedKey } from './index-document.ts';
import { engineFor, facetCountsOf, indexFilterOf } from './index-query.ts';

const everyone = { hiddenProjects: [] };
type Request = Parameters<typeof parseFeatureQuery>[0];

function many(values: number): string {
  return Array.from({ length: values }, (_, nth) => `value${nth}`).join();
}

describe('the engine of a search', () => {
  const cases: readonly [string, Request, 'meilisearch' | 'postgres'][] = [
    ['an exact text', { query: 'checkout' }, 'postgres'],
    ['a fuzzy text', { query: 'chekcout', fuzzy: 'true' }, 'meilisearch'],
    ['no text', { fuzzy: 'true' }, 'postgres'],
    ['a text without a word', { query: '~', fuzzy: 'true' }, 'postgres'],
    ['several texts', { query: 'dark,light', fuzzy: 'true' }, 'postgres'],
    ['a filter by project', { query: 'a', fuzzy: 'true', project: 'IS:shop' }, 'meilisearch'],
    ['a filter by type', { query: 'a', fuzzy: 'true', type: 'IS_NOT:release' }, 'meilisearch'],
    ['a filter by state', { query: 'a', fuzzy: 'true', state: 'IS:stale' }, 'meilisearch'],
    ['a filter by creator', { query: 'a', fuzzy: 'true', createdBy: 'IS:7' }, 'meilisearch'],
    ['a filter by tag', { query: 'a', fuzzy: 'true', tag: 'EXCLUDE_ALL:a:b' }, 'meilisearch'],
    ['a filter by segment', { query: 'a', fuzzy: 'true', segment: 'INCLUDE:beta' }, 'meilisearch'],
    ['a filter by status', { query: 'a', fuzzy: 'true', status: ['production:enabled'] }, 'meilisearch'],
    ['archived features', { query: 'a', fuzzy: 'true', archived: 'true' }, 'meilisearch'],
    ['an order', { query: 'a', fuzzy: 'true', sortBy: 'name' }, 'postgres'],
    ['favourites', { query: 'a', fuzzy: 'true', favorite: 'true' }, 'postgres'],
    ['favourites first', { query: 'a', fuzzy: 'true', favoritesFirst: 'true' }, 'postgres'],
    ['a day of creation', { query: 'a', fuzzy: 'true', createdAt: 'IS_BEFORE:2026-01-01' }, 'postgres'],
    ['a day of metrics', { query: 'a', fuzzy: 'true', lastSeenAt: 'IS_BEFORE:2026-01-01' }, 'postgres'],
    ['a description', { query: 'a', fuzzy: 'true', description: 'CONTAINS:x' }, 'postgres'],
    ['the last page of the index', { query: 'a', fuzzy: 'true', offset: '950', limit: '50' }, 'meilisearch'],
    ['a page beyond the index', { query: 'a', fuzzy: 'true', offset: '951', limit: '50' }, 'postgres'],
    ['long filters', { query: 'a', fuzzy: 'true', project: `IS:${many(200)}`, type: `IS:${many(200)}` }, 'meilisearch'],
  ];
  it.each(cases)('for %s', (_name, request, engine) => {
    expect(engineFor(parseFeatureQuery(request), everyone)).toBe(engine);
  });

  it('is PostgreSQL where too many projects are hidden', () => {
    const query = parseFeatureQuery({ query: 'a', fuzzy: 'true' });
    expect(engineFor(query, { hiddenProjects: many(500).split(',') })).toBe('meilisearch');
    expect(engineFor(query, { hiddenProjects: many(501).split(',') })).toBe('postgres');
  });
});

describe('the filter of a search in the index', () => {
  const index = { generation: 'g-1', segmentIds: [[4, 5], []] };
  const filterOf = (request: Request) =>
    indexFilterOf(parseFeatureQuery({ query: 'a', fuzzy: 'true', ...request }), { hiddenProjects: [] }, index).slice(2);

  it.each<[Request, string]>([
    [{ project: 'IS:a,b' }, 'project IN ["a", "b"]'],
    [{ project: 'IS_NOT:A' }, 'NOT (project IN ["_41"])'],
    [{ state: 'IS:stale' }, 'stale IN [1]'],
    [{ createdBy: 'IS:7,mia' }, '(createdById IN [7] OR createdBy IN ["mia"])'],
    [{ createdBy: 'IS_NOT:7' }, 'NOT ((createdById IN [7] OR createdBy IN []))'],
    [{ tag: 'INCLUDE_ALL_OF:a:b,a:c' }, 'tagKeys IN ["a_3ab"] AND tagKeys IN ["a_3ac"]'],
    [{ tag: 'EXCLUDE_IF_ANY_OF:a:b,a:c' }, 'NOT (tagKeys IN ["a_3ab", "a_3ac"])'],
    [{ segment: 'INCLUDE_ANY_OF:one,two' }, 'segmentIds IN [4, 5]'],
    [{ segment: 'EXCLUDE_ALL:one,two' }, 'NOT (segmentIds IN [4, 5] AND segmentIds IN [])'],
    [{ status: ['production:enabled'] }, 'statuses IN ["production_3aenabled"]'],
    [{ status: ['a:all', 'b:none'] }, 'statuses IN ["a_3aall", "b_3anone"]'],
  ])('for %j is %s', (request, condition) => {
    expect(filterOf(request)).toEqual([condition]);
  });

  it('has a condition for each environment where every one is asked for', () => {
    const request = { status: ['a:all', 'b:none', 'a:partial'], everyEnvironment: 'true' };
    expect(filterOf(request)).toEqual(['statuses IN ["a_3aall", "a_3apartial"]', 'statuses IN ["b_3anone"]']);
  });

  it('is of this build of the index, and leaves out hidden projects', () => {
    const query = parseFeatureQuery({ query: 'a', fuzzy: 'true', archived: 'true' });
    expect(indexFilterOf(query, { hiddenProjects: ['x'] }, index)).toEqual([
      'generation = "g-1"',
      'archived = 1',
      'NOT (project IN ["x"])',
    ]);
  });

  it('takes quotes, backslashes and operators in values for text', () => {
    const hostile = '"] OR archived IN [0, 1] OR project IN ["\\';
    const [condition] = filterOf({ type: `IS:${hostile.replaceAll(',', '')}` });
    expect(condition).toMatch(/^type IN \["[a-z0-9_-]*"\]$/);
  });

  it('distinguishes values that Meilisearch takes for equal', () => {
    for (const [one, other] of [
      ['Shop', 'shop'],
      ['ﬁ', 'fi'],
      ['1', '1.0'],
      [' a', 'a'],
      ['x'.repeat(500), 'x'.repeat(501)],
      ['_41', 'A'],
    ] as const)
      expect(escapedKey(one)).not.toBe(escapedKey(other));
  });

  it('are read back from the keys of the index, unless they are too long', () => {
    for (const value of ['Shop', 'a_c', '__x', 'simple:größer 🚀', '', '\u0000', '-'])
      expect(unescapedKey(escapedKey(value))).toBe(value);
    expect(unescapedKey(escapedKey('Ü'.repeat(100)))).toBeUndefined();
  });

  it('are counted by PostgreSQL where the index may have more of them than it counts', () => {
    expect(facetCountsOf(['type'], { type: { b: 1, a: 1, c: 2 } }, 4)).toEqual({
      type: [
        { value: 'c', count: 2 },
        { value: 'a', count: 1 },
        { value: 'b', count: 1 },
      ],
    });
    expect(facetCountsOf(['type'], { type: { b: 1, a: 1, c: 2 } }, 3)).toBeUndefined();
    expect(facetCountsOf(['state', 'type'], { stale: { '0': 4, '1': 2 } }, 9)).toEqual({
      state: [
        { value: 'active', count: 4 },
        { value: 'stale', count: 2 },
      ],
      type: [],
    });
  });
});
