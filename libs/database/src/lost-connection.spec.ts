import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BlackholeProxy, eventually, overTcp, startBlackholeProxy, withClient } from '@bunting/testing';
import { emptyDatabasePerTest, flagTable } from '../test/empty-database-per-test.ts';

describe('a network that loses every packet', () => {
  const { url, open } = emptyDatabasePerTest();
  let proxy: BlackholeProxy;
  let through: string;
  beforeEach(async () => {
    const address = new URL(overTcp(url()));
    proxy = await startBlackholeProxy(Number(address.port));
    address.port = String(proxy.port);
    through = address.href;
  });
  afterEach(() => proxy.stop());

  const one = { name: 'one', text: 'select 1 as one' };
  /** Takes every connection of the pool. */
  const twice = <T>(job: () => Promise<T>): Promise<PromiseSettledResult<T>[]> => Promise.allSettled([job(), job()]);

  const succeeds = (job: () => Promise<unknown>): Promise<void> =>
    eventually(async () => {
      expect(await twice(job)).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled' }]);
    });

  it('fails reads and writes with 503, and its connections are replaced', async () => {
    const database = await open(undefined, { url: through, statementTimeoutMs: 2_000, poolMax: 2 });
    const read = () => database.read(one);
    const write = () =>
      database.transaction(({ query }) => query("insert into flag (name) values ('x') on conflict do nothing"));
    for (const call of [read, write]) {
      await succeeds(call);
      proxy.swallow();
      proxy.forwardNewConnections();
      const refused = { status: 'rejected', reason: { kind: 'ServiceUnavailable' } };
      expect(await twice(call)).toMatchObject([refused, refused]);
      await succeeds(call);
    }
  });

  it('ends a start that waits for the migrations of another process', async () => {
    await withClient(url(), async (holder) => {
      await holder.query('select pg_advisory_lock(7)');
      const waiting = { name: '2-expand-waiting', statements: ['select pg_advisory_xact_lock(7)'] };
      const migrating = open([flagTable, waiting]);
      const running = 'select from pg_stat_activity where datname = current_database()';
      const migrates = `${running} and query like '%advisory_xact_lock%' and wait_event_type = 'Lock'`;
      // The other start waits only after this one has taken the lock for migrations.
      await eventually(async () => expect((await holder.query(migrates)).rowCount).toBe(1));
      const polls = `${running} and query like '%pg_try_advisory_lock%' and client_port > 0`;
      const starting = open([flagTable, waiting], { url: through, statementTimeoutMs: 2_000 });
      const failure = expect(starting).rejects.toThrow(
        /^No PostgreSQL answers at 127\.0\.0\.1:\d+ \(Query read timeout\)/,
      );
      await eventually(async () => expect((await holder.query(polls)).rowCount).toBe(1));
      proxy.swallow();
      await failure;
      await holder.query('select pg_advisory_unlock(7)');
      await migrating;
    });
  });
});
