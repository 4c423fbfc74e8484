import { get, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { ClientDelta, ClientFeatures } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { fetchModePolicy } from '@bunting/delivery';
import { aSetting, aStrategy, deliveryOutbox, featureRow, givenRows, segmentRow } from '@bunting/delivery/test';
import { startedGateway } from '../started-gateway.ts';

describe('polls of features', () => {
  const path = '/api/client/features';
  const secret = (projects: string, nth: number): string => `${projects}:development.${String(nth).padStart(48, '0')}`;
  const [everything, north] = [secret('*', 1), secret('north', 2)];
  const many = Array.from({ length: 40 }, (_, nth) => featureRow(`many-${nth}`, { description: 'x'.repeat(50) }));

  const outbox = deliveryOutbox();

  const gateway = startedGateway();
  beforeAll(async () => {
    outbox.write(...givenRows('default', 'north'), ...many);
    await gateway.behind([outbox.endpoint], { checkReplies: true });
    await gateway.givenToken({ token: everything, kind: 'client', environment: 'development' });
    await gateway.givenToken({ token: north, kind: 'client', environment: 'development', projects: ['north'] });
    await eventually(async () => expect((await send()).status).toBe(200));
  });

  const send = (key = everything, headers: Record<string, string> = {}, more = '') =>
    gateway.send(`${path}${more}`, { key, headers });
  const bodyOf = async (response: Response) => (await response.json()) as ClientFeatures;

  describe('a full response from memory', () => {
    it.each([
      ['gzip, deflate, br', 'gzip'],
      ['br', 'br'],
      ['gzip;q=0, br;q=0.5', 'br'],
      ['deflate', null],
      ['*;q=0', null],
    ])('to a client that accepts %j is encoded as %j, with a tag of its own', async (accepted, encoding) => {
      const headers = { authorization: everything, 'accept-encoding': accepted };
      const answer = await rawGet(headers);
      expect(answer.headers['content-encoding'] ?? null).toBe(encoding);
      expect(answer.headers['vary']).toContain('Accept-Encoding');
      const body =
        encoding === 'gzip'
          ? gunzipSync(answer.body)
          : encoding === 'br'
            ? brotliDecompressSync(answer.body)
            : answer.body;
      const { features, meta } = JSON.parse(body.toString()) as ClientFeatures;
      expect(features).toHaveLength(many.length);
      expect(answer.headers['etag']).toBe(meta.etag);
    });

    it('is not sent to a client that has it in another encoding', async () => {
      const tag = (await rawGet({ authorization: everything })).headers['etag'] as string;
      for (const accepted of ['gzip', 'br', 'identity']) {
        const answer = await rawGet({ authorization: everything, 'accept-encoding': accepted, 'if-none-match': tag });
        expect([answer.status, answer.headers['etag'], answer.body.length]).toEqual([304, tag, 0]);
      }
    });

    it('keeps its tag through changes that its scope does not see, and when a change is taken back', async () => {
      const before = (await send(north)).headers.get('etag') ?? '';
      outbox.write(featureRow('elsewhere'));
      expect((await send(north, { 'if-none-match': before })).status).toBe(304);
      outbox.write(featureRow('here', { project: 'north' }));
      const [changed] = [await send(north, { 'if-none-match': before })];
      expect([changed.status, (await bodyOf(changed)).features.map(({ name }) => name)]).toEqual([200, ['here']]);
      outbox.write({ entity: 'feature', id: 'here', state: { name: 'here', project: 'north', archived: true } });
      expect((await send(north, { 'if-none-match': before })).status).toBe(304);
    });

    it('carries segments beside the features, or within the strategies for a client that knows none', async () => {
      const environments = { development: aSetting({ strategies: [aStrategy([7])] }) };
      outbox.write(
        segmentRow(7, 'ada'),
        segmentRow(8, 'unused'),
        featureRow('segmented', { project: 'north', environments }),
      );
      const knowing = await bodyOf(await send(north, { 'unleash-client-spec': '5.2.0' }));
      expect(knowing.segments).toMatchObject([{ id: 7, constraints: [{ values: ['ada'] }] }]);
      expect(knowing.features[0]?.strategies).toMatchObject([{ segments: [7], constraints: [] }]);
      const inlined = await bodyOf(await send(north));
      expect(inlined).not.toHaveProperty('segments');
      expect(inlined.features[0]?.strategies).toMatchObject([{ constraints: [{ values: ['ada'] }] }]);
      outbox.write(segmentRow(7, 'bob'));
      expect((await bodyOf(await send(north))).features[0]?.strategies).toMatchObject([
        { constraints: [{ values: ['bob'] }] },
      ]);
    });

    it('shares one read of the outbox with the requests that wait at the same time', async () => {
      await Promise.all(Array.from({ length: 50 }, () => send()));
      const before = outbox.calls();
      await Promise.all(Array.from({ length: 50 }, () => send()));
      expect(outbox.calls() - before).toBeLessThan(40);
    });

    it('is refused for an unknown environment, and for a malformed tag', async () => {
      const admin = await gateway.send(`${path}?environment=nowhere`);
      expect([admin.status, await admin.text()]).toEqual([400, expect.stringContaining('nowhere')]);
      expect((await send(everything, {}, '?tag=nonsense')).status).toBe(400);
    });
  });

  describe('a delta from memory', () => {
    const poll = (known?: string, key = everything) =>
      gateway.send('/api/client/delta', { key, headers: known === undefined ? {} : { 'if-none-match': known } });
    const eventsOf = async (response: Response) => ((await response.json()) as ClientDelta).events;

    it('is one hydration without a revision, and with a tag that is none', async () => {
      for (const known of [undefined, 'W/"abc"', '"-1"', '*', '"99999999999999999"', '"1", "2"']) {
        const response = await poll(known);
        const [event, ...more] = await eventsOf(response);
        expect([event?.type, more, response.headers.get('etag')]).toEqual(['hydration', [], `"${event?.eventId}"`]);
      }
    });

    it('is one hydration for a revision that this outbox never had', async () => {
      expect(await eventsOf(await poll('"4000000000"'))).toMatchObject([{ type: 'hydration' }]);
    });

    it('is 304 without a body while nothing changed that the token gives access to', async () => {
      const revision = (await poll(undefined, north)).headers.get('etag') ?? '';
      outbox.write(featureRow('delta-elsewhere'));
      // A proxy that compresses the response makes its tag weak.
      for (const known of [revision, revision.replaceAll('"', ''), `W/${revision}`]) {
        const response = await poll(known, north);
        expect([response.status, await response.text()]).toEqual([304, '']);
      }
    });

    it('removes a feature that left the project, and names a segment before the feature that uses it first', async () => {
      outbox.write(featureRow('delta-moving', { project: 'north' }));
      const revision = (await poll(undefined, north)).headers.get('etag') ?? '';
      const environments = { development: aSetting({ strategies: [aStrategy([9])] }) };
      outbox.write(
        segmentRow(9, 'ada'),
        featureRow('delta-new', { project: 'north', environments }),
        { entity: 'former-feature', id: 'delta-moving north', state: { name: 'delta-moving', project: 'north' } },
        featureRow('delta-moving'),
      );
      expect(await eventsOf(await poll(revision, north))).toMatchObject([
        { type: 'segment-updated', segment: { id: 9 } },
        { type: 'feature-updated', feature: { name: 'delta-new' } },
        { type: 'feature-removed', featureName: 'delta-moving', project: 'north' },
      ]);
    });
  });

  interface RawResponse {
    readonly status: number | undefined;
    readonly headers: IncomingHttpHeaders;
    readonly body: Buffer;
  }

  /** An answer whose body is not decoded. */
  const rawGet = (headers: Record<string, string>): Promise<RawResponse> =>
    new Promise((resolve, reject) => {
      get(`${gateway.url}${path}`, { headers, agent: false }, (response) => {
        const { statusCode: status, headers: received } = response;
        buffer(response).then((body) => resolve({ status, headers: received, body }), reject);
      }).once('error', reject);
    });
});

const answer = { status: 200, headers: { etag: '"7"', 'content-type': 'application/json' } };
const sdk = (id: string, spec = '5.2.0') => ({ 'unleash-connection-id': id, 'unleash-client-spec': spec });

describe('moving SDKs between polling and streaming', () => {
  it('sends an SDK that supports it to the stream once, without a tag for the body that it ignores', () => {
    const { directToStream } = fetchModePolicy({ GATEWAY_SDK_FETCH_MODE: 'streaming' });
    const headers = { 'content-type': 'application/json', 'fetch-mode': 'streaming' };
    for (const id of ['one', 'two']) expect(directToStream(answer, sdk(id))).toEqual({ status: 200, headers });
    expect(directToStream(answer, sdk('newer', '6'))).toEqual({ status: 200, headers });
    expect(directToStream(answer, sdk('one'))).toBe(answer);
  });

  it('changes no response to an SDK that does not support it, that names no connection, or that has everything', () => {
    const { directToStream } = fetchModePolicy({ GATEWAY_SDK_FETCH_MODE: 'streaming' });
    for (const spec of ['', '4.3.0', '5', '5.1.9', 'nonsense'])
      expect(directToStream(answer, sdk('old', spec))).toBe(answer);
    for (const id of ['', 'x'.repeat(101)]) expect(directToStream(answer, sdk(id))).toBe(answer);
    expect(directToStream(answer, {})).toBe(answer);
    const unchanged = { ...answer, status: 304 };
    expect(directToStream(unchanged, sdk('current'))).toBe(unchanged);
  });

  it('sends SDKs that stream to polling only if that is set', () => {
    const preambleOf = (mode: 'as-requested' | 'polling' | 'streaming') =>
      fetchModePolicy({ GATEWAY_SDK_FETCH_MODE: mode }).streamPreamble;
    expect(preambleOf('polling')).toBe('event: fetch-mode\ndata: polling\n\n');
    expect([preambleOf('as-requested'), preambleOf('streaming')]).toEqual([undefined, undefined]);
    expect(fetchModePolicy({ GATEWAY_SDK_FETCH_MODE: 'polling' }).directToStream(answer, sdk('one'))).toBe(answer);
  });
});
