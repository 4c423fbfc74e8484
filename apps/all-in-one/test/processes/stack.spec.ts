import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import { readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { type Distributed, removeFolder, startDistributed } from '../support/platform.ts';
import { processes, processesOf } from '../support/program.ts';

const services = ['gateway', 'features', 'change-requests', 'audit', 'search'];

describe('npm run stack', () => {
  const secrets = {
    GATEWAY_TOKEN_KEY: 'the key that the tokens of the stack are hashed with',
    INIT_CLIENT_API_TOKENS: 'default:development.a-token-for-the-stack',
    SOMETHING_ELSE: 'a secret of another program',
  };
  let stack: Distributed;
  beforeAll(async () => {
    stack = await startDistributed(secrets);
  });
  afterAll(async () => {
    if (stack.program.isRunning()) stack.program.signal('SIGKILL');
    await stack.program.ended;
    removeFolder(stack.dataDir);
  });

  const processOf = (name: string) => {
    const script = name === 'nats-server' ? 'nats.conf' : path.join('apps', name, 'src', 'main.ts');
    const found = stack.children().find(({ command }) => command.includes(script));
    if (found === undefined) throw new Error(`The stack has no process of ${name}.`);
    return found;
  };
  const environmentOf = (name: string) => readFileSync(`/proc/${processOf(name).pid}/environ`, 'utf8').split('\0');
  const settingsIn = (environment: readonly string[]) => environment.map((entry) => entry.split('=', 1)[0] ?? '');
  const requestsWork = () =>
    eventually(async () => {
      const name = `stack-${Math.random().toString(36).slice(2)}`;
      expect((await stack.api('POST', '/api/admin/projects/default/features', { name })).status).toBe(201);
    });

  it('passes the admin token and the keys of the gateway to the gateway only', () => {
    const holders = (text: string) =>
      [...services, 'nats-server'].filter((name) => environmentOf(name).some((entry) => entry.includes(text)));
    for (const secret of [stack.token, secrets.GATEWAY_TOKEN_KEY, secrets.INIT_CLIENT_API_TOKENS])
      expect(holders(secret)).toEqual(['gateway']);
    expect(holders(secrets.SOMETHING_ELSE)).toEqual([]);
  });

  it('passes each service its own settings, and nats-server none', () => {
    const foreign = (name: string, setting: string) =>
      services.some((other) => other !== name && setting.startsWith(`${other.toUpperCase().replaceAll('-', '_')}_`));
    for (const name of services)
      expect(settingsIn(environmentOf(name)).filter((setting) => foreign(name, setting))).toEqual([]);
    expect(
      settingsIn(environmentOf('nats-server')).filter((setting) => /BUNTING|BUS|_URL|LEVEL/.test(setting)),
    ).toEqual([]);
  });

  it('protects its NATS server by a password that only its user can read', async () => {
    const config = path.join(stack.dataDir, 'nats', 'nats.conf');
    expect(statSync(config).mode & 0o077).toBe(0);
    const text = readFileSync(config, 'utf8');
    const socket = connect(Number(/127\.0\.0\.1:(\d+)/.exec(text)?.[1]), '127.0.0.1').setEncoding('utf8');
    socket.write('CONNECT {"verbose":false}\r\nPING\r\n');
    let response = '';
    for await (const piece of socket) response += piece;
    expect(response).toMatch(/-ERR 'Authorization Violation'/);
  });

  it.each(['features', 'nats-server'])('restarts %s after it was killed, and logs that', async (name) => {
    await requestsWork();
    const { pid } = processOf(name);
    process.kill(pid, 'SIGKILL');
    await stack.program.line(new RegExp(`${name} +ended with signal SIGKILL; restarting it in \\d`));
    await eventually(() => expect(processOf(name).pid).not.toBe(pid));
    await requestsWork();
  });

  it('ends with a sentence and exit code 1 when its PostgreSQL has ended', async () => {
    const postgres = processesOf(path.join(stack.dataDir, 'postgres')).find(({ command }) =>
      command.includes('postgres -D'),
    );
    expect(postgres).toBeDefined();
    const started = stack.children().map(({ pid }) => pid);
    expect(started.length).toBeGreaterThan(5);
    process.kill(postgres?.pid ?? 0, 'SIGKILL');
    expect(await stack.program.ended).toEqual({ code: 1, signal: null });
    expect(stack.program.errors()).toMatch(/Bunting stops: PostgreSQL on .* has ended/);
    expect(processes().filter(({ pid }) => started.includes(pid))).toEqual([]);
  });
});
