import {
  type Bus,
  call,
  callForResponse,
  type CallRequest,
  deserializeRefusal,
  serve,
  traceparentFrom,
} from '@bunting/bus';
import {
  type AnyOperation,
  type Caller,
  DeprecatedSearchEvents,
  type Events,
  type OutboxEvent,
  type Producer,
  type ReplyOf,
  type SearchEventsBody,
} from '@bunting/contracts';
import { type Database, openDatabase, type SchemaMigration } from '@bunting/database';
import { outboxTables, startOutboxProducer } from '@bunting/outbox';
import { host, openLog } from '@bunting/runtime';
import { freshDatabase } from '@bunting/testing';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { auditMigrations } from '../src/migrations/index.ts';
import { auditService } from '../src/service.ts';
import { mia } from './builders.ts';

function prepared(key: string, schema: readonly SchemaMigration[]) {
  return {
    key: `${key} ${JSON.stringify(schema)}`,
    migrate: async (url: string) => (await openDatabase({ url, name: 'template', migrations: schema })).close(),
  };
}

/** Creates a database with the tables of the log. */
function freshAuditDatabase() {
  return freshDatabase('audit', prepared('audit', auditMigrations));
}

/** An empty log without producers. */
export async function openLogDatabase() {
  const fresh = await freshAuditDatabase();
  const database = await openDatabase({ url: fresh.url, name: 'spec', migrations: auditMigrations });
  return {
    url: fresh.url,
    database,
    close: async (): Promise<void> => {
      await database.close();
      await fresh.drop();
    },
  };
}
export type OpenedLog = Awaited<ReturnType<typeof openLogDatabase>>;

/** Stores the texts of all events from this one on as the version before `event_text` did: in the rows of the events. */
export function storeTextsAsBefore(database: Database, first: number): Promise<void> {
  return database.transaction(async ({ query }) => {
    await query(
      String.raw`update event_search set creator_text = null, constant_text = null, varying_text = null,
        text = (select text from event_text where id = creator_text) || E'\x1e' ||
          concat_ws(E'\x1f', (select text from event_text where id = constant_text), (select text from event_text where id = varying_text))
      where id >= $1`,
      [first],
    );
    await query('delete from event_text where event >= $1', [first]);
  });
}

/** A producer with a real outbox and relay. */
export async function startEventProducer(bus: Bus, producer: Producer = 'features') {
  const fresh = await freshDatabase(producer, prepared('producer', [outboxTables]));
  const database = await openDatabase({ url: fresh.url, name: producer, migrations: [outboxTables] });
  const outboxProducer = startOutboxProducer({
    producer,
    database,
    bus,
    intervalMs: 50,
    retentionHours: 1,
    metrics: undefined,
    log: openLog('silent'),
  });
  const served = await serve(bus, [outboxProducer.endpoint]);
  return {
    database,
    /** Commits the events in one transaction. */
    publish: (...events: readonly OutboxEvent[]): Promise<void> =>
      outboxProducer.work(null, async (_tx, outbox) => {
        outbox.emit(events);
      }),
    stop: async (): Promise<void> => {
      await served.stop();
      await outboxProducer.stop();
      await database.close();
      await fresh.drop();
    },
  };
}
export type EventProducer = Awaited<ReturnType<typeof startEventProducer>>;

export interface SearchResponse extends Events {
  /** the headers of the response */
  readonly headers: Readonly<Record<string, string>>;
}

interface Shared {
  /** the database of another replica */
  readonly url?: string;
}

function callContextOf(caller: Caller, timeoutMs = 60_000) {
  return {
    caller,
    requestId: randomUUID(),
    traceparent: traceparentFrom(),
    timeoutMs,
  };
}

/** The audit service, with replies validated against their schemas: on its own database and bus, or as a further replica. */
export async function startAudit(environment: Readonly<Record<string, string>> = {}, { url }: Shared = {}) {
  const fresh = url === undefined ? await freshAuditDatabase() : { url, drop: () => Promise.resolve() };
  const lines: string[] = [];
  const hosted = await host([auditService], {
    environment: {
      AUDIT_DATABASE_URL: fresh.url,
      AUDIT_POLL_INTERVAL_MS: '100',
      AUDIT_FRESHNESS_WAIT_MS: '30000',
      CHECK_REPLIES: 'true',
      ...environment,
    },
    log: openLog('warn', { write: (line) => void lines.push(line) }),
  });
  const database = await openDatabase({ url: fresh.url, name: 'spec', migrations: auditMigrations });
  return {
    bus: hosted.bus,
    /** the database of the service, for data that no operation returns */
    database,
    url: fresh.url,
    /** Calls an operation, by default as an admin. */
    call: <O extends AnyOperation>(
      operation: O,
      request: CallRequest<O> = {},
      caller: Caller = mia,
    ): Promise<ReplyOf<O>> => call(hosted.bus, operation, request, callContextOf(caller)),
    /** Calls an operation, and returns the response with headers or a refusal. */
    respond: <O extends AnyOperation>(operation: O, request: CallRequest<O>, caller: Caller) =>
      callForResponse(hosted.bus, operation, request, callContextOf(caller)),
    /** Searches, by default as an admin. */
    search: async (body: SearchEventsBody = {}, caller: Caller = mia, timeoutMs?: number): Promise<SearchResponse> => {
      const context = callContextOf(caller, timeoutMs);
      const answer = await callForResponse(hosted.bus, DeprecatedSearchEvents, { body }, context);
      if ('refusal' in answer) throw deserializeRefusal(answer.refusal);
      return { ...(JSON.parse(answer.reply.json) as Events), headers: answer.reply.headers };
    },
    /** the warnings that the service has logged */
    get warnings() {
      return lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
    },
    stop: async (): Promise<void> => {
      await hosted.stop();
      await database.close();
      await fresh.drop();
    },
  };
}
export type StartedAudit = Awaited<ReturnType<typeof startAudit>>;

/** The audit service and a producer of events: started before the tests of a spec file or of a `describe`, and stopped after them. */
export function startedAudit(environment?: Readonly<Record<string, string>>) {
  let started: { readonly audit: StartedAudit; readonly features: EventProducer } | undefined;
  beforeAll(async () => {
    const audit = await startAudit(environment);
    started = { audit, features: await startEventProducer(audit.bus) };
  });
  afterAll(async () => {
    await started?.features.stop();
    await started?.audit.stop();
  });
  return {
    audit: new Proxy({} as StartedAudit, { get: (_, name) => Reflect.get(started?.audit ?? {}, name) as unknown }),
    features: new Proxy({} as EventProducer, {
      get: (_, name) => Reflect.get(started?.features ?? {}, name) as unknown,
    }),
  };
}

/** An empty log without producers: opened before the tests of a spec file or of a `describe`, and closed after them. */
export function openedLog(): OpenedLog {
  let log: OpenedLog | undefined;
  beforeAll(async () => {
    log = await openLogDatabase();
  });
  afterAll(() => log?.close());
  return new Proxy({} as OpenedLog, { get: (_, name) => Reflect.get(log ?? {}, name) as unknown });
}
