import type { Searcher } from '../feature-index.ts';
import type { FeatureQuery } from '../query/feature-query.ts';
import type { Creators, Holding } from '../query/filters.ts';
import { alikeCondition, type AlikeTexts } from './alike.ts';
import { soughtCondition, type SoughtTexts } from './sought-texts.ts';

/** Takes a value of a statement, and gives what stands for it in the text. */
export type Place = (value: unknown, type: string) => string;

/** What must hold, as SQL on the columns of `feature_lookup`. No text of the query is in it: all values have their places. */
export interface Conditions {
  /** on columns that `feature_tally` has as well */
  readonly tallied: readonly string[];
  readonly others: readonly string[];
  /** what must not hold */
  readonly excluded: readonly string[];
}

/** Text as `like` finds it, and nothing else. */
export const likeText = (text: string): string => text.replace(/[\\%_]/g, String.raw`\$&`);
/** Text as a pattern that finds it anywhere. */
export const patternOf = (text: string): string => `%${likeText(text)}%`;

const createdBy = ({ ids, names }: Creators, place: Place): string => {
  const byId = ids.length === 0 ? [] : [`created_by_id = any(${place(ids, 'bigint[]')})`];
  const byName = names.length === 0 ? [] : [`created_by_name = any(${place(names, 'text[]')})`];
  return `(${[...byId, ...byName].join(' or ')})`;
};

/** What `segment` asks for, with the ids that the segments of these names have. */
export interface NamedSegments extends Holding {
  /** in rising order */
  readonly ids: readonly number[];
  /** whether there is a segment of each name */
  readonly complete: boolean;
}

/** A query, with what was looked up of it. */
export interface PreparedQuery extends FeatureQuery {
  /** where it is fuzzy: what its texts may stand for */
  readonly alike?: AlikeTexts | undefined;
  /** where it is not: by which words its texts are found */
  readonly sought?: SoughtTexts | undefined;
}

const wantsAll = ({ holds }: Pick<Holding, 'holds'>): boolean => holds === 'all' || holds === 'not all';
const isExclusion = ({ holds }: Pick<Holding, 'holds'>): boolean => holds === 'none' || holds === 'not all';

export const conditionsOf = (
  query: PreparedQuery,
  segments: NamedSegments | undefined,
  { hiddenProjects }: Searcher,
  place: Place,
): Conditions => {
  const tallied = [query.archived ? 'archived' : 'not archived'];
  const others: string[] = [];
  const excluded: string[] = [];

  if (hiddenProjects.length > 0) tallied.push(`project <> all(${place(hiddenProjects, 'text[]')})`);
  for (const column of ['project', 'type'] as const) {
    const among = query[column];
    if (among === undefined) continue;
    tallied.push(`${column} ${among.isNot ? '<> all' : '= any'}(${place(among.values, 'text[]')})`);
  }
  if (query.stale !== undefined) tallied.push(`stale = any(${place(query.stale, 'boolean[]')})`);

  if (query.createdBy !== undefined)
    (query.createdBy.isNot ? excluded : others).push(createdBy(query.createdBy, place));
  const { tag } = query;
  if (tag !== undefined)
    (isExclusion(tag) ? excluded : others).push(`tags ${wantsAll(tag) ? '@>' : '&&'} ${place(tag.values, 'text[]')}`);
  if (segments !== undefined) {
    const condition =
      wantsAll(segments) && !segments.complete
        ? 'false'
        : `segment_ids ${wantsAll(segments) ? '@>' : '&&'} ${place(segments.ids, 'integer[]')}`;
    (isExclusion(segments) ? excluded : others).push(condition);
  }
  if (query.status !== undefined) others.push(`statuses && ${place(query.status, 'text[]')}`);
  if (query.created !== undefined) {
    const { before, midnight } = query.created;
    others.push(
      `created_at ${before ? '<' : '>='} to_timestamp(${place(midnight.getTime() / 1000, 'double precision')})`,
    );
  }
  if (query.alike !== undefined) others.push(alikeCondition(query.alike.texts, place));
  else if (query.sought !== undefined) others.push(soughtCondition(query.sought.texts, place));
  else if (query.texts.length > 0) others.push(`search_text like any(${place(query.texts.map(patternOf), 'text[]')})`);
  return { tallied, others, excluded };
};
