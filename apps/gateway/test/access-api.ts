import { type Endpoint, implement } from '@bunting/bus';
import {
  type CreatedPat,
  type CreatedUser,
  type ErrorBody,
  ListEnvironmentSettingsOfProject,
  ListEnvironmentNames,
  ListProjects,
  notFound,
  type OutboxMessage,
  outboxOperations,
  type OutboxEvent,
} from '@bunting/contracts';
import { expect } from 'vitest';
import { randomUUID } from 'node:crypto';
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
