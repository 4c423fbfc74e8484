import { type ExportedFeatures, isJsonObject } from '@bunting/contracts';
import { transferMessages as text } from '../../../messages/administration/transfer.ts';

export type ReadExport =
  { readonly kind: 'export'; readonly data: ExportedFeatures } | { readonly kind: 'fault'; readonly message: string };

const fault = (message: string): ReadExport => ({ kind: 'fault', message });

/**
 * Reads the text of an export of Unleash or Bunting, or explains why it is none. The server validates its content.
 * @param maxBytes of the body of an import; undefined until it has been read
 */
export const readExport = (entered: string, maxBytes = Number.POSITIVE_INFINITY): ReadExport => {
  if (new Blob([entered]).size > maxBytes) return fault(text.tooLarge(maxBytes));
  let data: unknown;
  try {
    data = JSON.parse(entered);
  } catch (error) {
    return fault(text.notJson((error as Error).message));
  }
  if (!isJsonObject(data)) return fault(text.notExport(['features']));
  const members = data;
  const missing = ['features', 'featureStrategies', 'tagTypes'].filter((name) => !Array.isArray(members[name]));
  return missing.length > 0 ? fault(text.notExport(missing)) : { kind: 'export', data: data as ExportedFeatures };
};

/** How much an export has of each thing; what it has nothing of is left out. */
export const exportedCounts = (data: ExportedFeatures): readonly (readonly [keyof typeof text.content, number])[] =>
  (
    [
      ['features', data.features.length],
      ['strategies', data.featureStrategies.length],
      ['segments', data.segments?.length ?? 0],
      ['contextFields', data.contextFields?.length ?? 0],
      ['tags', data.featureTags?.length ?? 0],
      ['dependencies', data.dependencies?.length ?? 0],
    ] as const
  ).filter(([, n]) => n > 0);
