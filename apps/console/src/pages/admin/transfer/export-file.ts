import { type CreateSegmentBody, type ExportedFeatures, isJsonObject } from '@bunting/contracts';
import { formatCount, formatNumber } from '../../../text/format-number.ts';

const texts = {
  notExport: (missing: readonly string[]) => `This is no export of flags: it has no list ${missing.join(', ')}.`,
} as const;

type ParsedExport =
  { readonly kind: 'export'; readonly data: ExportedFeatures } | { readonly kind: 'fault'; readonly message: string };

function fault(message: string): ParsedExport {
  return { kind: 'fault', message };
}

/**
 * Parses the text of an export of Unleash or Bunting, or explains why it is not one. The server validates its content.
 * @param maxBytes the limit of the server for the body of an import; undefined while it is not known
 */
export function parseExport(exportText: string, maxBytes = Number.POSITIVE_INFINITY): ParsedExport {
  if (new Blob([exportText]).size > maxBytes)
    return fault(
      `It has more than ${formatNumber(maxBytes / 1024 ** 2)} MiB. Import it with the program of this repository, which sends it in batches: npm run import -- --help`,
    );
  let data: unknown;
  try {
    data = JSON.parse(exportText);
  } catch (error) {
    return fault(`This is not JSON: ${(error as Error).message}.`);
  }
  if (!isJsonObject(data)) return fault(texts.notExport(['features']));
  const root = data;
  const missing = ['features', 'featureStrategies', 'tagTypes'].filter((name) => !Array.isArray(root[name]));
  return missing.length > 0 ? fault(texts.notExport(missing)) : { kind: 'export', data: data as ExportedFeatures };
}

type ParsedSegments =
  | { readonly kind: 'segments'; readonly segments: readonly CreateSegmentBody[] }
  | { readonly kind: 'fault'; readonly message: string };

/** Parses the list of segments of Unleash or Bunting, or explains why a text is not one. The server validates what is created from it. */
export function parseSegments(text: string): ParsedSegments {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return { kind: 'fault', message: `This is not JSON: ${(error as Error).message}.` };
  }
  const list: unknown = isJsonObject(json) ? json['segments'] : json;
  if (!Array.isArray(list)) return { kind: 'fault', message: 'This file has no list of segments.' };
  const segments: CreateSegmentBody[] = [];
  for (const item of list as unknown[]) {
    const { name, description, project, constraints } = isJsonObject(item) ? item : {};
    // An export names its segments without what they compare: created from that, each would match everybody.
    if (typeof name !== 'string' || !Array.isArray(constraints))
      return { kind: 'fault', message: 'This file has segments without constraints: it is an export of flags.' };
    segments.push({
      name,
      description: description ?? null,
      project: project ?? null,
      constraints,
    } as CreateSegmentBody);
  }
  return { kind: 'segments', segments };
}

/** What an export has, in words; kinds of which it has none are left out. */
export function exportedCounts({ features, featureStrategies, ...more }: ExportedFeatures): readonly string[] {
  return (
    [
      [features, 'flag'],
      [featureStrategies, 'strategy', 'strategies'],
      [more.segments, 'segment'],
      [more.contextFields, 'context field'],
      [more.featureTags, 'tag'],
      [more.dependencies, 'flag with dependencies', 'flags with dependencies'],
    ] as const
  ).flatMap(([found = [], one, many]) => (found.length === 0 ? [] : [formatCount(found.length, one, many)]));
}

/** Milliseconds until the object URL is released, by when the browser has certainly started the download. */
const urlLifetimeMs = 60_000;

/** Offers a text to the user as a download. */
export function saveFile(name: string, type: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), urlLifetimeMs);
}
