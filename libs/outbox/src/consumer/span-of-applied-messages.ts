import type { OutboxTopic, Producer, ServiceName } from '@bunting/contracts';
import type { SpanOptions } from '@bunting/tracing';

/** The span of a consumer that applies messages of an outbox, by the semantic conventions of messaging. */
export const spanOfAppliedMessages = (
  { producer, topic, consumer }: { producer: Producer; topic: OutboxTopic; consumer: ServiceName },
  count: number,
): SpanOptions => ({
  name: `process ${producer}.${topic}`,
  kind: 'consumer',
  attributes: {
    'messaging.system': 'bunting',
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.destination.name': `${producer}.${topic}`,
    'messaging.consumer.group.name': consumer,
    'messaging.batch.message_count': count,
  },
});
