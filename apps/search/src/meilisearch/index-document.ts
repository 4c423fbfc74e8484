import type { ChangedFeature } from '../persistence/index-feed.ts';
import { fold } from '../query/fold.ts';
import { idOf, keyOf, sortable, sortableMoment, suffixesOf } from './encoding.ts';

/** What Meilisearch knows of a feature: enough to find and to sort it. What is answered comes from PostgreSQL. */
export interface IndexDocument {
  readonly id: string;
  /** the position of the feature's last change in the feed */
  readonly version: number;
  readonly archived: 0 | 1;
  readonly stale: 0 | 1;
  readonly project: string;
  readonly type: string;
  readonly creatorId: number;
  readonly creatorName: string;
  readonly createdAt: number;
  readonly lastSeenAt?: number;
  readonly tags: readonly string[];
  readonly segments: readonly number[];
  readonly statuses: readonly string[];
  readonly favoritedBy: readonly number[];
  /** what the name, and what the name and the tags, end with: for text anywhere within them */
  readonly nameEnds: readonly string[];
  readonly ends: readonly string[];
  /** what forgiving searches read, in this order of importance */
  readonly name: string;
  readonly words: string;
  readonly tagTexts: readonly string[];
  /** how long the name is */
  readonly length: number;
  readonly byCreation: string;
  readonly byCreationFalling: string;
  readonly byType: string;
  readonly byProject: string;
  readonly byEnvironment?: Readonly<Record<string, 0 | 1>>;
}

/** The document that says of which state of the table the index is. No search finds it. */
export interface Mark {
  readonly id: 'mark';
  readonly generation: string;
  readonly position: number;
}

export const markOf = (generation: string, position: number): Mark => ({ id: 'mark', generation, position });

/** Words of a name that are only told apart by their capitals, as in `myFeature`. */
const wordsOf = (name: string): string => name.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2');

/** What can be sorted by: longer text is cut by the server, and would not sort as it does in PostgreSQL. */
const longestSortable = 220;

/** A feature that the index cannot hold as it is. While there is one, PostgreSQL answers alone. */
export class UnfitForIndexError extends Error {}

const requireSortable = (name: string, ...texts: readonly string[]): void => {
  if (texts.some((text) => Buffer.byteLength(text) > longestSortable))
    throw new UnfitForIndexError(`Meilisearch cannot sort "${name.slice(0, 50)}": a text of it is too long.`);
};

const isOn = ':enabled';

const environmentsOf = (statuses: readonly string[]): Record<string, 0 | 1> =>
  Object.fromEntries(
    statuses.map((status) => [keyOf(status.slice(0, status.lastIndexOf(':'))), status.endsWith(isOn) ? 1 : 0]),
  );

/** The document of a feature. The same feature gives the same document, member by member. */
export const indexDocumentOf = ({
  name,
  position,
  found,
}: ChangedFeature & { readonly found: NonNullable<ChangedFeature['found']> }): IndexDocument => {
  requireSortable(name, name, found.type, found.project);
  const nameEnds = suffixesOf(fold(name));
  const ends = new Set([...nameEnds, ...found.tags.flatMap((tag) => suffixesOf(fold(tag)))]);
  const id = idOf(name);
  return {
    id,
    version: position,
    archived: found.archived ? 1 : 0,
    stale: found.stale ? 1 : 0,
    project: keyOf(found.project),
    type: keyOf(found.type),
    creatorId: found.createdById,
    creatorName: keyOf(found.createdByName),
    createdAt: Number(found.createdAt),
    ...(found.lastSeenAt === null ? {} : { lastSeenAt: Number(found.lastSeenAt) }),
    tags: found.tags.map(keyOf),
    segments: found.segmentIds,
    statuses: found.statuses.map(keyOf),
    favoritedBy: found.favoritedBy,
    nameEnds: [...new Set(nameEnds)],
    ends: [...ends],
    name,
    words: wordsOf(name),
    tagTexts: found.tags,
    length: name.length,
    byCreation: sortableMoment(found.createdAt, 'rising') + id,
    byCreationFalling: sortableMoment(found.createdAt, 'falling') + id,
    byType: sortable(found.type),
    byProject: sortable(found.project),
    ...(found.statuses.length === 0 ? {} : { byEnvironment: environmentsOf(found.statuses) }),
  };
};
