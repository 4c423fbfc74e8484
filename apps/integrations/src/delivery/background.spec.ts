import {
  adminTokenUserId,
  type Caller,
  GetAddon,
  GetDeliveryStatus,
  RedeliverEvent,
  ReplayEvents,
  UpdateAddon,
} from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { type HttpDestination, startHttpDestination } from '@bunting/testing/destinations';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aWebhook, mia, type StartedIntegrations, startIntegrations } from '../../test/started-integrations.ts';
import { deliveryStore } from './delivery-store.ts';
import { logMarkStore } from './log-mark-store.ts';

let service: StartedIntegrations;
let sink: HttpDestination;
let id: number;
beforeAll(async () => {
  service = await startIntegrations();
  sink = await startHttpDestination();
});
afterAll(async () => {
  await service.stop();
  await sink.stop();
});
beforeEach(async () => {
  ({ id } = await service.create(aWebhook(sink.url)));
});
afterEach(async () => {
  await service.database.query({ text: 'delete from integration' });
  sink.reset();
});

const statusOf = () => service.call(GetDeliveryStatus, { params: { id } });
const isCaughtUp = () =>
  eventually(async () => {
    const { position, head } = await statusOf();
    expect(position).toBe(head);
    expect(head).toBe(service.log.head);
  });

describe('a destination', () => {
  it('gets the events that are committed after its creation and that it selects, with their ids', async () => {
    const [first, , third] = service.log.append({}, { type: 'feature-tagged' }, { type: 'feature-archived' });
    await eventually(() => expect(sink.requests).toHaveLength(2));
    expect(sink.events()).toEqual([first?.event, third?.event]);
    expect(sink.requests.map(({ headers }) => headers['webhook-id'])).toEqual([
      `evt_${first?.uid}`,
      `evt_${third?.uid}`,
    ]);
  });

  it('is told nothing again once it has accepted everything', async () => {
    service.log.append({}, {}, {});
    await isCaughtUp();
    service.log.append({ type: 'feature-tagged' });
    await isCaughtUp();
    expect(sink.requests).toHaveLength(3);
  });

  it('gets events of selected projects and environments alone, and those without', async () => {
    await service.call(UpdateAddon, {
      params: { id },
      body: aWebhook(sink.url, { projects: ['shop'], environments: ['production'] }),
    });
    const appended = service.log.append(
      {},
      { project: 'bank' },
      { environment: 'development' },
      { environment: null },
      { project: null, featureName: null },
    );
    await isCaughtUp();
    const expected = [appended[0], appended[3], appended[4]].map((entry) => entry?.event.id);
    expect(sink.events().map((event) => event.id)).toEqual(expect.arrayContaining(expected));
    expect(sink.requests).toHaveLength(3);
  });
});

describe('the move of a flag out of another project', () => {
  const data = { oldProject: 'vault', newProject: 'shop' };
  const kim = { id: 9, name: 'kim', grants: mia.grants };
  const moved = { type: 'feature-project-change', data, summary: 'moved from vault' } as const;
  const toldOf = async (projects: string[], caller: Caller) => {
    const created = await service.create(aWebhook(sink.url, { events: [moved.type], projects }), caller);
    const [entry] = service.log.append(moved);
    await eventually(async () => expect(await service.attempts(created.id)).toHaveLength(1));
    return { id: created.id, told: sink.events()[0], entry };
  };
  afterEach(() => void service.people.remove(kim.id));

  it('names that project where it is not hidden from who set the integration up', async () => {
    service.people.user(kim.id, kim.name);
    const { told, entry } = await toldOf(['shop'], kim);
    expect(told).toEqual(entry?.event);
  });

  it('does not name it where it is hidden by now, nor in what is sent again', async () => {
    service.people.user(kim.id, kim.name, { hiddenProjects: ['vault'] });
    sink.respondStatus(500);
    const { told, entry } = await toldOf(['shop'], kim);
    expect(told).toEqual(entry?.limited?.event);
    await service.passTime();
    await eventually(() => expect(sink.requests).toHaveLength(2));
    expect(sink.requests.map(({ body }) => body).join()).not.toContain('vault');
  });

  it('does not name it where that user is gone, and names it where an admin token has edited the integration', async () => {
    const { id: edited, told, entry } = await toldOf(['shop'], kim);
    expect(told).toEqual(entry?.limited?.event);
    sink.reset();
    const body = aWebhook(sink.url, { events: [moved.type], projects: ['shop'] });
    await service.call(UpdateAddon, { params: { id: edited }, body }, { ...kim, id: adminTokenUserId });
    const [again] = service.log.append(moved);
    await eventually(() => expect(sink.events()).toEqual([again?.event]));
  });

  it('names it to an integration that selects it as well, whoever set that up', async () => {
    const { told, entry } = await toldOf(['shop', 'vault'], kim);
    expect(told).toEqual(entry?.event);
  });
});

it('fifty destinations read an event from the log once', async () => {
  for (let nth = 1; nth < 50; nth++) await service.create(aWebhook(`${sink.url}/${nth}`));
  // The inbox reads it as well.
  const inboxReads = 1;
  const before = service.log.pagesRead;
  service.log.append({});
  await eventually(() => expect(new Set(sink.requests.map(({ path }) => path)).size).toBe(50));
  expect(service.log.pagesRead - before).toBeLessThanOrEqual(1 + inboxReads);
});

it('ten thousand events that come at once arrive, each once, in the order of their flags', async () => {
  const added = Array.from({ length: 10 }, () =>
    service.log.append(...Array.from({ length: 1_000 }, (_, nth) => ({ featureName: `flag-${nth % 100}` }))),
  ).flat();
  await isCaughtUp();
  const received = sink.events();
  expect(received).toHaveLength(added.length);
  for (const [flag, ofFlag] of Map.groupBy(received, ({ featureName }) => featureName)) {
    const expected = added.filter(({ event }) => event.featureName === flag).map(({ event }) => event.id);
    expect(
      ofFlag.map((event) => event.id),
      flag,
    ).toEqual(expected);
  }
});

it('an event of a megabyte arrives as it is, also where it has failed before', async () => {
  const data = { text: 'ü'.repeat(500_000) };
  sink.respondStatus(500);
  service.log.append({ data });
  await eventually(async () => expect((await statusOf()).waiting).toBe(1));
  sink.respondStatus(204);
  await service.passTime();
  await eventually(async () => expect((await statusOf()).waiting).toBe(0));
  expect(sink.requests.map(({ body }) => (JSON.parse(body) as { data: unknown }).data)).toEqual([data, data]);
});

describe('a collector of logs', () => {
  it('gets events of every type, and again what it refuses, with the same id', async () => {
    await service.call(UpdateAddon, {
      params: { id },
      body: { provider: 'otlp', enabled: true, parameters: { url: sink.url }, events: ['*'] },
    });
    sink.respondWith((_request, response) => {
      response.end(JSON.stringify({ partialSuccess: { rejectedLogRecords: '1', errorMessage: 'too old' } }));
    });
    service.log.append({ type: 'user-created' });
    await eventually(async () => expect((await service.attempts(id))[0]?.stateDetails).toContain('too old'));
    sink.respondWith((_request, response) => void response.end('{"partialSuccess":{}}'));
    await service.passTime();
    service.log.append({ type: 'feature-tagged', featureName: 'other' });
    await isCaughtUp();
    const uid = /"log.record.uid","value":\{"stringValue":"(.*?)"/;
    await eventually(() => expect(sink.requests).toHaveLength(3));
    // The other flag waits for nothing: its event may come first.
    expect(sink.requests.filter(({ body }) => body === sink.requests[0]?.body)).toHaveLength(2);
    const ids = sink.requests.map(({ body }) => uid.exec(body)?.[1]);
    expect(new Set(ids).size).toBe(2);
  });
});

describe('an event that fails', () => {
  const failBanner = () =>
    sink.respondWith(({ body }, response) => {
      const isBanner = (JSON.parse(body) as { featureName: string }).featureName === 'banner';
      response.writeHead(isBanner ? 500 : 204).end();
    });

  it('holds back later events of its flag, and of no other', async () => {
    failBanner();
    const [failed, , other] = service.log.append({}, { type: 'feature-archived' }, { featureName: 'sidebar' });
    await isCaughtUp();
    expect(
      sink
        .events()
        .map((event) => event.id)
        .toSorted(),
    ).toEqual([failed?.event.id, other?.event.id]);
    expect(await statusOf()).toMatchObject({ waiting: 2, deadLetters: 0 });
  });

  it('is sent again with the same id, and then what waits of its flag, in order', async () => {
    failBanner();
    const entries = service.log.append({}, {}, {});
    await isCaughtUp();
    service.log.append({});
    await isCaughtUp();
    expect(sink.requests).toHaveLength(1);
    sink.reset();
    await service.passTime();
    await eventually(() => expect(sink.requests).toHaveLength(4));
    expect(sink.events().map((event) => event.id)).toEqual(
      [1, 2, 3, 4].map((nth) => (entries[0]?.event.id ?? 0) + nth - 1),
    );
    expect(sink.requests[0]?.headers['webhook-id']).toBe(`evt_${entries[0]?.uid}`);
    await eventually(async () => expect(await statusOf()).toMatchObject({ waiting: 0 }));
  });

  it('is sent at once after its integration was edited, and when it is sent again by hand', async () => {
    failBanner();
    const [first, second] = service.log.append({}, {});
    await eventually(async () => expect(await statusOf()).toMatchObject({ waiting: 2 }));
    sink.reset();
    await service.call(UpdateAddon, { params: { id }, body: aWebhook(sink.url) });
    await eventually(() => expect(sink.events().map((event) => event.id)).toEqual([first?.event.id, second?.event.id]));
    await eventually(async () => expect(await statusOf()).toMatchObject({ waiting: 0 }));
    failBanner();
    const [third] = service.log.append({});
    await eventually(async () => expect(await statusOf()).toMatchObject({ waiting: 1 }));
    sink.reset();
    const [attempt] = await service.attempts(id);
    await service.call(RedeliverEvent, { params: { id, eventId: Number(attempt?.id) } });
    await eventually(() => expect(sink.events().map((event) => event.id)).toEqual([third?.event.id]));
  });

  it('is forgotten when its integration is disabled and enabled again, which begins with what is committed then', async () => {
    failBanner();
    service.log.append({}, {});
    await eventually(async () => expect(await statusOf()).toMatchObject({ waiting: 2 }));
    await service.call(UpdateAddon, { params: { id }, body: aWebhook(sink.url, { enabled: false }) });
    sink.reset();
    await service.call(UpdateAddon, { params: { id }, body: aWebhook(sink.url) });
    expect(await statusOf()).toMatchObject({ waiting: 0 });
    const [later] = service.log.append({});
    await eventually(() => expect(sink.events().map((event) => event.id)).toEqual([later?.event.id]));
  });

  it('is a dead letter after the last attempt, which holds back nothing, is seen, and can be sent again', async () => {
    failBanner();
    const [dead, next] = service.log.append({}, {});
    await isCaughtUp();
    for (let nth = 2; nth <= 4; nth++) {
      await service.passTime();
      await eventually(async () => expect((await service.attempts(id)).length).toBeGreaterThanOrEqual(nth));
    }
    await eventually(async () => expect(await statusOf()).toMatchObject({ deadLetters: 1, waiting: 1 }));
    const letter = (await service.attempts(id)).find(({ details }) => details['deadLetter'] === true);
    expect(letter).toMatchObject({
      state: 'failed',
      stateDetails: expect.stringContaining('The destination responded 500. This was attempt 4 and the last one'),
      event: { id: dead?.event.id },
    });
    sink.reset();
    // An attempt that was on its way when the destination got better fails, and waits once more.
    await eventually(async () => {
      await service.passTime();
      expect(sink.events().map((event) => event.id)).toEqual([next?.event.id]);
    });
    await service.call(RedeliverEvent, { params: { id, eventId: Number(letter?.id) } });
    await eventually(() => expect(sink.events().map((event) => event.id)).toEqual([next?.event.id, dead?.event.id]));
    await eventually(async () => expect(await statusOf()).toMatchObject({ deadLetters: 0, waiting: 0 }));
    expect(sink.requests[1]?.headers['webhook-id']).toBe(`evt_${dead?.uid}`);
  });
});

describe('a destination that fails', () => {
  it('is left alone after five failures in a row, and gets everything once it works again', async () => {
    sink.respondStatus(503);
    const flags = Array.from({ length: 40 }, (_, nth) => ({ featureName: `flag-${nth}` }));
    const entries = service.log.append(...flags);
    await eventually(async () => expect((await statusOf()).pausedUntil).not.toBeNull());
    expect(sink.requests.length).toBeLessThan(40);
    // However many were sent at the same time, the first pause is the shortest.
    const { pausedUntil } = await statusOf();
    expect(Date.parse(pausedUntil ?? '')).toBeLessThan(Date.now() + 60_000);
    sink.reset();
    await service.passTime();
    await eventually(() => expect(new Set(sink.events().map((event) => event.id)).size).toBe(40));
    expect(new Set(sink.events().map((event) => event.id))).toEqual(new Set(entries.map(({ event }) => event.id)));
    await eventually(async () => expect(await statusOf()).toMatchObject({ waiting: 0, pausedUntil: null }));
  });

  it('is left alone for as long as it asks', async () => {
    sink.respondStatus(429, { 'retry-after': '1200' });
    service.log.append({});
    await eventually(async () => {
      const { pausedUntil } = await statusOf();
      expect(Date.parse(pausedUntil ?? '')).toBeGreaterThan(Date.now() + 1_000_000);
    });
    service.log.append({ featureName: 'sidebar' });
    sink.reset();
    await service.passTime();
    await eventually(() => expect(sink.requests).toHaveLength(2));
  });

  it('is disabled when it responds 410, which the event log says', async () => {
    sink.respondStatus(410);
    service.log.append({});
    await eventually(async () => expect((await service.call(GetAddon, { params: { id } })).enabled).toBe(false));
    expect((await statusOf()).disabledReason).toMatch('410');
    const [event] = (await service.emittedEvents()).slice(-1);
    expect(event).toMatchObject({ type: 'addon-config-updated', data: { id, enabled: false } });
    sink.reset();
    service.log.append({});
    await service.call(UpdateAddon, { params: { id }, body: aWebhook(sink.url) });
    const [later] = service.log.append({ featureName: 'later' });
    await eventually(() => expect(sink.events().map((one) => one.id)).toContain(later?.event.id));
  });

  it('stays enabled when it is no webhook and responds 410, as for a channel that was archived', async () => {
    const slack = { url: sink.url, username: 'Bunting', defaultChannel: 'flags' };
    const other = await service.create(aWebhook(sink.url, { provider: 'slack', parameters: slack }));
    await service.call(UpdateAddon, { params: { id }, body: aWebhook(sink.url, { enabled: false }) });
    sink.respondStatus(410);
    service.log.append({});
    await eventually(async () => expect(await service.attempts(other.id)).toMatchObject([{ state: 'failed' }]));
    expect(await service.call(GetAddon, { params: { id: other.id } })).toMatchObject({ enabled: true });
  });

  it('of a kind that only a later version knows loses nothing to a process of this version', async () => {
    const { position } = await statusOf();
    const become = (provider: string) =>
      service.database.query({ text: `update integration set provider = '${provider}' where id = ${id}` });
    await become('pager');
    service.log.append({});
    await eventually(() => expect(service.lines.join('')).toContain(`The delivery to integration ${id} failed`));
    expect((await statusOf()).position).toBe(position);
    await become('webhook');
    await eventually(async () => {
      await service.database.query({ text: 'update destination set lease_until = null where lease is null' });
      expect(sink.requests).toHaveLength(1);
    });
  });

  it('that redirects is not followed', async () => {
    const other = await startHttpDestination();
    sink.respondStatus(302, { location: other.url });
    service.log.append({});
    await eventually(async () => expect(await service.attempts(id)).toHaveLength(1));
    expect((await service.attempts(id))[0]).toMatchObject({ state: 'failed', details: { status: 302 } });
    expect(other.requests).toEqual([]);
    await other.stop();
  });
});

describe('more destinations than a process delivers to at the same time', () => {
  it('all get an event without waiting for a poll, as many as there may be', async () => {
    const patient = await startIntegrations({ INTEGRATIONS_POLL_INTERVAL_MS: '3600000' });
    try {
      for (let nth = 0; nth < 500; nth++) await patient.create(aWebhook(`${sink.url}/${nth}`));
      await expect(patient.create(aWebhook(sink.url))).rejects.toMatchObject({ kind: 'ExceedsLimitError' });
      patient.log.append({});
      await eventually(() => expect(new Set(sink.requests.map(({ path }) => path)).size).toBe(500));
    } finally {
      await patient.stop();
    }
  });
});

describe('a replay', () => {
  it('delivers again from an event on, with the same ids', async () => {
    const entries = service.log.append({}, {}, {});
    await isCaughtUp();
    sink.reset();
    await service.call(ReplayEvents, { params: { id }, body: { after: entries[0]?.event.id ?? 0 } });
    await eventually(() => expect(sink.requests).toHaveLength(2));
    expect(sink.requests.map(({ headers }) => headers['webhook-id'])).toEqual(
      entries.slice(1).map(({ uid }) => `evt_${uid}`),
    );
  });

  it('delivers again from a time on', async () => {
    const entries = service.log.append({}, {}, {});
    await isCaughtUp();
    sink.reset();
    await service.call(ReplayEvents, { params: { id }, body: { since: entries[2]?.event.createdAt ?? '' } });
    await eventually(() => expect(sink.events().map((event) => event.id)).toEqual([entries[2]?.event.id]));
  });

  it('keeps the order of a flag whose newer events wait', async () => {
    service.log.append({}, {}, {}, {});
    await isCaughtUp();
    sink.respondStatus(500);
    const [fifth] = service.log.append({}, {}, {});
    await eventually(async () => expect(await statusOf()).toMatchObject({ waiting: 3 }));
    sink.reset();
    const before = (fifth?.event.id ?? 0) - 5;
    await service.call(ReplayEvents, { params: { id }, body: { after: before } });
    await eventually(() =>
      expect(sink.events().map((event) => event.id)).toEqual([1, 2, 3, 4, 5, 6, 7].map((nth) => before + nth)),
    );
  });

  it('is refused beyond the end of the log, and without a start', async () => {
    const replay = (body: object) => service.call(ReplayEvents, { params: { id }, body });
    await expect(replay({ after: service.log.head + 1 })).rejects.toMatchObject({ kind: 'ValidationError' });
    await expect(replay({})).rejects.toMatchObject({ kind: 'ValidationError' });
  });
});

it('after the log was restored from a backup, its events are delivered again from there on', async () => {
  service.log.append({}, {});
  await isCaughtUp();
  const restoredTo = service.log.head - 1;
  service.log.restoreTo(restoredTo);
  const entries = service.log.append({ featureName: 'after-restore' }, {}, {});
  await eventually(() =>
    expect(sink.requests.map(({ headers }) => headers['webhook-id'])).toEqual(
      expect.arrayContaining(entries.map(({ uid }) => `evt_${uid}`)),
    ),
  );
});

it('after the log was restored, the flags whose events waited keep the order of the log', async () => {
  service.log.append({ featureName: 'of-the-mark' });
  await isCaughtUp();
  sink.respondStatus(500);
  service.log.append({}, {});
  await eventually(async () => expect(await statusOf()).toMatchObject({ waiting: 2 }));
  service.log.restoreTo(service.log.head - 2);
  sink.reset();
  const entries = service.log.append({}, {}, {});
  await service.passTime();
  await eventually(() =>
    expect(
      sink
        .events()
        .filter(({ featureName }) => featureName === 'banner')
        .map((event) => event.id)
        .slice(-3),
    ).toEqual(entries.map(({ event }) => event.id)),
  );
  const sent = sink.requests.map(({ headers }) => headers['webhook-id']);
  expect(sent.slice(-3)).toEqual(entries.map(({ uid }) => `evt_${uid}`));
  await eventually(async () => expect(await statusOf()).toMatchObject({ waiting: 0 }));
});

describe('when the log was restored', () => {
  const mark = (...ids: readonly number[]) =>
    service.database.query(
      {
        text: `insert into log_mark (minute, id, hash)
        select now() - make_interval(days => 3, mins => -id), id, hash from unnest($1::int[], $2::text[]) as mark (id, hash)
        on conflict do nothing`,
      },
      [ids, ids.map((one) => service.log.hashAt(one))],
    );
  /** Forgets all marks but those at some events, as after days without others. */
  const haveMarks = async (...ids: readonly number[]) => {
    await service.database.query({ text: 'delete from log_mark' });
    await mark(...ids);
  };
  const pause = (until: string) => service.database.query({ text: `update destination set paused_until = ${until}` });

  it('and has grown beyond what it was, a destination that is paused misses nothing of what is new', async () => {
    service.log.append({}, {}, {}, {}, {});
    await isCaughtUp();
    const before = service.log.head;
    await haveMarks(before - 4, before);
    await pause(`now() + interval '1 hour'`);
    // Another one, and the inbox, follow the restored log meanwhile.
    const other = await startHttpDestination();
    const { id: otherId } = await service.create(aWebhook(other.url));
    service.log.restoreTo(before - 3);
    const entries = service.log.append({}, {}, {}, {});
    const uids = entries.map(({ uid }) => `evt_${uid}`);
    const sentTo = ({ requests }: HttpDestination) => requests.map(({ headers }) => headers['webhook-id']);
    await eventually(() => expect(sentTo(other)).toEqual(expect.arrayContaining(uids)));
    await eventually(async () => {
      const { position } = await service.call(GetDeliveryStatus, { params: { id: otherId } });
      expect(position).toBe(service.log.head);
    });
    await mark(before - 1);
    sink.reset();
    await pause('null');
    await eventually(() => expect(sentTo(sink)).toEqual(expect.arrayContaining(uids)));
    await other.stop();
  });

  it('a process that holds the lease of a destination does not store over where it was moved to', async () => {
    service.log.append({}, {});
    await isCaughtUp();
    const before = service.log.head;
    await haveMarks(before - 1, before);
    const arrived = Promise.withResolvers<() => void>();
    sink.respondWith((_request, response) => arrived.resolve(() => void response.writeHead(204).end()));
    service.log.append({ featureName: 'of-the-log-before' });
    const respond = await arrived.promise;
    const lostHash = service.log.hashAt(before);
    service.log.restoreTo(before - 1);
    const entries = service.log.append({ featureName: 'first' }, { featureName: 'second' }, { featureName: 'third' });
    await eventually(async () => {
      const [row] = await service.database.query<{ lease: string | null }>({ text: 'select lease from destination' });
      expect(row?.lease).toBeNull();
    });
    const marks = await logMarkStore(service.database).upTo(service.log.head);
    expect(marks.map(({ hash }) => hash)).not.toContain(lostHash);
    sink.reset();
    respond();
    const uids = entries.map(({ uid }) => `evt_${uid}`);
    await eventually(() =>
      expect(sink.requests.map(({ headers }) => headers['webhook-id'])).toEqual(expect.arrayContaining(uids)),
    );
    await isCaughtUp();
    expect((await service.attempts(id)).map(({ event }) => event.featureName)).not.toContain('of-the-log-before');
  });
});

describe('a process', () => {
  it('that has lost its lease stores nothing of its round, and the next one sends it again with the same id', async () => {
    const arrived = Promise.withResolvers<() => void>();
    sink.respondWith((_request, response) => arrived.resolve(() => void response.writeHead(204).end()));
    const [entry] = service.log.append({});
    const respond = await arrived.promise;
    sink.reset();
    // As when another process has taken the destination over.
    await service.database.query({ text: 'update destination set lease = gen_random_uuid()' });
    respond();
    await service.database.query({ text: 'update destination set lease_until = now()' });
    await eventually(() => expect(sink.requests[0]?.headers['webhook-id']).toBe(`evt_${entry?.uid}`));
    await isCaughtUp();
    expect(await service.attempts(id)).toHaveLength(1);
  });
});

it('the history has the last thousand attempts of an integration, and those of dead letters', async () => {
  await service.database.query({
    text: `insert into attempt (integration_id, uid, state, state_details, event, details)
    select ${id}, gen_random_uuid(), 'success', '', '{}', '{}' from generate_series(1, 1500)`,
  });
  await service.database.query({
    text: `insert into parked_delivery (integration_id, uid, flag, event, attempts)
    select integration_id, uid, 'flag x', event, 10 from attempt order by id limit 1`,
  });
  await service.database.query({
    text: `insert into parked_delivery (id, integration_id, uid, flag, event, attempts)
    select -nth, ${id}, gen_random_uuid(), 'flag y', '{}', 10 from generate_series(1, 1200) as nth`,
  });
  const store = deliveryStore(service.database);
  while ((await store.dropExpired()) > 0);
  expect(await statusOf()).toMatchObject({ deadLetters: 1_000 });
  const [count] = await service.database.read<{ attempts: number }>({
    text: 'select count(*)::int as attempts from attempt',
  });
  expect(count?.attempts).toBe(1_001);
});

it('parked events are read within a number of bytes, and a larger one by itself', async () => {
  await service.call(UpdateAddon, { params: { id }, body: aWebhook(sink.url, { enabled: false }) });
  await service.database.query({
    text: `insert into parked_delivery (integration_id, uid, flag, event, attempts, next_attempt_at)
    select ${id}, gen_random_uuid(), 'flag ' || nth, json_build_object('data', repeat('x', nth * 100000)), 1, now() - interval '1 minute'
    from generate_series(1, 6) as nth`,
  });
  const store = deliveryStore(service.database);
  const due = () => store.dueParked(id, 100);
  expect((await due()).map(({ flag }) => flag)).toEqual(['flag 1', 'flag 2', 'flag 3']);
  await service.database.query({ text: `delete from parked_delivery where flag < 'flag 5'` });
  expect((await due()).map(({ flag }) => flag)).toEqual(['flag 5']);
});
