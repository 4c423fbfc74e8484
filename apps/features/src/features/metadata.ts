import { newFeatureMetadata } from '@bunting/contracts';
import type { Feature } from './feature.ts';

/** The properties that create, update, clone and import set on a feature as a whole. */
export type Metadata = Pick<Feature, keyof typeof newFeatureMetadata>;

export const metadataNames: readonly (keyof Metadata)[] = Object.keys(newFeatureMetadata) as (keyof Metadata)[];

/** Properties to change; an undefined one does not change. */
export type MetadataChanges = { readonly [K in keyof Metadata]?: Metadata[K] | undefined };

/** The metadata among the members of an object, without members that are undefined. */
export const pickMetadata = (source: Readonly<Record<string, unknown>>): Partial<Record<keyof Metadata, unknown>> =>
  Object.fromEntries(metadataNames.flatMap((key) => (source[key] === undefined ? [] : [[key, source[key]]])));

/**
 * The metadata of a document that a patch changed: a member that the patch removed has the value of a new feature. Values are not checked.
 */
export const metadataOfDocument = (
  document: Readonly<Record<string, unknown>>,
): Readonly<Record<keyof Metadata, unknown>> => ({ ...newFeatureMetadata, ...pickMetadata(document) });

/** The metadata after changes. Empty texts of fields that may be null become null. */
export const changeMetadata = (changes: MetadataChanges, before: Metadata = newFeatureMetadata): Metadata => {
  const after = { ...newFeatureMetadata, ...pickMetadata(before), ...pickMetadata(changes) } as Metadata;
  return { ...after, description: after.description || null };
};
