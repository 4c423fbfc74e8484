import { featuresService } from '@bunting/features';
import { host, startError } from '@bunting/runtime';
import { type FreshDatabase, reservePort, freshDatabase, startNats, type TestNats, withClient } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runProgram } from '../support/platform.ts';

type Settings = Readonly<Record<string, string>>;

/** The `INFO` of a nats-server of a version that Bunting does not support; no package repository has such a server. */
const oldNats = {
  server_id: 'old',
  version: '2.2.6',
  proto: 1,
  max_payload: 16 * 1024 * 1024,
  headers: true,
  jetstream: true,
};

/** A service that is started with settings or servers that it cannot work with. */
describe('a start of a service', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'bunting-refused-'));
  let database: FreshDatabase;
  let nats: TestNats;
  let withoutJetStream: TestNats;
  let small: TestNats;
  let old: Server;

  const file = (name: string, text: string, mode = 0o400): string => {
    const place = path.join(folder, name);
    writeFileSync(place, text, { mode });
    return place;
  };
  /** The tables of the database and the migrations that it names. */
  const contents = () =>
    withClient(database.url, async (client) => {
      const { rows } = await client.query<{ name: string }>(
        "select tablename as name from pg_tables where schemaname = 'public' order by 1",
      );
      const tables = rows.map(({ name }) => name);
      if (!tables.includes('schema_migration')) return tables;
      const migrations = await client.query<{ name: string }>('select name from schema_migration order by 1');
      return [...tables, ...migrations.rows.map(({ name }) => name)];
    });
  const environmentWith = (settings: Settings): Settings => ({
    LOG_LEVEL: 'warn',
    FEATURES_DATABASE_URL: database.url,
    ...nats.settings,
    ...settings,
  });
  const expectReason = (message: string, reason: RegExp) => {
    expect(message).toMatch(reason);
    expect(message).not.toMatch(/Error:|\.ts:|    at /);
  };
  /** Expects that the features service does not start: it gives the reason, and changes nothing. */
  const expectRefused = async (settings: Settings, reason: RegExp) => {
    const before = await contents();
    const starting = host([featuresService], { environment: environmentWith(settings) });
    const failure: unknown = await starting.then((started) => started.stop()).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Error);
    expectReason(startError(failure), reason);
    expect(await contents()).toEqual(before);
  };
  /** Expects the same of its process, which prints the reason and exits with 1. */
  const expectProcessRefused = async (settings: Settings, reason: RegExp, ...args: readonly string[]) => {
    const before = await contents();
    const program = runProgram('apps/features/src/main.ts', environmentWith(settings), { args });
    expect(await program.ended).toEqual({ code: 1, signal: null });
    expectReason(program.errors().trim(), reason);
    expect(program.output()).toBe('');
    expect(await contents()).toEqual(before);
  };

  beforeAll(async () => {
    const store = path.join(folder, 'store');
    [database, nats, withoutJetStream, small] = await Promise.all([
      freshDatabase('refused'),
      startNats(),
      startNats({ jetstream: false }),
      startNats({
        jetstream: false,
        config: `jetstream { store_dir: ${JSON.stringify(store)}, max_file_store: 64MB }`,
      }),
    ]);
    old = createServer((socket) => {
      socket.write(`INFO ${JSON.stringify(oldNats)}\r\n`);
      socket.on('data', (data) => void (data.includes('PING') && socket.write('PONG\r\n')));
      socket.on('error', () => undefined);
    }).listen(0, '127.0.0.1');
    await once(old, 'listening');
  });
  afterAll(async () => {
    old.close();
    await Promise.all([nats, withoutJetStream, small].map((server) => server.stop()));
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is refused with an option that it does not know, such as a misspelt --migrate', async () => {
    await expectProcessRefused({}, /Unknown option '--migrat'/, '--migrat');
  });

  it('is refused with all secret files that are missing, empty, open or given twice, and no value', async () => {
    await expectRefused(
      {
        FEATURES_DATABASE_URL: '',
        FEATURES_DATABASE_URL_FILE: file('open', database.url, 0o644),
        FEATURES_READ_DATABASE_URL_FILE: path.join(folder, 'nowhere'),
        BUS_PASSWORD_FILE: file('empty', '\n'),
        BUS_TOKEN: 'twice',
        BUS_TOKEN_FILE: file('twice', 'twice'),
      },
      new RegExp(
        [
          '^Invalid settings:',
          'The file that BUS_PASSWORD_FILE names is empty\\. Write the secret into it\\.',
          'BUS_TOKEN and BUS_TOKEN_FILE are both set: remove one of them\\.',
          'The file that FEATURES_DATABASE_URL_FILE names can be read by every user \\(mode 0644\\)\\. Run chmod 0400 on it, or 0440 for a group\\.',
          'The file that FEATURES_READ_DATABASE_URL_FILE names does not exist \\(ENOENT\\)\\. Mount the secret there, or correct the path\\.$',
        ].join('\n'),
      ),
    );
  });

  it('is refused with a secret that the server does not accept', async () => {
    const wrong = new URL(`postgres://bunting@127.0.0.1:${await reservePort()}/bunting`);
    await expectRefused(
      { FEATURES_DATABASE_URL: '', FEATURES_DATABASE_URL_FILE: file('url', `${wrong.href}\n`) },
      /^No PostgreSQL answers at 127\.0\.0\.1:\d+ .*Start one, or correct the address\.$/,
    );
    const closed = await startNats({ config: 'authorization { user: features, password: right }' });
    try {
      await expectRefused(
        { BUS_URL: closed.url, BUS_USER: 'features', BUS_PASSWORD_FILE: file('password', 'wrong\n') },
        /Authorization Violation.*Correct the credentials in BUS_URL or in the other BUS_ settings\.$/,
      );
    } finally {
      await closed.stop();
    }
  });

  it('is refused on NATS without the keys that callers are verified with, or with an unusable one', async () => {
    await expectRefused({ BUS_CALLER_KEY: '' }, /^Invalid settings:\nBUS_CALLER_PUBLIC_KEYS is required with BUS_URL/);
    await expectRefused(
      { BUS_CALLER_KEY: '', BUS_CALLER_PUBLIC_KEYS: 'none' },
      /^Invalid settings:\nBUS_CALLER_PUBLIC_KEYS must be Ed25519 public keys/,
    );
  });

  it('is refused by NATS without JetStream, with too small limits, or of an old version', async () => {
    await expectRefused({ BUS_URL: withoutJetStream.url }, /^The NATS server at \S+ has no JetStream .* Add jetstream/);
    await expectRefused(
      { BUS_URL: small.url },
      /^The NATS server at \S+ cannot store the stream bunting-features of 256 MiB \(.*\)\. Raise max_file_store/,
    );
    await expectRefused(
      { BUS_URL: `nats://127.0.0.1:${(old.address() as AddressInfo).port}` },
      /^The NATS server at \S+ is version 2\.2\.6; Bunting needs 2\.9\.0 or newer\. Upgrade it\.$/,
    );
  });

  it('is refused on a machine whose clock is a minute ahead of that of PostgreSQL', async () => {
    const shift = 'const now=Date.now;Date.now=()=>now()+60_000';
    await expectProcessRefused(
      { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(shift)}` },
      /^The clock of this machine is (59|60|61) s ahead of that of the PostgreSQL at \S+ Synchronise both with NTP/,
    );
  });

  it('is refused by a database that was restored in part, and by one of a newer version', async () => {
    const change = (text: string) => withClient(database.url, (client) => client.query(text));
    await change('create table feature (name text)');
    await expectRefused({}, /^The migrations of the database \S+ do not fit what it holds .*restore it completely/);
    await change('drop table feature; create table schema_migration (id serial primary key, name text)');
    await change("insert into schema_migration (name) values ('1-initial'), ('99-contract-future')");
    await expectRefused(
      {},
      /^The database \S+ was written by a newer version of Bunting \(it has the migration "99-contract-future", .*Start that version, or restore a backup/,
    );
  });
});
