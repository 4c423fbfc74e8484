import { type Bus, call, systemContext } from '@bunting/bus';
import {
  consumersOf,
  type OutboxMessage,
  type OutboxTopic,
  type Producer,
  outboxOperations,
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
 * Reads the messages after a position. With the `uid` of the message at the position it also acknowledges that all messages up to there are
 * applied. The producer may prune them then.
 */
type ReadOutbox = (from: { after: number; limit: number; uid?: string | null }) => Promise<OutboxPage>;

/**
 * Returns a function that reads the outbox of a producer by call.
 * @throws Error for a consumer that is not listed in `consumersOf`: the producer would prune messages without waiting for it
 */
export const outboxReader = (bus: Bus, { consumer, producer, topic }: ConsumedTopic): ReadOutbox => {
  if (!consumersOf[producer][topic].includes(consumer))
    throw new Error(
      `${consumer} consumes the topic ${topic} of ${producer} without being listed: add it to consumersOf in @bunting/contracts.`,
    );
  return (from) =>
    call(
      bus,
      outboxOperations[producer],
      { body: { topic, consumer, ...from } },
      systemContext(callTimeoutMs),
    ) as Promise<OutboxPage>;
};
