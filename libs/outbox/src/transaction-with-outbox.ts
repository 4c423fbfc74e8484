import { maxPayloadBytes, payloadConstraint } from './schema.ts';
import {
  type DeliveryState,
  type OutboxTopic,
  type RecordedEvent,
  refusal,
  type StateEntity,
  type StateOf,
} from '@bunting/contracts';
import { violatedConstraint, type CommitLimits, type Database, type Tx } from '@bunting/database';

/** Collects what a unit of work tells; all of it is written in one statement before the commit. */
export interface Outbox {
  /** Tells that something happened. */
  event(event: RecordedEvent): void;
  /** Tells what is now. */
  state<E extends StateEntity>(state: StateOf<E>): void;
  /** Records what SDKs evaluate from now on. */
  delivery(state: DeliveryState): void;
  /**
   * Sends a statement that stores states by `insertStates`, without waiting for it. What is emitted after it is stored by the same
   * statement, in two parameters that the outbox adds: the traceparent, and the rows.
   */
  send(text: string, values: readonly unknown[]): void;
}

const columns = 'topic, type, entity_key, traceparent, payload';

/** SQL: outbox rows from the parameters `traceparent` and `rows`. */
const selectRows = (traceparent: string, rows: string): string => `
  select row.topic, row.type, row.entity_key, ${traceparent}::text, row.payload
  from json_to_recordset(${rows}::json) as row (topic text, type text, entity_key text, payload json)`;

/**
 * SQL: stores the states that the query `from` has (`id`, `version`, `state`) as outbox rows, so that a state which PostgreSQL makes
 * never leaves it, and after them the rows of the second parameter.
 */
export const insertStates = (entity: StateEntity, from: string, traceparent: string, rows: string): string => `
  insert into outbox (${columns})
  select 'state', '${entity}', '${entity}:' || id, ${traceparent}::text,
    json_build_object('entity', '${entity}', 'id', id, 'version', version, 'state', state)
  from ${from}
  union all ${selectRows(traceparent, rows)}`;

interface Row {
  readonly topic: OutboxTopic;
  readonly type: string;
  readonly entity_key: string | null;
  readonly payload: unknown;
}

const insertRows = `insert into outbox (${columns}) ${selectRows('$1', '$2')}`;

const mostBytesOfLetter = 3;

/** @throws Refusal for what no consumer could ever be given */
const written = (rows: readonly Row[]): string => {
  const text = JSON.stringify(rows);
  if (text.length * mostBytesOfLetter <= maxPayloadBytes) return text;
  for (const { type, payload } of rows) {
    const bytes = Buffer.byteLength(JSON.stringify(payload));
    if (bytes <= maxPayloadBytes) continue;
    const message = `What "${type}" would tell has ${bytes} bytes, more than the ${maxPayloadBytes} that can be told at once. Please make it smaller.`;
    throw refusal('PayloadTooLarge', message);
  }
  return text;
};

/** All that is told of one unit of work belongs to the trace of who had it done. */
export type RunInTransaction = <T>(
  traceparent: string | null,
  job: (tx: Tx, outbox: Outbox) => Promise<T>,
  limits?: CommitLimits,
) => Promise<T>;

/** State, events and outbox rows in one transaction; whoever relays them is woken after the commit. */
export const transactionWithOutbox =
  (database: Database, wake: () => void): RunInTransaction =>
  async <T>(
    traceparent: string | null,
    job: (tx: Tx, outbox: Outbox) => Promise<T>,
    limits: CommitLimits = {},
  ): Promise<T> => {
    let told = false;
    const result = await database
      .transaction(async (tx) => {
        told = false;
        /** what was emitted since the last statement that takes rows along was sent; `isTaken` when that one still waits for them */
        let rows: Row[] = [];
        let isTaken = false;
        const sendRows = (): void => {
          if (isTaken || rows.length === 0) return;
          told = true;
          const emitted = rows;
          tx.send(insertRows, () => [traceparent, written(emitted)]);
        };
        const done = await job(tx, {
          event: (event) => void rows.push({ topic: 'event', type: event.type, entity_key: null, payload: event }),
          state: (state) =>
            void rows.push({
              topic: 'state',
              type: state.entity,
              entity_key: `${state.entity}:${state.id}`,
              payload: state,
            }),
          delivery: (state) =>
            void rows.push({
              topic: 'delivery',
              type: state.entity,
              entity_key: `${state.entity}:${state.id}`,
              payload: state,
            }),
          send: (text, values) => {
            sendRows();
            told = true;
            const taken: Row[] = [];
            [rows, isTaken] = [taken, true];
            tx.send(text, () => {
              if (rows === taken) [rows, isTaken] = [[], false];
              return [...values, traceparent, written(taken)];
            });
          },
        });
        sendRows();
        return done;
      }, limits)
      .catch((error: unknown) => {
        if (violatedConstraint(error) !== payloadConstraint) throw error;
        throw refusal(
          'PayloadTooLarge',
          `A state would have more than ${maxPayloadBytes} bytes. Please make it smaller.`,
        );
      });
    if (told) wake();
    return result;
  };
