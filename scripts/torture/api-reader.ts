import type { ChangeRequest, Feature } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { flagSummary, requestSummary, type Subject } from './subject-state.ts';

/** The gateways of a platform, and a token. */
interface ApiAccess {
  readonly urls: readonly string[];
  readonly token: string;
}

/** Reads a path until the response is a success without `Bunting-Stale`; `undefined` for a 404. */
type ReadPath = <T>(path: string, body?: unknown) => Promise<T | undefined>;

const attemptTimeoutMs = 15_000;

/**
 * A reader of the API that retries.
 * @param choose the gateway of each attempt
 * @param timeoutMs for how long a failed read is retried
 */
export const retryingReader =
  ({ urls, token }: ApiAccess, choose: (urls: readonly string[]) => string, timeoutMs: number): ReadPath =>
  <T>(path: string, body?: unknown): Promise<T | undefined> =>
    eventually(
      async () => {
        const response = await fetch(`${choose(urls)}${path}`, {
          headers: { authorization: token, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
          signal: AbortSignal.timeout(attemptTimeoutMs),
          ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
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

/** The state that the subjects of one project share. */
interface ProjectContents {
  readonly requests: readonly ChangeRequest[];
  /** names of archived flags */
  readonly archived: readonly string[];
}

/** Reads the state that the subjects of a project share; `undefined` where the project does not exist. */
export const readProject = async (read: ReadPath, project: string): Promise<ProjectContents | undefined> => {
  const requests = await read<ChangeRequest[]>(`/api/admin/projects/${project}/change-requests`);
  if (requests === undefined) return undefined;
  const archived = await read<{ features: { name: string }[] }>(`/api/admin/archive/features/${project}`);
  return { requests, archived: (archived?.features ?? []).map(({ name }) => name) };
};

/** A subject as the API returns it, and the ids that further writes need. */
export interface ObservedSubject {
  readonly subject: Subject;
  /** ids of the strategies in development, in their order */
  readonly strategyIds: readonly string[];
  readonly requestId: number | undefined;
}

/** Reads a subject by its name. */
export const readSubject = async (
  read: ReadPath,
  contents: ProjectContents | undefined,
  project: string,
  subject: string,
): Promise<ObservedSubject> => {
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
};
