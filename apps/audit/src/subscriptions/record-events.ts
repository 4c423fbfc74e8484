import type { Bus } from '@bunting/bus';
import { invalid, type OutboxMessage, type Producer, readOutboxOf, RecordedEvent } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import type { Database, Tx } from '@bunting/database';
import { type Projection, startProjection } from '@bunting/outbox';
import { withoutSecrets } from '../domain/redaction.ts';
import { appendEvents, type ArrivingEvent } from '../persistence/log/append-events.ts';

/** What the log answers as an event's data is an object or nothing (interface 2.14). */
const requireSubject = (value: unknown, path: string): void => {
  if (typeof value !== 'object' || Array.isArray(value))
    throw invalid(`The \`${path}\` property must be object or null.`, path);
};

/**
 * The event as it goes into the log: without secrets, whatever its producer put into it.
 * @throws Refusal for what is no event; the projection makes such a message a dead letter, and goes on.
 */
const arriving = ({ uid, payload }: OutboxMessage): ArrivingEvent => {
  const event = parse(RecordedEvent, { data: null, preData: null, ...(payload as object) }, '/payload');
  requireSubject(event.data, '/payload/data');
  requireSubject(event.preData, '/payload/preData');
  if (Number.isNaN(Date.parse(event.createdAt)))
    throw invalid('The `/payload/createdAt` property must be a moment.', '/payload/createdAt');
  const { data, preData } = event;
  return { uid, event: { ...event, data: withoutSecrets(data), preData: withoutSecrets(preData) } };
};

export interface Recording {
  /**
   * Waits until the log holds everything that any producer had committed when this was called, at most so long.
   * @returns how many milliseconds the log is behind: 0 when it is not.
   */
  catchUp(atMostMs: number): Promise<number>;
  stop(): Promise<void>;
}

export interface RecordingOptions {
  readonly bus: Bus;
  readonly database: Database;
  readonly intervalMs: number;
  /** for how long an event that cannot be appended holds up those behind it, before it becomes a dead letter */
  readonly deadLetterAfterMs: number;
  /** called after events were appended, before their transaction commits */
  readonly appended?: () => void;
  readonly warn: (message: string) => void;
  /** told of events that the log will never get */
  readonly logError: (message: string) => void;
}

const producers = Object.keys(readOutboxOf) as Producer[];

/** Follows every producer, each by itself: one that is away keeps no other from being heard. */
export const startRecording = async (options: RecordingOptions): Promise<Recording> => {
  const recordEvents = async (tx: Tx, messages: readonly OutboxMessage[]): Promise<void> => {
    await appendEvents(tx, messages.map(arriving));
    options.appended?.();
  };
  const projections: Projection[] = [];
  const stop = async (): Promise<void> => void (await Promise.all(projections.map((projection) => projection.stop())));
  try {
    for (const producer of producers) {
      projections.push(
        await startProjection({ ...options, consumer: 'audit', producer, topic: 'event', apply: recordEvents }),
      );
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    catchUp: async (atMostMs) => Math.max(...(await Promise.all(projections.map((one) => one.catchUp(atMostMs))))),
    stop,
  };
};
