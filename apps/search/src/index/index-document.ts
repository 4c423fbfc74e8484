/** A feature in Meilisearch: only its searchable texts. All other properties are in PostgreSQL. */
export interface IndexDocument {
  readonly id: string;
  readonly archived: 0 | 1;
  readonly name: string;
  /** the name with spaces between its words, such as `my Feature` for `myFeature` */
  readonly words: string;
  readonly tags: readonly string[];
}

/** A document that identifies the build of the index, and the transaction before which all changes are in it. Searches exclude it. */
export interface IndexMarker {
  readonly id: typeof markerId;
  readonly generation: string;
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

export function indexDocumentOf(feature: Pick<IndexDocument, 'name' | 'tags'> & { archived: boolean }): IndexDocument {
  return {
    id: documentIdOf(feature.name),
    archived: feature.archived ? 1 : 0,
    name: feature.name,
    words: feature.name.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2'),
    tags: feature.tags,
  };
}
