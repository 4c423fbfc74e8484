import {
  alsoWokenByEventsOf,
  consumersOf,
  operationsCalledBy,
  type Producer,
  type ServiceName,
  servicesCalledBy,
} from '@bunting/contracts';
import type { OutboxSource } from '../bus.ts';
import { presenceSubject } from '../presence.ts';
import { aliveSubject } from './nats-messages.ts';
import { eventSubjectsOf, streamOf } from './event-streams.ts';
import { inboxPrefixOf } from './nats-connection.ts';

/** The subject of the wake-ups of a topic. */
export function wakeSubjectOf({ producer, topic }: OutboxSource): string {
  return `wake.${producer}.${topic}`;
}

/** The subjects that the NATS user of a service needs; it may besides respond to the messages that it receives. */
interface NatsRights {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

function isProducer(service: ServiceName): service is ServiceName & Producer {
  return service in consumersOf;
}

/**
 * The rights of the NATS user of a service. They follow from the operations that it calls and the outboxes that it reads, so that its
 * password opens what the service itself does, and nothing else.
 */
export function natsRightsOf(service: ServiceName): NatsRights {
  const called = servicesCalledBy(service);
  const sources = (Object.keys(consumersOf) as Producer[]).flatMap((producer) =>
    Object.entries(consumersOf[producer]).map(([topic, consumers]) => ({
      producer,
      topic,
      woken: topic === 'event' ? [...consumers, ...alsoWokenByEventsOf[producer]] : consumers,
    })),
  );
  return {
    publish: [
      ...operationsCalledBy(service).map(({ subject }) => subject),
      ...called.flatMap((name) => [presenceSubject(name), aliveSubject(name, '*')]),
      ...sources.filter(({ producer }) => producer === service).map(wakeSubjectOf),
      '$JS.API.INFO',
      ...(isProducer(service) ? [eventSubjectsOf(service), `$JS.API.STREAM.*.${streamOf(service)}`] : []),
    ],
    subscribe: [
      `call.${service}.>`,
      presenceSubject(service),
      aliveSubject(service, '*'),
      `${inboxPrefixOf(service)}.>`,
      ...sources.filter(({ woken }) => woken.includes(service)).map(wakeSubjectOf),
    ],
  };
}
