import type { Endpoint } from '@bunting/bus';
import { type ClientDelta, type DeliveryState, unavailable } from '@bunting/contracts';
import { eventually, type OpenEventStream, openEventStream, type ReceivedEvent } from '@bunting/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { aSetting, aStrategy, deliveryOutbox, featureRow, givenRows, segmentRow } from '@bunting/delivery/test';
import { type StartedGateway, startGateway } from '../started-gateway.ts';

const secret = (projects: string, nth: number): string => `${projects}:development.${String(nth).padStart(48, '0')}`;
const everything = secret('*', 1);
const north = secret('north', 2);
const environment = 'development';

/** A gateway whose token is limited to few streams, and another one on the same outbox that ends streams early. */
let [gateway, other]: StartedGateway[] = [];
const outbox = deliveryOutbox();
let isAway = false;
const open: OpenEventStream[] = [];

const endpoint: Endpoint = {
  ...outbox.endpoint,
  handle: (request) => {
    if (isAway) throw unavailable('The features service is away.');
    return outbox.endpoint.handle(request);
  },
};

beforeAll(async () => {
  outbox.write(...givenRows('default', 'north'), featureRow('first'), featureRow('in-north', { project: 'north' }));
  const settings = {
    GATEWAY_DELIVERY_POLL_INTERVAL_MS: '20',
    GATEWAY_STREAM_KEEP_ALIVE_SECONDS: '1',
    GATEWAY_MAX_SDK_STREAMS: '60',
  };
  gateway = await startGateway({ environment: { ...settings, GATEWAY_MAX_SDK_STREAMS_PER_CLIENT: '3' } });
  other = await startGateway({
    environment: { ...settings, GATEWAY_MAX_UNREAD_RESPONSE_BYTES: String(24 * 1024 * 1024), DRAIN_DELAY_MS: '5000' },
  });
  for (const one of [gateway, other]) {
    await one.behind([endpoint]);
    await one.givenToken({ token: everything, kind: 'client', environment });
    await one.givenToken({ token: north, kind: 'client', environment, projects: ['north'] });
    await eventually(async () => expect((await one.send('/api/client/delta', { key: everything })).status).toBe(200));
  }
});
afterEach(async () => {
  isAway = false;
  for (const stream of open) stream.close();
  await Promise.all(open.splice(0).map(({ ended }) => ended));
});
afterAll(async () => {
  await gateway?.stop();
  await other?.stop();
});

interface StreamRequest {
  readonly key?: string;
  readonly last?: string | number;
  readonly query?: string;
  readonly server?: StartedGateway | undefined;
}

const streaming = async ({ key = everything, last, query = '', server = gateway }: StreamRequest = {}) => {
  const headers = { authorization: key, ...(last === undefined ? {} : { 'last-event-id': String(last) }) };
  const stream = await openEventStream(`${server?.url}/api/client/streaming${query}`, headers);
  open.push(stream);
  return stream;
};
/** The stream once its first event has arrived. */
const connected = async (request: StreamRequest = {}) => {
  const stream = await streaming(request);
  expect(stream.status).toBe(200);
  await eventually(() => expect(stream.events.length).toBeGreaterThan(0));
  return stream;
};
const deltaIn = (event: ReceivedEvent | undefined) => (JSON.parse(event?.data ?? '{}') as ClientDelta).events;
const named = (stream: OpenEventStream, from = 1): string[] =>
  stream.events
    .slice(from)
    .flatMap(deltaIn)
    .map((change) => {
      if (change.type === 'feature-updated') return change.feature.name;
      if (change.type === 'feature-removed') return `-${change.featureName}`;
      return change.type;
    });
/** Waits until a gateway has everything that was written. */
const applied = async (server: StartedGateway | undefined): Promise<void> => {
  outbox.write(featureRow('marker', { description: String(Math.random()) }));
  await eventually(async () => {
    const response = await server?.send('/api/client/delta?namePrefix=marker', { key: everything });
    expect(response?.headers.get('etag')).toBe(`"${outbox.messages.length}"`);
  });
};
const archived = (name: string, project: string): DeliveryState => ({
  entity: 'feature',
  id: name,
  state: { name, project, archived: true },
});

describe('a stream to an SDK', () => {
  it('begins with everything in one event on one line, and goes on with each change that its token may see', async () => {
    const stream = await connected({ key: north });
    expect(stream.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(stream.headers['cache-control']).toBe('no-store');
    expect(stream.text()).toMatch(/^event: unleash-connected\nid: \d+\ndata: \{"events":\[.*\]\}\n\n/);
    const [hydration, ...more] = deltaIn(stream.events[0]);
    expect([hydration, more]).toMatchObject([{ type: 'hydration', features: [{ name: 'in-north' }] }, []]);
    expect(stream.events[0]?.id).toBe(String(hydration?.eventId));

    outbox.write(featureRow('elsewhere'), featureRow('here', { project: 'north' }));
    await eventually(() => expect(named(stream)).toEqual(['here']));
    outbox.write(archived('here', 'north'));
    await eventually(() => expect(named(stream)).toEqual(['here', '-here']));
    expect(stream.text()).toMatch(/\n\nevent: unleash-updated\nid: \d+\ndata: \{"events":\[.*\]\}\n\n/);
    // Edge reads an id as an unsigned integer of 32 bits.
    const ids = stream.events.map(({ id }) => Number(id));
    expect(ids).toEqual(ids.filter((id) => Number.isInteger(id) && id >= 0 && id < 2 ** 32));
    expect(ids).toEqual([...new Set(ids)].sort((one, two) => one - two));
    for (const event of stream.events) expect(event.id).toBe(String(deltaIn(event).at(-1)?.eventId));
  });

  it('has segments before the features that use them, and respects the prefix and the tags that it was opened with', async () => {
    const stream = await connected({ query: '?namePrefix=pre-&tag=simple:red' });
    const tags = [{ type: 'simple', value: 'red' }];
    const environments = { development: aSetting({ strategies: [aStrategy([7])] }) };
    outbox.write(
      segmentRow(7, 'ada'),
      featureRow('pre-untagged'),
      featureRow('red', { tags }),
      featureRow('pre-red', { tags, environments }),
    );
    await eventually(() => expect(named(stream)).toEqual(['segment-updated', '-pre-untagged', 'pre-red']));
    outbox.write(featureRow('pre-red', { environments }));
    await eventually(() => expect(named(stream).at(-1)).toBe('-pre-red'));
  });

  it('is kept open by comments while nothing changes', async () => {
    const stream = await connected();
    await eventually(() => expect(stream.comments).toContain(': keep-alive'));
    expect(stream.events).toHaveLength(1);
  });

  it('is resumed by the id of its last event with only what is newer, on any gateway', async () => {
    for (const server of [gateway, other]) {
      const last = Number((await connected()).events.at(-1)?.id);
      const resumed = await connected({ last, server });
      expect([resumed.events[0]?.event, resumed.events[0]?.id, deltaIn(resumed.events[0])]).toEqual([
        'unleash-connected',
        String(last),
        [],
      ]);
      outbox.write(featureRow('resumed', { description: String(Math.random()) }));
      await eventually(() => expect(named(resumed)).toEqual(['resumed']));
      const missed = await connected({ last, server });
      expect(named(missed, 0)).toEqual(['resumed']);
      expect(Number(missed.events[0]?.id)).toBe(outbox.messages.length);
      resumed.close();
      missed.close();
      await Promise.all([resumed.ended, missed.ended]);
    }
  });

  it.each(['', 'abc', '-1', '1.5', '"3"', '99999999999999999999', '4000000000'])(
    'begins with everything for %j, which is no revision that this database had',
    async (last) => {
      const stream = await connected({ last });
      expect(deltaIn(stream.events[0])).toMatchObject([{ type: 'hydration' }]);
    },
  );

  it('stays open while the changes cannot be read, and never takes back a revision that another gateway has sent', async () => {
    const stream = await connected();
    isAway = true;
    await eventually(async () => {
      const { headers } = await gateway!.send('/api/client/delta', { key: everything });
      expect(headers.get('bunting-stale')).not.toBeNull();
    });
    const ahead = outbox.messages.length + 2;
    const resumed = await connected({ last: ahead });
    expect(resumed.headers['bunting-stale']).toBeDefined();
    expect([resumed.events[0]?.id, deltaIn(resumed.events[0])]).toEqual([String(ahead), []]);
    const seen = stream.comments.length;
    await eventually(() => expect(stream.comments.length).toBeGreaterThan(seen + 1));
    outbox.write(featureRow('known-1'), featureRow('known-2'), featureRow('unknown'));
    isAway = false;
    await eventually(() => expect(named(resumed)).toEqual(['unknown']));
    await eventually(() => expect(named(stream)).toEqual(['known-1', 'known-2', 'unknown']));
    expect([stream.isEnded(), resumed.isEnded()]).toEqual([false, false]);
  });

  it('merges what a client does not read, and brings it up to date when it reads again', async () => {
    const stream = await connected();
    stream.pause();
    const description = 'x'.repeat(400_000);
    for (let nth = 0; nth < 50; nth++) {
      outbox.write(featureRow('large', { description: `${nth} ${description}` }), featureRow(`small-${nth}`));
      await applied(gateway);
    }
    stream.resume();
    await eventually(() => expect(stream.events.at(-1)?.id).toBe(String(outbox.messages.length)));
    const changes = stream.events.slice(1).flatMap(deltaIn);
    expect(
      changes.filter((change) => change.type === 'feature-updated' && change.feature.name === 'large').length,
    ).toBeLessThan(50);
    const names = new Set(
      changes.flatMap((change) => (change.type === 'feature-updated' ? [change.feature.name] : [])),
    );
    for (let nth = 0; nth < 50; nth++) expect(names).toContain(`small-${nth}`);
  });

  it('is refused with 429 beyond the limit of its token, and possible again when another one has ended', async () => {
    const streams = await Promise.all([connected(), connected(), connected()]);
    const refused = await streaming();
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60']);
    expect((await streaming({ key: north })).status).toBe(200);
    streams[0]?.close();
    await eventually(async () => expect((await streaming()).status).toBe(200));
  });

  it('is refused without a token, and for one of another kind', async () => {
    const frontend = secret('*', 3);
    await gateway!.givenToken({ token: frontend, kind: 'frontend', environment });
    expect((await streaming({ key: 'nonsense' })).status).toBe(401);
    expect((await streaming({ key: frontend })).status).toBe(403);
    expect((await streaming({ query: '?tag=nonsense' })).status).toBe(400);
  });

  it('ends when its token is revoked, expires or loses a project, and others go on', async () => {
    const [revoked, expiring, narrowed] = [secret('*', 4), secret('*', 5), secret('[]', 6)];
    await gateway!.givenToken({ token: revoked, kind: 'client', environment });
    await gateway!.givenToken({
      token: expiring,
      kind: 'client',
      environment,
      expiresAt: new Date(Date.now() + 3_600_000),
    });
    await gateway!.givenToken({ token: narrowed, kind: 'client', environment, projects: ['north', 'default'] });
    const streams = await Promise.all([revoked, expiring, narrowed, everything].map((key) => connected({ key })));
    await gateway!.database.transaction(async ({ query }) => {
      await query(`update api_token set revoked_at = now() where projects = '{*}' and expires_at is null
        and name = 'the client token' and created_at = (select max(created_at) from api_token where expires_at is null and projects = '{*}')`);
      await query(`update api_token set expires_at = now() + interval '1 second' where expires_at is not null`);
      await query(`update api_token set projects = '{north}' where projects = '{north,default}'`);
    });
    await eventually(() => expect(streams.map((stream) => stream.isEnded())).toEqual([true, true, true, false]));
  });

  it('is resumed with the removals of a project that was deleted and that its token was for, and with nothing new of it', async () => {
    const token = secret('[]', 8);
    const flag = (name: string, more: object = {}) => featureRow(name, { project: 'doomed', ...more });
    outbox.write(flag('left'), flag('archived-before'));
    await gateway!.givenToken({ token, kind: 'client', environment, projects: ['doomed', 'north'] });
    await applied(gateway);
    const stream = await connected({ key: token });
    const known = Number(stream.events[0]?.id);
    expect(stream.events[0]?.data).toContain('"name":"left"');
    stream.close();
    // The rows that the deletion of a project writes, followed by those of a new project of the same name with other features.
    outbox.write(archived('archived-before', 'doomed'));
    for (const name of ['left', 'archived-before']) {
      const former = { name, project: 'doomed' };
      outbox.write(
        { entity: 'former-feature', id: `${name} doomed`, state: former },
        { entity: 'feature', id: name, state: null },
      );
    }
    await gateway!.database.transaction(({ query }) =>
      query(
        `update api_token set projects = '{north}', deleted_projects = '{doomed}' where projects = '{doomed,north}'`,
      ),
    );
    outbox.write(flag('new-in-doomed'));
    await applied(gateway);
    const resumed = await connected({ key: token, last: known });
    expect(named(resumed, 0).toSorted()).toEqual(['-archived-before', '-left']);
    const delta = await gateway!.send('/api/client/delta', { key: token, headers: { 'if-none-match': `"${known}"` } });
    expect(((await delta.json()) as ClientDelta).events).toEqual(deltaIn(resumed.events[0]));
    const full = await gateway!.send('/api/client/features', { key: token });
    expect(await full.text()).not.toContain('doomed');
    expect(named(await connected({ key: north, last: known }), 0)).toEqual([]);
  });

  it('ends when its environment is deleted', async () => {
    const staging = secret('*', 7).replace('development', 'staging');
    const state = { name: 'staging', enabled: true, sortOrder: 3 };
    outbox.write({ entity: 'environment', id: 'staging', state });
    await gateway!.givenToken({ token: staging, kind: 'client', environment: 'staging' });
    await eventually(async () => expect((await streaming({ key: staging })).status).toBe(200));
    const stream = open.at(-1);
    outbox.write({ entity: 'environment', id: 'staging', state: null });
    await eventually(() => expect(stream?.isEnded()).toBe(true));
    expect((await streaming({ key: staging })).status).toBe(400);
  });

  it('is counted while it is open, and by what has ended it', async () => {
    const metrics = async () => (await gateway!.send('/internal-backstage/prometheus')).text();
    await connected();
    expect(await metrics()).toMatch(/^bunting_sdk_streams\{kind="sdk",service="gateway"\} 1$/m);
    const text = await metrics();
    for (const reason of ['client', 'token', 'environment'])
      expect(text).toMatch(
        new RegExp(`^bunting_sdk_streams_ended_total\\{kind="sdk",reason="${reason}",.*\\} [1-9]`, 'm'),
      );
    expect(text).toMatch(/^bunting_sdk_stream_lag_seconds_count\{.*kind="sdk".*\} [1-9]/m);
  });
});

describe('streams of clients that do not read', () => {
  it('end, the oldest first, before they hold more memory than allowed', async () => {
    outbox.write(
      ...Array.from({ length: 80 }, (_, nth) => featureRow(`huge-${nth}`, { description: 'x'.repeat(200_000) })),
    );
    const streams: OpenEventStream[] = [];
    for (let nth = 0; nth < 3; nth++) {
      const stream = await streaming({ server: other });
      stream.pause();
      streams.push(stream);
      outbox.write(featureRow('change', { description: String(nth) }));
      await applied(other);
    }
    await eventually(async () => {
      const text = await (await other!.send('/internal-backstage/prometheus')).text();
      expect(text).toMatch(/^bunting_sdk_streams_ended_total\{kind="sdk",reason="unread",.*\} 2$/m);
    });
    for (const stream of streams) stream.resume();
    await eventually(() => expect(streams.map((stream) => stream.isEnded())).toEqual([true, true, false]));
    outbox.write(...Array.from({ length: 80 }, (_, nth) => archived(`huge-${nth}`, 'default')));
  });
});

describe('a gateway that stops', () => {
  it('ends its streams one after the other, and accepts no new ones', async () => {
    const streams = await Promise.all(Array.from({ length: 40 }, () => connected({ server: other })));
    const stopping = other?.stop();
    other = undefined;
    await Promise.race(streams.map(({ ended }) => ended));
    expect(streams.filter((stream) => !stream.isEnded()).length).toBeGreaterThan(0);
    await Promise.all(streams.map(({ ended }) => ended));
    await stopping;
    for (const stream of streams) expect(stream.text().endsWith('\n\n')).toBe(true);
  });
});

describe('a database that was restored from a backup', () => {
  it('is streamed from its own history', async () => {
    const stream = await connected();
    outbox.messages.length = 8;
    outbox.messages.splice(0, 8, ...outbox.messages.map((message) => ({ ...message, uid: crypto.randomUUID() })));
    await eventually(() => {
      expect(deltaIn(stream.events.at(-1))).toMatchObject([{ type: 'hydration' }]);
      expect(stream.events.length).toBeGreaterThan(1);
    });
    outbox.write(featureRow('after-the-restore'));
    await eventually(() => expect(named(stream).at(-1)).toBe('after-the-restore'));
  });
});
