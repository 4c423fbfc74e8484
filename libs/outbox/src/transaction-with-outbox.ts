import {
  type DeliveryState,
  type EventAuthor,
  type EventContent,
  outboxEvent,
  type OutboxEvent,
  type OutboxTopic,
  refusal,
  type StateEntity,
  type StateOf,
} from '@bunting/contracts';
import type { CommitLimits, Database, Tx } from '@bunting/database';
import { randomUUID } from 'node:crypto';
import { maxPayloadBytes } from './schema.ts';

/** Collects messages. */
export interface Emitter {
  /** Emits events, in their order. */
  emit(events: readonly OutboxEvent[]): void;
  /** Emits the new state of an entity. */
  emitState<E extends StateEntity>(state: StateOf<E>): void;
  /** Emits that the state of an entity has changed. Who reads the message gets the state at that time, by `currentStates` of the producer. */
  emitChange(entity: StateEntity, id: string): void;
  /** Emits a new state of what SDKs evaluate. */
  emitDelivery(state: DeliveryState): void;
}

/** Collects the messages of a unit of work, which are written in one statement before the commit. */
export interface Outbox extends Emitter {
  /**
   * For the messages of one of several requests that share the transaction, until the next statement: they carry the traceparent of the
   * request, and its events do not belong together with those of others.
   */
  ofRequest(traceparent: string): Emitter;
  /**
   * Sends a write without waiting for it. The same statement stores the messages that are emitted between this call and the next statement.
   */
  send(write: string, values: readonly unknown[]): void;
}

/** Records what happened in a unit of work. Stores call it where they write, so that no caller can omit it. */
export type RecordEvents<Event extends EventContent = EventContent> = (events: readonly Event[]) => void;

/** Records events in an outbox, as caused by the caller of a unit of work at its time. */
export function recordEvents(
  outbox: Pick<Outbox, 'emit'>,
  { caller: by, now }: { readonly caller: EventAuthor; readonly now: Date },
): RecordEvents {
  return (events) => outbox.emit(events.map((event) => outboxEvent(event, { by, now })));
}

const columns = 'topic, type, entity_key, traceparent, payload';
const rowDefinition = 'topic text, type text, entity_key text, traceparent text, payload json';

/** SQL: a write that also stores rows, from the parameters after its own: the traceparent, the rows, and how many positions they take. */
function writeWithRows(write: string, parameters: number): string {
  const [traceparent, rows, counts] = [1, 2, 3].map((nth) => `$${parameters + nth}`);
  return `
  with written as (${write}), head as materialized (select event, state, delivery from outbox_reserve(${counts}::integer[]))
  insert into outbox (${columns}, position)
  select row.topic, row.type, row.entity_key, coalesce(row.traceparent, ${traceparent}::text), row.payload,
    case row.topic when 'event' then head.event when 'delivery' then head.delivery else head.state end + row.nth
  from head cross join json_to_recordset(${rows}::json) as row (${rowDefinition}, nth integer)`;
}

interface Row {
  readonly topic: OutboxTopic;
  readonly type: string;
  readonly entity_key: string | null;
  /** of the request, where several share the transaction */
  readonly traceparent?: string;
  readonly payload: unknown;
  /** which of the positions that its statement takes in its topic; without it the row gets a position after the commit */
  readonly nth?: number;
}

/** Stores outbox rows from the parameters traceparent and rows. */
const insertRows = `
  insert into outbox (${columns})
  select row.topic, row.type, row.entity_key, coalesce(row.traceparent, $1::text), row.payload
  from json_to_recordset($2::json) as row (${rowDefinition})`;

/** The maximum bytes in UTF-8 of one UTF-16 unit, by which JavaScript counts the length of a text. */
const maxBytesPerUnit = 3;

/** The rows as JSON text. @throws Refusal `PayloadTooLarge` for a payload that exceeds the limit of a message */
function serializeRows(rows: readonly Row[]): string {
  const text = JSON.stringify(rows);
  if (text.length * maxBytesPerUnit <= maxPayloadBytes) return text;
  for (const { type, payload } of rows) {
    const bytes = Buffer.byteLength(JSON.stringify(payload));
    if (bytes <= maxPayloadBytes) continue;
    const message = `The message "${type}" has ${bytes} bytes, more than the maximum of ${maxPayloadBytes}. Please make it smaller.`;
    throw refusal('PayloadTooLarge', message);
  }
  return text;
}

function eventRow(event: OutboxEvent): Row {
  return { topic: 'event', type: event.type, entity_key: null, payload: event };
}

function snapshotRow(topic: OutboxTopic, state: { readonly entity: string; readonly id: string }): Row {
  return { topic, type: state.entity, entity_key: `${state.entity}:${state.id}`, payload: state };
}

/** The rows, with one id for all events where there are several, except for those that have another one. */
function withGroup(rows: readonly Row[]): readonly Row[] {
  if (rows.filter(({ topic }) => topic === 'event').length < 2) return rows;
  const group = { groupType: 'transaction', groupId: randomUUID() };
  return rows.map((row) =>
    row.topic === 'event' ? { ...row, payload: { ...group, ...(row.payload as object) } } : row,
  );
}

/** In the order of `outbox_reserve`. */
const topicsWithPositions: readonly OutboxTopic[] = ['event', 'state', 'delivery'];

/** The rows with their places among the positions that their statement takes, and how many these are in each topic. */
function withPlaces(rows: readonly Row[]): { readonly rows: readonly Row[]; readonly counts: number[] } {
  const counts = topicsWithPositions.map(() => 0);
  const placed = rows.map((row) => {
    const topic = topicsWithPositions.indexOf(row.topic);
    const nth = (counts[topic] ?? 0) + 1;
    counts[topic] = nth;
    return { ...row, nth };
  });
  return { rows: placed, counts };
}

/** Emits events in a transaction without an outbox, such as that of a projection. Consumers get them when they next poll. */
export async function emitInProjection({ query }: Tx, events: readonly OutboxEvent[]): Promise<void> {
  if (events.length > 0) await query(insertRows, [null, serializeRows(withGroup(events.map(eventRow)))]);
}

/** How a transaction commits. */
export interface CommitOptions extends CommitLimits {
  /**
   * Whether messages get their positions with the statement of `send` that stores them, so that no row is written twice. No other
   * transaction gets positions until this one has ended, so nothing may follow but COMMIT: for jobs that wait for nothing once they have
   * called `send`, and have locked what it writes. The database needs `outboxReservation`.
   */
  readonly takesPositions?: boolean | undefined;
}

/** Runs a job in a transaction. Its messages carry the given traceparent. */
export type RunInTransaction = <T>(
  traceparent: string | null,
  job: (tx: Tx, outbox: Outbox) => Promise<T>,
  options?: CommitOptions,
) => Promise<T>;

/**
 * Stores state and outbox rows in one transaction. Calls `beginCommit` before a commit of messages, with their topics, and what it returns
 * once the commit has ended, also if it has failed: PostgreSQL may have stored it nevertheless.
 */
export function transactionWithOutbox(
  database: Database,
  beginCommit: (topics: ReadonlySet<OutboxTopic>) => () => void,
): RunInTransaction {
  return async <T>(
    traceparent: string | null,
    job: (tx: Tx, outbox: Outbox) => Promise<T>,
    { takesPositions = false, ...limits }: CommitOptions = {},
  ): Promise<T> => {
    let endCommit: (() => void) | undefined;
    return database
      .transaction(async (tx) => {
        // The job may run again.
        endCommit?.();
        endCommit = undefined;
        const topics = new Set<OutboxTopic>();
        /**
         * the messages emitted since the last `send`, by request, those of the transaction itself first; `hasPendingStatement` while the
         * statement of `send` will still read them
         */
        let rows: Row[][] = [[]];
        let hasPendingStatement = false;
        const sendRows = (): void => {
          if (hasPendingStatement || rows.every(({ length }) => length === 0)) return;
          const emitted = rows;
          tx.send(insertRows, () => [traceparent, serializeRows(emitted.flatMap(withGroup))]);
        };
        const emitterTo = (add: (row: Row) => void): Emitter => ({
          emit: (events) => {
            for (const event of events) add(eventRow(event));
          },
          emitState: (state) => add(snapshotRow('state', state)),
          emitChange: (entity, id) => add(snapshotRow('state', { entity, id })),
          emitDelivery: (state) => add(snapshotRow('delivery', state)),
        });
        const jobResult = await job(tx, {
          ...emitterTo((row) => {
            rows[0]?.push(row);
            topics.add(row.topic);
          }),
          ofRequest: (ofRequest) => {
            const own: Row[] = [];
            rows.push(own);
            return emitterTo((row) => {
              own.push({ ...row, traceparent: ofRequest });
              topics.add(row.topic);
            });
          },
          send: (write, values) => {
            sendRows();
            const statementRows: Row[][] = [[]];
            [rows, hasPendingStatement] = [statementRows, true];
            tx.send(writeWithRows(write, values.length), () => {
              if (rows === statementRows) [rows, hasPendingStatement] = [[[]], false];
              const all = statementRows.flatMap(withGroup);
              if (!takesPositions) return [...values, traceparent, serializeRows(all), null];
              const placed = withPlaces(all);
              return [...values, traceparent, serializeRows(placed.rows), placed.counts];
            });
          },
        });
        sendRows();
        if (topics.size > 0) endCommit = beginCommit(topics);
        return jobResult;
      }, limits)
      .finally(() => endCommit?.());
  };
}
