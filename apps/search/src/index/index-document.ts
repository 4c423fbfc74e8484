import { contentTag } from '@bunting/contracts/hashing';
import { splitWords } from '../search/words.ts';

/** What an index has of a feature: texts to compare, keys to filter by, and what decides between features that match as well. */
export interface IndexDocument {
  readonly id: string;
  /** identifies the build of the index: a search finds only documents of the one that this database records */
  readonly generation: string;
  readonly name: string;
  /** the name with spaces between its words, such as `new Checkout` for `newCheckout` */
  readonly words: string;
  readonly tags: readonly string[];
  readonly archived: 0 | 1;
  readonly stale: 0 | 1;
  readonly project: string;
  readonly type: string;
  readonly createdById: number;
  readonly createdBy: string;
  readonly tagKeys: readonly string[];
  readonly segmentIds: readonly number[];
  readonly statuses: readonly string[];
  readonly inProduction: 0 | 1;
  /** grows with each change of what the index has of the feature */
  readonly changed: number;
}

/** The properties of a feature from which its document is made. */
export interface IndexedFeature {
  readonly name: string;
  readonly archived: boolean;
  readonly stale: boolean;
  readonly project: string;
  readonly type: string;
  readonly createdById: number;
  readonly createdBy: string;
  readonly tags: readonly string[];
  readonly segmentIds: readonly number[];
  /** each written `<environment>:enabled` or `<environment>:disabled` */
  readonly statuses: readonly string[];
  readonly changed: number;
}

/** A document that identifies the build of the index, and the transaction before which all changes are in it. */
export interface IndexMarker {
  readonly id: typeof markerId;
  readonly marks: string;
  readonly checkpointXid: string;
  /** the settings that the server returned when the index was built */
  readonly settings: string;
}

export const markerId = 'mark';

/** Meilisearch does not allow all characters of names in ids, so an id is the UTF-8 bytes of the name in hexadecimal digits. */
export function documentIdOf(name: string): string {
  return Buffer.from(name).toString('hex');
}

/** The name that an id encodes; undefined for an id of another form. */
export function featureNameOf(id: unknown): string | undefined {
  if (typeof id !== 'string') return undefined;
  const name = Buffer.from(id, 'hex').toString();
  return documentIdOf(name) === id ? name : undefined;
}

/** Meilisearch cuts longer values. */
const maxKeyBytes = 400;

/**
 * A value in a form by which Meilisearch compares it exactly. It compares without case, and takes what reads as a number for one: lower-case
 * letters and hyphens stay, each other byte is `_` and two digits. A long value is a hash.
 */
export function escapedKey(value: string): string {
  const key = [...Buffer.from(value)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[a-z-]/.test(character) ? character : `_${byte.toString(16).padStart(2, '0')}`;
    })
    .join('');
  return key.length <= maxKeyBytes ? key : `__${documentIdOf(contentTag(value))}`;
}

/** The value of a key of `escapedKey`; undefined for a hash. */
export function unescapedKey(key: string): string | undefined {
  if (key.startsWith('__')) return undefined;
  const bytes = key.replace(/_([0-9a-f]{2})|([a-z-])/g, (_match, byte: string | undefined, letter: string) =>
    byte === undefined ? letter.charCodeAt(0).toString(16) : byte,
  );
  return Buffer.from(bytes, 'hex').toString();
}

export function indexDocumentOf(feature: IndexedFeature, generation: string): IndexDocument {
  const { name, tags, project, type, createdBy, statuses, ...others } = feature;
  return {
    ...others,
    id: documentIdOf(name),
    generation,
    name,
    words: splitWords(name).join(' '),
    tags,
    archived: feature.archived ? 1 : 0,
    stale: feature.stale ? 1 : 0,
    project: escapedKey(project),
    type: escapedKey(type),
    createdBy: escapedKey(createdBy),
    tagKeys: tags.map(escapedKey),
    statuses: statuses.map(escapedKey),
    inProduction: statuses.includes('production:enabled') ? 1 : 0,
  };
}
