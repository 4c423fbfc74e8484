import { randomUUID } from 'node:crypto';
import { type Endpoint, type IdempotentWrite, implement, JsonText } from '@bunting/bus';
import {
  AddFeatureTag,
  anyScope,
  ArchiveFeature,
  type Caller,
  type CreatedPat,
  type CreatedUser,
  CreateFeature,
  CreateSegment,
  DeprecatedSearchEvents,
  type ErrorBody,
  GetFeature,
  GetSegment,
  ImportFeatures,
  ListEnvironmentNames,
  ListEnvironmentSettingsOfProject,
  ListFeatureTags,
  ListProjects,
  may,
  noAccess,
  notFound,
  type OutboxEvent,
  type OutboxMessage,
  outboxOperations,
  PatchStrategy,
  permissionsFor,
  RemoveFeatureTag,
  ReportProxiedMetrics,
  SearchFeatures,
} from '@bunting/contracts';
import { leastOf } from '@bunting/testing';
import type { Static } from 'typebox';
import { expect } from 'vitest';
import type { StartedGateway } from './started-gateway.ts';

const environment = (name: string, sortOrder: number) => ({
  name,
  type: name,
  sortOrder,
  enabled: true,
  protected: false,
});

const stateMessageOf = (id: string, nth: number): OutboxMessage => ({
  position: nth + 1,
  uid: randomUUID(),
  type: 'project',
  recordedAt: new Date().toISOString(),
  traceparent: null,
  payload: { entity: 'project', id, version: 1, state: { id, mode: 'open', createdBy: null } },
});

/**
 * The projects and environments, as the features service emits them.
 * @param found is awaited after projects are read and before the reply
 * @param emitted the projects whose states are in the outbox
 */
export const fakeProjectEndpoints = (
  projects: readonly string[],
  found = () => Promise.resolve(),
  emitted = projects,
): readonly Endpoint[] => {
  const environments = [environment('development', 1), environment('production', 2)];
  const messages = emitted.map(stateMessageOf);
  return [
    implement(outboxOperations.features, async ({ body: { topic, after } }) => {
      if (topic === 'delivery') return { head: 0, messages: [] };
      return { head: messages.length, messages: messages.filter(({ position }) => position > after) };
    }),
    implement(ListEnvironmentNames, async () => ({ names: environments.map(({ name }) => name) })),
    implement(ListProjects, async () => {
      await found();
      return { version: 1 as const, projects: projects.map((id) => ({ id, name: id })) };
    }),
    implement(ListEnvironmentSettingsOfProject, async ({ params }) => {
      if (!projects.includes(params.projectId)) throw notFound(`Could not find project with id ${params.projectId}`);
      await found();
      return { environments };
    }),
  ];
};

export interface ApiResponse<T> {
  readonly status: number;
  readonly body: T;
  readonly headers: Headers;
}

/** Sends JSON requests to the gateway, and creates the users and keys that they need. */
export const accessApi = (gateway: () => StartedGateway) => {
  let made = 0;
  const send = async <T = ErrorBody>(
    method: string,
    path: string,
    body?: unknown,
    key?: string | null,
  ): Promise<ApiResponse<T>> => {
    const response = await gateway().send(`/api/admin/${path}`, {
      method,
      ...(key === undefined ? {} : { key }),
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const text = await response.text();
    return {
      status: response.status,
      body: (text === '' ? undefined : JSON.parse(text)) as T,
      headers: response.headers,
    };
  };
  const done = async <T>(method: string, path: string, body?: unknown, key?: string): Promise<T> => {
    const { status, body: reply } = await send<T>(method, path, body, key);
    expect({ status, reply }).toEqual({ status: status < 300 ? status : 'a success', reply });
    return reply;
  };
  const aUser = async (rootRole: number | string = 3): Promise<{ id: number; key: string; name: string }> => {
    const name = `user-${++made}`;
    const { id } = await done<CreatedUser>('POST', 'user-admin', { username: name, rootRole });
    const key = `user:${String(made).padStart(60, '0')}${String(Date.now() % 10_000)}`;
    await gateway().givenToken({ token: key, userId: id });
    return { id, key, name };
  };
  return {
    send,
    done,
    /** A user with a key. */
    aUser,
    /** A token that a caller creates with another token. */
    aPat: async (key: string, description = `key ${++made}`): Promise<CreatedPat> =>
      done<CreatedPat>('POST', 'user/tokens', { description }, key),
    /** The events that a job emits. */
    emittedBy: async (work: () => Promise<unknown>): Promise<OutboxEvent[]> => {
      const before = (await gateway().emittedEvents()).length;
      await work();
      return (await gateway().emittedEvents()).slice(before);
    },
  };
};

/** One call that reached a service. */
export interface ReceivedCall {
  readonly operation: string;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly caller: Caller;
  readonly requestId: string;
  readonly traceparent: string;
  readonly idempotency: IdempotentWrite | undefined;
}

/** A reply of `create-feature` with all of its required properties. */
export const aFeature = (name: string, project: string) => ({
  ...(leastOf(CreateFeature.reply) as Static<typeof CreateFeature.reply>),
  name,
  project,
  createdAt: '2026-11-21T10:00:00.000Z',
});

/** Checks the permission, as endpoints of services do. */
const authorised = ({ operation, handle }: Endpoint): Endpoint => ({
  operation,
  handle: (request) => {
    const wanted = permissionsFor(operation);
    if (wanted.length > 0 && !may(request.caller, wanted, anyScope)) throw noAccess(wanted);
    return handle(request);
  },
});

/** Stand-ins for the services behind the gateway: they return prepared replies and record the calls. */
export const servicesBehind = (): { readonly received: ReceivedCall[]; readonly endpoints: readonly Endpoint[] } => {
  const received: ReceivedCall[] = [];
  const record = (operation: string, request: Omit<ReceivedCall, 'operation'>) => {
    const { params, query, body, caller, requestId, traceparent, idempotency } = request;
    received.push({ operation, params, query, body, caller, requestId, traceparent, idempotency });
  };
  return {
    received,
    endpoints: [
      implement(GetFeature, async (request) => {
        record('get-feature', request);
        const { projectId, featureName } = request.params;
        if (featureName === 'gone') throw notFound(`Could not find feature with name ${featureName}`);
        if (featureName === 'broken') throw new Error('select secret from password_table');
        // The JSON has blanks, to show that the gateway does not parse and serialise it.
        return new JsonText(`{ "name": ${JSON.stringify(featureName)},  "project": ${JSON.stringify(projectId)} }`);
      }),
      implement(PatchStrategy, async (request) => {
        record('patch-strategy', request);
        return { id: request.params.strategyId, name: 'flexibleRollout' };
      }),
      implement(CreateFeature, async (request) => {
        record('create-feature', request);
        return aFeature(request.body.name, request.params.projectId);
      }),
      implement(ArchiveFeature, async (request) => {
        record('archive-feature', request);
        return null;
      }),
      implement(RemoveFeatureTag, async (request) => {
        record('remove-feature-tag', request);
        return null;
      }),
      implement(AddFeatureTag, async (request) => {
        record('add-feature-tag', request);
        return request.body;
      }),
      implement(ListFeatureTags, async (request) => {
        record('list-feature-tags', request);
        return { version: 1 as const, tags: [] };
      }),
      implement(ReportProxiedMetrics, async (request) => {
        record('report-proxied-metrics', request);
        return null;
      }),
      implement(CreateSegment, async (request) => {
        record('create-segment', request);
        return { id: 7, name: request.body.name, constraints: [] };
      }),
      implement(GetSegment, async (request) => {
        record('get-segment', request);
        return { id: request.params.id, name: 'beta', constraints: [] };
      }),
      implement(ImportFeatures, async (request) => {
        record('import-features', request);
        const none = {
          created: 0,
          updated: 0,
          unchanged: 0,
          strategies: 0,
          tags: 0,
          tagTypes: 0,
          contextFields: 0,
          dependencies: 0,
        };
        return { ...none, skipped: [] };
      }),
      implement(SearchFeatures, async (request) => {
        record('search-features', request);
        request.setHeader('Bunting-Stale', '120');
        return { features: [], total: 0 };
      }),
      implement(DeprecatedSearchEvents, async (request) => {
        record('deprecated-search-events', request);
        return { version: 1 as const, events: [], totalEvents: 0 };
      }),
    ].map(authorised),
  };
};

const members = ['id', 'name', 'message', 'details', 'permissions'];
/** How to sign in, which the 401 of a missing or invalid token adds. */
const signInMembers = ['path', 'type', 'defaultHidden', 'options', 'hasUsers'];

/** The body of a refusal. Expects the members that every error has. */
export const refusalOf = async (response: Response): Promise<ErrorBody> => {
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  return refusalIn(await response.text());
};

export const refusalIn = (text: string): ErrorBody => {
  const body = JSON.parse(text) as ErrorBody;
  expect(body.id).toMatch(/^[0-9a-f-]{36}$/);
  expect(typeof body.name).toBe('string');
  expect(typeof body.message).toBe('string');
  const allowed = body.name === 'AuthenticationRequired' ? [...members, ...signInMembers] : members;
  expect(Object.keys(body).filter((key) => !allowed.includes(key))).toEqual([]);
  expect(text).not.toMatch(/<html|\.ts:\d|node_modules|select /i);
  return body;
};
