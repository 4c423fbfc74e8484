import { CreateFeature, GetFeature, ListFeatures, PatchFeature } from '@bunting/contracts';
import {
  eventually,
  reservePort,
  type ReplicatedPostgres,
  startReplicatedPostgres,
  withClient,
} from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StartedFeatures, startFeatures } from './started-features.ts';

describe('with a read replica', () => {
  let servers: ReplicatedPostgres;
  let features: StartedFeatures;
  let monitoringPort: number;
  const params = { projectId: 'default' };

  const onReplica = async <Row>(text: string) =>
    (await withClient(servers.replica.urlOf('features'), (client) => client.query(text))).rows as Row[];
  /** How many reads the primary served because the replica was behind. */
  const readsBehind = async (): Promise<number> => {
    const metrics = await (await fetch(`http://127.0.0.1:${monitoringPort}/metrics`)).text();
    const [, count] = /^bunting_database_replica_reads_total\{.*outcome="behind".*\} (\d+)$/m.exec(metrics) ?? [];
    return Number(count ?? 0);
  };
  const get = (featureName: string) => features.call(GetFeature, { params: { ...params, featureName }, query: {} });
  const patch = (featureName: string, description: string, ifMatch?: readonly string[]) =>
    features.call(
      PatchFeature,
      { params: { ...params, featureName }, body: [{ op: 'replace', path: '/description', value: description }] },
      undefined,
      ifMatch === undefined ? {} : { ifMatch },
    );

  beforeAll(async () => {
    servers = await startReplicatedPostgres();
    await withClient(servers.primary.urlOf('postgres'), async (client) => {
      await client.query('create database features');
      // The server of the tests does not wait for its log, so replicas would get it late.
      await client.query('alter database features set synchronous_commit = on');
    });
    monitoringPort = await reservePort();
    features = await startFeatures({
      FEATURES_OPS_PORT: String(monitoringPort),
      FEATURES_DATABASE_URL: servers.primary.urlOf('features'),
      FEATURES_READ_DATABASE_URL: servers.replica.urlOf('features'),
    });
    await eventually(() => onReplica('select from feature'));
  });
  afterAll(async () => {
    await features.stop();
    await servers.stop();
  });

  it('returns for each read everything that was committed before, from the replica', async () => {
    await features.call(CreateFeature, { params, body: { name: 'one' } });
    for (let nth = 0; nth < 20; nth++) {
      await patch('one', `text ${nth}`);
      expect(await get('one')).toMatchObject({ name: 'one', description: `text ${nth}` });
    }
    await eventually(async () => {
      await get('one');
      const [session] = await onReplica<{ query: string }>(
        "select query from pg_stat_activity where application_name = 'bunting-features-reads' and query ~ 'feature'",
      );
      expect(session?.query).toMatch(/feature\.json/);
    });
  });

  it('reads from the primary, and checks conditions there, while the replica is behind', async () => {
    const before = await readsBehind();
    await onReplica('select pg_wal_replay_pause()');
    try {
      await features.call(CreateFeature, { params, body: { name: 'two' } });
      expect(await get('two')).toMatchObject({ name: 'two' });
      const { features: listed } = await features.call(ListFeatures, { params, query: {} });
      expect(listed.map(({ name }) => name)).toContain('two');
      await patch('two', 'changed');
      await expect(patch('two', 'lost', ['"stale"'])).rejects.toMatchObject({ kind: 'PreconditionFailed' });
      expect(await get('two')).toMatchObject({ description: 'changed' });
      expect(await readsBehind()).toBeGreaterThan(before);
    } finally {
      await onReplica('select pg_wal_replay_resume()');
    }
  });
});
