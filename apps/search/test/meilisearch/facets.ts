/** A document as Meilisearch keeps it. */
export type StoredDocument = Readonly<Record<string, unknown>>;

/** What a field of a document is filtered and sorted by. */
export interface Facet {
  readonly strings: readonly string[];
  readonly numbers: readonly number[];
  readonly isNull: boolean;
  readonly isEmpty: boolean;
}

/** Strings as they are compared: without regard to outer blanks, to case, and to how Unicode composes them. */
export const normalized = (text: string): string => text.trim().normalize('NFKD').toLowerCase();

const longestFacet = 468;

/** Of a value that is indexed no more than so many bytes are kept, whole characters. */
const cut = (text: string): string => {
  if (Buffer.byteLength(text) <= longestFacet) return text;
  let kept = '';
  for (const character of text) {
    if (Buffer.byteLength(kept) + Buffer.byteLength(character) > longestFacet) break;
    kept += character;
  }
  return kept;
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface Collected {
  strings: string[];
  numbers: number[];
  isNull: boolean;
  isEmpty: boolean;
}

const collect = (facets: Map<string, Collected>, path: string, value: unknown): void => {
  const facet = facets.get(path) ?? { strings: [], numbers: [], isNull: false, isEmpty: false };
  facets.set(path, facet);
  const add = (each: unknown, isOwn: boolean): void => {
    if (typeof each === 'number') facet.numbers.push(each);
    else if (typeof each === 'boolean') facet.strings.push(String(each));
    else if (typeof each === 'string' && each !== '') facet.strings.push(cut(normalized(each)));
    else if (isObject(each)) for (const [key, more] of Object.entries(each)) collect(facets, `${path}.${key}`, more);
    else if (isOwn && each === null) facet.isNull = true;
    else if (isOwn) facet.isEmpty = true;
  };
  if (Array.isArray(value) && value.length > 0) for (const each of value) add(each, false);
  else if (isObject(value) && Object.keys(value).length === 0) facet.isEmpty = true;
  else add(value, true);
};

/** The facets of a document by the paths of its fields; an object within a field has paths of its own. */
export const facetsOf = (document: StoredDocument): ReadonlyMap<string, Facet> => {
  const facets = new Map<string, Collected>();
  for (const [key, value] of Object.entries(document)) collect(facets, key, value);
  return facets;
};
