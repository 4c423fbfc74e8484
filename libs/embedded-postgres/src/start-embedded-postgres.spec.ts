import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { query, type ScriptProcess, startScript, until } from '../test/script-process.ts';
import {
  connectOrStartEmbeddedPostgres,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  isAlive,
  startEmbeddedPostgres,
} from './index.ts';
import { programError } from './postgres-program.ts';

describe('an embedded PostgreSQL', () => {
  const scratch = mkdtempSync(path.join(tmpdir(), 'embedded-postgres-'));
  const started: EmbeddedPostgres[] = [];
  const scripts: ScriptProcess[] = [];
  let folders = 0;

  const newFolder = (): string => path.join(scratch, `data-${++folders}`);

  const start = async (options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> => {
    const database = await startEmbeddedPostgres(options);
    started.push(database);
    return database;
  };

  const runScript = (...args: Parameters<typeof startScript>): ScriptProcess => {
    const one = startScript(...args);
    scripts.push(one);
    return one;
  };

  const databaseOf = async (one: ScriptProcess): Promise<{ url: string; pid: number }> => {
    const said = await one.said<{ url: string; pid: number; refused?: string }>();
    if (said.refused !== undefined) throw new Error(said.refused);
    return said;
  };

  const isRoot = process.getuid?.() === 0;
  // Root may read and write every file. In a user namespace that maps root to another user it may not.
  const asOrdinaryUser = isRoot ? ['unshare', '--user', '--map-user=65534', '--map-group=65534', '--'] : [];

  afterEach(async () => {
    for (const { child } of scripts.splice(0)) {
      const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
      child.kill('SIGKILL');
      await ended;
    }
    await Promise.all(started.splice(0).map((database) => database.stop()));
  });
  afterAll(() => rmSync(scratch, { recursive: true, force: true, maxRetries: 10 }));

  describe('an embedded PostgreSQL', () => {
    it('is a PostgreSQL 18 that keeps its data over restarts', async () => {
      const dataDir = newFolder();
      const first = await start({ dataDir });
      const request = `SELECT current_setting('server_version_num')::int / 10000 AS version, current_setting('fsync') AS fsync,
      current_setting('TimeZone') AS zone, current_setting('max_connections') AS connections, current_setting('listen_addresses') AS listens`;
      expect(
        await query(first.url, 'CREATE TABLE flag (name text)', "INSERT INTO flag VALUES ('dark-mode')", request),
      ).toEqual([{ version: 18, fsync: 'on', zone: 'UTC', connections: '200', listens: '127.0.0.1' }]);
      await first.stop();
      expect(isAlive(first.pid)).toBe(false);

      const second = await start({ dataDir });
      expect(await query(second.url, 'SELECT name FROM flag')).toEqual([{ name: 'dark-mode' }]);
    });

    it('is used by a second process while it runs, started by it otherwise, and never created by it', async () => {
      const dataDir = newFolder();
      await expect(connectOrStartEmbeddedPostgres({ dataDir })).rejects.toThrow(`There is no database in ${dataDir}`);
      const database = await start({ dataDir });
      const beside = await connectOrStartEmbeddedPostgres({ dataDir });
      expect(beside.urlOf('postgres')).toBe(database.url);
      await beside.stop();
      expect(await query(database.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      await database.stop();

      const alone = await connectOrStartEmbeddedPostgres({ dataDir });
      expect(await query(alone.urlOf('postgres'), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      await alone.stop();
      await expect(query(alone.urlOf('postgres'), 'SELECT 1')).rejects.toThrow();
    });

    it('supports letters beyond ASCII, and their trigrams', async () => {
      const { url } = await start({ dataDir: newFolder(), ephemeral: true });
      expect(
        await query(
          url,
          'CREATE EXTENSION pg_trgm',
          "SELECT upper('ærø') AS upper, similarity('blåbær', 'blåbærøl') > 0.5 AS similar",
        ),
      ).toEqual([{ upper: 'ÆRØ', similar: true }]);
    });

    it('requires a password that only its owner can read', async () => {
      const dataDir = newFolder();
      const database = await start({ dataDir, ephemeral: true });
      const { username, password, host } = new URL(database.url);
      expect(readFileSync(path.join(dataDir, 'superuser-password'), 'utf8')).toBe(password);
      expect(statSync(path.join(dataDir, 'superuser-password')).mode & 0o777).toBe(0o600);
      await expect(query(`postgres://${username}:wrong@${host}/postgres`, 'SELECT 1')).rejects.toThrow(
        /password authentication failed/,
      );
      await expect(query(`postgres://${username}:@${host}/postgres`, 'SELECT 1')).rejects.toThrow(/password/);
      expect(await query(database.urlOf('template1'), 'SELECT current_database() AS name')).toEqual([
        { name: 'template1' },
      ]);
    });

    it('accepts local connections over a socket in its folder, with the password', async () => {
      const dataDir = newFolder();
      const first = await start({ dataDir, ephemeral: true });
      expect(decodeURIComponent(new URL(first.localUrlOf('postgres')).hostname)).toBe(dataDir);
      const clients = 'select client_addr as address from pg_stat_activity where pid = pg_backend_pid()';
      expect(await query(first.localUrlOf('postgres'), clients)).toEqual([{ address: null }]);
      const wrong = first.localUrlOf('postgres').replace(/:[^:@]+@/, ':wrong@');
      await expect(query(wrong, 'select 1')).rejects.toThrow(/password authentication failed/);

      process.kill(first.pid, 'SIGKILL');
      await first.lost;
      const second = await start({ dataDir, ephemeral: true });
      expect(await query(second.localUrlOf('postgres'), clients)).toEqual([{ address: null }]);
      const sockets = readdirSync(dataDir).filter((name) => name.startsWith('.s.PGSQL.'));
      expect(sockets.sort()).toEqual([`.s.PGSQL.${second.port}`, `.s.PGSQL.${second.port}.lock`]);
    });

    it('accepts local connections over TCP where the path of its folder is too long for a socket', async () => {
      const database = await start({ dataDir: path.join(newFolder(), 'long'.repeat(30)), ephemeral: true });
      expect(database.localUrlOf('postgres')).toBe(database.urlOf('postgres'));
      expect(await query(database.localUrlOf('postgres'), 'select 1 as one')).toEqual([{ one: 1 }]);
    });

    it('listens on the given port, or reports that it is taken', async () => {
      const blocker = createServer().listen(0, '127.0.0.1');
      await once(blocker, 'listening');
      const { port } = blocker.address() as { port: number };
      const dataDir = newFolder();
      await expect(start({ dataDir, port, ephemeral: true })).rejects.toThrow(
        `Port ${port} of 127.0.0.1 is taken: stop the program that uses it, or choose another port.`,
      );
      blocker.close();
      await once(blocker, 'close');
      const database = await start({ dataDir, port, ephemeral: true });
      expect(await query(database.url, 'SELECT inet_server_port() AS port')).toEqual([{ port }]);
    });
  });

  describe('a process that is killed', () => {
    it('as the postmaster is reported, and recovers all committed data', async () => {
      const dataDir = newFolder();
      const first = await start({ dataDir });
      await query(first.url, 'CREATE TABLE flag AS SELECT generate_series(1, 1000) AS id');
      process.kill(first.pid, 'SIGKILL');
      expect(await first.lost).toMatchObject({ name: 'EmbeddedPostgresError' });

      const second = await start({ dataDir });
      expect(await query(second.url, 'SELECT count(*)::int AS flags FROM flag')).toEqual([{ flags: 1000 }]);
    });

    it('as the parent process ends PostgreSQL, which can be started again immediately', async () => {
      const dataDir = newFolder();
      const first = runScript('run-database.ts', [dataDir]);
      const { url, pid } = await databaseOf(first);
      await query(url, 'CREATE TABLE flag AS SELECT generate_series(1, 1000) AS id');
      first.child.kill('SIGKILL');

      const second = runScript('run-database.ts', [dataDir]);
      const again = await databaseOf(second);
      await until('the first one is gone', () => !isAlive(pid));
      expect(await query(again.url, 'SELECT count(*)::int AS flags FROM flag')).toEqual([{ flags: 1000 }]);
      second.child.kill('SIGKILL');
      await until('PostgreSQL ends with the process that started it', () => !isAlive(again.pid));
    });

    it('during the first start leaves a folder that can be started', async () => {
      const beside = (dataDir: string): string[] =>
        readdirSync(scratch).filter((name) => name.startsWith(`.${path.basename(dataDir)}.new-`));
      /** Kills first starts on one folder. @returns the folder, or undefined if a first start was complete before it was killed */
      const killFirstStarts = async (): Promise<string | undefined> => {
        const dataDir = newFolder();
        for (const afterMs of [0, 40, 120]) {
          const one = runScript('run-database.ts', [dataDir]);
          await until('the first start is under way', () => beside(dataDir).length > 0 || existsSync(dataDir));
          await sleep(afterMs);
          one.child.kill('SIGKILL');
          await once(one.child, 'exit');
          if (existsSync(dataDir)) return undefined;
        }
        return dataDir;
      };
      let folder: string | undefined;
      for (let attempt = 0; folder === undefined && attempt < 20; attempt++) folder = await killFirstStarts();
      if (folder === undefined) throw new Error('Each of 20 first starts was complete before it was killed.');
      const dataDir = folder;
      const database = await start({ dataDir });
      expect(await query(database.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      await until('nothing is left beside the folder', () => beside(dataDir).length === 0);
    });

    it('is not mistaken for another program with the same process id', async () => {
      const dataDir = newFolder();
      const first = await start({ dataDir });
      process.kill(first.pid, 'SIGKILL');
      await first.lost;
      const file = path.join(dataDir, 'postmaster.pid');
      writeFileSync(file, readFileSync(file, 'utf8').replace(/^\d+/, '1'));
      expect(await query((await start({ dataDir })).url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    });

    it('by Ctrl-C is the service, and PostgreSQL ends after it', async () => {
      const one = runScript('run-database.ts', [newFolder()]);
      const { url, pid } = await databaseOf(one);
      process.kill(-(one.child.pid ?? 0), 'SIGINT');
      expect(await one.said()).toEqual({ interrupted: true });
      expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      one.child.stdin?.end();
      await once(one.child, 'exit');
      expect(isAlive(pid)).toBe(false);
    });
  });

  describe('a folder that cannot be used', () => {
    it('is refused while another PostgreSQL runs on it', async () => {
      const dataDir = newFolder();
      const { pid } = await start({ dataDir, ephemeral: true });
      await expect(start({ dataDir })).rejects.toThrow(
        `The data folder ${dataDir} is in use by another PostgreSQL (process ${pid}): stop that one first, or choose another folder.`,
      );
    });

    it('is used by one of two concurrent starts', async () => {
      const dataDir = newFolder();
      const both = [runScript('run-database.ts', [dataDir]), runScript('run-database.ts', [dataDir])];
      const said = await Promise.all(both.map((one) => one.said<{ url?: string; refused?: string }>()));
      const [winner] = said.flatMap(({ url }) => url ?? []);
      expect(said.flatMap(({ refused }) => refused ?? [])).toEqual([
        expect.stringContaining('is in use by another PostgreSQL'),
      ]);
      expect(await query(winner ?? '', 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    });

    it('is refused when another version created it', async () => {
      const dataDir = newFolder();
      mkdirSync(dataDir);
      writeFileSync(path.join(dataDir, 'PG_VERSION'), '12\n');
      await expect(start({ dataDir })).rejects.toThrow(
        `The data folder ${dataDir} was made by PostgreSQL 12, and this is PostgreSQL 18: choose another folder, or carry the data over with pg_dump of version 12.`,
      );
    });

    it('is refused and left unchanged when it contains other files', async () => {
      const dataDir = newFolder();
      mkdirSync(dataDir);
      writeFileSync(path.join(dataDir, 'letter.txt'), 'Dear all');
      await expect(start({ dataDir })).rejects.toThrow(
        `The data folder ${dataDir} holds other files and no database: choose an empty or a new folder.`,
      );
      expect(readdirSync(dataDir)).toEqual(['letter.txt']);
      const file = path.join(dataDir, 'letter.txt');
      await expect(start({ dataDir: file })).rejects.toThrow(
        `The data folder ${file} is a file: choose another place.`,
      );
    });

    it('is refused when another program created its database', async () => {
      const dataDir = newFolder();
      await (await start({ dataDir, ephemeral: true })).stop();
      rmSync(path.join(dataDir, 'superuser-password'));
      await expect(start({ dataDir })).rejects.toThrow(/without the file superuser-password, so it was not made here/);
    });

    it('is refused when it is not writable', async () => {
      const parent = newFolder();
      mkdirSync(parent);
      chmodSync(parent, 0o555);
      const dataDir = path.join(parent, 'data');
      const { refused } = await runScript('run-database.ts', [dataDir], { become: asOrdinaryUser }).said<{
        refused: string;
      }>();
      expect(refused).toMatch(
        `EmbeddedPostgresError: The data folder ${dataDir} cannot be used by this user (EACCES at ${parent}/`,
      );
      expect(refused).toMatch(/: make it writable, start as its owner, or choose another folder\.$/);
    });

    it('is refused with the report of PostgreSQL when it is damaged', async () => {
      const dataDir = newFolder();
      await (await start({ dataDir, ephemeral: true })).stop();
      rmSync(path.join(dataDir, 'global', 'pg_control'));
      await expect(start({ dataDir })).rejects.toThrow(
        /did not start on the data folder [^]*could not find the database system[^]*pg_control/,
      );
    });
  });

  describe('a start of PostgreSQL', () => {
    it('needs no privileges of the operating system', async () => {
      const { url } = await databaseOf(runScript('run-database.ts', [newFolder()], { become: asOrdinaryUser }));
      expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    });

    const whereRootStarts = isRoot ? it : it.skip;

    whereRootStarts(
      'may be root: PostgreSQL then runs as the user nobody, and its superuser cannot write what is root’s',
      async () => {
        chmodSync(scratch, 0o755);
        const ofRoot = path.join(scratch, 'of-root');
        writeFileSync(ofRoot, 'untouched', { mode: 0o600 });
        const dataDir = newFolder();
        const first = runScript('run-database.ts', [dataDir]);
        const { url, pid } = await databaseOf(first);
        expect([statSync(dataDir).uid, statSync(`/proc/${pid}`).uid]).toEqual([65534, 65534]);
        await expect(query(url, `COPY (SELECT 1) TO PROGRAM 'cat > ${ofRoot}'`)).rejects.toThrow(/program .* failed/);
        expect(readFileSync(ofRoot, 'utf8')).toBe('untouched');
        await query(url, 'CREATE TABLE flag AS SELECT 1 AS id');
        first.child.kill('SIGKILL');
        await until('PostgreSQL ends with the process that started it', () => !isAlive(pid));
        expect(await query((await start({ dataDir })).url, 'SELECT id FROM flag')).toEqual([{ id: 1 }]);
      },
    );

    whereRootStarts(
      'may be root where the user nobody cannot reach the folder: PostgreSQL then runs in a user namespace, with a warning, until that user can',
      async () => {
        chmodSync(scratch, 0o755);
        const parent = newFolder();
        mkdirSync(parent, { mode: 0o700 });
        const dataDir = path.join(parent, 'data');
        const warnings: string[] = [];
        const options = { dataDir, warn: (message: string) => void warnings.push(message) };
        const before = await start(options);
        await query(before.url, 'CREATE TABLE flag AS SELECT 1 AS id');
        await before.stop();
        expect(statSync(dataDir).uid).toBe(0);
        expect(warnings).toEqual([
          expect.stringMatching(/^PostgreSQL runs with root's access to files, because user 65534/),
        ]);

        chmodSync(parent, 0o711);
        const after = await start(options);
        expect([statSync(path.join(dataDir, 'PG_VERSION')).uid, statSync(`/proc/${after.pid}`).uid]).toEqual([
          65534, 65534,
        ]);
        expect(await query(after.url, 'SELECT id FROM flag')).toEqual([{ id: 1 }]);
        expect(warnings).toHaveLength(1);
      },
    );

    whereRootStarts('is refused when PostgreSQL can run under no user', async () => {
      const denied = path.join(scratch, 'all-denied');
      mkdirSync(denied);
      writeFileSync(path.join(denied, 'unshare'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
      const parent = newFolder();
      mkdirSync(parent, { mode: 0o700 });
      const { refused } = await runScript('run-database.ts', [path.join(parent, 'data')], { path: denied }).said<{
        refused: string;
      }>();
      expect(refused).toMatch(
        /PostgreSQL does not run as root, and user 65534, as whom it would run instead, cannot reach .*start as an ordinary user/,
      );
    });
  });
});

it('the error for a full disk names the cause and the report of PostgreSQL', () => {
  const report = 'FATAL:  could not write to file "pg_wal/xlogtemp.7": No space left on device\n';
  expect(programError('PostgreSQL could not make a database in', '/data', report).message).toBe(
    `PostgreSQL could not make a database in /data, since the disk is full: free some space on it, or choose another folder.\n${report.trim()}`,
  );
});

it('the error for any other cause contains the report of PostgreSQL', () => {
  expect(programError('PostgreSQL did not start on the data folder', '/data', '').message).toBe(
    'PostgreSQL did not start on the data folder /data: fix what it reports, or choose another folder.\n(It reported nothing.)',
  );
});
