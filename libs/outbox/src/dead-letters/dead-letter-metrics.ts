import type { ServiceName } from '@bunting/contracts';
import type { ReadDatabase } from '@bunting/database';
import { Gauge, type Registry } from 'prom-client';
import { countDeadLetters } from './dead-letter-store.ts';

const name = 'bunting_dead_letters';

/**
 * Registers the gauge `bunting_dead_letters`, once for all projections of a service: an operator has to act when it is above zero.
 */
export const registerDeadLetterMetrics = (registry: Registry, consumer: ServiceName, database: ReadDatabase): void => {
  if (registry.getSingleMetric(name) !== undefined) return;
  new Gauge({
    name,
    help: 'messages that the service could not apply because of their content and keeps retrying',
    labelNames: ['producer', 'topic'],
    registers: [registry],
    async collect() {
      // While the database is unreachable the metric has the last counts, and the other metrics are served.
      const counts = await countDeadLetters(consumer, database).catch(() => []);
      for (const { producer, topic, count } of counts) this.set({ producer, topic }, count);
    },
  });
};
