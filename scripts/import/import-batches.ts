import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateSegmentBody, ExportedFeatures, lenientSchema, Refusal } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { UsageError } from '../command.ts';

/** The maximum size of one request. A single feature above it is sent alone. */
export interface BatchSize {
  readonly features: number;
  readonly bytes: number;
}

type ListOf<K extends keyof ExportedFeatures> = NonNullable<ExportedFeatures[K]>;

/** A feature with everything in the file that belongs to it. */
interface FeatureData {
  readonly feature: ListOf<'features'>[number];
  readonly strategies: ListOf<'featureStrategies'>;
  readonly environments: ListOf<'featureEnvironments'>;
  readonly tags: ListOf<'featureTags'>;
  readonly dependencies: ListOf<'dependencies'>;
  readonly links: ListOf<'links'>;
  bytes: number;
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value)) + 1;
}

/** The data of each feature by its name, in the order of the file. */
function groupByFeature(data: ExportedFeatures): Map<string, FeatureData> {
  const dataByName = new Map<string, FeatureData>();
  for (const feature of data.features) {
    if (dataByName.has(feature.name)) throw new Error(`The file has the feature "${feature.name}" twice.`);
    const noData = { strategies: [], environments: [], tags: [], dependencies: [], links: [] };
    dataByName.set(feature.name, { feature, ...noData, bytes: bytesOf(feature) });
  }
  const assign = <T>(
    list: readonly T[] | undefined,
    nameOf: (item: T) => string,
    listIn: (featureData: FeatureData) => T[],
  ): void => {
    for (const item of list ?? []) {
      const featureData = dataByName.get(nameOf(item));
      if (featureData === undefined)
        throw new Error(`The file is not whole: it does not have the feature "${nameOf(item)}".`);
      listIn(featureData).push(item);
      featureData.bytes += bytesOf(item);
    }
  };
  assign(
    data.featureStrategies,
    ({ featureName }) => featureName,
    ({ strategies }) => strategies,
  );
  assign(
    data.featureEnvironments,
    ({ featureName }) => featureName,
    ({ environments }) => environments,
  );
  assign(
    data.featureTags,
    ({ featureName }) => featureName,
    ({ tags }) => tags,
  );
  assign(
    data.dependencies,
    ({ feature }) => feature,
    ({ dependencies }) => dependencies,
  );
  assign(
    data.links,
    ({ feature }) => feature,
    ({ links }) => links,
  );
  return dataByName;
}

/** The export of several features, with only the catalogue entries that they refer to. */
function partOf(features: readonly FeatureData[], data: ExportedFeatures): ExportedFeatures {
  const strategies = features.flatMap((featureData) => featureData.strategies);
  const tags = features.flatMap((featureData) => featureData.tags);
  const fields = new Set(
    strategies.flatMap(({ constraints = [] }) => constraints.map((constraint) => constraint.contextName)),
  );
  const segments = new Set(strategies.flatMap((strategy) => strategy.segments ?? []));
  const types = new Set(tags.map(({ tagType }) => tagType));
  return {
    features: features.map(({ feature }) => feature),
    featureStrategies: strategies,
    featureEnvironments: features.flatMap((featureData) => featureData.environments),
    featureTags: tags,
    dependencies: features.flatMap((featureData) => featureData.dependencies),
    links: features.flatMap((featureData) => featureData.links),
    contextFields: (data.contextFields ?? []).filter(({ name }) => fields.has(name)),
    segments: (data.segments ?? []).filter(({ id }) => segments.has(id)).map(({ id, name }) => ({ id, name })),
    tagTypes: data.tagTypes.filter(({ name }) => types.has(name)),
  };
}

/**
 * Splits an export into batches that can be imported one after the other: each has whole features, and parents come before those that
 * depend on them.
 */
export function batchesOf(data: ExportedFeatures, { features: maxFeatures, bytes }: BatchSize): ExportedFeatures[] {
  const features = [...groupByFeature(data).values()];
  const hasParent = ({ dependencies }: FeatureData): boolean =>
    dependencies.some((dependency) => dependency.dependencies.length > 0);
  const parts: FeatureData[][] = [];
  let freeBytes = 0;
  for (const featureData of [...features.filter((candidate) => !hasParent(candidate)), ...features.filter(hasParent)]) {
    const last = parts.at(-1);
    if (last === undefined || last.length >= maxFeatures || featureData.bytes > freeBytes) {
      parts.push([featureData]);
      freeBytes = bytes - featureData.bytes;
    } else {
      last.push(featureData);
      freeBytes -= featureData.bytes;
    }
  }
  return parts.map((part) => partOf(part, data));
}

/** The JSON of a file. @throws UsageError that names the file. */
function readJsonFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_STRING_TOO_LONG' || code === 'ERR_FS_FILE_TOO_LARGE')
      throw new UsageError(`${file} is larger than 512 MB: export it in several files, by tag or by name.`);
    if (code !== undefined) throw new UsageError(`${file} cannot be read: ${message}`);
    throw new UsageError(`${file} is not JSON, or not whole: ${message}`);
  }
}

/** An export, split into batches for one request each. */
export interface Export {
  readonly file: string;
  readonly features: number;
  readonly parts: readonly ExportedFeatures[];
}

/** Runs a check of a file. @throws UsageError that names the file, for any error of the check */
function inFile<T>(file: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof Refusal)) throw new UsageError(`${file}: ${(error as Error).message}`);
    throw new UsageError(`${file}: ${error.details.map(({ message }) => message).join('\n')}`);
  }
}

/** Adds to reasons, which say by its place in an export what they are about, the name of the feature. */
export function withFeatureNames(reasons: string, exported: unknown): string {
  const lists = exported as Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>> | null;
  return reasons.replaceAll(/`(?:\/body\/data)?\/(\w+)\/(\d+)[^`]*` property/g, (text, list: string, at: string) => {
    const { feature, featureName = feature, name } = lists?.[list]?.[Number(at)] ?? {};
    const owner = list === 'features' ? name : featureName;
    return typeof owner === 'string' ? `${text} of the feature "${owner}"` : text;
  });
}

/** Parses an export. @throws UsageError that names the file, and the features at fault */
export function parseExport(file: string, json: unknown): ExportedFeatures {
  return inFile(file, () => {
    try {
      return parse(lenientSchema(ExportedFeatures), json);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      throw new Error(withFeatureNames(error.details.map(({ message }) => message).join('\n'), json), { cause: error });
    }
  });
}

/**
 * Splits an export into batches.
 * @param listedSegments give the names of segments that it uses by id, but does not name
 * @throws UsageError when it is not whole
 */
export function splitExport(
  file: string,
  data: ExportedFeatures,
  size: BatchSize,
  listedSegments: readonly { readonly id: number; readonly name: string }[],
): Export {
  const namedIds = new Set(data.segments?.map(({ id }) => id));
  const segments = [...(data.segments ?? []), ...listedSegments.filter(({ id }) => !namedIds.has(id))];
  return { file, features: data.features.length, parts: inFile(file, () => batchesOf({ ...data, segments }, size)) };
}

/**
 * Reads exports, all of them before anything is sent. All are of one environment, because an import has one target.
 * @param listedSegments give the names of segments that an export uses by id, but does not name
 */
export function readExports(
  files: readonly string[],
  size: BatchSize,
  listedSegments: readonly { readonly id: number; readonly name: string }[] = [],
): Export[] {
  let firstExport: { readonly file: string; readonly environment: string } | undefined;
  return files.map((file) => {
    const data = parseExport(file, readJsonFile(file));
    for (const { environment } of data.featureEnvironments ?? []) {
      if (environment === undefined) continue;
      firstExport ??= { file, environment };
      if (firstExport.environment === environment) continue;
      throw new UsageError(
        `${firstExport.file} is of the environment "${firstExport.environment}", and ${file} of "${environment}": import them one by one, each with its --environment.`,
      );
    }
    return splitExport(file, data, size, listedSegments);
  });
}

/** A segment in the list of segments. The server validates it when it is created. */
interface ListedSegment extends Readonly<Record<string, unknown>> {
  readonly id: number;
  readonly name: string;
}

function isListedSegment(item: unknown): item is ListedSegment {
  return typeof item === 'object' && item !== null && typeof (item as ListedSegment).name === 'string';
}

/** Reads a file with a response of `GET /api/admin/segments`. @throws UsageError when it has no list of segments */
export function readSegmentFile(file: string): ListedSegment[] {
  const json = readJsonFile(file) as { segments?: unknown } | null;
  const list: unknown = Array.isArray(json) ? json : json?.segments;
  if (!Array.isArray(list) || !list.every(isListedSegment)) {
    throw new UsageError(`${file} has no list of segments: give what GET /api/admin/segments answers.`);
  }
  return list;
}

/** The body that creates the segment: a segment of any project becomes one of the target project; a global one stays global. */
function bodyOf({ name, description, project, constraints }: ListedSegment, targetProject: string): CreateSegmentBody {
  const body = { name, constraints, description: description ?? null, project: project ? targetProject : null };
  try {
    return parse(CreateSegmentBody, body, '');
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new UsageError(`The segment "${name}" cannot be created: ${error.message}`);
  }
}

/** Creates the context fields that segments name and the server lacks, as an export describes them, else with any value. */
async function createMissingFields(
  send: SendRequest,
  segments: readonly CreateSegmentBody[],
  exports: readonly Export[],
): Promise<void> {
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
}

/**
 * Creates the segments that exports use and the server lacks, with the context fields that they name. Exports and the server match segments by name: ids are ignored.
 * @returns the names of the created segments
 */
export async function createMissingSegments(
  send: SendRequest,
  {
    listedSegments,
    exports,
    project,
  }: { listedSegments: readonly ListedSegment[]; exports: readonly Export[]; project: string },
): Promise<string[]> {
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
}

/** The failure of a request that the server refused, or of the last attempt to reach the server. */
export class ImportError extends Error {}

/** What was sent is refused, whereas the next request may succeed. */
export class ContentRefused extends ImportError {}

/** Sends a request, and retries temporary failures. */
export type SendRequest = <T>(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown) => Promise<T>;

const retriedStatuses = new Set([408, 429, 502, 503, 504]);
/** Statuses that concern what was sent. */
const refusingStatuses = new Set([400, 404, 409]);
const maxAttempts = 6;

interface ApiResponse {
  readonly status: number;
  readonly text: string;
  readonly waitMs: number | undefined;
}

function reasonsIn(text: string): string {
  try {
    const { message, details } = JSON.parse(text) as { message?: string; details?: { message: string }[] };
    const reasons = (details ?? []).map((detail) => detail.message).filter((reason) => reason !== message);
    return [message ?? text, ...reasons].join('\n  ');
  } catch {
    return text.slice(0, 500);
  }
}

/** The pause between the first attempt and the second; it doubles with each further attempt. */
const initialBackoffMs = 500;

/** An API client that retries temporary failures. */
export function apiClient(url: string, token: string): SendRequest {
  const sendOnce = async (method: string, path: string, body: unknown): Promise<ApiResponse> => {
    const response = await fetch(new URL(path, url), {
      method,
      headers: { authorization: token, 'content-type': 'application/json' },
      redirect: 'error',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    const waitMs = Number.isFinite(seconds) ? Math.min(seconds, 30) * 1_000 : undefined;
    return { status: response.status, text: await response.text(), waitMs };
  };

  return async <T>(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown): Promise<T> => {
    for (let attempt = 1; ; attempt++) {
      const response = await sendOnce(method, path, body).catch((error: unknown) => error as Error);
      if (!(response instanceof Error) && !retriedStatuses.has(response.status)) {
        if (response.status < 300) return (response.text === '' ? undefined : JSON.parse(response.text)) as T;
        const message = `${method} ${path} was answered with ${response.status}: ${reasonsIn(response.text)}`;
        throw refusingStatuses.has(response.status) ? new ContentRefused(message) : new ImportError(message);
      }
      if (attempt === maxAttempts) {
        const reason =
          response instanceof Error
            ? `got no response: ${String(response.cause ?? response.message)}`
            : `was answered with ${response.status}: ${reasonsIn(response.text)}`;
        throw new ImportError(`${method} ${new URL(path, url).href} ${reason}`);
      }
      await sleep((response instanceof Error ? undefined : response.waitMs) ?? initialBackoffMs * 2 ** (attempt - 1));
    }
  };
}
