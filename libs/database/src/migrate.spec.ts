import { eventually, freshDatabase, overTcp, withClient } from '@bunting/testing';
import { describe, expect, it, vi } from 'vitest';
import { emptyDatabasePerTest, flagTable } from '../test/empty-database-per-test.ts';
import { migrateEmptyDatabase, NewerDatabaseError, openDatabase, type SchemaMigration } from './index.ts';
import { checksumOf } from './schema-version.ts';

const second: SchemaMigration = { name: '2026-02-01-notes', statements: ['alter table flag add column note text'] };

describe('a database', () => {
  const { url, open, leaveOpen } = emptyDatabasePerTest();

  it('runs each migration once when several processes open it concurrently', async () => {
    await Promise.all([open(), open(), open()]);
    const [database] = [await open([flagTable, second])];
    await database.transaction(({ query }) => query("insert into flag (name, note) values ('a', 'b')"));
    expect(await database.read({ text: 'select name, note from flag' })).toEqual([{ name: 'a', note: 'b' }]);
  });

  it('has no connection left after it was closed', async () => {
    const fresh = await freshDatabase('closed');
    const database = await openDatabase({ url: fresh.url, name: 'spec', migrations: [flagTable] });
    await database.transaction(({ query }) => query("insert into flag (name) values ('a')"));
    await database.close();
    const server = new URL(fresh.url);
    const name = server.pathname.slice(1);
    server.pathname = '/postgres';
    // PostgreSQL refuses to drop a database that another connection still uses after some seconds.
    await withClient(server.href, (client) => client.query(`drop database ${name}`));
  });

  it('is refused with one sentence by a version that lacks some of its migrations', async () => {
    await open([flagTable, second]);
    await expect(open([flagTable])).rejects.toThrow(NewerDatabaseError);
    await expect(open([flagTable])).rejects.toThrow(
      /was written by a newer version of Bunting \(it has the migration "2026-02-01-notes", which this version does not know\)/,
    );
  });

  const note = { name: '2-expand-note', statements: ['alter table flag add column note text'] };
  const noRolls = { name: '3-contract-rolls', statements: ['alter table flag drop column rolls'] };

  it('serves a version that does not know how a newer one has expanded it, and says so', async () => {
    const before = await open([flagTable]);
    const newer = await open([flagTable, note]);
    expect(await before.ready()).toEqual({ schema: { needs: 1, has: 2, newer: ['2-expand-note'] } });
    expect(await newer.ready()).toEqual({ schema: { needs: 2, has: 2, newer: [] } });
    expect(await (await open([flagTable])).schema()).toEqual({ needs: 1, has: 2, newer: ['2-expand-note'] });
    expect(await (await open([flagTable], { readOnlySchema: true })).schema()).toMatchObject({ has: 2 });
  });

  const edited: SchemaMigration = { name: flagTable.name, statements: ['create table flag (name text, colour text)'] };
  const refusedEdit =
    /^The migration "2026-01-01-flags" was changed after it had been applied to the database \S+, which lacks the change\. Start the version that applied it, or undo the change and add a migration with it\./;

  it('is refused by a version in which a migration that it has was edited, and left as it is', async () => {
    await open([flagTable]);
    await expect(open([edited, note])).rejects.toThrow(refusedEdit);
    await expect(open([edited], { readOnlySchema: true })).rejects.toThrow(refusedEdit);
    expect(await (await open([flagTable])).schema()).toEqual({ needs: 1, has: 1, newer: [] });
  });

  it('is opened by a version that only reformats the statements of a migration, or explains them', async () => {
    await open([flagTable]);
    const formatted = flagTable.statements.map((text) => ` ${text.replaceAll(' ', '\n  ')} -- flags`);
    await open([{ ...flagTable, statements: formatted }]);
  });

  it('of a version that stored no checksums is refused, since its tables may differ', async () => {
    const before = await open([flagTable]);
    const refused = /was written by a version of Bunting before its first release.*npm run import -- --from URL/;
    await before.query({ text: 'update schema_migration set checksum = null' });
    await expect(open([flagTable, note])).rejects.toThrow(refused);
    await before.query({ text: 'alter table schema_migration drop column checksum' });
    await expect(open([flagTable, note])).rejects.toThrow(refused);
    await expect(open([flagTable], { readOnlySchema: true })).rejects.toThrow(refused);
    const noteColumns = "select column_name from information_schema.columns where column_name = 'note'";
    expect(await before.read({ text: noteColumns })).toEqual([]);
  });

  it('takes a running process out of service when a newer version has contracted it, or an older backup was restored', async () => {
    const before = await open([flagTable, note]);
    await open([flagTable, note, noRolls]);
    const contracted =
      /was written by a newer version of Bunting \(it has the migration "3-contract-rolls", which this version does not know\)\. Start that version, or restore a backup/;
    await expect(before.ready()).rejects.toThrow(contracted);
    await expect(open([flagTable, note])).rejects.toThrow(contracted);
    const names = () => before.read({ text: 'select name from schema_migration order by id' });
    expect(await names()).toEqual([flagTable, note, noRolls].map(({ name }) => ({ name })));
    await before.query({ text: "delete from schema_migration where name <> '2026-01-01-flags'" });
    await expect(before.ready()).rejects.toThrow(
      /it lacks the migration "2-expand-note"\): start this version on it first/,
    );
  });

  it('gets an index concurrently while its rows are written, and repairs one whose creation was cut off', async () => {
    const flags = await open([flagTable]);
    const step = {
      name: '2-expand-by-rolls',
      concurrently: true,
      statements: [
        'drop index concurrently if exists flag_by_rolls',
        'create index concurrently flag_by_rolls on flag (rolls)',
      ],
    };
    const indexes = () =>
      flags.read({
        text: "select indisvalid as valid from pg_index where indexrelid = to_regclass('flag_by_rolls')",
      });
    const waiting = `from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
      and query ~ '^(create|drop) index concurrently' and wait_event_type = 'Lock'`;
    await withClient(url(), async (writer) => {
      await writer.query("begin; insert into flag (name) values ('a')");
      const cutOff = open([flagTable, step, note]);
      cutOff.catch(() => undefined);
      await eventually(async () =>
        expect(await flags.read({ text: `select pg_terminate_backend(pid) ${waiting}` })).toHaveLength(1),
      );
      await expect(cutOff).rejects.toThrow();
      expect(await indexes()).toEqual([{ valid: false }]);
      const opening = Promise.all([open([flagTable, step, note]), open([flagTable, step, note])]);
      await eventually(async () => expect(await flags.read({ text: `select pid ${waiting}` })).toHaveLength(1));
      await flags.query({ text: "insert into flag (name) values ('b')" });
      await writer.query('commit');
      for (const database of await opening) expect(await database.schema()).toEqual({ needs: 3, has: 3, newer: [] });
    });
    expect(await indexes()).toEqual([{ valid: true }]);
  });

  it('has the same schema when a restore creates it in one transaction as when services migrate it', async () => {
    const steps = [
      flagTable,
      note,
      {
        name: '3-expand-by-note',
        concurrently: true,
        statements: [
          'drop index concurrently if exists flag_by_note',
          'create index concurrently flag_by_note on flag (note)',
        ],
      },
    ];
    const schema = {
      text: `select table_name, column_name, data_type, character_maximum_length, is_nullable, column_default, indexes
             from information_schema.columns join (
               select relname, json_agg(pg_get_indexdef(indexrelid) order by indexrelid) as indexes
               from pg_index join pg_class on pg_class.oid = indrelid group by relname
             ) as index on relname = table_name
             where table_schema = 'public' order by table_name, column_name`,
    };
    const names = { text: 'select name from schema_migration order by id' };
    const restored = await freshDatabase();
    try {
      await withClient(restored.url, async (client) => {
        await client.query('begin');
        await migrateEmptyDatabase(client, new URL(restored.url).pathname.slice(1), steps);
        await client.query('commit');
      });
      const [migrated, created] = [await open(steps), await open(steps, { url: restored.url })];
      expect(await created.read(schema)).toEqual(await migrated.read(schema));
      expect(await created.read(names)).toEqual(await migrated.read(names));
      await created.close();
    } finally {
      await restored.drop();
    }
  });

  it('is refused when it was restored in part, and left as it is', async () => {
    await (await open([flagTable, second])).close();
    await withClient(url(), (client) => client.query('drop table schema_migration'));
    await expect(open([flagTable, second])).rejects.toThrow(
      /^The migrations of the database \S+ do not fit what it holds \(.*relation "flag" already exists\)\. No data was changed\. It was restored in part, or changed by hand: restore it/,
    );
    await withClient(url(), async (client) => {
      const left = await client.query("select tablename from pg_tables where schemaname = 'public'");
      expect(left.rows).toEqual([{ tablename: 'flag' }]);
      await client.query('drop table flag');
      await migrateEmptyDatabase(client, 'flags', [{ ...flagTable, statements: [] }]);
      await client.query('update schema_migration set checksum = $1', [checksumOf(flagTable)]);
    });
    await expect(open([flagTable, second])).rejects.toThrow(/relation "flag" does not exist\)\. No data was changed/);
    const { rows } = await withClient(url(), (client) => client.query('select name from schema_migration'));
    expect(rows).toEqual([{ name: '2026-01-01-flags' }]);
  });

  it('takes a migration completely at the next start when the process that began it was cut off in the middle', async () => {
    const long = { name: '2026-03-01-long', statements: ['create table half (id int)', 'select pg_sleep(60)'] };
    const cutOff = open([flagTable, long]);
    cutOff.catch(() => undefined);
    await withClient(url(), (client) =>
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
    expect(await (await open([flagTable, whole])).read({ text: 'select id from half' })).toEqual([]);
  });

  it('is refused when the clocks of the process and of PostgreSQL differ by a minute', async () => {
    const now = Date.now;
    const shifted = vi.spyOn(Date, 'now').mockImplementation(() => now() + 60_000);
    try {
      await expect(open()).rejects.toThrow(
        /^The clock of this machine is (59|60|61) s ahead of that of the PostgreSQL at [^ ]+\. Synchronise both with NTP/,
      );
    } finally {
      shifted.mockRestore();
    }
    const tables = await withClient(url(), (client) => client.query("select from pg_tables where tablename = 'flag'"));
    expect(tables.rowCount).toBe(0);
  });

  it('is opened by a process that lacks no migration while another one migrates', async () => {
    await open();
    await withClient(url(), async (holder) => {
      await holder.query('select pg_advisory_lock(7)');
      const waiting = { name: '2-expand-waiting', statements: ['select pg_advisory_xact_lock(7)'] };
      const migrating = open([flagTable, waiting]);
      const waits = `select from pg_stat_activity where query like '%pg_advisory_xact_lock(7)%' and wait_event_type = 'Lock'`;
      await eventually(async () => expect((await holder.query(waits)).rowCount).toBe(1));
      await open();
      expect((await holder.query(waits)).rowCount).toBe(1);
      await holder.query('select pg_advisory_unlock(7)');
      await migrating;
    });
  });

  it('logs which process it waits for while that process migrates', async () => {
    await open();
    await withClient(url(), async (holder) => {
      await holder.query('select pg_advisory_lock(7)');
      const waiting = { name: '2-expand-waiting', statements: ['select pg_advisory_xact_lock(7)'] };
      const migrating = open([flagTable, waiting]);
      const waits = `select from pg_stat_activity where query like '%pg_advisory_xact_lock(7)%' and wait_event_type = 'Lock'`;
      await eventually(async () => expect((await holder.query(waits)).rowCount).toBe(1));
      const warn = vi.fn();
      const starting = open([flagTable, waiting], { log: { warn, error: vi.fn() } });
      await eventually(() => expect(warn).toHaveBeenCalled());
      await holder.query('select pg_advisory_unlock(7)');
      await Promise.all([migrating, starting]);
      expect(warn.mock.calls).toEqual([
        [
          expect.stringMatching(
            /^The start waits until bunting-test-migrations \(backend \d+ of PostgreSQL, connected from [^ ]+( Unix socket)? for \d+ s\) has migrated the database \w+\./,
          ),
        ],
      ]);
    });
  });

  it('allows a migration to exceed the statement timeout of calls', async () => {
    const slow = { name: '2026-03-01-slow', statements: ['select pg_sleep(3)', 'create table late (id int)'] };
    const database = await open([flagTable, slow], { statementTimeoutMs: 800 });
    expect(await database.read({ text: 'select id from late' })).toEqual([]);
    const tooSlow = database.read({ text: 'select pg_sleep(5)' });
    await expect(tooSlow).rejects.toMatchObject({ kind: 'ServiceUnavailable' });
  });

  it('releases the locks of a vanished machine within half a minute', async () => {
    const session = await (await open([flagTable], { url: overTcp(url()) })).session();
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
    const missing = new URL(url());
    missing.pathname = `${missing.pathname}_made`;
    const database = await open([flagTable], { url: missing.href });
    await database.schema();
    await database.close();
    leaveOpen(database);
    const maintenance = await open([]);
    await maintenance.transaction(async ({ query }) => {
      expect(
        await query('select datname from pg_database where datname = $1', [missing.pathname.slice(1)]),
      ).toHaveLength(1);
    });
  });

  it('is neither created nor migrated by a process with readOnlySchema', async () => {
    const missing = new URL(url());
    missing.pathname = '/missing_database';
    const looking = { readOnlySchema: true, url: missing.href };
    await expect(open([flagTable], looking)).rejects.toThrow(
      `There is no database missing_database at ${decodeURIComponent(missing.host)}.`,
    );
    await expect(open([flagTable], looking)).rejects.toThrow('There is no database');

    await expect(open([flagTable], { readOnlySchema: true })).rejects.toThrow(/holds nothing of Bunting/);
    await (await open([flagTable])).transaction(({ query }) => query("insert into flag (name) values ('a')"));
    await expect(open([flagTable, second], { readOnlySchema: true })).rejects.toThrow(
      /lacks the migration "2026-02-01-notes"\): start this version/,
    );
    await expect(open([], { readOnlySchema: true })).rejects.toThrow(NewerDatabaseError);
    const database = await open([flagTable], { readOnlySchema: true });
    expect(await database.read({ text: 'select name from flag' })).toEqual([{ name: 'a' }]);
  });

  it('reports the address without the password when no server responds', async () => {
    const url = 'postgres://bunting:secret@127.0.0.1:9/nowhere';
    const refused = openDatabase({ url, name: 'test', migrations: [] }).catch((error: Error) => error.message);
    expect(await refused).toMatch(
      /^No PostgreSQL answers at 127\.0\.0\.1:9 \(.*\)\. Start one, or correct the address\.$/,
    );
    expect(await refused).not.toContain('secret');
  });
});
