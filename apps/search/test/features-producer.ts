import { type Bus, implement, serve } from '@bunting/bus';
import { DigestStates, type FeatureState, ListStateVersions, ReadStates } from '@bunting/contracts';
import { type Database, openDatabase } from '@bunting/database';
import { digestOfVersions, outboxTables, startOutboxProducer } from '@bunting/outbox';
import { freshDatabase } from '@bunting/testing';
import type { AnyState } from './builders.ts';

/** Who tells states in the place of the features service: with an outbox of its own, a relay, and answers to who asks. */
export interface TellingFeatures {
  /** Tells the states in one transaction, and resolves when that is committed. */
  tell(...states: readonly AnyState[]): Promise<void>;
  /** Counts more in the first environment of a feature, and tells nobody yet. */
  countMore(name: string, figures: { readonly yes: number; readonly lastSeenAt: string }): void;
  /** Answers nobody until it is told to again. */
  fallSilent(): Promise<void>;
  answerAgain(): Promise<void>;
  stop(): Promise<void>;
}

interface Figures {
  readonly yes: number;
  readonly lastSeenAt: string;
}

const latest = `
  select distinct on (entity_key) payload ->> 'id' as id, (payload ->> 'version')::bigint as version,
    payload -> 'state' as state, payload -> 'state' ->> 'project' as project
  from outbox where topic = 'state' and type = $1 order by entity_key, (payload ->> 'version')::bigint desc`;

/** What the features service answers to who compares states: what was told last of each. */
const stateEndpoints = (database: Database, figures: ReadonlyMap<string, Figures>) => {
  const read = <Row>(text: string, ...values: readonly unknown[]) =>
    database.read<Row>({ name: '', text: `with latest as (${latest}) ${text}` }, values);
  return [
    implement(DigestStates, async ({ body: { entity } }) => ({
      groups: await read<{ group: string; count: number; digest: string }>(
        `select ${entity === 'feature' ? 'project' : "''"} as "group", count(*) as count, ${digestOfVersions('id', 'version')} as digest
         from latest where state::text <> 'null' group by 1 order by 1`,
        entity,
      ),
      next: null,
    })),
    implement(ListStateVersions, async ({ body: { entity, project, after, limit } }) => ({
      versions: await read<{ id: string; version: number }>(
        `select id, version from latest
         where state::text <> 'null' and id collate "C" > $2 and ($4::text is null or project = $4)
         order by id collate "C" limit $3`,
        ...[entity, after, limit, project ?? null],
      ),
    })),
    implement(ReadStates, async ({ body: { entity, ids } }) => {
      const known = await read<{ id: string; version: number; state: FeatureState | null }>(
        'select id, version, state from latest where id = any ($2::text[])',
        ...[entity, ids],
      );
      return {
        states: ids.map((id) => {
          const told = known.find((each) => each.id === id);
          const more = figures.get(id);
          const environments = told?.state?.environments?.map((each) => ({ ...each, ...more }));
          const state = more === undefined || !told?.state ? (told?.state ?? null) : { ...told.state, environments };
          return { id, version: told?.version ?? null, state };
        }),
      };
    }),
  ];
};

export const tellingFeatures = async (bus: Bus): Promise<TellingFeatures> => {
  const fresh = await freshDatabase('telling-features');
  const database = await openDatabase({ url: fresh.url, name: 'telling-features', migrations: [outboxTables] });
  const figures = new Map<string, Figures>();
  const ignore = (): void => undefined;
  const settings = { producer: 'features', intervalMs: 50, retentionHours: 1, warn: ignore } as const;
  const telling = startOutboxProducer({ ...settings, database, bus });
  const endpoints = [telling.endpoint, ...stateEndpoints(database, figures)];
  let served = await serve(bus, endpoints);
  return {
    tell: (...states) =>
      telling.work(null, async (_tx, outbox) => {
        for (const state of states) outbox.state(state);
      }),
    countMore: (name, more) => void figures.set(name, more),
    fallSilent: () => served.stop(),
    answerAgain: async () => {
      served = await serve(bus, endpoints);
    },
    stop: async () => {
      await served.stop();
      await telling.relay.stop();
      await database.close();
      await fresh.drop();
    },
  };
};
