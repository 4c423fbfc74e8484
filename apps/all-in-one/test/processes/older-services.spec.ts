import * as contracts from '@bunting/contracts';
import { reservePort } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomBytes, randomUUID } from 'node:crypto';
import { type Platform, startPlatform } from '../../src/platform.ts';
import { type ApiResponse, type Api, apiOf } from '../support/clients.ts';
import { dataFolder, removeFolder } from '../support/platform.ts';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value as a newer version might send it: each object has an unknown property, also in lists. */
const extended = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(extended);
  if (!isObject(value)) return value;
  const lists = Object.entries(value).filter(([, part]) => Array.isArray(part));
  return { ...value, ...Object.fromEntries(lists.map(([name, part]) => [name, extended(part)])), ofANewerVersion: {} };
};
const extendedRequest = (json: string): string => {
  const parts = Object.entries(JSON.parse(json) as object);
  return JSON.stringify(Object.fromEntries(parts.map(([name, part]) => [name, extended(part)])));
};
const extendedReply = (json: string): string => JSON.stringify(extended(JSON.parse(json)));

/**
 * Services are upgraded one after the other. A service that calls an operation which another one does not have yet must continue without
 * it, or name the service to upgrade.
 */
describe('a platform with a service of an older version', () => {
  const dataDir = dataFolder();
  /** the subjects of the operations that are missing */
  const lacking = new Set<string>();
  /** the subjects that were called since it was cleared */
  const calls = new Set<string>();
  /** whether requests and replies between services have unknown properties */
  let isExtended = false;
  let platform: Platform;
  let api: Api;

  beforeAll(async () => {
    const token = `e2e-${randomBytes(24).toString('hex')}`;
    const port = await reservePort();
    const environment = { PORT: String(port), GATEWAY_HOST: '127.0.0.1', BUNTING_DATA_DIR: dataDir };
    const more = { BUNTING_ADMIN_TOKEN: token, CHANGE_REQUESTS_VOLUNTARY: 'true', LOG_LEVEL: 'silent' };
    platform = await startPlatform({ ...environment, ...more });
    api = apiOf(platform.address, token);
    const { bus } = platform.hosted;
    const called = bus.call.bind(bus);
    // Simulates an older version: the service runs, and has no endpoint for the subject.
    bus.call = async (subject, request, context) => {
      calls.add(subject);
      if (lacking.has(subject)) return called(`${subject}-lacking`, request, context);
      if (!isExtended) return called(subject, request, context);
      const response = await called(subject, extendedRequest(request), context);
      if ('refusal' in response) return response;
      return { reply: { ...response.reply, json: extendedReply(response.reply.json) } };
    };
  });
  afterAll(async () => {
    await platform.stop();
    removeFolder(dataDir);
  });

  const project = '/api/admin/projects/default';
  type Step = readonly [name: string, step: () => Promise<ApiResponse>];
  /** Operations that involve several services, and that can be repeated: they read, or create something new each time. */
  const tour: readonly Step[] = [
    ['list projects', () => api('GET', '/api/admin/projects')],
    ['read a project', () => api('GET', `${project}/overview`)],
    ['read the status of a project', () => api('GET', `/api/admin/projects/default/status`)],
    ['read the personal dashboard', () => api('GET', '/api/admin/personal-dashboard')],
    ['list environments', () => api('GET', '/api/admin/environments')],
    ['list environments of a project', () => api('GET', '/api/admin/environments/project/default')],
    [
      'make a token',
      () =>
        api('POST', '/api/admin/api-tokens', {
          tokenName: randomUUID(),
          type: 'client',
          environment: 'development',
          projects: ['*'],
        }),
    ],
    ['make a feature', () => api('POST', `${project}/features`, { name: `flag-${randomUUID()}` })],
    ['make a segment', () => api('POST', '/api/admin/segments', { name: randomUUID(), constraints: [] })],
    ['search features', () => api('GET', '/api/admin/search/features')],
    ['search events', () => api('GET', '/api/admin/search/events')],
    ['list change requests', () => api('GET', `${project}/change-requests`)],
    [
      'propose a change',
      async () => {
        const feature = `flag-${randomUUID()}`;
        const made = await api('POST', `${project}/features`, { name: feature });
        if (made.status !== 201) return made;
        const change = { feature, action: 'updateEnabled', payload: { enabled: true } };
        return api('POST', `${project}/environments/development/change-requests`, change);
      },
    ],
  ];
  /** Consumers read outboxes and states in the background, and catch up when the operation is available again. */
  const isOfBackground = (name: string): boolean => /outbox|state|dead-letters|feed/.test(name);
  const isOperation = (exported: unknown): exported is contracts.AnyOperation =>
    typeof exported === 'object' && exported !== null && 'subject' in exported && 'permission' in exported;
  const exported: readonly unknown[] = Object.values(contracts);
  const internal = exported
    .filter(isOperation)
    .filter((operation) => operation.http === undefined && !isOfBackground(contracts.operationName(operation)));
  /** The replies of these operations are optional parts of other responses: without them, counts are missing and no request is refused. */
  const additions = ['count-project-members', 'count-environment-tokens', 'list-permission-holders'];

  /** The calls between services that each step causes; those of background jobs may be among them. */
  const callsOf = new Map<string, ReadonlySet<string>>();

  beforeAll(async () => {
    for (const [name, step] of tour) {
      calls.clear();
      const { status, text } = await step();
      expect([name, status < 300, text]).toEqual([name, true, text]);
      callsOf.set(name, new Set(calls));
    }
  });

  it('serves the whole tour when requests and replies between services have properties of a newer version', async () => {
    isExtended = true;
    try {
      for (const [name, step] of tour) {
        const { status, text } = await step();
        expect([name, status < 300, text]).toEqual([name, true, text]);
      }
    } finally {
      isExtended = false;
    }
  });

  it('serves every step that calls an operation, or names the service to upgrade, without that operation', async () => {
    const called = internal.filter(({ subject }) => [...callsOf.values()].some((subjects) => subjects.has(subject)));
    expect(called.length).toBeGreaterThan(5);
    for (const operation of called) {
      const missing = contracts.operationName(operation);
      lacking.add(operation.subject);
      for (const [step, run] of tour.filter(([name]) => callsOf.get(name)?.has(operation.subject))) {
        const { status, text } = await run();
        if (status < 300) continue;
        expect([step, status, text]).toEqual([
          step,
          503,
          expect.stringContaining(
            `The ${contracts.serviceOf(operation)} service runs an older version, without the operation ${missing}`,
          ),
        ]);
        expect([step, additions.includes(missing)]).toEqual([step, false]);
      }
      lacking.clear();
    }
  });

  it('names the operation of the API that the service behind the gateway lacks', async () => {
    lacking.add(contracts.AddChanges.subject);
    const change = { feature: 'x', action: 'updateEnabled', payload: { enabled: true } };
    const { status, text, headers } = await api('POST', `${project}/environments/development/change-requests`, change);
    lacking.clear();
    expect([status, Number(headers.get('retry-after')) > 0]).toEqual([503, true]);
    expect(text).toContain('The change-requests service runs an older version, without the operation add-changes');
  });
});
