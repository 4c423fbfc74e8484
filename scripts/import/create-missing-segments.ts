import { CreateSegmentBody, Refusal } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { UsageError } from '../command.ts';
import { type Export, readJsonFile } from './read-exports.ts';
import type { SendRequest } from './api-client.ts';

/** A segment in the list of segments. The server validates it when it is created. */
interface ListedSegment extends Readonly<Record<string, unknown>> {
  readonly id: number;
  readonly name: string;
}

const isListedSegment = (item: unknown): item is ListedSegment =>
  typeof item === 'object' && item !== null && typeof (item as ListedSegment).name === 'string';

/** Reads a file with a response of `GET /api/admin/segments`. @throws UsageError when it has no list of segments */
export const readSegmentFile = (file: string): ListedSegment[] => {
  const json = readJsonFile(file) as { segments?: unknown } | null;
  const list: unknown = Array.isArray(json) ? json : json?.segments;
  if (!Array.isArray(list) || !list.every(isListedSegment)) {
    throw new UsageError(`${file} has no list of segments: give what GET /api/admin/segments answers.`);
  }
  return list;
};

/** The body that creates the segment: a segment of any project becomes one of the target project; a global one stays global. */
const bodyOf = (
  { name, description, project, constraints }: ListedSegment,
  targetProject: string,
): CreateSegmentBody => {
  const body = { name, constraints, description: description ?? null, project: project ? targetProject : null };
  try {
    return parse(CreateSegmentBody, body, '');
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new UsageError(`The segment "${name}" cannot be created: ${error.message}`);
  }
};

/** Creates the context fields that segments name and the server lacks, as an export describes them, else with any value. */
const createMissingFields = async (
  send: SendRequest,
  segments: readonly CreateSegmentBody[],
  exports: readonly Export[],
): Promise<void> => {
  const described = new Map(
    exports.flatMap(({ parts }) =>
      parts.flatMap(({ contextFields = [] }) =>
        contextFields.map(({ name, description, stickiness, legalValues }) => [
          name,
          { description, stickiness, legalValues },
        ]),
      ),
    ),
  );
  const existing = new Set((await send<{ name: string }[]>('GET', '/api/admin/context')).map(({ name }) => name));
  const named = new Set(segments.flatMap(({ constraints }) => constraints.map(({ contextName }) => contextName)));
  for (const name of named)
    if (!existing.has(name)) await send('POST', '/api/admin/context', { ...described.get(name), name });
};

/**
 * Creates the segments that exports use and the server lacks, with the context fields that they name. Exports and the server match segments by name: ids are ignored.
 * @returns the names of the created segments
 */
export const createMissingSegments = async (
  send: SendRequest,
  {
    listedSegments,
    exports,
    project,
  }: { listedSegments: readonly ListedSegment[]; exports: readonly Export[]; project: string },
): Promise<string[]> => {
  const usedNames = new Set(
    exports.flatMap(({ parts }) => parts.flatMap(({ segments = [] }) => segments.map((segment) => segment.name))),
  );
  const bodies = listedSegments.filter(({ name }) => usedNames.has(name)).map((segment) => bodyOf(segment, project));
  const { segments } = await send<{ segments: { name: string }[] }>('GET', '/api/admin/segments');
  const existingNames = new Set(segments.map(({ name }) => name));
  const missingSegments = bodies.filter(({ name }) => !existingNames.has(name));
  if (missingSegments.length > 0) await createMissingFields(send, missingSegments, exports);
  for (const body of missingSegments) await send('POST', '/api/admin/segments', body);
  return missingSegments.map(({ name }) => name);
};
