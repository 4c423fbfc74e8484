import type { FeatureIndex, Found, Searcher } from '../feature-index.ts';
import type { SuggestedPage, SuggestedPages } from '../persistence/suggested-page.ts';
import type { FeatureQuery } from '../query/feature-query.ts';
import { askIndex, type Hit, type Level, type Part, type Results } from './asked-index.ts';
import { type Group, type Question, questionOf } from './question.ts';
import type { Server } from './server.ts';
import { Unanswered } from './unanswered.ts';
import type { Watch } from './watch.ts';

/** So many features may be alike when PostgreSQL is to sort them. */
const mostSortedElsewhere = 1_000;

export interface MeilisearchIndexNeeds {
  readonly uid: string;
  readonly server: Server;
  readonly watch: Watch;
  readonly pages: SuggestedPages;
}

/** What of each group is on the page, once it is known how many each group has. */
const partsOf = (groups: readonly Group[], totals: readonly number[], offset: number, limit: number): Part[] => {
  let [skip, left] = [offset, limit];
  return groups.map((group, at) => {
    const total = totals[at] ?? 0;
    const from = Math.min(skip, total);
    const taken = Math.min(left, total - from);
    skip -= from;
    left -= taken;
    return { group, offset: from, limit: taken };
  });
};

/** The hits of one page of groups that follow each other, and how many there are in all of them. */
const pageOf = async (
  ask: (parts: readonly Part[]) => Promise<readonly Results[]>,
  { groups }: Pick<Question, 'groups'>,
  offset: number,
  limit: number,
): Promise<Results> => {
  // From the beginning each group can be asked at once for all that may be needed of it; elsewhere they are counted first.
  const isKnown = offset === 0 || groups.length === 1;
  const first = await ask(groups.map((group) => ({ group, offset, limit: isKnown ? limit : 0 })));
  const totals = first.map(({ total }) => total);
  const total = totals.reduce((sum, each) => sum + each, 0);
  const parts = partsOf(groups, totals, offset, limit);
  if (isKnown) return { total, hits: first.flatMap(({ hits }, at) => hits.slice(0, parts[at]?.limit)) };
  const needed = parts.filter((part) => part.limit > 0);
  const second = needed.length === 0 ? [] : await ask(needed);
  return { total, hits: second.flatMap(({ hits }) => hits) };
};

const requireSame = (wanted: readonly Hit[], actual: readonly Hit[]): void => {
  const isSame =
    wanted.length === actual.length &&
    wanted.every(({ name, version }, at) => actual[at]?.name === name && actual[at].version === version);
  if (!isSame) throw new Unanswered('altered', 'what it found is not what is in the table');
};

const byName = <T extends { readonly name: string }>(features: readonly T[]): T[] =>
  features.toSorted((one_, other) => (one_.name < other.name ? -1 : one_.name > other.name ? 1 : 0));

/**
 * Finds features in Meilisearch. Whatever it finds is held to the tables: that it shows every change, that the features are
 * there, fit the search, are in its order, and are as many. What is answered is what the tables say of them.
 *
 * `search` throws `Unanswered` when there is no such answer.
 */
export const meilisearchIndex = (needs: MeilisearchIndexNeeds): FeatureIndex => {
  const { pages, watch } = needs;

  const requireStill = ({ epoch, position, isCurrent }: SuggestedPage, level: Level): void => {
    if (epoch !== level.epoch || position !== level.position || !isCurrent)
      throw new Unanswered('behind', 'something changed while it was searched');
  };

  const find = async (query: FeatureQuery, searcher: Searcher, level: Level): Promise<Found> => {
    const segments = await pages.segments(query);
    const question = questionOf(query, segments, searcher);
    const { isExact, isSortedElsewhere } = question;
    const [offset, limit] = isSortedElsewhere ? [0, mostSortedElsewhere] : [query.offset, query.limit];
    const { hits, total } = await pageOf((parts) => askIndex(needs, level, parts), question, offset, limit);
    if (isSortedElsewhere && total > mostSortedElsewhere)
      throw new Unanswered('unable', 'more is alike than can be sorted elsewhere');

    const suggested = { names: hits.map(({ name }) => name), withTotal: isExact };
    const fitting: FeatureQuery = isExact ? query : { ...query, texts: [], fuzzy: false };
    const everything = { ...fitting, offset: 0, limit: hits.length };
    if (isExact || !isSortedElsewhere) {
      const sort = query.sort === 'relevance' ? ({ by: 'createdAt', descending: false } as const) : query.sort;
      const page = await pages.read({ ...everything, sort }, segments, searcher, suggested);
      requireStill(page, level);
      if (isExact) {
        requireSame(page.features, hits);
        if (page.total !== total) throw new Unanswered('altered', 'it counted other features than there are');
        return { features: `[${page.features.map(({ json }) => json).join(',')}]`, total };
      }
      requireSame(byName(page.features), byName(hits));
      const jsonOf = new Map(page.features.map(({ name, json }) => [name, json]));
      return { features: `[${hits.map(({ name }) => jsonOf.get(name)).join(',')}]`, total };
    }
    const all = await pages.read({ ...everything, sort: query.sort }, segments, searcher, suggested);
    requireStill(all, level);
    requireSame(byName(all.features), byName(hits));
    const wanted = all.features.slice(query.offset, query.offset + query.limit);
    return { features: `[${wanted.map(({ json }) => json).join(',')}]`, total };
  };

  return { search: (query, searcher) => watch.judge((level) => find(query, searcher, level)) };
};
