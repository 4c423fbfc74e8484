import type { ChangeRequest, Event, Feature } from '@bunting/contracts';
import { eventually } from '@bunting/testing';

/** The state of a project or flag and its change request, reduced to what writers change. */
export interface Subject {
  readonly exists: boolean;
  readonly flag?: FlagSummary | 'archived';
  readonly request?: RequestSummary;
}

export interface FlagSummary {
  readonly description: string;
  readonly enabled: boolean;
  /** sorted */
  readonly tags: readonly string[];
  /** titles in development, in the order of their strategies */
  readonly titles: readonly string[];
}

export interface RequestSummary {
  readonly state: string;
  readonly changes: number;
  readonly comments: readonly string[];
}

/** The summary of a flag as the API returns it. */
export function flagSummary({ description, environments = [], tags }: Feature): Exclude<Subject['flag'], undefined> {
  const development = environments.find(({ name }) => name === 'development');
  return {
    description: description ?? '',
    enabled: development?.enabled === true,
    tags: (tags ?? []).map(({ value }) => value).toSorted(),
    titles: (development?.strategies ?? []).map(({ title }) => title ?? ''),
  };
}

function requestSummary({ state, features, comments }: ChangeRequest): RequestSummary {
  return {
    state,
    changes: features.reduce((sum, { changes }) => sum + changes.length, 0),
    comments: (comments ?? []).map(({ text }) => text),
  };
}

/** The text that is unique to the write that emitted an event. */
function uniqueTextOf({ data }: Event): string {
  const { title, value, description } = (data ?? {}) as Record<string, unknown>;
  return String(title ?? value ?? description ?? '');
}

/** The type of an event, and the text that distinguishes it from other events of this type. */
export function eventKey(event: Event): string {
  return `${event.type} ${uniqueTextOf(event)}`.trim();
}

/** Whether the change-requests service emits an event with this key. Events of different services have no common order. */
export function isChangeRequestEvent(key: string): boolean {
  return key.startsWith('change-');
}

/** The gateways of a platform, and a token. */
interface ApiAccess {
  readonly urls: readonly string[];
  readonly token: string;
}

/** Reads a path until the response is a success without `Bunting-Stale`; `undefined` for a 404. */
type ReadPath = <T>(path: string) => Promise<T | undefined>;

const attemptTimeoutMs = 15_000;

/**
 * A reader of the API that retries.
 * @param choose the gateway of each attempt
 * @param timeoutMs for how long a failed read is retried
 */
export function retryingReader(
  { urls, token }: ApiAccess,
  choose: (urls: readonly string[]) => string,
  timeoutMs: number,
): ReadPath {
  return <T>(path: string): Promise<T | undefined> =>
    eventually(
      async () => {
        const response = await fetch(`${choose(urls)}${path}`, {
          headers: { authorization: token },
          signal: AbortSignal.timeout(attemptTimeoutMs),
        });
        const text = await response.text();
        if (response.status === 404) return undefined;
        if (!response.ok) throw new Error(`${path} returned ${response.status}: ${text}`);
        const stale = response.headers.get('bunting-stale');
        if (stale !== null) throw new Error(`${path} is stale by ${stale} ms.`);
        return JSON.parse(text) as T;
      },
      { timeoutMs },
    );
}

/** The state that the subjects of one project share. */
interface ProjectContents {
  readonly requests: readonly ChangeRequest[];
  /** names of archived flags */
  readonly archived: readonly string[];
}

/** Reads the state that the subjects of a project share; `undefined` where the project does not exist. */
export async function readProject(read: ReadPath, project: string): Promise<ProjectContents | undefined> {
  const requests = await read<ChangeRequest[]>(`/api/admin/projects/${project}/change-requests`);
  if (requests === undefined) return undefined;
  const archived = await read<{ features: { name: string }[] }>(`/api/admin/archive/features/${project}`);
  return { requests, archived: (archived?.features ?? []).map(({ name }) => name) };
}

/** A subject as the API returns it, and the ids that further writes need. */
export interface ObservedSubject {
  readonly subject: Subject;
  /** ids of the strategies in development, in their order */
  readonly strategyIds: readonly string[];
  readonly requestId: number | undefined;
}

/** Reads a subject by its name. */
export async function readSubject(
  read: ReadPath,
  contents: ProjectContents | undefined,
  project: string,
  subject: string,
): Promise<ObservedSubject> {
  const none = { strategyIds: [], requestId: undefined };
  if (contents === undefined) return { ...none, subject: { exists: false } };
  if (subject === project) return { ...none, subject: { exists: true } };
  const flag = await read<Feature>(`/api/admin/projects/${project}/features/${subject}`);
  const request = contents.requests.find(({ features }) => features.some(({ name }) => name === subject));
  const development = flag?.environments?.find(({ name }) => name === 'development');
  return {
    subject: {
      exists: true,
      ...(flag === undefined ? {} : { flag: flagSummary(flag) }),
      ...(contents.archived.includes(subject) ? { flag: 'archived' } : {}),
      ...(request === undefined ? {} : { request: requestSummary(request) }),
    },
    strategyIds: (development?.strategies ?? []).map(({ id }) => id ?? ''),
    requestId: request?.id,
  };
}
