import type { Bus } from '@bunting/bus';
import { invalid, type OutboxMessage, type Producer, outboxOperations, OutboxEvent } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import type { Database, Tx } from '@bunting/database';
import { type Projection, startProjection } from '@bunting/outbox';
import type { Log } from '@bunting/runtime';
import type { Registry } from 'prom-client';
import { withoutSecrets } from './redaction.ts';
import { appendEvents, prepareEvent, type PreparedEvent } from './append-store.ts';
import { rememberedTexts } from './text-store.ts';

/** The API promises that the data of an event is an object or null. */
function requireObjectOrNull(value: unknown, path: string): void {
  if (typeof value !== 'object' || Array.isArray(value))
    throw invalid(`The \`${path}\` property must be object or null.`, path);
}

/**
 * Validates the event of a message, and prepares it for the log, without the secrets that its producer may have left in it.
 * @throws Refusal if the message is no valid event: the projection turns it into a dead letter, and continues
 */
function parseAndPrepare({ uid, payload }: OutboxMessage): PreparedEvent {
  const event = parse(OutboxEvent, { data: null, preData: null, ...(payload as object) }, '/payload');
  requireObjectOrNull(event.data, '/payload/data');
  requireObjectOrNull(event.preData, '/payload/preData');
  if (Number.isNaN(Date.parse(event.createdAt)))
    throw invalid('The `/payload/createdAt` property must be a date-time.', '/payload/createdAt');
  const { data, preData } = event;
  return prepareEvent(uid, { ...event, data: withoutSecrets(data), preData: withoutSecrets(preData) });
}

export interface ConsumeEventsOptions {
  readonly bus: Bus;
  readonly database: Database;
  readonly intervalMs: number;
  /** how long an event that cannot be appended blocks later events of its producer, before it becomes a dead letter */
  readonly deadLetterAfterMs: number;
  readonly metrics: Registry | undefined;
  readonly log: Log;
}

const producers = Object.keys(outboxOperations) as Producer[];

/** Consumes the events of every producer independently: one that is unavailable does not block the others. */
export async function consumeEvents(options: ConsumeEventsOptions) {
  const prepared = new WeakMap<OutboxMessage, PreparedEvent>();
  const prepare = (message: OutboxMessage): void => void prepared.set(message, parseAndPrepare(message));
  const texts = rememberedTexts();
  const recordEvents = async (tx: Tx, messages: readonly OutboxMessage[]): Promise<void> => {
    await appendEvents(
      tx,
      messages.map((message) => {
        const event = prepared.get(message) ?? parseAndPrepare(message);
        // Minor garbage collections keep the values of a WeakMap.
        prepared.delete(message);
        return event;
      }),
      texts,
    );
  };
  const projections: Projection[] = [];
  const stop = async (): Promise<void> => void (await Promise.all(projections.map((projection) => projection.stop())));
  try {
    for (const producer of producers) {
      projections.push(
        await startProjection({
          ...options,
          consumer: 'audit',
          producer,
          topic: 'event',
          prepare,
          apply: recordEvents,
        }),
      );
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    /**
     * Waits, at most `timeoutMs`, until the log has every event that a producer had committed before the call.
     * @returns the milliseconds by which the log is stale; 0 when it is current
     */
    catchUp: async (timeoutMs: number): Promise<number> =>
      Math.max(...(await Promise.all(projections.map((one) => one.catchUp(timeoutMs))))),
    stop,
  };
}
