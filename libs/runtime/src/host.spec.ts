import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { call, implement, systemContext } from '@bunting/bus';
import { defineOperation } from '@bunting/contracts';
import { reservePort } from '@bunting/testing';
import { type TObject, Type } from 'typebox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buntingVersion } from './host-settings.ts';
import {
  type AnyService,
  defineService,
  host,
  type Loop,
  openLog,
  type RunningHost,
  type ServiceContext,
  startLoop,
} from './index.ts';

const Greet = defineOperation({
  subject: 'call.search.greet',
  operationId: 'greet',
  summary: 'Greets',
  tag: 'Internal',
  permission: 'service',
  idempotent: false,
  body: Type.Object({ name: Type.String() }),
  reply: Type.String(),
});

const greeter = (log: string[] = []): AnyService =>
  defineService({
    name: 'search',
    config: Type.Object({
      SEARCH_GREETING: Type.String({ description: 'how to greet' }),
      SEARCH_TIMES: Type.Integer({ minimum: 1, default: 1, description: 'how often' }),
    }),
    start: async ({ config, serve, onStop }) => {
      log.push('search starts');
      onStop('log', async () => void log.push('search stops'));
      const served = await serve([
        implement(Greet, async ({ body }) => `${config.SEARCH_GREETING} ${body.name}`.repeat(config.SEARCH_TIMES)),
      ]);
      onStop('calls', () => served.stop());
      return { ready: async () => undefined };
    },
  });

const other = (log: string[] = [], fail = false): AnyService =>
  defineService({
    name: 'audit',
    config: Type.Object({ AUDIT_SECRET: Type.Integer({ description: 'a number' }) }),
    start: async ({ onStop }) => {
      log.push('audit starts');
      onStop('log', async () => void log.push('audit stops'));
      if (fail) throw new Error('The audit cannot start.');
      return { ready: async () => Promise.reject(new Error('The database is away.')) };
    },
  });

describe('a host', () => {
  let hosted: RunningHost | undefined;
  afterEach(async () => {
    await hosted?.stop();
    hosted = undefined;
  });
  const silent = { LOG_LEVEL: 'silent' };

  it('starts services with their settings, lets them be called, and stops them in reverse', async () => {
    const log: string[] = [];
    hosted = await host([greeter(log), other(log)], {
      environment: { ...silent, SEARCH_GREETING: 'Hi', SEARCH_TIMES: '2', AUDIT_SECRET: '7' },
    });
    expect(await call(hosted.bus, Greet, { body: { name: 'Mia' } }, systemContext(60_000))).toBe('Hi MiaHi Mia');
    await hosted.stop();
    expect(log).toEqual(['search starts', 'audit starts', 'audit stops', 'search stops']);
  });

  it('reports all faults of the settings together, misspelled names among them, and never their values', async () => {
    const environment = {
      ...silent,
      SEARCH_TIMES: '0',
      SEARCH_GREETNG: 'hunter2',
      BUS_TOKNE: 'hunter2',
      POLITE_TITEL: 'hunter2',
      GATEWAY_COLOUR: 'of a service that this process does not host',
      AUDIT_SECRET: 'hunter2',
      LOG_LEVEL: 'loud',
      BUS_URL: 'http://nats',
    };
    const { config } = greeter();
    const polite = {
      ...greeter(),
      config: Type.Object({ ...config.properties, POLITE_TITLE: Type.Optional(Type.String()) }),
      settingPrefixes: ['POLITE_'],
    };
    const failure = await host([polite, other()], { environment }).catch((error: Error) => error.message);
    expect(failure).toMatch(/^BUS_URL is not valid/m);
    expect(failure).toMatch(/^LOG_LEVEL is not valid/m);
    expect(failure).toMatch(/^SEARCH_GREETING is required \(how to greet\)\.$/m);
    expect(failure).toMatch(/^SEARCH_TIMES is not valid \(how often\): it must be >= 1\.$/m);
    expect(failure).toMatch(/^AUDIT_SECRET is not valid \(a number\)/m);
    expect(failure).toMatch(/^SEARCH_GREETNG is not a setting\. Did you mean SEARCH_GREETING\?$/m);
    expect(failure).toMatch(/^POLITE_TITEL is not a setting\. Did you mean POLITE_TITLE\?$/m);
    expect(failure).toMatch(/^BUS_TOKNE is not a setting\. Did you mean BUS_TOKEN\?$/m);
    expect(failure).not.toMatch(/hunter2|GATEWAY_/);
  });

  it('stops what had started when a service cannot start, the components of that service first', async () => {
    const log: string[] = [];
    const environment = { ...silent, SEARCH_GREETING: 'Hi', AUDIT_SECRET: '7' };
    await expect(host([greeter(log), other(log, true)], { environment })).rejects.toThrow('The audit cannot start.');
    expect(log).toEqual(['search starts', 'audit starts', 'audit stops', 'search stops']);
  });

  it('stops the components of a service in reverse order, also when one fails and one never stops, and names those two', async () => {
    const stopped: string[] = [];
    const lines: string[] = [];
    const parted: AnyService = {
      ...other(),
      start: async ({ onStop }: ServiceContext<TObject>) => {
        onStop('database', async () => void stopped.push('database'));
        onStop('relay', async () => Promise.reject(new Error('The relay failed.')));
        onStop('projection', () => new Promise<void>(() => undefined), 20);
        onStop('calls', async () => void stopped.push('calls'));
        return { ready: async () => undefined };
      },
    };
    const log = openLog('warn', { write: (line) => void lines.push(line) });
    hosted = await host([parted], { environment: { AUDIT_SECRET: '7' }, log });
    await hosted.stop();
    expect(stopped).toEqual(['calls', 'database']);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      {
        level: 'warn',
        service: 'audit',
        component: 'projection',
        msg: 'The component "projection" did not stop within 20 ms. The shutdown goes on without it.',
      },
      { level: 'error', service: 'audit', component: 'relay', err: { message: 'The relay failed.' } },
    ]);
  });

  it('fails to stop with CHECK_REPLIES when a loop of a service still runs, and names the loop', async () => {
    const started: Loop[] = [];
    const looping: AnyService = {
      ...other(),
      start: async ({ log, onStop }: ServiceContext<TObject>) => {
        const start = (name: string) => startLoop({ name, run: async () => undefined, intervalMs: 60_000, log });
        const [stopped, forgotten] = [start('The sweeper'), start('The sleeper')];
        onStop('sweeper', stopped.stop);
        started.push(forgotten);
        return { ready: async () => undefined };
      },
    };
    const environment = { ...silent, AUDIT_SECRET: '7' };
    const checked = await host([looping], { environment: { ...environment, CHECK_REPLIES: 'true' } });
    await expect(checked.stop()).rejects.toThrow(/ after the stop: The sleeper\./);
    const unchecked = await host([looping], { environment });
    await unchecked.stop();
    await Promise.all(started.map((loop) => loop.stop()));
    await checked.stop();
  });

  it('handles at most MAX_CONCURRENT_CALLS calls concurrently and refuses further ones immediately', async () => {
    let greet = (): void => undefined;
    const patient: AnyService = {
      ...greeter(),
      start: async ({ serve, onStop }: ServiceContext<TObject>) => {
        const greeted = new Promise<void>((resolve) => (greet = resolve));
        const served = await serve([implement(Greet, async ({ body }) => greeted.then(() => `Hi ${body.name}`))]);
        onStop('calls', () => served.stop());
        return { ready: async () => undefined };
      },
    };
    const environment = { ...silent, SEARCH_GREETING: 'Hi', SEARCH_MAX_CONCURRENT_CALLS: '2' };
    hosted = await host([patient], { environment });
    const { bus } = hosted;
    const send = (name: string) => call(bus, Greet, { body: { name } }, systemContext(60_000));
    const taken = [send('Mia'), send('Noa')];
    await expect(send('Ole')).rejects.toMatchObject({ kind: 'ServiceUnavailable', retryAfterSeconds: 1 });
    greet();
    expect(await Promise.all(taken)).toEqual(['Hi Mia', 'Hi Noa']);
    expect(await send('Ole')).toBe('Hi Ole');
  });

  it('serves health and metrics of each service on a port of its own', async () => {
    const [search, audit] = [await reservePort(), await reservePort()];
    hosted = await host([greeter(), other()], {
      environment: {
        ...silent,
        SEARCH_GREETING: 'Hi',
        AUDIT_SECRET: '7',
        SEARCH_OPS_PORT: String(search),
        AUDIT_OPS_PORT: String(audit),
      },
    });
    await call(hosted.bus, Greet, { body: { name: 'Mia' } }, systemContext(60_000));
    const get = async (port: number, path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return { status: response.status, text: await response.text() };
    };
    expect(await get(search, '/health/live')).toEqual({ status: 200, text: '{"health":"GOOD"}' });
    expect(await get(search, '/health/ready')).toEqual({ status: 200, text: '{"health":"GOOD"}' });
    expect(await get(audit, '/health/live')).toMatchObject({ status: 200 });
    expect(await get(audit, '/health/ready')).toEqual({
      status: 503,
      text: '{"health":"BAD","reason":"The database is away."}',
    });
    expect((await get(search, '/metrics')).text).toMatch(
      /bunting_call_duration_seconds_count\{service="search",operation="greet",outcome="ok"\} 1/,
    );
    expect((await get(search, '/metrics')).text).toMatch(/^bunting_ready\{service="search"\} 1$/m);
    expect((await get(audit, '/metrics')).text).toMatch(/^bunting_ready\{service="audit"\} 0$/m);
    expect(await get(search, '/nothing')).toMatchObject({ status: 404 });
  });

  it('is ready without the bus where a service says so, and no other service is', async () => {
    const [search, audit] = [await reservePort(), await reservePort()];
    const tolerant: AnyService = {
      ...greeter(),
      start: async () => ({ ready: async () => ({ unavailable: ['bus'] }), checksBus: true }),
    };
    const strict: AnyService = { ...other(), start: async () => ({ ready: async () => undefined }) };
    hosted = await host([tolerant, strict], {
      environment: {
        ...silent,
        SEARCH_GREETING: 'Hi',
        AUDIT_SECRET: '7',
        SEARCH_OPS_PORT: String(search),
        AUDIT_OPS_PORT: String(audit),
      },
    });
    await hosted.bus.close();
    const readiness = async (port: number) => {
      const response = await fetch(`http://127.0.0.1:${port}/health/ready`);
      return [response.status, await response.json()];
    };
    expect(await readiness(search)).toEqual([200, { health: 'GOOD', unavailable: ['bus'] }]);
    expect(await readiness(audit)).toEqual([503, { health: 'BAD', reason: 'The bus is closed.' }]);
  });

  it('stops during a health request', async () => {
    const port = await reservePort();
    hosted = await host([greeter()], {
      environment: { ...silent, SEARCH_GREETING: 'Hi', SEARCH_OPS_PORT: String(port) },
    });
    const client = connect(port, '127.0.0.1').on('error', () => undefined);
    client.write('GET /health/live HTTP/1.1\r\nHost: here\r\n\r\nGET /health/live HTTP/1.1\r\n');
    await once(client, 'data');
    const closed = once(client, 'close');
    await hosted.stop();
    await closed;
  });

  it('fails with one sentence when a port is taken', async () => {
    const port = await reservePort();
    const environment = { ...silent, SEARCH_GREETING: 'Hi', SEARCH_OPS_PORT: String(port) };
    hosted = await host([greeter()], { environment });
    await expect(host([greeter()], { environment })).rejects.toThrow(`Port ${port} is taken`);
  });
});

describe('the log', () => {
  const lines: string[] = [];
  const log = openLog('info', { write: (line) => void lines.push(line) });
  beforeEach(() => void lines.splice(0));

  it('redacts what looks like a secret', () => {
    log.info({ token: 'canary', request: { authorization: 'canary', secret: 'canary' } }, 'a request');
    expect(lines.join()).not.toContain('canary');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'info', msg: 'a request', token: '[secret]' });
  });

  it('contains the name, stack and cause of an error, and none of its other properties', () => {
    const row = {
      detail: 'Failing row contains (canary).',
      where: 'canary',
      query: 'insert into flag',
      parameters: ['canary'],
    };
    const refused = Object.assign(new Error('new row violates check constraint "never"'), { code: '23514', ...row });
    const error = new Error('The flag was not stored.', { cause: Object.assign(refused, { constraint: 'never' }) });
    log.error({ err: error }, 'a defect');
    expect(lines.join()).not.toContain('canary');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'error',
      err: {
        type: 'Error',
        message: 'The flag was not stored.',
        stack: expect.stringMatching(/^ {4}at .*host\.spec\.ts/),
        cause: { message: 'new row violates check constraint "never"', code: '23514', constraint: 'never' },
      },
    });
  });

  it('omits the value that PostgreSQL refused', () => {
    const error = Object.assign(new Error('invalid input syntax for type uuid: "canary"'), { code: '22P02' });
    log.error({ err: error }, 'a defect');
    expect(lines.join()).not.toContain('canary');
    expect(lines.join()).toContain('invalid input syntax for type uuid');
  });

  it('accepts any thrown value as an error', () => {
    for (const thrown of ['text', 7, null, undefined, {}]) log.error({ err: thrown }, 'a defect');
    expect(lines).toHaveLength(5);
  });
});

it.each(['', 'apps/gateway/', 'apps/all-in-one/'])('the version of Bunting is that of %spackage.json', (folder) => {
  const text = readFileSync(new URL(`../../../${folder}package.json`, import.meta.url), 'utf8');
  expect(JSON.parse(text)).toMatchObject({ version: buntingVersion() });
});
