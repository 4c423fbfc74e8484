import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import type { ChangeRequest } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { featurePath, platformClient } from '../support/clients.ts';
import { type OtlpCollector, type ReceivedSpan, startOtlpCollector } from '../support/otlp-collector.ts';
import { type Distributed, processes, processesOf, removeFolder, startDistributed } from '../support/platform.ts';

const services = ['gateway', 'features', 'change-requests', 'audit', 'search', 'integrations'];
const secrets = {
  GATEWAY_TOKEN_KEY: 'the key that the tokens of the stack are hashed with',
  INIT_CLIENT_API_TOKENS: 'default:development.a-token-for-the-stack',
  SOMETHING_ELSE: 'a secret of another program',
};

let collector: OtlpCollector;
let stack: Distributed;
beforeAll(async () => {
  collector = await startOtlpCollector();
  stack = await startDistributed({
    ...secrets,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    OTEL_EXPORTER_OTLP_TIMEOUT: '10000',
    OTEL_BSP_SCHEDULE_DELAY: '50',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test%20bench',
    LOG_LEVEL: 'info',
  });
});
afterAll(async () => {
  if (stack.program.isRunning()) stack.program.signal('SIGKILL');
  await stack.program.ended;
  removeFolder(stack.dataDir);
});

describe('a trace', () => {
  const project = 'traced';
  const feature = featurePath(project, 'traced-flag');
  const requests = `/api/admin/projects/${project}/change-requests`;

  beforeAll(async () => {
    const { createProject, createFeature } = platformClient(stack.api);
    await createProject(project);
    await createFeature(project, 'traced-flag');
  });
  afterAll(() => expect(stack.program.output()).not.toContain('"InternalError"'));

  /** The trace of a caller: its id, its `traceparent`, and the caller's span. */
  const newTrace = (flags = '01') => {
    const [traceId, callerSpanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
    return { traceId, callerSpanId, traceparent: `00-${traceId}-${callerSpanId}-${flags}` };
  };
  type Trace = ReturnType<typeof newTrace>;

  /** The one span that has all of these properties. */
  const only = (wanted: Partial<ReceivedSpan>): ReceivedSpan => {
    const found = collector.spans.filter((span) =>
      Object.entries(wanted).every(([key, value]) => span[key as keyof ReceivedSpan] === value),
    );
    if (found.length !== 1) {
      const seen = collector.spans
        .filter(({ traceId }) => wanted.traceId === undefined || traceId === wanted.traceId)
        .map(({ service, kind, name, parentSpanId }) => `${service} ${kind} ${name} ${parentSpanId}`);
      throw new Error(`${found.length} spans are ${JSON.stringify(wanted)}; there are:\n${seen.join('\n')}`);
    }
    return found[0] as ReceivedSpan;
  };

  /** The span of a call in the service that handled it, which follows the span of the call in the service that sent it. */
  const callIn = (trace: Trace, method: string, from: ReceivedSpan): ReceivedSpan => {
    const { traceId } = trace;
    const client = only({ traceId, kind: 'client', name: method, service: from.service });
    expect(client.parentSpanId).toBe(from.spanId);
    return only({ traceId, kind: 'server', name: method, parentSpanId: client.spanId });
  };

  /** Spans in which a consumer applied a batch that contains messages which a span has emitted. */
  const processedIn = (service: string, writer: ReceivedSpan): ReceivedSpan[] =>
    collector.spans.filter(
      (span) =>
        span.service === service &&
        span.kind === 'consumer' &&
        span.links.some(({ traceId, spanId }) => traceId === writer.traceId && spanId === writer.spanId),
    );

  /** An approved change request that turns the flag on in an environment. */
  const approved = async (environment: string): Promise<number> => {
    const { api } = stack;
    const change = { action: 'updateEnabled', feature: 'traced-flag', payload: { enabled: true } };
    const proposals = `/api/admin/projects/${project}/environments/${environment}/change-requests`;
    const { id } = (await api<ChangeRequest>('POST', proposals, change)).body;
    for (const state of ['In review', 'Approved'])
      expect((await api('PUT', `${requests}/${id}/state`, { state })).status).toBe(200);
    return id;
  };

  it('leads from the request over the call to the transaction, and the projections of audit and search link to it', async () => {
    const { addStrategy } = platformClient(stack.api);
    const { id } = await addStrategy(feature, 'development', { parameters: { rollout: '10' } });
    const trace = newTrace();
    const { traceId, traceparent } = trace;
    const url = `${feature}/environments/development/strategies/${id}`;
    const patched = await stack.api('PATCH', url, [{ op: 'replace', path: '/parameters/rollout', value: '50' }], {
      traceparent,
    });
    expect(patched.status).toBe(200);

    await eventually(() => {
      const route =
        '/api/admin/projects/:projectId/features/:featureName/environments/:environment/strategies/:strategyId';
      const request = only({ traceId, service: 'bunting-gateway', kind: 'server' });
      expect(request).toMatchObject({ name: `PATCH ${route}`, parentSpanId: trace.callerSpanId, failed: false });
      expect(request.attributes).toMatchObject({
        'http.request.method': 'PATCH',
        'http.route': route,
        'http.response.status_code': '200',
        'url.path': url,
      });
      const write = callIn(trace, 'features/patch-strategy', request);
      expect(write.service).toBe('bunting-features');
      const transaction = only({ traceId, name: 'transaction', parentSpanId: write.spanId });
      expect(transaction.attributes).toMatchObject({
        'db.system.name': 'postgresql',
        'db.namespace': 'bunting_features',
      });
      const statements = collector.spans.filter(({ parentSpanId }) => parentSpanId === transaction.spanId);
      expect(statements.map(({ name }) => name)).toEqual(expect.arrayContaining(['BEGIN', 'COMMIT']));

      for (const consumer of ['bunting-audit', 'bunting-search']) {
        const processed = processedIn(consumer, write);
        expect([consumer, processed.length]).toEqual([consumer, 1]);
        expect(processed[0]?.traceId).not.toBe(traceId);
      }
      expect(processedIn('bunting-gateway', write).map(({ name }) => name)).toContain('process features.delivery');
    });
  });

  it('of a change request that is applied leads over the calls of both services to their projections', async () => {
    const { api } = stack;
    const id = await approved('development');
    const trace = newTrace();
    const { traceId, traceparent } = trace;
    const applied = await api('PUT', `${requests}/${id}/state`, { state: 'Applied' }, { traceparent });
    expect(applied.status).toBe(200);

    await eventually(() => {
      const request = only({ traceId, service: 'bunting-gateway', kind: 'server', parentSpanId: trace.callerSpanId });
      const move = callIn(trace, 'change-requests/change-state', request);
      const write = callIn(trace, 'features/apply-changes', move);
      expect([move.service, write.service]).toEqual(['bunting-change-requests', 'bunting-features']);
      for (const consumer of ['bunting-audit', 'bunting-search'])
        expect([consumer, processedIn(consumer, write).length]).toEqual([consumer, 1]);
      const ofRequest = processedIn('bunting-audit', move).map(({ name }) => name);
      expect(new Set(ofRequest)).toEqual(new Set(['process change-requests.event']));
    });
  });

  it('of a change request at its scheduled time begins with the change-requests service', async () => {
    const id = await approved('production');
    const seen = new Set(collector.spans);
    const scheduledAt = new Date(Date.now() + 5_000).toISOString();
    const scheduled = await stack.api('PUT', `${requests}/${id}/state`, { state: 'Scheduled', scheduledAt });
    expect([scheduled.status, scheduled.text]).toEqual([200, expect.any(String)]);

    await eventually(() => {
      const applied = collector.spans.filter(
        (span) => !seen.has(span) && span.kind === 'server' && span.name === 'features/apply-changes',
      );
      expect(applied).toHaveLength(1);
      const [write] = applied as [ReceivedSpan];
      const client = only({ spanId: write.parentSpanId });
      const run = only({ spanId: client.parentSpanId, name: 'pending change request', parentSpanId: '' });
      expect(run).toMatchObject({ service: 'bunting-change-requests', traceId: write.traceId });
      expect(processedIn('bunting-search', write)).toHaveLength(1);
    });
  });

  it('names the kind of a refusal on the spans of its call, and nothing of a path that no operation has', async () => {
    const [refused, unknown] = [newTrace(), newTrace()];
    expect((await stack.api('GET', featurePath(project, 'absent'), undefined, refused)).status).toBe(404);
    expect((await stack.api('GET', '/api/admin/absent', undefined, unknown)).status).toBe(404);
    await eventually(() => {
      const request = only({ traceId: refused.traceId, service: 'bunting-gateway', kind: 'server' });
      expect([request.attributes['http.response.status_code'], request.failed]).toEqual(['404', false]);
      const read = callIn(refused, 'features/get-feature', request);
      expect([read.attributes['error.type'], read.failed]).toEqual(['NotFoundError', true]);
      const { name, attributes } = only({ traceId: unknown.traceId, service: 'bunting-gateway', kind: 'server' });
      expect([name, attributes['url.path'], attributes['http.route']]).toEqual(['GET', undefined, undefined]);
    });
  });

  it('is named by the log lines of its request and calls', async () => {
    const { traceId, traceparent } = newTrace();
    expect((await stack.api('GET', feature, undefined, { traceparent })).status).toBe(200);
    await eventually(() => {
      const lines = `${stack.program.output()}`.split('\n').filter((line) => line.includes(traceId));
      const logged = lines.map((line) => JSON.parse(line.slice(line.indexOf('{'))) as Record<string, string>);
      const spans = collector.spans.filter((span) => span.traceId === traceId && span.kind === 'server');
      expect(logged.map((line) => [`bunting-${line['service']}`, line['trace_id'], line['span_id']]).sort()).toEqual(
        spans.map(({ service, spanId }) => [service, traceId, spanId]).sort(),
      );
      expect(new Set(spans.map(({ service }) => service))).toEqual(new Set(['bunting-gateway', 'bunting-features']));
    });
  });

  it('that its caller does not sample, or that only monitoring or background work would have, is not exported', async () => {
    const unsampled = newTrace('00');
    expect((await stack.api('GET', feature, undefined, unsampled)).status).toBe(200);
    const sampled = newTrace();
    expect((await stack.api('GET', '/health', undefined, sampled)).status).toBe(200);
    // A later span is exported, so any earlier one would have been.
    const after = newTrace();
    expect((await stack.api('GET', feature, undefined, after)).status).toBe(200);
    await eventually(() => {
      for (const service of ['bunting-gateway', 'bunting-features'])
        expect(only({ traceId: after.traceId, service, kind: 'server' })).toBeDefined();
    });
    const traceIds = new Set(collector.spans.map(({ traceId }) => traceId));
    expect([unsampled, sampled].filter(({ traceId }) => traceIds.has(traceId))).toEqual([]);
    const background = collector.spans.filter(({ name, kind }) => kind === 'server' && name.endsWith('/read-outbox'));
    const parents = new Set(collector.spans.map(({ spanId }) => spanId));
    expect(background.filter(({ parentSpanId }) => !parents.has(parentSpanId))).toEqual([]);
  });

  it('costs no request anything while the collector is away, and each process warns once', async () => {
    await collector.stop();
    const { toggle } = platformClient(stack.api);
    const warnings = () =>
      stack.program
        .output()
        .split('\n')
        .filter((line) => line.includes('did not take spans'));
    await eventually(async () => {
      await toggle(feature, 'production', 'on');
      await toggle(feature, 'production', 'off');
      expect(warnings().length).toBeGreaterThanOrEqual(3);
    });
    const services = warnings().map((line) => line.split(' ', 1)[0]);
    expect(services).toEqual([...new Set(services)]);
  });
});

describe('npm run stack', () => {
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
