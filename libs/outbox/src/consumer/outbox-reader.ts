import { type Bus, call, systemContext } from '@bunting/bus';
import {
  consumersOf,
  type OutboxMessage,
  type OutboxTopic,
  type Producer,
  readOutboxOf,
  type ServiceName,
} from '@bunting/contracts';

const callTimeoutMs = 10_000;

/** A topic of a producer, and the service that consumes it. */
export interface ConsumedTopic {
  readonly consumer: ServiceName;
  readonly producer: Producer;
  readonly topic: OutboxTopic;
}

/** Messages after a position, the last position of the topic, and the uid of the message at the position. */
export interface OutboxPage {
  readonly head: number;
  readonly at?: string | null | undefined;
  readonly messages: readonly OutboxMessage[];
}

/**
 * Reads the messages after a position. With the `uid` of the message there it also acknowledges that all messages up to the position are
 * applied, which the producer may prune then.
 */
export type ReadOutbox = (from: { after: number; limit: number; uid?: string | null }) => Promise<OutboxPage>;

/** @throws Error for a consumer that the producer does not know: the producer prunes what all known ones have, and waits for no other */
export const outboxReader = (bus: Bus, { consumer, producer, topic }: ConsumedTopic): ReadOutbox => {
  if (!consumersOf[producer][topic].includes(consumer))
    throw new Error(
      `${consumer} consumes the topic ${topic} of ${producer} without being listed: add it to consumersOf in @bunting/contracts.`,
    );
  return (from) =>
    call(
      bus,
      readOutboxOf[producer],
      { body: { topic, consumer, ...from } },
      systemContext(callTimeoutMs),
    ) as Promise<OutboxPage>;
};
