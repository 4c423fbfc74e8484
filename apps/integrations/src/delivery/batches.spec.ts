import {
  type AddonBody,
  type Event,
  GetDeliveryStatus,
  RedeliverEvent,
  ReplayEvents,
  TestAddon,
  UpdateAddon,
} from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import {
  type MailServer,
  startMailServer,
  startStorage,
  type Storage,
  storageKey,
} from '@bunting/testing/destinations';
import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type StartedIntegrations, startIntegrations } from '../../test/started-integrations.ts';

let service: StartedIntegrations;
let storage: Storage;
let mailServer: MailServer;
beforeAll(async () => {
  [storage, mailServer] = [await startStorage(), await startMailServer()];
  service = await startIntegrations({
    SMTP_URL: mailServer.url,
    INTEGRATIONS_TIMEOUT_MS: '5000',
    INTEGRATIONS_PUBLIC_URL: 'https://flags.example.org',
  });
});
afterAll(async () => {
  await service.stop();
  await storage.stop();
  await mailServer.stop();
});
afterEach(async () => {
  await service.database.query({ text: 'delete from integration' });
  storage.reset();
  mailServer.refuse();
  mailServer.mails.length = 0;
});

const archive = (parameters: Readonly<Record<string, string>> = {}, more: Partial<AddonBody> = {}): AddonBody => ({
  provider: 's3',
  enabled: true,
  parameters: { url: storage.url, bucket: 'flag-events', ...storageKey, ...parameters },
  events: ['*'],
  ...more,
});
const at = (time: string, more: Partial<Event> = {}): Partial<Event> => ({
  createdAt: `2026-01-05T${time}.000Z`,
  ...more,
});
const idOf = (id: number) => String(id).padStart(12, '0');
const isCaughtUp = (id: number) =>
  eventually(async () => {
    const { position, head } = await service.call(GetDeliveryStatus, { params: { id } });
    expect([position, head]).toEqual([service.log.head, service.log.head]);
  });
/** Looks at batches whose time goes on, as it does now and then. */
const lookAgain = async () => {
  await service.passTime();
  await service.database.query({ text: 'update destination set lease_until = null where lease is null' });
};
const linesOf = (key: string) =>
  (storage.objects.get(key)?.body ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { uid: string; hash: string; event: Event });

describe('an archive', () => {
  it('has an object for each hour, with its events, under a key of their ids', async () => {
    const { id } = await service.create(archive({ prefix: 'bunting/production' }));
    const before = service.log.head;
    const logged = service.log.append(at('08:10:00'), at('08:59:59'), at('09:00:00'));
    await isCaughtUp(id);
    const keys = [
      `bunting/production/2026/01/05/08/events-${idOf(before + 1)}-${idOf(before + 2)}.ndjson`,
      `bunting/production/2026/01/05/09/events-${idOf(before + 3)}-${idOf(before + 3)}.ndjson`,
    ];
    expect([...storage.objects.keys()]).toEqual(keys);
    expect(keys.flatMap(linesOf)).toEqual(logged);
    const [attempt] = await service.attempts(id);
    expect(attempt).toMatchObject({ state: 'success', event: { type: 'batch', data: { events: 1 } } });
  });

  it('of one project says nothing of another one that is hidden from who set it up', async () => {
    const { id } = await service.create(archive({}, { projects: ['shop'] }));
    const data = { oldProject: 'vault', newProject: 'shop' };
    const [moved] = service.log.append(at('08:10:00', { type: 'feature-project-change', data }), at('09:00:00'));
    await isCaughtUp(id);
    const [line] = [...storage.objects.keys()].flatMap(linesOf);
    expect(line).toEqual({ uid: moved?.uid, hash: moved?.hash, event: moved?.limited?.event });
  });

  it('of an hour that goes on waits for its end', async () => {
    const { id } = await service.create(archive());
    const now = Date.now();
    const [open] = service.log.append({ createdAt: new Date(now).toISOString() });
    await eventually(async () => {
      const text = 'select 1 from destination where lease is null and lease_until > now()';
      expect(await service.database.query({ text })).toHaveLength(1);
    });
    expect(storage.attempts()).toBe(0);
    service.log.append({ createdAt: new Date(now + 3_600_000).toISOString() });
    await lookAgain();
    await eventually(() => expect(storage.objects.size).toBe(1));
    expect(linesOf([...storage.objects.keys()][0] ?? '')).toEqual([open]);
    await eventually(async () => {
      const { position } = await service.call(GetDeliveryStatus, { params: { id } });
      expect(position).toBe(open?.event.id);
    });
  });

  it('has no object of more than 16 MiB, and leaves out nothing', async () => {
    const { id } = await service.create(archive());
    const data = { text: 'x'.repeat(1_000_000) };
    const logged = service.log.append(...Array.from({ length: 40 }, () => at('10:00:00', { data })));
    await isCaughtUp(id);
    const bodies = [...storage.objects.values()].map(({ body }) => Buffer.byteLength(body));
    expect(bodies.length).toBe(3);
    expect(Math.max(...bodies)).toBeLessThanOrEqual(16 * 1024 * 1024);
    expect([...storage.objects.keys()].flatMap(linesOf).map(({ uid }) => uid)).toEqual(logged.map(({ uid }) => uid));
  });

  it('has what is selected, and no object of an hour without any', async () => {
    const { id } = await service.create(archive({}, { events: ['feature-archived'] }));
    service.log.append(at('08:00:00'), at('09:00:00'), at('09:01:00', { type: 'feature-archived' }), at('09:02:00'));
    await isCaughtUp(id);
    const head = service.log.head;
    expect([...storage.objects.keys()]).toEqual([`2026/01/05/09/events-${idOf(head - 2)}-${idOf(head)}.ndjson`]);
    expect(linesOf([...storage.objects.keys()][0] ?? '').map(({ event }) => event.type)).toEqual(['feature-archived']);
  });

  it('has read what is not selected once, although its hour goes on', async () => {
    const { id } = await service.create(archive({}, { events: ['feature-archived'] }));
    const createdAt = new Date().toISOString();
    service.log.append(...Array.from({ length: 600 }, () => ({ createdAt })));
    await isCaughtUp(id);
    expect(storage.attempts()).toBe(0);
    const from = service.log.head + 1;
    service.log.append({ createdAt: '2026-01-05T09:00:00.000Z', type: 'feature-archived' });
    await isCaughtUp(id);
    expect([...storage.objects.keys()]).toEqual([`2026/01/05/09/events-${idOf(from)}-${idOf(from)}.ndjson`]);
  });

  it('repeats an object with the same key and bytes, although its hour has got more events meanwhile', async () => {
    const { id } = await service.create(archive());
    storage.beSilent(true);
    service.log.append(at('08:10:00'), at('08:20:00'));
    await eventually(async () => expect((await service.attempts(id))[0]?.state).toBe('failed'));
    const [[key, first]] = [...storage.objects] as unknown as [[string, { body: string }]];
    storage.beSilent(false);
    service.log.append(at('08:30:00'));
    await lookAgain();
    await isCaughtUp(id);
    expect(storage.objects.get(key)).toMatchObject({ body: first.body, puts: 2 });
    const head = service.log.head;
    expect([...storage.objects.keys()][1]).toBe(`2026/01/05/08/events-${idOf(head)}-${idOf(head)}.ndjson`);
  });

  it('has the head of the chain of hashes in its metadata, signed by keys of the integration', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const seed = Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url').toString('base64');
    const { id } = await service.create(archive({ signingKeys: `whsk_${seed}` }));
    service.log.append(at('08:10:00'), at('08:20:00'));
    await isCaughtUp(id);
    const [{ body = '', headers }] = [...storage.objects.values()] as unknown as [
      { body: string; headers: Record<string, string> },
    ];
    const [from, to, hash] = ['from', 'to', 'hash'].map((name) => headers[`x-amz-meta-bunting-${name}`]);
    expect(hash).toBe(service.log.hashAt(service.log.head));
    expect(Number(to)).toBe(service.log.head);
    const signed = `${from}.${to}.${hash}.${createHash('sha256').update(body).digest('hex')}`;
    const [version, signature = ''] = (headers['x-amz-meta-bunting-signature'] ?? '').split(',');
    expect(version).toBe('v1a');
    expect(verify(null, Buffer.from(signed), createPublicKey(privateKey), Buffer.from(signature, 'base64'))).toBe(true);
  });

  it('is locked for the days that are asked for', async () => {
    const { id } = await service.create(archive({ retentionDays: '3650', retentionMode: 'COMPLIANCE' }));
    service.log.append(at('08:10:00'));
    await isCaughtUp(id);
    const [object] = storage.objects.values();
    expect(object?.headers).toMatchObject({
      'x-amz-object-lock-mode': 'COMPLIANCE',
      'x-amz-object-lock-retain-until-date': '2036-01-03T08:10:00.000Z',
    });
  });

  it('is stored without a lock where its retention is over, as after a long outage', async () => {
    const { id } = await service.create(archive({ retentionDays: '1' }));
    service.log.append(at('08:10:00'));
    await isCaughtUp(id);
    const [object] = storage.objects.values();
    expect(Object.keys(object?.headers ?? {}).filter((name) => name.startsWith('x-amz-object-lock'))).toEqual([]);
    expect(object?.body).toContain('08:10:00');
  });

  it('waits and skips nothing while the storage refuses it, and says why', async () => {
    const { id } = await service.create(archive({ secretAccessKey: 'another' }));
    const before = service.log.head;
    service.log.append(at('08:10:00'), at('09:10:00'));
    await eventually(async () =>
      expect((await service.attempts(id))[0]?.stateDetails).toContain('SignatureDoesNotMatch'),
    );
    expect((await service.call(GetDeliveryStatus, { params: { id } })).position).toBe(before);
    const text = `select failures from destination where integration_id = ${id} and paused_until > now()`;
    await eventually(async () => expect(await service.database.query({ text })).toEqual([{ failures: 1 }]));
    await service.call(UpdateAddon, { params: { id }, body: archive() });
    await isCaughtUp(id);
    expect(storage.objects.size).toBe(2);
  });

  it('is written again from an event on, and an object of it alone is not', async () => {
    const { id } = await service.create(archive());
    const before = service.log.head;
    service.log.append(at('08:10:00'));
    await isCaughtUp(id);
    const [attempt] = await service.attempts(id);
    const params = { id, eventId: Number(attempt?.id) };
    await expect(service.call(RedeliverEvent, { params })).rejects.toMatchObject({ kind: 'OperationDeniedError' });
    await service.call(ReplayEvents, { params: { id }, body: { after: before } });
    await eventually(() => expect([...storage.objects.values()][0]?.puts).toBe(2));
    await isCaughtUp(id);
  });

  it('is tried with an object of its own, which is not locked', async () => {
    const { id } = await service.create(archive({ retentionDays: '7', prefix: 'a' }));
    const { request, response, error } = await service.call(TestAddon, { params: { id } });
    expect([request.method, response?.status, error]).toEqual(['PUT', 200, null]);
    expect(JSON.stringify(request)).not.toContain(storageKey.secretAccessKey);
    const [[key, object]] = [...storage.objects] as unknown as [[string, { headers: object }]];
    expect(key.startsWith('a/test/')).toBe(true);
    expect(object.headers).not.toHaveProperty('x-amz-object-lock-mode');
  });

  it.each([
    [{ bucket: '../x' }, 'bucket'],
    [{ prefix: 'a/../b' }, 'prefix'],
    [{ prefix: 'a?b' }, 'prefix'],
    [{ url: 'http://127.0.0.1:9000/a+b' }, 'url'],
    [{ retentionDays: '-1' }, 'retentionDays'],
    [{ retentionMode: 'NONE' }, 'retentionMode'],
    [{ region: 'eu\r\nx' }, 'region'],
    [{ url: 'http://169.254.169.254' }, 'url'],
    [{ url: 'http://127.0.0.1:9000/?a=b' }, 'url'],
    [{ addressing: 'virtual-host', bucket: 'metadata.internal' }, 'url'],
  ])('takes no parameters that make another request of it: %j', async (parameters, name) => {
    await expect(service.create(archive(parameters as Record<string, string>))).rejects.toMatchObject({
      kind: 'ValidationError',
      message: expect.stringContaining(`/body/parameters/${name}`),
    });
  });
});

describe('mail of events', () => {
  const mail = (parameters: Readonly<Record<string, string>> = {}): AddonBody => ({
    provider: 'email',
    enabled: true,
    parameters: { to: 'ops@example.org, releases@example.org', ...parameters },
    events: ['feature-environment-enabled'],
  });

  it('goes to each address at once, as one mail, with the sentence and a link', async () => {
    const { id } = await service.create(mail());
    const [entry] = service.log.append({});
    await isCaughtUp(id);
    expect(mailServer.mails).toHaveLength(1);
    const [received] = mailServer.mails;
    expect(received?.to).toEqual(['ops@example.org', 'releases@example.org']);
    expect(received?.headers.get('subject')).toBe('Flags: Flag enabled: banner');
    expect(received?.headers.get('message-id')).toBe(`<${id}.evt_${entry?.uid}@flags.example.org>`);
    expect(received?.text).toContain('mia@example.com enabled banner');
    expect(received?.text).toContain('https://flags.example.org/projects/shop/features/banner');
  });

  it('that is refused waits like other events, and is the same mail when it comes', async () => {
    const { id } = await service.create(mail());
    mailServer.refuse({ at: 'data', code: 451 });
    const [entry] = service.log.append({});
    await eventually(async () => expect((await service.attempts(id))[0]?.state).toBe('failed'));
    mailServer.refuse();
    await service.passTime();
    await eventually(() => expect(mailServer.mails).toHaveLength(1));
    expect(mailServer.mails[0]?.headers.get('message-id')).toBe(`<${id}.evt_${entry?.uid}@flags.example.org>`);
  });

  it('that some of its addresses do not get says so, and is not sent to the others again', async () => {
    const { id } = await service.create(mail());
    mailServer.refuse({ at: 'rcpt', code: 550, address: 'ops@example.org' });
    service.log.append({});
    await isCaughtUp(id);
    expect(mailServer.mails.map(({ to }) => to)).toEqual([['releases@example.org']]);
    const [attempt] = await service.attempts(id);
    expect(attempt?.state).toBe('successWithErrors');
    expect(attempt?.stateDetails).toContain('refused 1 of 2 addresses: ops@example.org.');
    const { error } = await service.call(TestAddon, { params: { id } });
    expect(error).toContain('refused 1 of 2 addresses: ops@example.org.');
  });

  it('waits for its turn at a server that is slow, and does not fail because of those before it', async () => {
    const { id } = await service.create(mail());
    mailServer.answerAfter(1_500);
    service.log.append(...Array.from({ length: 16 }, (_, nth) => ({ featureName: `flag-${nth}` })));
    await isCaughtUp(id);
    const attempts = await service.attempts(id);
    expect(attempts.map(({ state, stateDetails }) => (state === 'success' ? state : stateDetails))).toEqual(
      Array.from({ length: 16 }, () => 'success'),
    );
    expect(mailServer.mails).toHaveLength(16);
    mailServer.answerAfter(0);
  });

  it('is one a day where a digest is asked for, from hour to hour of UTC', async () => {
    const { id } = await service.create(mail({ digest: 'daily' }));
    service.log.append(
      at('06:59:59', { summary: '**mia** enabled **one**' }),
      at('07:00:00', { summary: '**mia** enabled **two**\r\nBcc: eve@example.com' }),
      at('23:00:00', { summary: '**mia** enabled **three**' }),
    );
    await isCaughtUp(id);
    expect(mailServer.mails.map(({ headers }) => headers.get('subject'))).toEqual([
      'Flags: 1 event up to 2026-01-05',
      'Flags: 2 events up to 2026-01-05',
    ]);
    expect(mailServer.mails[1]?.text).toContain('- mia enabled two Bcc: eve@example.com\n- mia enabled three\n');
  });

  it('of two integrations, and a digest beside the mail of its last event, are dropped by no receiver as the same', async () => {
    const bodies = [mail(), mail(), mail({ digest: 'daily' }), mail({ digest: 'daily' })];
    const created = await Promise.all(bodies.map((body) => service.create(body)));
    service.log.append(at('08:00:00'));
    for (const { id } of created) await isCaughtUp(id);
    const ids = mailServer.mails.map(({ headers }) => headers.get('message-id'));
    expect(ids).toHaveLength(4);
    expect(new Set(ids).size).toBe(4);
  });

  it.each([
    [{ to: 'a@example.org\r\nBcc: eve@example.com' }],
    [{ to: 'nobody' }],
    [{ to: ',' }],
    [{ digest: 'hourly' }],
  ])('takes no parameters that are none: %j', async (parameters) => {
    await expect(service.create(mail(parameters as Record<string, string>))).rejects.toMatchObject({
      kind: 'ValidationError',
    });
  });
});
