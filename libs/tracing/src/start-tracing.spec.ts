import { afterEach, expect, it } from 'vitest';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '@bunting/testing';
import { activeTraceparent, inChildSpan, inLinkedSpan, inSpan, startSpan } from './spans.ts';
import { type SamplerName, startTracing, type Tracing } from './start-tracing.ts';

let tracing: Tracing | undefined;
let collector: Server | undefined;
afterEach(async () => {
  collector?.closeAllConnections();
  collector?.close();
  await tracing?.stop();
  [tracing, collector] = [undefined, undefined];
});

/** A collector with the given response, and its port. */
const listening = async (respond: Parameters<typeof createServer>[1], port = 0): Promise<number> => {
  collector = createServer(respond as never);
  await new Promise<void>((resolve) => collector?.listen(port, '127.0.0.1', resolve));
  return (collector.address() as AddressInfo).port;
};

const started = async (
  port: number | string,
  more: {
    timeoutMs?: number;
    maxQueued?: number;
    sampler?: SamplerName;
    headers?: Readonly<Record<string, string>>;
  } = {},
) => {
  const warnings: string[] = [];
  tracing = await startTracing({
    url: `http://127.0.0.1:${port}/v1/traces`,
    headers: {},
    timeoutMs: 10_000,
    compression: 'gzip',
    delayMs: 10,
    maxQueued: 100,
    sampler: 'parentbased_always_on',
    ratio: 1,
    resource: {},
    ...more,
    warn: (message) => void warnings.push(message),
  });
  return { warnings, counts: tracing.counts };
};

const spanOf = (name: string) => () => ({ name, kind: 'internal' as const });
const sampledOne = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const unsampledOne = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';

it('drops and counts the spans that a collector does not take, warns once, and goes on when it takes them again', async () => {
  const port = await listening((_, response) => void response.writeHead(400).end());
  const { warnings, counts } = await started(port);
  for (const expected of [1, 2]) {
    inSpan(spanOf('refused'), undefined, () => undefined);
    await eventually(() => expect(counts()).toEqual({ exported: 0, dropped: expected, queued: 0 }));
  }
  expect(warnings).toEqual([
    expect.stringMatching(/did not take spans \(400\).*bunting_trace_spans_dropped_total.*OTEL_EXPORTER_OTLP_ENDPOINT/),
  ]);
  collector?.removeAllListeners('request').on('request', (request, response) => {
    request.resume().on('end', () => response.writeHead(200).end());
  });
  inSpan(spanOf('taken'), undefined, () => undefined);
  await eventually(() => expect(counts()).toEqual({ exported: 1, dropped: 2, queued: 0 }));
  expect(warnings[1]).toMatch(/takes spans again/);
});

it('holds no more spans than the limit while a collector does not respond', async () => {
  const received: unknown[] = [];
  const port = await listening((request) => void received.push(request));
  const { counts } = await started(port, { timeoutMs: 100, maxQueued: 5 });
  for (let nth = 0; nth < 12; nth++) inSpan(spanOf('waiting'), undefined, () => undefined);
  expect(counts()).toEqual({ exported: 0, dropped: 7, queued: 5 });
  await eventually(() => expect(received).toHaveLength(1));
  await eventually(() => expect(counts()).toEqual({ exported: 0, dropped: 12, queued: 0 }));
});

it('sends the headers of its settings alone, whatever variables of OpenTelemetry the process has', async () => {
  const received: IncomingHttpHeaders[] = [];
  const port = await listening((request, response) => {
    received.push(request.headers);
    request.resume().on('end', () => response.writeHead(200).end());
  });
  const variables = {
    OTEL_EXPORTER_OTLP_HEADERS: 'x-general=1',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-key=other,x-signal=1',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:9',
  };
  Object.assign(process.env, variables);
  try {
    await started(port, { headers: { 'x-key': 'mine' } });
    expect(process.env).toMatchObject(variables);
  } finally {
    for (const key of Object.keys(variables)) Reflect.deleteProperty(process.env, key);
  }
  inSpan(spanOf('sent'), undefined, () => undefined);
  await eventually(() => expect(received).toHaveLength(1));
  expect(received[0]).toMatchObject({ 'x-key': 'mine' });
  expect(Object.keys(received[0] ?? {})).not.toEqual(expect.arrayContaining(['x-general']));
  expect(Object.keys(received[0] ?? {})).not.toEqual(expect.arrayContaining(['x-signal']));
});

it('starts child spans only while their parent is sampled and has not ended', async () => {
  const { counts } = await started(await listening((request) => void request.resume()));
  const child = (): string | undefined => inChildSpan(spanOf('child'), (span) => span?.traceparent);
  expect(child()).toBeUndefined();
  let afterwards: Promise<string | undefined> | undefined;
  inSpan(spanOf('parent'), sampledOne, (parent) => {
    expect(child()).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
    expect(activeTraceparent()).toBe(parent?.traceparent);
    afterwards = new Promise((resolve) => void setImmediate(() => resolve(child())));
  });
  expect(await afterwards).toBeUndefined();
  inSpan(spanOf('unsampled'), unsampledOne, (span) => {
    expect(span?.traceparent).toMatch(/-00$/);
    expect(child()).toBeUndefined();
  });
  const { exported, dropped, queued } = counts();
  expect(exported + dropped + queued).toBe(2);
});

it('links to sampled traces whatever share of traces is recorded, and traces nothing without one', async () => {
  await started(await listening((request) => void request.resume()), { sampler: 'parentbased_always_off' });
  const linked = (...traceparents: (string | null)[]) =>
    inLinkedSpan(spanOf('batch'), traceparents, (span) => span?.traceparent);
  expect(linked(null, sampledOne, unsampledOne)).toMatch(/-01$/);
  expect(linked(sampledOne)?.split('-')[1]).not.toBe(sampledOne.split('-')[1]);
  expect(linked(null, unsampledOne, 'not a traceparent')).toBeUndefined();
  expect(startSpan(spanOf('request'))?.traceparent).toMatch(/-00$/);
  expect(startSpan(spanOf('request'), sampledOne)?.traceparent).toMatch(/-01$/);
});

it('exports to one collector, and starts again after a start that failed', async () => {
  await expect(started('no port')).rejects.toThrow(/URL/);
  const port = await listening((request) => void request.resume());
  const starts = await Promise.allSettled([started(port), started(port)]);
  expect(starts.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
});
