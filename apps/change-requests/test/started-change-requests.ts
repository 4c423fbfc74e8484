import { call, type CallContext, type CallRequest, traceparentFrom } from '@bunting/bus';
import {
  AddChanges,
  type AnyOperation,
  type Caller,
  type ChangeRequest,
  type ChangeRequestState,
  type ChangeRequestStateBody,
  ChangeState,
  eventOfMessage,
  GetChangeRequest,
  ListPendingChangeRequests,
  type OutboxEvent,
  outboxOperations,
  type PendingChangeRequest,
  type ReplyOf,
} from '@bunting/contracts';
import { type Database, openDatabase } from '@bunting/database';
import { host, openLog } from '@bunting/runtime';
import { freshDatabase, type FreshDatabase } from '@bunting/testing';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { changeRequestMigrations } from '../src/migrations/index.ts';
import { changeRequestsService } from '../src/service.ts';
import { changeRequestEntities as entities } from '../src/unit-of-work/entities.ts';
import { kim, lee, mia } from './builders.ts';
import { type FakeFeaturesService, fakeFeaturesService } from './fake-features-service.ts';
import { type FakeGateway, fakeGateway } from './fake-gateway.ts';

async function migrate(url: string): Promise<void> {
  return (await openDatabase({ url, name: 'template', migrations: changeRequestMigrations })).close();
}

/** A migrated database of its own. */
export function freshChangeRequestsDatabase(): Promise<FreshDatabase> {
  return freshDatabase('change-requests', { key: JSON.stringify(changeRequestMigrations), migrate });
}

export const callers = {
  mia: { ...mia, grants: [{ permission: 'ADMIN' }] },
  lee: { ...lee, grants: [] },
  kim: { ...kim, grants: [] },
  /** may approve in production alone */
  rita: {
    id: 10,
    name: 'rita',
    grants: [{ permission: 'APPROVE_CHANGE_REQUEST', project: 'shop', environment: 'production' }],
  },
  ron: { id: 11, name: 'ron', grants: [{ permission: 'APPROVE_CHANGE_REQUEST' }] },
  /** may apply */
  ada: { id: 12, name: 'ada', displayName: 'Ada Berg', grants: [{ permission: 'APPLY_CHANGE_REQUEST' }] },
} as const satisfies Record<string, Caller>;

/** A context of a caller, as the gateway makes it. */
export function callContextOf(caller: Caller, timeoutMs: number): CallContext {
  return {
    caller,
    requestId: randomUUID(),
    traceparent: traceparentFrom(),
    timeoutMs,
  };
}

export interface StartedChangeRequests {
  readonly url: string;
  readonly features: FakeFeaturesService;
  readonly gateway: FakeGateway;
  /** its database, for what no operation can bring about yet and for what none shows */
  readonly database: Database;
  /** the messages of its log from level `warn` on, oldest first */
  readonly warnings: readonly string[];
  call<O extends AnyOperation>(
    operation: O,
    request: CallRequest<O>,
    caller?: Caller,
    timeoutMs?: number,
    more?: Partial<CallContext>,
  ): Promise<ReplyOf<O>>;
  /** Calls an operation, and returns the headers of the response. */
  headersOf<O extends AnyOperation>(
    operation: O,
    request: CallRequest<O>,
    caller: Caller,
    more?: Partial<CallContext>,
  ): Promise<Readonly<Record<string, string>> | undefined>;
  /** Adds to a request in the shop; in production, unless another environment is given. */
  add(body: unknown, caller?: Caller, environment?: string): Promise<ChangeRequest>;
  pending(caller?: Caller, projectId?: string): Promise<PendingChangeRequest[]>;
  /** Asks to move a request of the shop to a state. */
  move(
    id: number,
    state: ChangeRequestState,
    caller?: Caller,
    more?: Partial<ChangeRequestStateBody>,
  ): Promise<unknown>;
  /** A request of the shop as it is now. */
  get(id: number, caller?: Caller): Promise<ChangeRequest>;
  /** Wakes what waits for commits of the service, as a replica that commits does. */
  wake(): void;
  /** every emitted event, oldest first */
  emittedEvents(): Promise<OutboxEvent[]>;
  /** how many rows each of its tables has */
  stored(): Promise<Record<string, number>>;
  /** Deletes all requests, known deletions of users, emitted events, warnings, and recorded calls of the features service. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * The real service, with replies held to their schemas: on a database and a bus of its own, or as another replica on those
 * of one that runs already.
 */
export async function startChangeRequests(
  shared: { url?: string; settings?: Readonly<Record<string, string>> } = {},
): Promise<StartedChangeRequests> {
  const fresh =
    shared.url === undefined ? await freshChangeRequestsDatabase() : { url: shared.url, drop: () => Promise.resolve() };
  const environment = {
    CHANGE_REQUESTS_DATABASE_URL: fresh.url,
    CHECK_REPLIES: 'true',
    CHANGE_REQUESTS_ADMIN_TOKENS_REVIEW: 'true',
    CHANGE_REQUESTS_ADMINS_REVIEW_OWN: 'true',
    CHANGE_REQUESTS_SCHEDULE_INTERVAL_MS: '50',
    CHANGE_REQUESTS_POLL_INTERVAL_MS: '1000',
    CHANGE_REQUESTS_RECOVERY_MS: '300',
    ...shared.settings,
  };
  const warnings: string[] = [];
  const log = openLog('warn', { write: (line) => void warnings.push((JSON.parse(line) as { msg: string }).msg) });
  const hosted = await host([changeRequestsService], { environment, log });
  const features = await fakeFeaturesService(hosted.bus);
  const gateway = await fakeGateway(hosted.bus, Object.values(callers));
  const database = await openDatabase({ url: fresh.url, name: 'spec', migrations: changeRequestMigrations, entities });

  const started: StartedChangeRequests = {
    url: fresh.url,
    features,
    gateway,
    database,
    warnings,
    call: (operation, request, caller = callers.mia, timeoutMs = 60_000, more = {}) =>
      call(hosted.bus, operation, request, { ...callContextOf(caller, timeoutMs), ...more }),
    headersOf: async (operation, request, caller, more = {}) => {
      const context = { ...callContextOf(caller, 60_000), ...more };
      const response = await hosted.bus.call(operation.subject, JSON.stringify(request), context);
      return 'reply' in response ? response.reply.headers : undefined;
    },
    add: (body, caller, environmentName = 'production') =>
      started.call(AddChanges, { params: { projectId: 'shop', environment: environmentName }, body }, caller),
    move: (id, state, caller, more = {}) =>
      started.call(ChangeState, { params: { projectId: 'shop', id }, body: { state, ...more } }, caller),
    get: (id, caller) => started.call(GetChangeRequest, { params: { projectId: 'shop', id } }, caller),
    pending: (caller, projectId = 'shop') => started.call(ListPendingChangeRequests, { params: { projectId } }, caller),
    wake: () => hosted.bus.notify({ producer: 'change-requests', topic: 'event' }),
    emittedEvents: async () => {
      const body = { topic: 'event', consumer: 'spec', after: 0, limit: 1000 } as const;
      const { messages } = await started.call(outboxOperations['change-requests'], { body });
      return messages.map(eventOfMessage);
    },
    stored: async () => {
      const tables = ['change_request', 'change', 'approval', 'outbox'];
      const counts = tables.map((table) => `'${table}', (select count(*) from ${table})`).join(', ');
      const text = `select json_build_object(${counts}) as counts`;
      const [row] = await database.read<{ counts: Record<string, number> }>({ text });
      return row?.counts ?? {};
    },
    reset: async () => {
      features.reset();
      gateway.reset();
      warnings.length = 0;
      await database.transaction(({ query }) =>
        query(
          'delete from change_request; delete from protected_environment; delete from deleted_user; delete from outbox',
        ),
      );
    },
    stop: async () => {
      await features.stop();
      await gateway.stop();
      await hosted.stop();
      await database.close();
      await fresh.drop();
    },
  };
  return started;
}

/** The service of a spec file: started before its tests, reset before each of them, and stopped after them. */
export function startedChangeRequests(): StartedChangeRequests {
  let service: StartedChangeRequests | undefined;
  beforeAll(async () => {
    service = await startChangeRequests();
  });
  beforeEach(() => service?.reset());
  afterAll(() => service?.stop());
  return new Proxy({} as StartedChangeRequests, { get: (_, name) => Reflect.get(service ?? {}, name) as unknown });
}
