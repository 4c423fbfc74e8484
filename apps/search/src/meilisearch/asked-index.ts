import type { MultiSearchQuery } from 'meilisearch';
import type { Standing } from '../persistence/index-feed.ts';
import { nameOf } from './encoding.ts';
import { mostHits } from './index-settings.ts';
import type { Group } from './question.ts';
import type { Server } from './server.ts';
import { Unanswered } from './unanswered.ts';
import { type Window, windowOf } from './window.ts';

/** An index that says of the table what the table said of itself at a position. */
export interface Level {
  readonly generation: string;
  readonly position: number;
  readonly epoch: string;
  readonly features: number;
  readonly tasks: readonly number[];
}

/** One feature as the index has it. */
export interface Hit {
  readonly name: string;
  readonly version: number;
}

export interface Results {
  readonly hits: readonly Hit[];
  readonly total: number;
}

/** What of a group is asked for. */
export interface Part {
  readonly group: Group;
  readonly offset: number;
  readonly limit: number;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** The index, if it shows every change that there is, and nobody is changing it. */
export const levelOf = ({ epoch, position, features, index }: Standing): Level => {
  if (index === null || index.generation === null) throw new Unanswered('behind', 'the index is being built');
  if (index.trouble !== null) throw new Unanswered('behind', `the index is being built anew: ${index.trouble}`);
  if (index.changing || index.epoch !== epoch || index.indexed !== position)
    throw new Unanswered('behind', 'the index does not show the last changes yet');
  return { generation: index.generation, position, epoch, features, tasks: index.tasks };
};

const hitsOf = (result: Record<string, unknown>): readonly Record<string, unknown>[] => {
  const { hits } = result;
  if (!Array.isArray(hits) || !hits.every(isObject)) throw new Unanswered('garbled', 'it answered hits that are none');
  return hits;
};

const resultOf = (result: unknown, { hitsPerPage, page }: Window): Record<string, unknown> & { totalHits: number } => {
  if (!isObject(result) || !isCount(result['totalHits'])) throw new Unanswered('garbled', 'it answered no total');
  const { totalHits: total, degraded } = result;
  if (degraded === true) throw new Unanswered('degraded', 'it did not look at everything');
  if ((total as number) >= mostHits) throw new Unanswered('capped', 'it does not count that far');
  const expected = Math.max(0, Math.min(hitsPerPage, (total as number) - (page - 1) * hitsPerPage));
  const count = hitsOf(result).length;
  if (count < expected) throw new Unanswered('capped', 'it answered fewer hits than it counted');
  if (count > expected) throw new Unanswered('garbled', 'it answered more hits than it counted');
  return result as Record<string, unknown> & { totalHits: number };
};

const one = windowOf(0, 1);
const none = windowOf(0, 0);

/** Holds the index to its mark: whether it is the one that was built, and of the state that it should be of. */
const requireMark = (result: unknown, { generation, position }: Level): void => {
  const [mark, ...more] = hitsOf(resultOf(result, one));
  if (mark?.['generation'] !== generation || mark['position'] !== position || more.length > 0)
    throw new Unanswered('altered', 'the index is not the one that was built, or of another time');
};

const queriesFor = (uid: string): readonly MultiSearchQuery[] => [
  {
    indexUid: uid,
    filter: 'generation EXISTS',
    attributesToRetrieve: ['generation', 'position'],
    page: one.page,
    hitsPerPage: one.hitsPerPage,
  },
  {
    indexUid: uid,
    filter: 'archived IN [0, 1]',
    attributesToRetrieve: ['id'],
    page: none.page,
    hitsPerPage: none.hitsPerPage,
  },
];

/**
 * Asks the index for parts of groups, and whether it is what it should be: of the same generation and position as the
 * record says, of as many features as the table, and changed by nobody else.
 */
export const askIndex = async (
  { uid, server }: { readonly uid: string; readonly server: Pick<Server, 'search' | 'newestTask'> },
  level: Level,
  parts: readonly Part[],
): Promise<readonly Results[]> => {
  const windows = parts.map(({ offset, limit }) => windowOf(offset, limit));
  const queries = parts.map(({ group }, at): MultiSearchQuery => {
    const { page, hitsPerPage } = windows[at] as Window;
    return {
      indexUid: uid,
      ...(group.q === undefined ? {} : { q: group.q }),
      filter: group.filter.map((condition) => (typeof condition === 'string' ? condition : [...condition])),
      sort: [...group.sort],
      attributesToRetrieve: ['id', 'version'],
      ...{ page, hitsPerPage },
    };
  });
  const [[mark, features, ...results], newest] = await Promise.all([
    server.search([...queriesFor(uid), ...queries]),
    server.newestTask(uid),
  ]);
  if (newest === undefined || !level.tasks.includes(newest))
    throw new Unanswered('altered', 'somebody else has changed the index');
  requireMark(mark, level);
  if (resultOf(features, none).totalHits !== level.features)
    throw new Unanswered('altered', 'the index has more features than there are, or fewer');
  return results.map((result, at) => {
    const window = windows[at] as Window;
    const { limit } = parts[at] as Part;
    const known = resultOf(result, window);
    const hits = hitsOf(known).map(({ id, version }): Hit => {
      const name = nameOf(id);
      if (name === undefined || !isCount(version)) throw new Unanswered('altered', 'a document of it is none of ours');
      return { name, version };
    });
    return { hits: hits.slice(window.skip, window.skip + limit), total: known.totalHits };
  });
};
