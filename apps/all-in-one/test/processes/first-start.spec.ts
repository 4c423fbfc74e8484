import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually, reservePort } from '@bunting/testing';
import { writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { migratedDatabases } from '../support/databases.ts';
import {
  dataFolder,
  removeFolder,
  untilReady,
  type Program,
  processesOf,
  runNpmScript,
  runProgram,
} from '../support/platform.ts';

const folders: string[] = [];
const newFolder = (): string => {
  const folder = dataFolder();
  folders.push(folder);
  return folder;
};

/** The data of the first start, with which later ones begin sooner. */
const firstDataDir = newFolder();

const programs: Program[] = [];
const started = (program: Program): Program => {
  programs.push(program);
  return program;
};
const host = { GATEWAY_HOST: '127.0.0.1' };
const npmStart = (settings: Readonly<Record<string, string>>): Program =>
  started(runNpmScript('start', { ...host, ...settings }));
/** Starts the program of `npm start`, without npm. */
const start = (settings: Readonly<Record<string, string>>): Program =>
  started(runProgram('apps/all-in-one/src/main.ts', { ...host, ...settings }));

/** What a slow start prints while it goes on. */
const progress = /^Starting .* …\n/gm;

/** Expects that the program does not start, and prints one or two sentences on one line and nothing else. */
const expectRefusesToStart = async (settings: Readonly<Record<string, string>>, ...mentioned: string[]) => {
  const program = start(settings);
  const { code } = await program.ended;
  expect({ code, output: program.output().replace(progress, '') }).toEqual({ code: 1, output: '' });
  const message = program.errors().trim();
  expect(message.split('\n')).toHaveLength(1);
  expect(message).toMatch(/^[A-Z].*[.]$/);
  expect(message).not.toMatch(/Error:|\.ts:|    at /);
  for (const text of mentioned) expect(message).toContain(text);
};

const tokenShown = /Admin token, shown this once: (\S+)/;

async function endPrograms(): Promise<void> {
  for (const program of programs.splice(0)) {
    if (program.isRunning()) program.signal('SIGKILL');
    await program.ended;
  }
}
afterAll(() => folders.forEach(removeFolder));

/** The steps of a user, each of which follows the one before. */
describe('the first start by npm', () => {
  const dataDir = firstDataDir;
  let url: string;
  let settings: Record<string, string>;
  let first: Program;
  let token: string;
  beforeAll(async () => {
    const port = String(await reservePort());
    settings = { PORT: port, BUNTING_DATA_DIR: dataDir };
    url = `http://127.0.0.1:${port}`;
    first = npmStart(settings);
    await untilReady(first, url);
  });
  afterAll(endPrograms);

  const request = async (authorization: string) =>
    (await fetch(`${url}/api/admin/projects`, { headers: { authorization } })).status;
  const outputOf = async (script: string, folder = dataDir) => {
    const checked = runProgram(script, { BUNTING_DATA_DIR: folder });
    const { code } = await checked.ended;
    return { code, output: checked.output() + checked.errors() };
  };

  it('prints the addresses, and shows the admin token and the link of the first administrator', async () => {
    // The program is ready shortly before it prints the URL.
    const shown = await first.line(tokenShown);
    token = shown[1] as string;
    expect(token.length).toBeGreaterThanOrEqual(32);
    const [, link = ''] = await first.line(/within an hour, at (\S+)/);
    expect(link.startsWith(`${url}/first?token=`)).toBe(true);
    expect((await fetch(`${url}/auth/first/validate${new URL(link).search}`)).status).toBe(200);
    expect(first.output()).toContain(`/docs`);
    expect(first.output()).toContain(`:${settings['PORT']}/api/admin`);
    expect(first.output()).toContain(dataDir);
    const [, header = '', address = ''] = await first.line(/curl -H '([^']+)' (\S+)/);
    const [name = '', value = ''] = header.split(': ');
    const tried = await fetch(address, { headers: { [name]: value } });
    expect({ status: tried.status, body: await tried.json() }).toMatchObject({ status: 200, body: { features: [] } });
    const docs = /(\S+\/docs)\b/.exec(first.output())?.[1] as string;
    expect((await fetch(docs)).status).toBe(200);
    expect(await request(token)).toBe(200);
    expect(await request(`${token}x`)).toBe(401);
  });

  it('keeps its data folder from a second process, and goes on', async () => {
    await expectRefusesToStart({ PORT: String(await reservePort()), BUNTING_DATA_DIR: dataDir }, dataDir);
    expect(await request(token)).toBe(200);
  });

  it('ends cleanly with Ctrl-C, and its event log is verified and measured by commands before and after it', async () => {
    // The log consumes the event of the first token shortly after the start.
    await eventually(async () =>
      expect(await outputOf('scripts/audit/audit-verify.ts')).toEqual({
        code: 0,
        output: expect.stringMatching(/^events 1 to 1: 1 checked[^]*head {4}1:[0-9a-f]{64}\nintact\ncomplete: true\n$/),
      }),
    );
    first.signal('SIGINT');
    expect(await first.ended).toEqual({ code: 0, signal: null });
    expect(processesOf(dataDir)).toEqual([]);
    expect(await outputOf('scripts/audit/audit-verify.ts')).toMatchObject({
      code: 0,
      output: expect.stringMatching(/\nintact\ncomplete: true\n$/),
    });
    expect(await outputOf('scripts/audit/audit-disk-usage.ts')).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^events {4}1, 1 to 1, /),
    });
    const elsewhere = path.join(newFolder(), 'nothing');
    expect(await outputOf('scripts/audit/audit-verify.ts', elsewhere)).toMatchObject({
      code: 2,
      output: expect.stringContaining('There is no database'),
    });
    expect(processesOf(dataDir)).toEqual([]);
  });

  it('is the only one that shows the admin token', async () => {
    const second = start(settings);
    await untilReady(second, url);
    await second.line(/Ctrl-C/);
    expect(second.output()).not.toMatch(tokenShown);
    expect(second.output()).not.toContain(token);
    expect(second.output()).toContain('BUNTING_ADMIN_TOKEN=');
    expect(await request(token)).toBe(200);
    second.signal('SIGTERM');
    expect(await second.ended).toEqual({ code: 0, signal: null });
    expect(processesOf(dataDir)).toEqual([]);
  });
});

describe('a start', () => {
  afterEach(endPrograms);

  /** Databases without any token. They exist until the PostgreSQL of the tests ends. */
  const migrated = async () => (await migratedDatabases()).settings;

  it('accepts the admin token of BUNTING_ADMIN_TOKEN, neither prints nor logs it, and prints the link of the first administrator', async () => {
    const port = String(await reservePort());
    const token = 'a-token-of-ones-own-4711';
    // As the build of the console does, which is loaded before the program.
    const loadedBefore =
      'import { isMainThread } from "node:worker_threads"; if (isMainThread) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500);';
    const importing = `--import=data:text/javascript,${encodeURIComponent(loadedBefore)}`;
    const settings = { BUNTING_ADMIN_TOKEN: token, LOG_LEVEL: 'trace', NODE_OPTIONS: importing };
    const program = start({ PORT: port, ...(await migrated()), ...settings });
    const url = `http://127.0.0.1:${port}`;
    await untilReady(program, url);
    await program.line(/Ctrl-C/);
    expect(program.output()).not.toMatch(tokenShown);
    expect(program.output()).not.toContain('BUNTING_ADMIN_TOKEN=');
    const [, seconds = '', tenths = ''] = await program.line(/ready, (\d+)\.(\d) s after its start/);
    // All of the start counts, also what is loaded before the program.
    expect(Number(`${seconds}${tenths}`)).toBeGreaterThanOrEqual(25);
    const [, link = ''] = await program.line(/within an hour, at (\S+)/);
    expect((await fetch(`${url}/auth/first/validate${new URL(link).search}`)).status).toBe(200);
    expect(program.output()).toContain(`curl -H "Authorization: $BUNTING_ADMIN_TOKEN" ${url}/api/admin/`);
    expect((await fetch(`${url}/api/admin/projects`, { headers: { authorization: token } })).status).toBe(200);
    program.signal('SIGINT');
    expect(await program.ended).toEqual({ code: 0, signal: null });
    const printed = program.output() + program.errors();
    expect(printed).toContain('"route":"/api/admin/projects"');
    expect(printed).not.toContain(token);
  });

  it("accepts the tokens of Unleash's settings, creates no others, and ends with Ctrl-C while an idle client is connected", async () => {
    const port = await reservePort();
    const program = start({
      PORT: String(port),
      ...(await migrated()),
      INIT_ADMIN_API_TOKENS: '*:*.chosen-admin-4711',
      INIT_CLIENT_API_TOKENS: 'default:development.chosen-client-4711, *:production.chosen-client-4712',
    });
    const url = `http://127.0.0.1:${port}`;
    await untilReady(program, url);
    await program.line(/Ctrl-C/);
    expect(program.output()).not.toMatch(tokenShown);
    expect(program.output()).not.toContain('chosen-');
    const request = async (authorization: string) =>
      (await fetch(`${url}/api/admin/projects`, { headers: { authorization } })).status;
    expect(await request('*:*.chosen-admin-4711')).toBe(200);
    for (const token of ['default:development.chosen-client-4711', '*:production.chosen-client-4712']) {
      expect(await request(token)).toBe(403);
      const registered = await fetch(`${url}/api/client/register`, {
        method: 'POST',
        headers: { authorization: token, 'content-type': 'application/json' },
        body: JSON.stringify({ appName: 'first', strategies: [], started: new Date().toISOString(), interval: 10 }),
      });
      expect(registered.status).toBe(202);
    }

    const head = `POST /api/admin/events/search HTTP/1.1\r\nhost: x\r\nauthorization: *:*.chosen-admin-4711\r\n`;
    const begun = ['', head, `${head}content-type: application/json\r\ncontent-length: 100\r\n\r\n{"query"`];
    const sockets = begun.map((text) => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      socket.write(text);
      return socket;
    });
    try {
      await Promise.all(sockets.map((socket) => eventually(() => expect(socket.readyState).toBe('open'))));
      // A response on a later connection shows that the earlier ones have been accepted.
      expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
      program.signal('SIGINT');
      await eventually(() => expect(program.isRunning()).toBe(false));
      expect(await program.ended).toEqual({ code: 0, signal: null });
    } finally {
      for (const socket of sockets) socket.destroy();
      program.signal('SIGTERM');
      await program.ended;
    }
  });

  it('fails with one sentence when the port is taken, and leaves no process running', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as { port: number };
    const settings = { PORT: String(port), BUNTING_DATA_DIR: firstDataDir };
    await expectRefusesToStart(settings, String(port), 'PORT');
    expect(processesOf(firstDataDir)).toEqual([]);
    taken.close();
  });

  it('fails with one sentence when the data folder is not writable', async () => {
    const file = path.join(newFolder(), 'a-file');
    writeFileSync(file, 'This is no folder.');
    const dataDir = path.join(file, 'data');
    await expectRefusesToStart(
      { PORT: String(await reservePort()), BUNTING_DATA_DIR: dataDir },
      dataDir,
      'BUNTING_DATA_DIR',
    );
  });

  it('reports all invalid settings together', async () => {
    const program = start({ PORT: 'many', LOG_LEVEL: 'loud', BUNTING_DATA_DIR: newFolder() });
    expect((await program.ended).code).toBe(1);
    expect(program.errors()).toContain('PORT');
    expect(program.errors()).toContain('LOG_LEVEL');
  });
});
