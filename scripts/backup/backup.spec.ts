import { eventually, reservePort, longFreshnessTimeouts, temporaryFolder } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomBytes } from 'node:crypto';
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Api, apiOf } from '../../apps/all-in-one/test/support/clients.ts';
import { untilReady, type Program, runProgram } from '../../apps/all-in-one/test/support/platform.ts';
import { type Manifest, manifestPath, serializeManifest } from './manifest.ts';
import { verifyBackup } from './verify-backup.ts';
import { skipRevisionsAfterExternalRestore } from './restore-backup.ts';

const token = `backup-${randomBytes(24).toString('hex')}`;
const features = '/api/admin/projects/default/features';
const tokens = '/api/admin/api-tokens';
const segments = '/api/admin/segments';

/** A write of the load, and the time in which it was acknowledged. */
interface Write {
  readonly kind: 'flag' | 'token' | 'segment';
  readonly name: string;
  readonly sentAt: number;
  readonly acknowledgedAt: number;
}

const bodies: Readonly<Record<Write['kind'], (name: string) => readonly [string, object]>> = {
  flag: (name) => [features, { name }],
  token: (tokenName) => [tokens, { tokenName, type: 'client', environment: 'development', projects: ['*'] }],
  segment: (name) => [segments, { name, constraints: [] }],
};

/** The kind of the nth write. Segments are rare: an instance may have 300 of them, and a fast machine writes a lot during the backup. */
function kindOf(nth: number): Write['kind'] {
  if (nth % 40 === 3) return 'segment';
  return nth % 4 === 1 ? 'token' : 'flag';
}

/** Long enough that most of the machine is left to the backup, which takes longer otherwise, during which there are more writes. */
const pauseMs = 30;

/** Several writers, each of which sends its next write soon after the one before is acknowledged. */
function startLoad(api: Api) {
  const writes: Write[] = [];
  let isOver = false;
  const writer = async (nth: number): Promise<void> => {
    for (let count = 0; !isOver; count++) {
      await sleep(pauseMs);
      const kind = kindOf(count);
      const name = `${kind}-${nth}-${count}`;
      const sentAt = Date.now();
      const { status, text } = await api('POST', ...bodies[kind](name));
      // While writers wait for the backup, a write may be refused. The backup need not contain a write that was not acknowledged.
      if (status === 503) continue;
      if (status !== 201) throw new Error(`${name} was answered with ${status}: ${text}`);
      writes.push({ kind, name, sentAt, acknowledgedAt: Date.now() });
    }
  };
  const writers = Promise.all(Array.from({ length: 3 }, (_, nth) => writer(nth)));
  return {
    writes,
    stop: async () => {
      isOver = true;
      await writers;
    },
  };
}

describe('a backup under load', () => {
  const { path: folder, remove } = temporaryFolder(`bunting-backup-spec-${process.pid}`);
  const [dataDir, restoredDir, backup] = ['data', 'restored', 'backup'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  let platform: Program | undefined;
  let api: Api;
  let url: string;

  const start = async (data: string): Promise<void> => {
    const port = await reservePort();
    url = `http://127.0.0.1:${port}`;
    api = apiOf(url, token);
    platform = runProgram('apps/all-in-one/src/main.ts', {
      PORT: String(port),
      GATEWAY_HOST: '127.0.0.1',
      BUNTING_DATA_DIR: data,
      BUNTING_ADMIN_TOKEN: token,
      LOG_LEVEL: 'warn',
      CHECK_REPLIES: 'true',
      ...longFreshnessTimeouts,
    });
    await untilReady(platform, url);
  };
  const stop = async (): Promise<void> => {
    platform?.signal('SIGTERM');
    await platform?.ended;
    platform = undefined;
  };
  /** @returns the exit code, and what was printed */
  const run = async (script: string, args: readonly string[], settings: Readonly<Record<string, string>>) => {
    const program = runProgram(script, settings, { args });
    const { code } = await program.ended;
    return { code, text: `${program.output()}${program.errors()}` };
  };
  const restore = (from: string, to: string) => run('scripts/restore.ts', [from], { BUNTING_DATA_DIR: to });
  const verify = (from: string, ...args: readonly string[]) => run('scripts/backup-verify.ts', [from, ...args], {});

  const get = async <T>(address: string): Promise<T> => {
    const { status, body, text } = await api<T>('GET', address);
    if (status !== 200) throw new Error(`${address} was answered with ${status}: ${text}`);
    return body;
  };
  const foundBySearch = async () => {
    const names: string[] = [];
    for (let total = 1; names.length < total;) {
      const page = `limit=100&offset=${names.length}`;
      const found = await get<{ features: { name: string }[]; total: number }>(`/api/admin/search/features?${page}`);
      names.push(...found.features.map(({ name }) => name));
      total = found.total;
    }
    return names;
  };
  const createdByEvents = async () =>
    (await api('GET', '/api/admin/events/feed?type=IS:feature-created')).text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { featureName: string }).featureName);
  const namesOf: Readonly<Record<Write['kind'], () => Promise<string[]>>> = {
    flag: async () => (await get<{ features: { name: string }[] }>(features)).features.map(({ name }) => name),
    token: async () =>
      (await get<{ tokens: { tokenName: string }[] }>(tokens)).tokens.map(({ tokenName }) => tokenName),
    segment: async () => (await get<{ segments: { name: string }[] }>(segments)).segments.map(({ name }) => name),
  };

  let writes: readonly Write[];
  let manifest: Manifest;
  let clientToken: string;
  const poll = (revision?: string) =>
    fetch(`${url}/api/client/delta`, {
      headers: { authorization: clientToken, ...(revision === undefined ? {} : { 'if-none-match': revision }) },
    });
  const eventsOf = async (response: Response) =>
    ((await response.json()) as { events: { type: string; features?: { name: string }[] }[] }).events;
  let aheadTag: string;

  beforeAll(async () => {
    // When root starts PostgreSQL, it runs as another user, who must be able to reach its data folder below this one.
    chmodSync(folder, 0o711);
    await start(dataDir);
    const made = await api<{ secret: string }>('POST', tokens, {
      tokenName: 'sdk',
      type: 'client',
      environment: 'development',
      projects: ['*'],
    });
    clientToken = made.body.secret;
    const load = startLoad(api);
    await eventually(() => expect(load.writes.length).toBeGreaterThan(60));
    const { code, text } = await run('scripts/backup.ts', [backup], { BUNTING_DATA_DIR: dataDir });
    expect([code, text]).toEqual([0, expect.stringContaining('has everything as of')]);
    const before = load.writes.length;
    await eventually(() => expect(load.writes.length).toBeGreaterThan(before + 40));
    await load.stop();
    writes = load.writes;
    manifest = (JSON.parse(readFileSync(manifestPath(backup), 'utf8')) as { manifest: Manifest }).manifest;
    aheadTag = (await poll()).headers.get('etag') ?? '';
  });
  afterAll(async () => {
    await stop();
    await remove();
  });

  it('is readable by its owner only, and complete when it has its name', () => {
    expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([]);
    const files = readdirSync(backup, { recursive: true, encoding: 'utf8' }).map((name) => path.join(backup, name));
    const modes = files.map((file) => statSync(file)).map((it) => [it.isDirectory(), it.mode & 0o777]);
    expect(new Set(modes.map(([isFolder, mode]) => `${isFolder} ${mode}`))).toEqual(
      new Set([`true ${0o700}`, `false ${0o600}`]),
    );
  });

  it('does not replace a folder, and names the database that it cannot open', async () => {
    const settings = { BUNTING_DATA_DIR: dataDir };
    const away = `postgres://audit@127.0.0.1:${await reservePort()}/bunting_audit`;
    // Beside the services, whose PostgreSQL runs already.
    const [again, missing] = await Promise.all([
      run('scripts/backup.ts', [backup], settings),
      run('scripts/backup.ts', [`${backup}-2`], { ...settings, AUDIT_DATABASE_URL: away }),
    ]);
    expect([again.code, again.text]).toEqual([1, `${backup} is there already. Name a new folder for the backup.\n`]);
    expect([missing.code, missing.text]).toEqual([
      1,
      expect.stringMatching(
        /^The database of audit \(127\.0\.0\.1:\d+\/bunting_audit\) cannot be opened: .*ECONNREFUSED/,
      ),
    ]);
    expect(existsSync(`${backup}-2`)).toBe(false);
  });

  it('is not restored while the services run, nor into databases that are not empty', async () => {
    const inUse = await restore(backup, dataDir);
    expect(inUse.code).toBe(1);
    expect(inUse.text).toMatch(
      /^The database bunting_features of features is in use \(\d+ connections\)\. Nothing was changed\. Stop all services/,
    );
    await stop();
    const { code, text } = await restore(backup, dataDir);
    expect(code).toBe(1);
    expect(text).toMatch(/^The database bunting_features of features is not empty\. Nothing was changed\./);
  });

  it('refuses a restore time without an offset, and one in the future', async () => {
    for (const time of ['5', '2026-01-31T12:00:00', '2026-01-31', '2026-02-31T12:00:00', '9999-01-31T12:00:00Z'])
      await expect(skipRevisionsAfterExternalRestore([], time)).rejects.toThrow(
        `${time} is not a time in the past with Z or an offset, such as 2026-01-31T12:00:00Z`,
      );
    // A time with an offset is accepted: the next error is that there are no databases.
    for (const time of ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.123+01:00'])
      await expect(skipRevisionsAfterExternalRestore([], time)).rejects.toThrow('There is no database of features.');
  });

  const table = path.join('features', 'feature.copy.gz');
  const withManifest = (change: (manifest: Manifest) => unknown) => (copy: string) =>
    writeFileSync(manifestPath(copy), serializeManifest(change(manifest) as Manifest));
  const withTable = (name: string) => (made: Manifest) => ({
    ...made,
    services: {
      ...made.services,
      search: { ...made.services.search, tables: [{ ...made.services.search?.tables[0], name }] },
    },
  });
  const faults: readonly (readonly [string, (copy: string) => unknown, RegExp])[] = [
    [
      'with a changed byte',
      (copy) => {
        const bytes = readFileSync(path.join(copy, table));
        bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
        writeFileSync(path.join(copy, table), bytes);
      },
      /is damaged: the file features\/feature\.copy\.gz was changed\. Nothing was changed\./,
    ],
    [
      'with a file that was cut',
      (copy) => writeFileSync(path.join(copy, table), readFileSync(path.join(copy, table)).subarray(0, 100)),
      /the file features\/feature\.copy\.gz has 100 bytes instead of \d+/,
    ],
    ['without a file', (copy) => rmSync(path.join(copy, table)), /the file features\/feature\.copy\.gz is missing/],
    [
      'that was interrupted',
      (copy) => rmSync(manifestPath(copy)),
      /is incomplete: it has no manifest\.json, which is written last/,
    ],
    [
      'with a changed manifest',
      (copy) =>
        writeFileSync(
          manifestPath(copy),
          readFileSync(manifestPath(copy), 'utf8').replace('"bunting": "', '"bunting": "1'),
        ),
      /is damaged: its manifest\.json was changed/,
    ],
    [
      'of a newer format',
      withManifest((made) => ({ ...made, format: 2 })),
      /made by a newer version of Bunting \(its format is 2, and this one knows 1\)/,
    ],
    [
      'of a newer schema',
      withManifest((made) => ({
        ...made,
        services: {
          ...made.services,
          audit: { ...made.services.audit, migrations: ['1-event-log', '9-from-the-future'] },
        },
      })),
      /made by a newer version of Bunting \(the database of audit has the migration "9-from-the-future"\)/,
    ],
    [
      'without a service',
      withManifest(({ services: { audit: _, ...services }, ...made }) => ({ ...made, services })),
      /its manifest\.json does not describe a backup/,
    ],
    [
      'that names a file outside of it',
      withManifest(withTable('../../../etc/passwd')),
      /its manifest\.json does not describe a backup/,
    ],
  ];

  it('is neither verified nor restored when it is damaged, incomplete or of a newer version, and nothing changes', async () => {
    const interrupted = path.join(folder, 'interrupted');
    cpSync(backup, interrupted, { recursive: true });
    for (const [what, change, reason] of faults) {
      const copy = path.join(folder, `copy ${what}`);
      cpSync(backup, copy, { recursive: true });
      change(copy);
      expect([what, await verifyBackup(copy).catch((error: Error) => error.message)]).toEqual([
        what,
        expect.stringMatching(reason),
      ]);
      rmSync(copy, { recursive: true });
    }
    const target = path.join(folder, 'untouched');
    rmSync(manifestPath(interrupted));
    const outcomes = await Promise.all([verify(interrupted), restore(interrupted, target)]);
    const refusal = `The backup ${interrupted} is incomplete: it has no manifest.json, which is written last. Nothing was changed. Use another backup.\n`;
    expect(outcomes).toEqual([
      { code: 1, text: refusal },
      { code: 1, text: refusal },
    ]);
    expect(existsSync(target)).toBe(false);
  });

  // Of a backup of this version, the restore below shows the same.
  it('is verified by restoring it into a PostgreSQL of its own, also if its version had no integrations', async () => {
    const older = path.join(folder, 'without integrations');
    cpSync(backup, older, { recursive: true });
    rmSync(path.join(older, 'integrations'), { recursive: true });
    withManifest(({ services: { integrations: _, ...services }, ...made }) => ({ ...made, services }))(older);
    const { code, text } = await verify(older, '--restore');
    expect([code, text]).toEqual([
      0,
      expect.stringMatching(/^Intact: [^]*Restored: the event log is intact, with \d+ events\.\n$/),
    ]);
  });

  it('restores everything that was acknowledged before its moment and nothing of later writes, in all services', async () => {
    const { code, text } = await restore(backup, restoredDir);
    expect([code, text]).toEqual([0, expect.stringContaining(`Restored everything as of ${manifest.at}`)]);
    await start(restoredDir);
    const at = new Date(manifest.at).getTime();
    const [earlier, later] = [
      writes.filter(({ acknowledgedAt }) => acknowledgedAt < at),
      writes.filter(({ sentAt }) => sentAt > at),
    ];
    expect([earlier.length > 50, later.length > 30]).toEqual([true, true]);
    for (const kind of ['flag', 'token', 'segment'] as const) {
      const names = new Set(await namesOf[kind]());
      expect(earlier.filter((write) => write.kind === kind && !names.has(write.name))).toEqual([]);
      expect(later.filter((write) => write.kind === kind && names.has(write.name))).toEqual([]);
    }
    const flags = (await namesOf.flag()).sort();
    expect((await foundBySearch()).sort()).toEqual(flags);
    expect((await createdByEvents()).sort()).toEqual(flags);
    const log = await run('scripts/audit/audit-verify.ts', [], { BUNTING_DATA_DIR: restoredDir });
    expect([log.code, log.text]).toEqual([0, expect.stringMatching(/^intact$[^]*^complete: true$/m)]);
    expect(
      platform
        ?.output()
        .split('\n')
        .filter((line) => /"level":"?(error|warn|40|50)/.test(line)),
    ).toEqual([]);
  });

  it('gives SDKs that are ahead of it the full state, and then deltas, with revisions that were never assigned before', async () => {
    const revisionOf = (response: Response) => Number((response.headers.get('etag') ?? '').replaceAll('"', ''));
    const response = await poll(aheadTag);
    const tag = response.headers.get('etag') ?? '';
    const [hydration, ...others] = await eventsOf(response);
    expect([hydration?.type, others]).toEqual(['hydration', []]);
    expect(hydration?.features?.map(({ name }) => name).sort()).toEqual((await namesOf.flag()).sort());
    expect(revisionOf(response)).toBeGreaterThan(Number(aheadTag.replaceAll('"', '')));
    expect((await poll(tag)).status).toBe(304);

    expect((await api('POST', features, { name: 'after-the-restore' })).status).toBe(201);
    expect((await eventsOf(await poll(aheadTag))).map(({ type }) => type)).toEqual(['hydration']);
    expect((await eventsOf(await poll(tag))).map(({ type }) => type)).toEqual(['feature-updated']);
    const events = await createdByEvents();
    expect(events.at(-1)).toBe('after-the-restore');
  });

  it('goes on with revisions where PostgreSQL was restored by other means', async () => {
    const before = (await poll()).headers.get('etag') ?? '';
    await stop();
    const args = ['--restored-otherwise', manifest.at];
    const { code, text } = await run('scripts/restore.ts', args, { BUNTING_DATA_DIR: restoredDir });
    expect([code, text]).toEqual([0, 'Revisions go on after all that SDKs may have. Start the services.\n']);
    await start(restoredDir);
    expect((await eventsOf(await poll(before))).map(({ type }) => type)).toEqual(['hydration']);
  });
});
