import { CreateSegmentBody, Refusal } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { UsageError } from '../command.ts';
import { type Export, readJsonFile } from './read-exports.ts';
import type { SendRequest } from './api-client.ts';

/** A segment in the list of segments. The server validates it when it is created. */
export interface ListedSegment extends Readonly<Record<string, unknown>> {
  readonly id: number;
  readonly name: string;
}

const isListed = (item: unknown): item is ListedSegment =>
  typeof item === 'object' && item !== null && typeof (item as ListedSegment).name === 'string';

/** The segments in what `GET /api/admin/segments` answered. */
export const readSegmentFile = (file: string): ListedSegment[] => {
  const json = readJsonFile(file) as { segments?: unknown } | null;
  const list: unknown = Array.isArray(json) ? json : json?.segments;
  if (!Array.isArray(list) || !list.every(isListed)) {
    throw new UsageError(`${file} has no list of segments: give what GET /api/admin/segments answers.`);
  }
  return list;
};

/** The segment for this project: a segment of another project becomes one of this project. */
const bodyOf = ({ name, description, project, constraints }: ListedSegment, into: string): CreateSegmentBody => {
  const body = { name, constraints, description: description ?? null, project: project ? into : null };
  try {
    return parse(CreateSegmentBody, body, '');
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new UsageError(`The segment "${name}" cannot be created: ${error.message}`);
  }
};

/**
 * Creates the segments that exports use and the server lacks. Exports and the server match segments by name: ids are ignored.
 * @returns the names of the created segments
 */
export const createMissingSegments = async (
  send: SendRequest,
  { listed, exports, project }: { listed: readonly ListedSegment[]; exports: readonly Export[]; project: string },
): Promise<string[]> => {
  const used = new Set(
    exports.flatMap(({ parts }) => parts.flatMap(({ segments = [] }) => segments.map((it) => it.name))),
  );
  const bodies = listed.filter(({ name }) => used.has(name)).map((segment) => bodyOf(segment, project));
  const { segments } = await send<{ segments: { name: string }[] }>('GET', '/api/admin/segments');
  const known = new Set(segments.map(({ name }) => name));
  const missing = bodies.filter(({ name }) => !known.has(name));
  for (const body of missing) await send('POST', '/api/admin/segments', body);
  return missing.map(({ name }) => name);
};
