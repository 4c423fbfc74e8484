import {
  type ApiToken,
  type CreatedPat,
  type CreatedProject,
  type CreatedUser,
  type CreateFeatureBody,
  type CreateProjectBody,
  type CreateSegmentBody,
  ErrorBody,
  type ErrorKind,
  type Event,
  type Events,
  type Feature,
  type FeatureStrategy,
  type FeatureWithoutEnvironments,
  type SearchEventsBody,
  type SearchFeaturesResponse,
  type Segment,
  type StrategyProperties,
  type User,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { expect } from 'vitest';
import type { Platform } from './platform.ts';

/** Expects the status of a response. @returns its body */
const bodyWithStatus = <T>(response: ApiResponse<T>, status: number): T => {
  expect({ status: response.status, text: status === response.status ? '' : response.text }).toEqual({
    status,
    text: '',
  });
  return response.body;
};

/** The path of a feature, which precedes those of its strategies and environments. */
export const featurePath = (project: string, feature: string): string =>
  `/api/admin/projects/${project}/features/${feature}`;

/** The set-up and the reads of journeys over HTTP; each function fails when a response is not a success. */
export const platformClient = (api: Api) => ({
  createProject: async (id: string, more: Partial<CreateProjectBody> = {}): Promise<CreatedProject> =>
    bodyWithStatus(
      await api<CreatedProject>('POST', '/api/admin/projects', { id, name: `Project ${id}`, ...more }),
      201,
    ),

  createFeature: async (
    project: string,
    name: string,
    more: Partial<CreateFeatureBody> = {},
  ): Promise<FeatureWithoutEnvironments> =>
    bodyWithStatus(
      await api<FeatureWithoutEnvironments>('POST', `/api/admin/projects/${project}/features`, { name, ...more }),
      201,
    ),

  addStrategy: async (
    feature: string,
    environment: string,
    strategy: Partial<StrategyProperties> = {},
  ): Promise<FeatureStrategy> =>
    bodyWithStatus(
      await api<FeatureStrategy>('POST', `${feature}/environments/${environment}/strategies`, {
        name: 'flexibleRollout',
        ...strategy,
      }),
      200,
    ),

  createSegment: async (segment: Partial<CreateSegmentBody> & { name: string }): Promise<Segment> =>
    bodyWithStatus(await api<Segment>('POST', '/api/admin/segments', { constraints: [], ...segment }), 201),

  addTag: async (feature: string, type: string, value: string): Promise<void> => {
    bodyWithStatus(await api('POST', `/api/admin/features/${feature}/tags`, { type, value }), 201);
  },

  toggle: async (feature: string, environment: string, to: 'on' | 'off'): Promise<void> => {
    bodyWithStatus(await api('POST', `${feature}/environments/${environment}/${to}`), 200);
  },

  patchStrategy: async (
    feature: string,
    environment: string,
    strategyId: string | undefined,
    patch: readonly object[],
  ): Promise<FeatureStrategy> =>
    bodyWithStatus(
      await api<FeatureStrategy>('PATCH', `${feature}/environments/${environment}/strategies/${strategyId}`, patch),
      200,
    ),

  archive: async (feature: string): Promise<void> => {
    bodyWithStatus(await api('DELETE', feature), 202);
  },

  getFeature: async (feature: string): Promise<Feature> => bodyWithStatus(await api<Feature>('GET', feature), 200),

  events: async (criteria: SearchEventsBody): Promise<Events> =>
    bodyWithStatus(await api<Events>('POST', '/api/admin/events/search', criteria), 200),

  /** the types of the events, oldest first */
  eventTypes: async (criteria: SearchEventsBody): Promise<string[]> => {
    const { events } = bodyWithStatus(await api<Events>('POST', '/api/admin/events/search', criteria), 200);
    return events.toReversed().map(({ type }: Event) => type);
  },

  search: async (parameters: Readonly<Record<string, string>>): Promise<SearchFeaturesResponse> =>
    bodyWithStatus(
      await api<SearchFeaturesResponse>('GET', `/api/admin/search/features?${new URLSearchParams(parameters)}`),
      200,
    ),
});

type Schema = Parameters<typeof parse>[0];

/** Expects that a body matches its schema; a failure names the member that does not. */
export const expectFits = (schema: Schema, body: unknown): void => {
  expect(() => parse(schema, structuredClone(body), '/answer')).not.toThrow();
};

const jsonType = /^application\/json\b/;
/** Internals of the program, such as stack traces and SQL, which no response may contain. */
const internals =
  /<html|<!doctype|node_modules|\.[tj]s:\d+|\bat .+:\d+:\d+|\b(SELECT|INSERT|UPDATE|DELETE FROM)\b .*\b(FROM|INTO|SET|WHERE)\b|relation "|violates/;

/** Expects a refusal as the API promises it: the status, and a body with the reason in a sentence that contains the texts `mentioned`. */
export const expectRefusal = (
  response: ApiResponse,
  status: number,
  kind: ErrorKind,
  ...mentioned: readonly string[]
): void => {
  const { id, name, message } = (response.body ?? {}) as Partial<ErrorBody>;
  expect({ status: response.status, name, message }).toEqual({ status, name: kind, message: expect.any(String) });
  expectFits(ErrorBody, response.body);
  expect(id).toMatch(/^\S{8,}$/);
  expect(response.headers.get('content-type')).toMatch(jsonType);
  expect(response.text).not.toMatch(internals);
  for (const text of mentioned) expect(message).toContain(text);
};

export const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
export const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
export const imageUrl = expect.stringMatching(/^https:\/\/\S+$/);

/** A response of the platform, and the milliseconds that the client measured. */
export interface ApiResponse<T = unknown> {
  readonly status: number;
  readonly headers: Headers;
  /** the JSON of the response; undefined when it has no body */
  readonly body: T;
  readonly text: string;
  readonly ms: number;
}

/**
 * Sends a request to the platform over HTTP, as an administrator. A body that is text or bytes is sent unchanged, any other as JSON; a
 * header that is null is not sent.
 */
export type Api = <T = unknown>(
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string | null>>,
) => Promise<ApiResponse<T>>;

const bytesOf = (body: unknown): Uint8Array<ArrayBuffer> | undefined => {
  if (body === undefined) return undefined;
  if (body instanceof Uint8Array) return Uint8Array.from(body);
  return Uint8Array.from(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
};

export const apiOf =
  (url: string, token: string): Api =>
  async <T>(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string | null>> = {}) => {
    const bytes = bytesOf(body);
    const requestHeaders = new Headers({ authorization: token });
    if (bytes !== undefined) requestHeaders.set('content-type', 'application/json');
    for (const [name, value] of Object.entries(headers)) {
      if (value === null) requestHeaders.delete(name);
      else requestHeaders.set(name, value);
    }
    const startedAt = performance.now();
    const response = await fetch(`${url}${path}`, {
      method,
      headers: requestHeaders,
      redirect: 'manual',
      ...(bytes === undefined ? {} : { body: bytes }),
    });
    const text = await response.text();
    const ms = performance.now() - startedAt;
    const isJson = /^application\/json\b/.test(response.headers.get('content-type') ?? '');
    const parsed = (isJson && text !== '' ? JSON.parse(text) : undefined) as T;
    return { status: response.status, headers: response.headers, body: parsed, text, ms };
  };

/** A user with a key, who sends requests. */
export interface TestUser {
  readonly id: number;
  readonly key: string;
  readonly api: Api;
}

export const rootRole = { admin: 1, editor: 2, viewer: 3 } as const;
export const projectRole = { owner: 4, member: 5, reader: 6 } as const;

/** The set-up that administrators do over HTTP; each function fails if a response is not a success. */
export const adminClient = (platform: () => Platform) => {
  /** Sends a request of the Admin API, and expects a success. @returns the body of the response */
  const expectSuccess = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const { status, text, body: responseBody } = await platform().api<T>(method, `/api/admin/${path}`, body);
    expect({ ok: status < 300, status, text }).toEqual({ ok: true, status, text });
    return responseBody;
  };
  const keyOf = async (url: string): Promise<string> =>
    (await expectSuccess<CreatedPat>('POST', `${url}/token`, { description: 'first key' })).secret;
  return {
    expectSuccess,

    /** Creates a user, and the first key of that user. */
    createUser: async (username: string, role: number = rootRole.viewer): Promise<TestUser> => {
      const { id } = await expectSuccess<CreatedUser>('POST', 'user-admin', { username, rootRole: role });
      const key = await keyOf(`user-admin/${id}`);
      return { id, key, api: apiOf(platform().url, key) };
    },

    createServiceAccount: async (username: string, role: number = rootRole.viewer): Promise<TestUser> => {
      const { id } = await expectSuccess<User>('POST', 'service-account', { username, rootRole: role });
      const key = await keyOf(`service-account/${id}`);
      return { id, key, api: apiOf(platform().url, key) };
    },

    apiToken: (tokenName: string, more: object = {}): Promise<ApiToken> =>
      expectSuccess<ApiToken>('POST', 'api-tokens', { tokenName, type: 'client', environment: 'development', ...more }),

    /** The events of these types that contain the text, oldest first. */
    eventsAbout: async (query: string, ...types: string[]): Promise<Event[]> => {
      const { events } = await expectSuccess<Events>('POST', 'events/search', { query, limit: 100 });
      return events.filter(({ type }) => types.length === 0 || types.includes(type)).toReversed();
    },
  };
};
