import { call, type CallContext, callForResponse, type CallRequest, traceparentFrom } from '@bunting/bus';
import {
  type Addon,
  type AddonBody,
  type AnyOperation,
  type Caller,
  CreateAddon,
  ListIntegrationEvents,
  type OutboxEvent,
  outboxOperations,
  type ReplyOf,
  systemCaller,
} from '@bunting/contracts';
import { openDatabase } from '@bunting/database';
import { host, openLog } from '@bunting/runtime';
import { freshDatabase } from '@bunting/testing';
import { randomUUID } from 'node:crypto';
import { integrationsMigrations } from '../src/migrations/index.ts';
import { integrationsService } from '../src/service.ts';
import { fakeEventLog } from './fake-event-log.ts';
import { fakePeople } from './fake-people.ts';

export const mia: Caller = { id: 1, name: 'mia@example.com', grants: [{ permission: 'ADMIN' }] };

export const secretKey = 'a key for the secrets of integrations';

async function migrate(url: string): Promise<void> {
  return (await openDatabase({ url, name: 'template', migrations: integrationsMigrations })).close();
}

/** The body of a request for a webhook that gets the events of turned-on flags. */
export function aWebhook(url: string, overrides: Partial<AddonBody> = {}): AddonBody {
  return {
    provider: 'webhook',
    enabled: true,
    parameters: { url },
    events: ['feature-environment-enabled', 'feature-archived'],
    ...overrides,
  };
}

/** The real service with replies held to their schemas, on a database and a bus of its own, and with an event log in memory. */
export async function startIntegrations(
  settings: Readonly<Record<string, string>> = {},
  shared: { readonly url?: string } = {},
) {
  const fresh =
    shared.url === undefined
      ? await freshDatabase('integrations', { key: JSON.stringify(integrationsMigrations), migrate })
      : { url: shared.url, drop: () => Promise.resolve() };
  const lines: string[] = [];
  const hosted = await host([integrationsService], {
    environment: {
      INTEGRATIONS_DATABASE_URL: fresh.url,
      INTEGRATIONS_POLL_INTERVAL_MS: '50',
      INTEGRATIONS_SECRET_KEY: secretKey,
      INTEGRATIONS_ALLOWED_HOSTS: '127.0.0.1',
      // No attempt comes by itself within a test.
      INTEGRATIONS_RETRY_SECONDS: '3600,3600,3600',
      CHECK_REPLIES: 'true',
      ...settings,
    },
    log: openLog('warn', { write: (line) => void lines.push(line) }),
  });
  const database = await openDatabase({ url: fresh.url, name: 'spec', migrations: integrationsMigrations });
  const log = await fakeEventLog(hosted.bus);
  const people = await fakePeople(hosted.bus);
  const contextOf = (caller: Caller, more: Partial<CallContext>): CallContext => ({
    caller,
    requestId: randomUUID(),
    traceparent: traceparentFrom(),
    timeoutMs: 60_000,
    ...more,
  });
  const callService = <O extends AnyOperation>(
    operation: O,
    request: CallRequest<O> = {},
    caller: Caller = mia,
    more: Partial<CallContext> = {},
  ): Promise<ReplyOf<O>> => call(hosted.bus, operation, request, contextOf(caller, more));
  return {
    url: fresh.url,
    bus: hosted.bus,
    database,
    log,
    people,
    /** what the service has logged from level `warn` on */
    lines,
    call: callService,
    /** The response headers of a call, such as the `ETag`. */
    replyHeaders: async <O extends AnyOperation>(operation: O, request: CallRequest<O>) => {
      const response = await callForResponse(hosted.bus, operation, request, contextOf(mia, {}));
      if ('refusal' in response) throw new Error(`Refused: ${response.refusal.error.message}`);
      return response.reply.headers;
    },
    create: (body: AddonBody, caller?: Caller): Promise<Addon> => callService(CreateAddon, { body }, caller),
    /** the attempts of an integration, newest first */
    attempts: async (id: number) =>
      (await callService(ListIntegrationEvents, { params: { id }, query: { limit: '100' } })).integrationEvents,
    /** Makes all waiting retries due and ends pauses, as time does. */
    passTime: async (): Promise<void> => {
      await database.query({ text: 'update destination set paused_until = null' });
      await database.query({
        text: `update parked_delivery set next_attempt_at = now() where next_attempt_at < 'infinity'`,
      });
    },
    emittedEvents: async (): Promise<OutboxEvent[]> => {
      const body = { topic: 'event' as const, consumer: 'audit', after: 0, limit: 1000 };
      const { messages } = await callService(outboxOperations.integrations, { body }, systemCaller);
      return messages.map(({ payload }) => payload as OutboxEvent);
    },
    stop: async (): Promise<void> => {
      await log.stop();
      await people.stop();
      await hosted.stop();
      await database.close();
      await fresh.drop();
    },
  };
}
export type StartedIntegrations = Awaited<ReturnType<typeof startIntegrations>>;
