import type { OutboxTopic, Producer, ServiceName } from '@bunting/contracts';
import type { SpanOptions } from '@bunting/tracing';

/** The options of the span in which a consumer applies messages of an outbox, by OpenTelemetry's conventions for messaging. */
export const appliedMessagesSpanOptions = (
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
