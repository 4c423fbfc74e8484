import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { eventually, type FreshDatabase, freshDatabase, withClient } from '@bunting/testing';
import { stallingProxy } from '../test/stalling-proxy.ts';
import {
  violatedConstraint,
  type Database,
  type DatabaseOptions,
  NewerDatabaseError,
  openDatabase,
  type SchemaMigration,
} from './index.ts';

const first: SchemaMigration = {
  name: '2026-01-01-flags',
  statements: ['create table flag (name text primary key, rolls int not null default 0)'],
};
const second: SchemaMigration = { name: '2026-02-01-notes', statements: ['alter table flag add column note text'] };

describe('a database', () => {
  let fresh: FreshDatabase;
  let opened: Database[];

  const open = async (migrations: readonly SchemaMigration[] = [first], more: Partial<DatabaseOptions> = {}) => {
    const database = await openDatabase({ url: fresh.url, name: 'test', migrations, ...more });
    opened.push(database);
    return database;
  };

  beforeEach(async () => {
    fresh = await freshDatabase();
    opened = [];
  });
  afterEach(async () => {
    await Promise.all(opened.map((database) => database.close()));
    await fresh.drop();
  });

  it('runs each migration once when several processes open it concurrently', async () => {
    await Promise.all([open(), open(), open()]);
    const [database] = [await open([first, second])];
    await database.transaction(({ query }) => query("insert into flag (name, note) values ('a', 'b')"));
    expect(await database.read({ name: 'flags', text: 'select name, note from flag' })).toEqual([
      { name: 'a', note: 'b' },
    ]);
  });

  it('is refused with one sentence by a version that lacks some of its migrations', async () => {
    await open([first, second]);
    await expect(open([first])).rejects.toThrow(NewerDatabaseError);
    await expect(open([first])).rejects.toThrow(
      /was written by a newer version of Bunting \(it has the migration "2026-02-01-notes", which this version does not know\)/,
    );
  });

  it('is refused when it was restored in part, and left as it is', async () => {
    await (await open([first, second])).close();
    await withClient(fresh.url, (client) => client.query('drop table schema_migration'));
    await expect(open([first, second])).rejects.toThrow(
      /^The migrations of the database \S+ do not fit what it holds \(.*relation "flag" already exists\)\. No data was changed\. It was restored in part, or changed by hand: restore it/,
    );
    await withClient(fresh.url, async (client) => {
      await client.query('drop table flag');
      await client.query("insert into schema_migration (name) values ('2026-01-01-flags')");
    });
    await expect(open([first, second])).rejects.toThrow(/relation "flag" does not exist\)\. No data was changed/);
    const { rows } = await withClient(fresh.url, (client) => client.query('select name from schema_migration'));
    expect(rows).toEqual([{ name: '2026-01-01-flags' }]);
  });

  it('takes a migration completely at the next start when the process that began it was cut off in the middle', async () => {
    const long = { name: '2026-03-01-long', statements: ['create table half (id int)', 'select pg_sleep(60)'] };
    const cutOff = open([first, long]);
    cutOff.catch(() => undefined);
    await withClient(fresh.url, (client) =>
      eventually(async () => {
        const { rowCount } = await client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and query like '%pg_sleep(60)%' and pid <> pg_backend_pid()`,
        );
        expect(rowCount).toBeGreaterThan(0);
      }),
    );
    await expect(cutOff).rejects.toThrow();
    const whole = { ...long, statements: long.statements.slice(0, 1) };
    expect(await (await open([first, whole])).read({ text: 'select id from half' })).toEqual([]);
  });

  it('is refused when the clocks of the process and of PostgreSQL differ by a minute', async () => {
    const now = Date.now;
    const shifted = jest.spyOn(Date, 'now').mockImplementation(() => now() + 60_000);
    try {
      await expect(open()).rejects.toThrow(
        /^The clock of this machine is (59|60|61) s ahead of that of the PostgreSQL at [^ ]+\. Synchronise both with NTP/,
      );
    } finally {
      shifted.mockRestore();
    }
    const tables = await withClient(fresh.url, (client) =>
      client.query("select from pg_tables where tablename = 'flag'"),
    );
    expect(tables.rowCount).toBe(0);
  });

  it('allows a migration to exceed the statement timeout of calls', async () => {
    const slow = { name: '2026-03-01-slow', statements: ['select pg_sleep(0.5)', 'create table late (id int)'] };
    const database = await open([first, slow], { statementTimeoutMs: 200 });
    expect(await database.read({ name: 'late', text: 'select id from late' })).toEqual([]);
    const tooSlow = database.read({ name: 'slow', text: 'select pg_sleep(5)' });
    await expect(tooSlow).rejects.toMatchObject({ kind: 'ServiceUnavailable' });
  });

  it('releases the locks of a vanished machine within half a minute', async () => {
    const session = await (await open()).session();
    const settings = await session.query(
      "select name, setting::int from pg_settings where name like 'tcp_keepalives_%' order by name",
    );
    session.release();
    expect(settings.rows).toEqual([
      { name: 'tcp_keepalives_count', setting: 4 },
      { name: 'tcp_keepalives_idle', setting: 10 },
      { name: 'tcp_keepalives_interval', setting: 5 },
    ]);
  });

  it('is created where it is missing', async () => {
    const url = new URL(fresh.url);
    url.pathname = `${url.pathname}_made`;
    const database = await open([first], { url: url.href });
    await database.ping();
    await database.close();
    opened = [];
    const maintenance = await open([]);
    await maintenance.transaction(async ({ query }) => {
      expect(await query('select datname from pg_database where datname = $1', [url.pathname.slice(1)])).toHaveLength(
        1,
      );
    });
  });

  it('is neither created nor migrated by a process with readOnlySchema', async () => {
    const url = new URL(fresh.url);
    url.pathname = '/nobody_made_this';
    const looking = { readOnlySchema: true, url: url.href };
    await expect(open([first], looking)).rejects.toThrow(`There is no database nobody_made_this at ${url.host}.`);
    await expect(open([first], looking)).rejects.toThrow('There is no database');

    await expect(open([first], { readOnlySchema: true })).rejects.toThrow(/holds nothing of Bunting/);
    await (await open([first])).transaction(({ query }) => query("insert into flag (name) values ('a')"));
    await expect(open([first, second], { readOnlySchema: true })).rejects.toThrow(
      /lacks the migration "2026-02-01-notes"\): start this version/,
    );
    await expect(open([], { readOnlySchema: true })).rejects.toThrow(NewerDatabaseError);
    const database = await open([first], { readOnlySchema: true });
    expect(await database.read({ name: 'names', text: 'select name from flag' })).toEqual([{ name: 'a' }]);
  });

  it('reports the address without the password when no server responds', async () => {
    const url = 'postgres://bunting:secret@127.0.0.1:9/nowhere';
    const refused = openDatabase({ url, name: 'test', migrations: [] }).catch((error: Error) => error.message);
    expect(await refused).toMatch(
      /^No PostgreSQL answers at 127\.0\.0\.1:9 \(.*\)\. Start one, or correct the address\.$/,
    );
    expect(await refused).not.toContain('secret');
  });

  it('stores a transaction as a whole or not at all', async () => {
    const database = await open();
    await expect(
      database.transaction(async ({ query }) => {
        await query("insert into flag (name) values ('a')");
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await database.read({ name: 'flags', text: 'select name from flag' })).toEqual([]);
  });

  it('never commits a transaction after a swallowed error', async () => {
    const database = await open();
    await expect(
      database.transaction(async ({ query }) => {
        await query("insert into flag (name) values ('a')");
        await query("insert into flag (name) values ('a')").catch(() => undefined);
        return 'saved';
      }),
    ).rejects.toThrow('nothing was stored');
    expect(await database.read({ name: 'flags', text: 'select name from flag' })).toEqual([]);
    await database.transaction(({ query }) => query("insert into flag (name) values ('a')"));
    expect(await database.read({ name: 'flags', text: 'select name from flag' })).toEqual([{ name: 'a' }]);
  });

  it('retries a deadlocked transaction, so that both commit', async () => {
    const database = await open();
    await database.transaction(({ query }) => query("insert into flag (name) values ('a'), ('b')"));
    let together = 0;
    let bothHoldOne: () => void = () => undefined;
    const meeting = new Promise<void>((resolve) => (bothHoldOne = resolve));
    const roll = (one: string, other: string) =>
      database.transaction(async ({ query }) => {
        await query('update flag set rolls = rolls + 1 where name = $1', [one]);
        if (++together === 2) bothHoldOne();
        await meeting;
        await query('update flag set rolls = rolls + 1 where name = $1', [other]);
      });
    await Promise.all([roll('a', 'b'), roll('b', 'a')]);
    expect(await database.read({ name: 'rolls', text: 'select name, rolls from flag order by name' })).toEqual([
      { name: 'a', rolls: 2 },
      { name: 'b', rolls: 2 },
    ]);
  });

  it('sends no further statements of a failed job to a connection that was returned to the pool', async () => {
    const database = await open();
    let goOn = (): void => undefined;
    const failed = new Promise<void>((resolve) => (goOn = resolve));
    let late: Promise<unknown> | undefined;
    const job = database.transaction(async ({ query }) => {
      await query("insert into flag (name) values ('early')");
      late = failed.then(() => query("insert into flag (name) values ('late')"));
      throw new Error('no');
    });
    await expect(job).rejects.toThrow('no');
    goOn();
    await expect(late).rejects.toThrow('The transaction is over.');
    expect(await database.read({ name: 'flags', text: 'select name from flag' })).toEqual([]);
  });

  it('retries a transaction whose referenced row was deleted concurrently', async () => {
    const database = await open();
    await database.transaction(async ({ query }) => {
      await query("insert into flag (name) values ('a')");
      await query('create table tag (flag text references flag (name))');
    });
    const outcome = await database.transaction(async ({ query }) => {
      const flags = await query<{ name: string }>("select name from flag where name = 'a'");
      if (flags.length === 0) return 'there is no such flag';
      await database.transaction((other) => other.query("delete from flag where name = 'a'"));
      await query("insert into tag (flag) values ('a')");
      return 'tagged';
    });
    expect(outcome).toBe('there is no such flag');
  });

  it('refuses a statement as unavailable after the statement timeout', async () => {
    const database = await open([first], { statementTimeoutMs: 50 });
    await expect(database.read({ name: 'slow', text: 'select pg_sleep(10)' })).rejects.toMatchObject({
      kind: 'ServiceUnavailable',
      message: expect.stringContaining('took too long'),
    });
    await expect(database.transaction(({ query }) => query('select pg_sleep(10)'))).rejects.toMatchObject({
      kind: 'ServiceUnavailable',
    });
  });

  it('is unavailable while its connections are cut, and works again afterwards', async () => {
    const database = await open();
    const other = await open();
    const cut = () =>
      database.transaction(async ({ query }) => {
        await other.transaction((tx) =>
          tx.query(
            'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
          ),
        );
        return query('select 1');
      });
    // More often than it has connections: none of them is lost for good.
    for (let times = 0; times < 12; times++) await expect(cut()).rejects.toMatchObject({ kind: 'ServiceUnavailable' });
    await database.ping();
  });

  const flags = { name: 'flags', text: 'select name from flag order by name' };
  const within = (ms: number) => ({ deadline: new Date(Date.now() + ms) });
  const tooLate = { kind: 'ServiceUnavailable', message: 'The deadline has passed. Nothing was changed.' };

  it('begins no transaction whose deadline has passed', async () => {
    const database = await open();
    let begun = false;
    const late = database.transaction(async () => void (begun = true), within(-1));
    await expect(late).rejects.toMatchObject(tooLate);
    expect(begun).toBe(false);
  });

  it('counts the time that a transaction waits for a connection', async () => {
    const database = await open([first], { poolMax: 1 });
    const session = await database.session();
    let begun = false;
    const limits = within(100);
    const late = database.transaction(async () => void (begun = true), limits);
    late.catch(() => undefined);
    await eventually(() => expect(Date.now()).toBeGreaterThan(limits.deadline.getTime()));
    session.release();
    await expect(late).rejects.toMatchObject(tooLate);
    expect(begun).toBe(false);
  });

  it('ends a transaction that waits for a lock at its deadline', async () => {
    const database = await open();
    await database.transaction(({ query }) => query("insert into flag (name) values ('a')"));
    const roll = "update flag set rolls = rolls + 1 where name = 'a'";
    await database.transaction(async ({ query }) => {
      await query(roll);
      await expect(database.transaction((other) => other.query(roll), within(200))).rejects.toMatchObject(tooLate);
    });
    expect(await database.read({ name: 'rolls', text: 'select rolls from flag' })).toEqual([{ rolls: 1 }]);
  });

  it('stores nothing for a process that was paused until after the deadline', async () => {
    const database = await open();
    const frozen = database.transaction(async ({ query }) => {
      await query("insert into flag (name) values ('late')");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    }, within(200));
    await expect(frozen).rejects.toMatchObject(tooLate);
    expect(await database.read(flags)).toEqual([]);
  });

  it('stores nothing whose COMMIT reaches PostgreSQL after the deadline', async () => {
    const database = await open();
    const proxy = await stallingProxy(fresh.url, 'commit');
    const stalled = await open([first], { url: proxy.url });
    proxy.stall();
    const late = stalled.transaction(async ({ query }) => {
      await query("insert into flag (name) values ('late')");
    }, within(1_000));
    late.catch(() => undefined);
    await proxy.stalled;
    const transactions = "select from pg_stat_activity where datname = current_database() and state like 'idle in tr%'";
    await eventually(async () => expect(await database.read({ name: 'tx', text: transactions })).toEqual([]));
    proxy.release();
    await expect(late).rejects.toMatchObject({ kind: 'ServiceUnavailable' });
    expect(await database.read(flags)).toEqual([]);
    // The connection that PostgreSQL closed is replaced.
    await stalled.transaction(({ query }) => query("insert into flag (name) values ('next')"), within(10_000));
    expect(await database.read(flags)).toEqual([{ name: 'next' }]);
    await stalled.close();
    opened = opened.filter((one) => one !== stalled);
    await proxy.stop();
  });

  it('stores nothing for a caller that can no longer receive the outcome', async () => {
    const database = await open();
    const gone = new AbortController();
    const job = database.transaction(
      async ({ query }) => {
        await query("insert into flag (name) values ('lost')");
        gone.abort();
      },
      { signal: gone.signal },
    );
    await expect(job).rejects.toMatchObject({
      kind: 'ServiceUnavailable',
      message: expect.stringMatching(/connection to the caller was lost/),
    });
    expect(await database.read(flags)).toEqual([]);
  });

  it('sets the deadline of a transaction without a further round trip', async () => {
    const database = await open();
    await database.transaction(({ query }) => query('select 1'), within(10_000));
    const before = database.statements;
    await database.transaction(({ query }) => query('select 1'), within(10_000));
    expect(database.statements - before).toBe(3);
  });

  it('reports that all connections are in use when none is free in time', async () => {
    const database = await open([first], { poolMax: 1 });
    const session = await database.session();
    await expect(database.read({ name: 'one', text: 'select 1' })).rejects.toMatchObject({
      kind: 'ServiceUnavailable',
      message: expect.stringMatching(/^No connection to the database was free in time/),
    });
    session.release();
  });

  it('refuses writes with 503 while it is read-only, logs it once, and writes again by itself', async () => {
    const errors: string[] = [];
    const database = await open([first], { logError: (message) => void errors.push(message) });
    const setReadOnly = (value: 'on' | 'off') =>
      withClient(fresh.url, async (client) => {
        await client.query('set default_transaction_read_only = off');
        const name = client.escapeIdentifier(new URL(fresh.url).pathname.slice(1));
        await client.query(`alter database ${name} set default_transaction_read_only = ${value}`);
        // The setting counts for new connections only.
        await client.query(
          'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
        );
      });
    const write = (name: string) =>
      database.transaction(({ query }) => query('insert into flag (name) values ($1)', [name]));
    await setReadOnly('on');
    await eventually(() =>
      expect(write('a')).rejects.toMatchObject({
        kind: 'ServiceUnavailable',
        message: expect.stringContaining('read-only'),
      }),
    );
    await expect(write('b')).rejects.toMatchObject({ retryAfterSeconds: 1 });
    await setReadOnly('off');
    await eventually(() => write('c'));
    expect(errors).toEqual([expect.stringContaining('cannot execute INSERT in a read-only transaction (25006)')]);
  });

  it('is not ready after a write has failed for a full disk, until there is space again', async () => {
    const errors: string[] = [];
    const database = await open([first], { logError: (message) => void errors.push(message) });
    const full = `create function full_disk() returns event_trigger language plpgsql as $$ begin
      raise exception using errcode = 'disk_full', message = 'could not extend file "base/1": No space left on device';
    end $$`;
    // A trigger stands in for the disk: what it raises is what PostgreSQL reports when it cannot extend a file.
    await database.transaction(async ({ query }) => {
      await query(full);
      await query(
        "create event trigger full_disk on ddl_command_start when tag in ('CREATE TABLE', 'CREATE TABLE AS') execute function full_disk()",
      );
    });
    await database.ready();
    for (let times = 0; times < 3; times++) {
      await expect(database.transaction(({ query }) => query('create table more (id int)'))).rejects.toMatchObject({
        kind: 'ServiceUnavailable',
        message: expect.stringContaining('no room left on its disk'),
      });
      await expect(database.ready()).rejects.toThrow('no room left on its disk');
    }
    expect(await database.read({ name: 'flags', text: 'select name from flag' })).toEqual([]);
    expect(errors).toEqual([
      expect.stringContaining('could not extend file "base/1": No space left on device (53100)'),
    ]);
    await database.transaction(({ query }) => query('drop event trigger full_disk'));
    await database.ready();
    await database.ready();
  });

  it('reports a full disk at the start as the cause', async () => {
    const full = {
      name: '2026-02-02-full',
      statements: [
        "do $$ begin raise exception using errcode = 'disk_full', message = 'could not extend file'; end $$",
      ],
    };
    await expect(open([first, full])).rejects.toThrow(
      `The disk of the PostgreSQL at ${new URL(fresh.url).host} is full (could not extend file (53100)). Free some space on it, then start again.`,
    );
  });

  it('sends BEGIN with the first read, and COMMIT with the last statement', async () => {
    const database = await open();
    const roundTrips = async (job: Parameters<Database['transaction']>[0]): Promise<number> => {
      const before = database.roundTrips;
      await database.transaction(job);
      return database.roundTrips - before;
    };
    const insert = "insert into flag (name) values ('a')";
    expect(await roundTrips(({ query }) => query('select 1'))).toBe(2);
    expect(
      await roundTrips(async ({ query, send }) => {
        await query('select 1');
        send(insert);
      }),
    ).toBe(2);
    expect(await database.read(flags)).toEqual([{ name: 'a' }]);
    expect(await roundTrips(async ({ send }) => send('delete from flag'))).toBe(2);
    expect(await database.read(flags)).toEqual([]);
  });

  it('sends a statement without a result together with the next one', async () => {
    const database = await open();
    const names = await database.transaction(async ({ query, send }) => {
      let name = 'early';
      send('insert into flag (name) values ($1)', () => [name]);
      name = 'late';
      return query('select name from flag');
    });
    expect(names).toEqual([{ name: 'late' }]);
  });

  it('fails with the error of the statement that was sent without a wait, not with that of the next one', async () => {
    const database = await open();
    const failing = database.transaction(async ({ query, send }) => {
      send("insert into flag (name) values ('a'), ('a')");
      await query('select name from flag');
    });
    await expect(failing).rejects.toMatchObject({ code: '23505' });
    expect(await database.read(flags)).toEqual([]);
  });

  it('stores nothing when the statement that goes with COMMIT fails', async () => {
    const database = await open();
    const failing = database.transaction(async ({ query, send }) => {
      await query("insert into flag (name) values ('a')");
      send("insert into flag (name) values ('a')");
    });
    await expect(failing).rejects.toMatchObject({ code: '23505' });
    expect(await database.read(flags)).toEqual([]);
    await database.transaction(({ query }) => query("insert into flag (name) values ('b')"));
    expect(await database.read(flags)).toEqual([{ name: 'b' }]);
  });

  it('names the constraint that a write would break', async () => {
    const database = await open();
    const twice = database.transaction(async ({ query }) => {
      await query("insert into flag (name) values ('a')");
      await query("insert into flag (name) values ('a')");
    });
    expect(violatedConstraint(await twice.catch((error: unknown) => error))).toBe('flag_pkey');
  });

  it('counts every statement that it sends', async () => {
    const database = await open();
    await database.read({ name: 'one', text: 'select 1' });
    const before = database.statements;
    await database.read({ name: 'one', text: 'select 1' });
    expect(database.statements - before).toBe(1);
    await database.transaction(({ query }) => query('select 1'));
    expect(database.statements - before).toBe(4);
  });
});
