import {
  type TcpProxy,
  eventually,
  overTcp,
  startTcpProxy,
  startTestPostgres,
  temporaryFolder,
  withClient,
} from '@bunting/testing';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { emptyDatabasePerTest, flagTable } from '../test/empty-database-per-test.ts';
import { stallingProxy } from '../test/stalling-proxy.ts';
import { type Database, openDatabase, prepared, violatedConstraint } from './index.ts';

describe('a database', () => {
  const { url, open, leaveOpen } = emptyDatabasePerTest();

  it('stores a transaction as a whole or not at all', async () => {
    const database = await open();
    await expect(
      database.transaction(async ({ query }) => {
        await query("insert into flag (name) values ('a')");
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await database.read({ text: 'select name from flag' })).toEqual([]);
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
    expect(await database.read({ text: 'select name from flag' })).toEqual([]);
    await database.transaction(({ query }) => query("insert into flag (name) values ('a')"));
    expect(await database.read({ text: 'select name from flag' })).toEqual([{ name: 'a' }]);
  });

  it('prepares a statement once on each connection, and never takes one for another', async () => {
    const database = await open(undefined, { poolMax: 1 });
    const [one, two] = [prepared('select 1 as nth'), prepared('select 2 as nth')];
    for (const [statement, nth] of [[one, 1] as const, [two, 2] as const, [one, 1] as const])
      expect(await database.read(statement)).toEqual([{ nth }]);
    const statements =
      'select statement, (generic_plans + custom_plans)::int as runs from pg_prepared_statements order by 1';
    expect(await database.read({ text: statements })).toEqual([
      { statement: one.text, runs: 2 },
      { statement: two.text, runs: 1 },
    ]);
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
    expect(await database.read({ text: 'select name, rolls from flag order by name' })).toEqual([
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
    await expect(late).rejects.toThrow(
      'The transaction has ended: this statement was sent after its commit or rollback.',
    );
    expect(await database.read({ text: 'select name from flag' })).toEqual([]);
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
    const database = await open([flagTable], { statementTimeoutMs: 1_000 });
    await expect(database.read({ text: 'select pg_sleep(10)' })).rejects.toMatchObject({
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
    // This is more often than the pool has connections: it would have none left if a failure lost one.
    for (let times = 0; times < 12; times++) await expect(cut()).rejects.toMatchObject({ kind: 'ServiceUnavailable' });
    await database.schema();
  });

  const flags = { text: 'select name from flag order by name' };
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
    const database = await open([flagTable], { poolMax: 1 });
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
    expect(await database.read({ text: 'select rolls from flag' })).toEqual([{ rolls: 1 }]);
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

  it('ends a transaction that is busy between two statements at its deadline', async () => {
    const database = await open();
    const busy = database.transaction(async ({ query }) => {
      const [{ pid } = { pid: 0 }] = await query<{ pid: number }>('select pg_backend_pid() as pid');
      const alive = `select from pg_stat_activity where pid = ${pid}`;
      await eventually(async () => expect(await database.read({ text: alive })).toEqual([]));
      await query("insert into flag (name) values ('late')");
    }, within(200));
    await expect(busy).rejects.toMatchObject(tooLate);
    expect(await database.read(flags)).toEqual([]);
  });

  it('stores nothing whose COMMIT reaches PostgreSQL after the deadline', async () => {
    const database = await open();
    const proxy = await stallingProxy(url(), 'commit');
    const stalled = await open([flagTable], { url: proxy.url });
    proxy.stall();
    const late = stalled.transaction(async ({ query }) => {
      await query("insert into flag (name) values ('late')");
    }, within(5_000));
    late.catch(() => undefined);
    await proxy.stalled;
    const transactions = "select from pg_stat_activity where datname = current_database() and state like 'idle in tr%'";
    await eventually(async () => expect(await database.read({ text: transactions })).toEqual([]));
    proxy.release();
    await expect(late).rejects.toMatchObject({ kind: 'ServiceUnavailable' });
    expect(await database.read(flags)).toEqual([]);
    // The connection that PostgreSQL closed is replaced.
    await stalled.transaction(({ query }) => query("insert into flag (name) values ('next')"), within(10_000));
    expect(await database.read(flags)).toEqual([{ name: 'next' }]);
    await stalled.close();
    leaveOpen(stalled);
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
    const database = await open([flagTable], { poolMax: 1 });
    const session = await database.session();
    await expect(database.read({ text: 'select 1' })).rejects.toMatchObject({
      kind: 'ServiceUnavailable',
      message: expect.stringMatching(/^No connection to the database was free in time/),
    });
    session.release();
  });

  it('refuses writes with 503 while it is read-only, logs it once, and writes again by itself', async () => {
    const errors: string[] = [];
    const database = await open([flagTable], {
      log: { warn: () => undefined, error: (message) => void errors.push(message) },
    });
    const setReadOnly = (value: 'on' | 'off') =>
      withClient(url(), async (client) => {
        await client.query('set default_transaction_read_only = off');
        const name = client.escapeIdentifier(new URL(url()).pathname.slice(1));
        await client.query(`alter database ${name} set default_transaction_read_only = ${value}`);
        // The setting takes effect for new connections only.
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
    const database = await open([flagTable], {
      log: { warn: () => undefined, error: (message) => void errors.push(message) },
    });
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
    expect(await database.read({ text: 'select name from flag' })).toEqual([]);
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
    await expect(open([flagTable, full])).rejects.toThrow(
      `The disk of the PostgreSQL at ${decodeURIComponent(new URL(url()).host)} is full (could not extend file (53100)). Free some space on it, then start again.`,
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
    await database.read({ text: 'select 1' });
    const before = database.statements;
    await database.read({ text: 'select 1' });
    expect(database.statements - before).toBe(1);
    await database.transaction(({ query }) => query('select 1'));
    expect(database.statements - before).toBe(4);
  });
});

describe('a network that loses every packet', () => {
  const { url, open } = emptyDatabasePerTest();
  let proxy: TcpProxy;
  let through: string;
  beforeEach(async () => {
    const address = new URL(overTcp(url()));
    proxy = await startTcpProxy(Number(address.port));
    address.port = String(proxy.port);
    through = address.href;
  });
  afterEach(() => proxy.stop());

  const one = { text: 'select 1 as one' };
  /** Takes every connection of the pool. */
  const twice = <T>(job: () => Promise<T>): Promise<PromiseSettledResult<T>[]> => Promise.allSettled([job(), job()]);

  const succeeds = (job: () => Promise<unknown>): Promise<void> =>
    eventually(async () => {
      expect(await twice(job)).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled' }]);
    });

  it('fails reads and writes with 503 while it accepts no connection, and its connections are replaced', async () => {
    const database = await open(undefined, { url: through, statementTimeoutMs: 1_000, poolMax: 2 });
    const read = () => database.read(one);
    const write = () =>
      database.transaction(({ query }) => query("insert into flag (name) values ('x') on conflict do nothing"));
    for (const call of [read, write]) {
      await succeeds(call);
      proxy.swallow();
      const refused = { status: 'rejected', reason: { kind: 'ServiceUnavailable' } };
      expect(await twice(call)).toMatchObject([refused, refused]);
      proxy.forwardNewConnections();
      await succeeds(call);
    }
  });

  const backends = { text: "select pid from pg_stat_activity where application_name = 'bunting-test' order by pid" };
  /** Less than the time after which a connection counts as lost whatever PostgreSQL says. */
  const soon = 25_000;

  it(
    'repeats reads and transactions on new connections when it has forgotten theirs, and ends their sessions',
    { timeout: soon },
    async () => {
      const warnings: string[] = [];
      const log = { warn: (message: string) => void warnings.push(message), error: () => undefined };
      const database = await open(undefined, { url: through, poolMax: 3, log });
      const direct = await open([flagTable], { name: 'direct' });
      const session = await database.session();
      const lost = new Promise((resolve) => session.once('error', resolve));
      const read = () => database.read(one);
      const write = () =>
        database.transaction(({ query }) => query('insert into flag (name) values (gen_random_uuid()::text)'));
      for (const call of [read, write]) {
        await succeeds(call);
        const before = await direct.read<{ pid: number }>(backends);
        proxy.loseConnections();
        expect(await twice(call)).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled' }]);
        const after = await direct.read<{ pid: number }>(backends);
        expect(after.filter(({ pid }) => before.some((one) => one.pid === pid))).toEqual([]);
      }
      // Also one that waits for notifications, and sends nothing.
      await lost;
      session.release(true);
      expect(warnings[0]).toMatch(/^PostgreSQL and bunting-test did not hear from each other on 3 of 3 connections/);
    },
  );

  it(
    'lets a COMMIT on its way take effect before it is refused or never, and frees its locks',
    { timeout: soon },
    async () => {
      const direct = await open([flagTable], { name: 'direct' });
      await direct.transaction(({ query }) => query("insert into flag (name) values ('x')"));
      for (const isCommitLost of [true, false]) {
        const { port } = new URL(overTcp(url()));
        const forgetful = await startTcpProxy(Number(port), ({ toClient, toServer }) => {
          let isForgotten = false;
          return {
            fromClient: (bytes) => {
              if (isForgotten) return;
              isForgotten = bytes.includes('commit');
              if (!(isForgotten && isCommitLost)) toServer(bytes);
            },
            fromServer: (bytes) => isForgotten || toClient(bytes),
          };
        });
        const address = new URL(through);
        address.port = String(forgetful.port);
        const database = await open([flagTable], { url: address.href, poolMax: 1 });
        const roll = 'update flag set rolls = rolls + 1 where name = $1 returning rolls';
        await expect(database.transaction(({ query }) => query(roll, ['x']))).rejects.toMatchObject({
          kind: 'ServiceUnavailable',
        });
        // The first COMMIT was lost; of the second one, its response was.
        const [flag] = await direct.transaction(({ query }) => query<{ rolls: number }>(roll, ['x']));
        expect(flag?.rolls).toBe(isCommitLost ? 1 : 3);
        await database.close();
        await forgetful.stop();
      }
    },
  );

  it('is not suspected of a statement that waits, also behind a pooler, whose sessions are not those of PostgreSQL', async () => {
    const { port } = new URL(overTcp(url()));
    /** Sends a statement that waits for a lock, and returns once PostgreSQL has been asked about its connection twice. */
    const waitsThrough = async (nameProcess: (bytes: Buffer) => void) => {
      let connections = 0;
      const server = await startTcpProxy(Number(port), ({ toClient, toServer }) => {
        connections++;
        return {
          fromClient: toServer,
          fromServer: (bytes) => {
            nameProcess(bytes);
            toClient(bytes);
          },
        };
      });
      const address = new URL(through);
      address.port = String(server.port);
      const database = await open([flagTable], { url: address.href, poolMax: 1, statementTimeoutMs: 60_000 });
      const before = await database.read({ text: 'select pg_backend_pid() as pid' });
      const connected = connections;
      const waits = 'select pg_backend_pid() as pid from pg_advisory_xact_lock_shared(9)';
      const after = database.transaction(({ query }) => query(waits));
      await eventually(() => expect(connections - connected).toBeGreaterThan(1));
      return { server, database, before, after };
    };
    await withClient(url(), async (holder) => {
      await holder.query('select pg_advisory_lock(9)');
      const waiting = await Promise.all([
        waitsThrough(() => undefined),
        waitsThrough((bytes) => {
          // BackendKeyData: a pooler names a process that PostgreSQL does not have.
          const key = bytes.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]));
          if (key >= 0) bytes.writeInt32BE(999_999_999, key + 5);
        }),
      ]);
      await holder.query('select pg_advisory_unlock(9)');
      for (const { server, database, before, after } of waiting) {
        expect(await after).toEqual(before);
        await database.close();
        await server.stop();
      }
    });
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

it('every connection uses TLS, and checks the certificate of PostgreSQL, where the URL says so', async () => {
  const folder = temporaryFolder(`bunting-database-tls-${process.pid}`);
  const server = await startTestPostgres();
  try {
    const [key, certificate] = [path.join(folder.path, 'key.pem'), path.join(folder.path, 'certificate.pem')];
    const options = `-x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=db -keyout ${key} -out ${certificate}`;
    execFileSync('openssl', ['req', ...options.split(' '), '-addext', 'subjectAltName=IP:127.0.0.1'], {
      stdio: 'ignore',
    });
    await withClient(server.url, async (client) => {
      for (const [file, name] of [
        [key, 'server.key'],
        [certificate, 'server.crt'],
      ] as const)
        // PostgreSQL may run as another user, and takes a key only from a file that is its own.
        await client.query(
          `copy (select unnest(string_to_array('${readFileSync(file, 'utf8')}', chr(10)))) to program 'umask 077 && cat > ${name}'`,
        );
      await client.query('alter system set ssl = on');
      await client.query('select pg_reload_conf()');
    });
    const url = `${overTcp(server.url).replace(/\/postgres$/, '/tls')}?sslmode=verify-full`;
    const open = (more: string) => openDatabase({ url: `${url}${more}`, name: 'spec', migrations: [flagTable] });
    const database = await eventually(() => open(`&sslrootcert=${certificate}`));
    const isEncrypted = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';
    expect(await database.read({ text: isEncrypted })).toEqual([{ ssl: true }]);
    expect(await database.transaction(({ query }) => query(isEncrypted))).toEqual([{ ssl: true }]);
    await database.close();
    await expect(open('')).rejects.toThrow(/self.signed certificate/);
  } finally {
    await server.stop();
    await folder.remove();
  }
});
