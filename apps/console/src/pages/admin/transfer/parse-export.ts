import { type ExportedFeatures, isJsonObject } from '@bunting/contracts';
import { transferMessages as text } from '../../../messages/administration/transfer.ts';

type ParsedExport =
  { readonly kind: 'export'; readonly data: ExportedFeatures } | { readonly kind: 'fault'; readonly message: string };

const fault = (message: string): ParsedExport => ({ kind: 'fault', message });

/**
 * Parses the text of an export of Unleash or Bunting, or explains why it is not one. The server validates its content.
 * @param maxBytes the limit of the server for the body of an import; undefined while it is not known
 */
export const parseExport = (exportText: string, maxBytes = Number.POSITIVE_INFINITY): ParsedExport => {
  if (new Blob([exportText]).size > maxBytes) return fault(text.tooLarge(maxBytes));
  let data: unknown;
  try {
    data = JSON.parse(exportText);
  } catch (error) {
    return fault(text.notJson((error as Error).message));
  }
  if (!isJsonObject(data)) return fault(text.notExport(['features']));
  const root = data;
  const missing = ['features', 'featureStrategies', 'tagTypes'].filter((name) => !Array.isArray(root[name]));
  return missing.length > 0 ? fault(text.notExport(missing)) : { kind: 'export', data: data as ExportedFeatures };
};

/** The number of flags, strategies, segments and so on in an export; kinds of which it has none are left out. */
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
