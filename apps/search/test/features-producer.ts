import { type Bus, implement, serve } from '@bunting/bus';
import { type FeatureState, ListStateVersions, ReadStates } from '@bunting/contracts';
import { type Database, openDatabase } from '@bunting/database';
import { outboxTables, startOutboxProducer } from '@bunting/outbox';
import { openLog } from '@bunting/runtime';
import { freshDatabase } from '@bunting/testing';
import type { AnyState } from './builders.ts';

interface Usage {
  readonly yes: number;
  readonly lastSeenAt: string;
}

const latest = `
  select distinct on (entity_key) payload ->> 'id' as id, (payload ->> 'version')::bigint as version,
    payload -> 'state' as state
  from outbox where topic = 'state' and type = $1 order by entity_key, (payload ->> 'version')::bigint desc`;

/** The endpoints that the reconciler calls: their replies are made of the newest state of each entity. */
function stateEndpoints(database: Database, figures: ReadonlyMap<string, Usage>) {
  const read = <Row>(text: string, ...values: readonly unknown[]) =>
    database.read<Row>({ text: `with latest as (${latest}) ${text}` }, values);
  const page = <Row>(columns: string, { entity, after, limit }: { entity: string; after: string; limit: number }) =>
    read<Row>(
      `select ${columns} from latest where state::text <> 'null' and id collate "C" > $2
       order by id collate "C" limit $3`,
      entity,
      after,
      limit,
    );
  return [
    implement(ListStateVersions, async ({ body }) => ({
      versions: await page<{ id: string; version: number }>('id, version', body),
    })),
    implement(ReadStates, async ({ body }) => {
      const states = await page<{ id: string; version: number; state: FeatureState }>('id, version, state', body);
      return {
        states: states.map(({ id, version, state }) => {
          const usage = figures.get(id);
          const environments = state.environments?.map((each) => ({ ...each, ...usage }));
          return { id, version, state: usage === undefined ? state : { ...state, environments } };
        }),
      };
    }),
  ];
}

/** A substitute for the features service: an outbox on its own database, a relay, and the endpoints that the reconciler calls. */
export async function startFeaturesProducer(bus: Bus) {
  const fresh = await freshDatabase('producer-features');
  const database = await openDatabase({ url: fresh.url, name: 'producer-features', migrations: [outboxTables] });
  const figures = new Map<string, Usage>();
  const settings = {
    producer: 'features',
    intervalMs: 50,
    retentionHours: 1,
    metrics: undefined,
    log: openLog('silent'),
  } as const;
  const producer = startOutboxProducer({ ...settings, database, bus });
  const endpoints = [producer.endpoint, ...stateEndpoints(database, figures)];
  let served = await serve(bus, endpoints);
  return {
    /** Publishes the states in one transaction. Resolves after the commit. */
    publish: (...states: readonly AnyState[]): Promise<void> =>
      producer.work(null, async (_tx, outbox) => {
        for (const state of states) outbox.emitState(state);
      }),
    /** Changes the usage of a feature's environments without publishing a state. */
    addUsage: (name: string, more: { readonly yes: number; readonly lastSeenAt: string }): void =>
      void figures.set(name, more),
    /** Stops serving calls until `comeOnline`. */
    goOffline: (): Promise<void> => served.stop(),
    comeOnline: async (): Promise<void> => {
      served = await serve(bus, endpoints);
    },
    stop: async (): Promise<void> => {
      await served.stop();
      await producer.stop();
      await database.close();
      await fresh.drop();
    },
  };
}
export type FeaturesProducer = Awaited<ReturnType<typeof startFeaturesProducer>>;
