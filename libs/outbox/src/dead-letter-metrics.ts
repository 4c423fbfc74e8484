import type { ServiceName } from '@bunting/contracts';
import type { Database } from '@bunting/database';
import { Gauge, type Registry } from 'prom-client';
import { deadLetterCounts } from './dead-letters.ts';

/** Registers how many messages a consumer could not apply and keeps as dead letters: anything but none asks an operator to act. */
export const measureDeadLetters = (registry: Registry, consumer: ServiceName, database: Database): void => {
  new Gauge({
    name: 'bunting_dead_letters',
    help: 'messages that the service could not apply because of their content, and tries again',
    labelNames: ['producer', 'topic'],
    registers: [registry],
    async collect() {
      // While the database is unreachable the last known counts stay, and the other metrics are still served.
      const counts = await deadLetterCounts(consumer, database).catch(() => []);
      for (const { producer, topic, count } of counts) this.set({ producer, topic }, count);
    },
  });
};
