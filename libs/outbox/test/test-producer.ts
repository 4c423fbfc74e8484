import { type Bus, serve, type Subscription } from '@bunting/bus';
import type { OutboxEvent } from '@bunting/contracts';
import { openDatabase } from '@bunting/database';
import { openLog } from '@bunting/runtime';
import { freshDatabase } from '@bunting/testing';
import { outboxOfChanges, outboxReservation, outboxTables, startOutboxProducer } from '../src/index.ts';

const things = {
  name: '2026-11-21-things',
  statements: ['create table thing (name text primary key, version int not null default 1)'],
};

const migrations = [outboxTables, outboxReservation, outboxOfChanges, things];

const migrate = async (url: string): Promise<void> =>
  (await openDatabase({ url, name: 'template', migrations })).close();

export const featureCreated = (featureName: string): OutboxEvent => ({
  type: 'feature-created',
  createdAt: '2026-11-21T12:00:00.000Z',
  createdBy: 'mia@bunting.example',
  createdByUserId: 7,
  project: 'default',
  environment: null,
  featureName,
  data: { name: featureName },
  preData: null,
  tags: [],
});

/** A real producer of features: a database with an outbox, a relay, and the call that reads it. */
export const startProducer = async (bus: Bus, url?: string, options: { intervalMs?: number } = {}) => {
  const template = { key: JSON.stringify(migrations), migrate };
  const fresh = url === undefined ? await freshDatabase('outbox', template) : undefined;
  const address = url ?? fresh?.url ?? '';
  const database = await openDatabase({ url: address, name: 'features', migrations });
  const outboxProducer = startOutboxProducer({
    producer: 'features',
    database,
    bus,
    // The state of a feature is the thing of its name.
    currentStates: {
      feature: (id) =>
        `select json_build_object('entity', 'feature', 'id', name, 'version', version, 'state', name) from thing where name = ${id}`,
    },
    intervalMs: options.intervalMs ?? 50,
    retentionHours: 1,
    metrics: undefined,
    log: openLog('silent'),
  });
  const served: Subscription = await serve(bus, [outboxProducer.endpoint], { checkReplies: true });
  return {
    /** the URL of the producer's database */
    url: address,
    database,
    outboxProducer,
    /** Commits a change and its event. */
    emit: (name: string): Promise<void> =>
      outboxProducer.work(null, async ({ query }, outbox) => {
        await query('insert into thing (name) values ($1)', [name]);
        outbox.emit([featureCreated(name)]);
      }),
    stop: async (): Promise<void> => {
      await served.stop();
      await outboxProducer.stop();
      await database.close();
      await fresh?.drop();
    },
  };
};
export type TestProducer = Awaited<ReturnType<typeof startProducer>>;
