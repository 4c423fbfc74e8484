import {
  type Caller,
  CreateAddon,
  DeleteAddon,
  GetAddon,
  ListAddons,
  TestAddon,
  UpdateAddon,
} from '@bunting/contracts';
import { type HttpDestination, startHttpDestination } from '@bunting/testing/destinations';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { aWebhook, mia, type StartedIntegrations, startIntegrations } from '../../test/started-integrations.ts';

let service: StartedIntegrations;
let sink: HttpDestination;
beforeAll(async () => {
  service = await startIntegrations();
  sink = await startHttpDestination();
});
afterAll(async () => {
  await service.stop();
  await sink.stop();
});
afterEach(async () => {
  await service.database.query({ text: 'delete from integration' });
  sink.reset();
});

it('mail of events is refused where no mail server would send it', async () => {
  const body = { ...aWebhook(sink.url), provider: 'email', parameters: { to: 'ops@example.org' } };
  await expect(service.create(body)).rejects.toMatchObject({
    kind: 'ValidationError',
    message: expect.stringContaining('SMTP_URL'),
  });
});

const secret = 'Bearer the-secret-of-the-destination';
const withSecret = () =>
  aWebhook(sink.url, { parameters: { url: sink.url, authorization: secret, contentType: 'text/plain' } });
const noGrants: Caller = { id: 9, name: 'kim', grants: [] };
const editor: Caller = {
  ...noGrants,
  grants: [{ permission: 'CREATE_ADDON' }, { permission: 'UPDATE_ADDON' }, { permission: 'DELETE_ADDON' }],
};
const withoutBank: Caller = { ...editor, hiddenProjects: ['bank'] };

describe('an integration', () => {
  it('is created, listed, read, replaced and deleted, with its secrets masked', async () => {
    const created = await service.create(withSecret());
    const shown = {
      id: created.id,
      provider: 'webhook',
      description: null,
      enabled: true,
      parameters: { url: '*****', authorization: '*****', contentType: 'text/plain' },
      events: ['feature-environment-enabled', 'feature-archived'],
      projects: [],
      environments: [],
    };
    expect(created).toEqual(shown);
    const { addons, providers } = await service.call(ListAddons, {}, noGrants);
    expect(addons).toEqual([shown]);
    expect(providers.map(({ name }) => name)).toEqual([
      'webhook',
      'slack',
      'slack-app',
      'teams',
      'teamsworkflow',
      'datadog',
      'new-relic',
      'otlp',
      'syslog',
      'email',
      's3',
    ]);
    const params = { id: created.id };
    expect(await service.call(GetAddon, { params }, noGrants)).toEqual(shown);
    const body = { ...shown, description: 'Releases', parameters: { url: '*****', contentType: 'text/html' } };
    expect(await service.call(UpdateAddon, { params, body })).toEqual({
      ...shown,
      description: 'Releases',
      parameters: { url: '*****', contentType: 'text/html' },
    });
    await service.call(DeleteAddon, { params });
    await expect(service.call(GetAddon, { params })).rejects.toMatchObject({ kind: 'NotFoundError' });
    await service.call(DeleteAddon, { params });
    const events = (await service.emittedEvents()).slice(-3);
    expect(events.map(({ type }) => type)).toEqual([
      'addon-config-created',
      'addon-config-updated',
      'addon-config-deleted',
    ]);
    const { parameters: _parameters, ...withoutParameters } = shown;
    expect(events[0]).toMatchObject({ data: withoutParameters, preData: null, createdBy: 'mia@example.com' });
    expect(events[1]).toMatchObject({
      data: { ...withoutParameters, description: 'Releases' },
      preData: withoutParameters,
    });
    expect(events[2]).toMatchObject({ data: null, preData: { id: created.id } });
    for (const { data, preData } of events) expect(JSON.stringify([data, preData])).not.toContain('parameters');
  });

  it('that another person has edited since it was read is not replaced, also where only a secret has changed', async () => {
    const { id } = await service.create(withSecret());
    const params = { id };
    const body = aWebhook(sink.url, { parameters: { url: sink.url, authorization: '*****' } });
    const tag = async () => (await service.replyHeaders(GetAddon, { params }))['ETag']?.slice(1, -1) ?? '';
    const read = await tag();
    const update = (ifMatch: readonly string[], more = {}) =>
      service.call(UpdateAddon, { params, body: { ...body, ...more } }, mia, { ifMatch });
    const parameters = { url: sink.url, authorization: 'Bearer of another one' };
    await update([read], { parameters });
    const stale = { kind: 'PreconditionFailed' };
    await expect(update([read], { description: 'Mine' })).rejects.toMatchObject(stale);
    expect(await service.call(GetAddon, { params })).toMatchObject({ description: null });
    await update([await tag()], { description: 'Mine' });
    const headers = await service.replyHeaders(UpdateAddon, { params, body });
    expect(headers['ETag']).toBe(`"${await tag()}"`);
  });

  it('keeps a secret that an update sends masked', async () => {
    const { id } = await service.create(withSecret());
    const parameters = { url: sink.url, authorization: '*****' };
    await service.call(UpdateAddon, { params: { id }, body: aWebhook(sink.url, { parameters }) });
    service.log.append({});
    await expect.poll(() => sink.requests[0]?.headers.authorization, { timeout: 60_000 }).toBe(secret);
  });

  it('sends a secret to no other host than the one it was entered for', async () => {
    const { id } = await service.create(withSecret());
    const update = (url: string, authorization: string) =>
      service.call(UpdateAddon, { params: { id }, body: aWebhook(url, { parameters: { url, authorization } }) });
    const elsewhere = 'https://example.org/hook';
    await expect(update(elsewhere, '*****')).rejects.toMatchObject({
      kind: 'ValidationError',
      message: expect.stringContaining('`/body/parameters/authorization` property must be entered again'),
    });
    await update(`${sink.url}/other`, '*****');
    await update(elsewhere, 'another secret');
  });

  it('has its secrets in no table, reply or log', async () => {
    const { id } = await service.create(withSecret());
    sink.respondStatus(500);
    service.log.append({});
    await expect.poll(() => service.attempts(id), { timeout: 60_000 }).toHaveLength(1);
    const tables = ['integration', 'destination', 'parked_delivery', 'attempt', 'outbox', 'idempotent_reply'];
    const [stored] = await service.database.read<{ text: string | null }>({
      text: `select concat_ws(' ', ${tables.map((table) => `(select json_agg(t)::text from ${table} t)`).join(', ')}) as text`,
    });
    for (const text of [stored?.text ?? '', JSON.stringify(await service.attempts(id)), service.lines.join('\n')]) {
      expect(text).not.toContain('the-secret-of-the-destination');
      expect(text).not.toContain(sink.url);
    }
    expect(stored?.text).toContain('webhook');
  });

  it('is refused without a parameter that its kind needs, with the name that people know it by', async () => {
    await expect(service.create(aWebhook(sink.url, { parameters: {} }))).rejects.toMatchObject({
      details: [{ message: 'Webhook URL is required.', path: '/body/parameters/url' }],
    });
  });

  it.each([
    ['an unknown provider', { provider: 'pager' }, 'Unknown addon provider pager'],
    ['a missing parameter', { parameters: {} }, 'Missing required parameters: url '],
    [
      'a parameter that the provider lacks',
      { parameters: { url: 'https://example.org', channel: 'x' } },
      'has no parameter `channel`',
    ],
    ['a private address', { parameters: { url: 'http://169.254.169.254/' } }, 'must be an address of the internet'],
    [
      'headers that are no JSON',
      { parameters: { url: 'https://example.org', customHeaders: 'a: b' } },
      'must be the JSON text of an object',
    ],
    [
      'a header of its own',
      { parameters: { url: 'https://example.org', customHeaders: '{"Host":"a"}' } },
      'must not have a header with the name',
    ],
    [
      'an injected header',
      { parameters: { url: 'https://example.org', authorization: 'a\r\nX: b' } },
      'without line breaks',
    ],
    [
      'an injected custom header',
      { parameters: { url: 'https://example.org', customHeaders: '{"x":"a\\r\\nb"}' } },
      'without line breaks',
    ],
    [
      'unicode in a header',
      { parameters: { url: 'https://example.org', authorization: 'schlüssel' } },
      'characters of ASCII',
    ],
    ['a broken template', { parameters: { url: 'https://example.org', bodyTemplate: '{{#a}}' } }, 'is no template'],
    [
      'a short key',
      { parameters: { url: 'https://example.org', signingKeys: 'whsec_c2hvcnQ=' } },
      'must be 1 to 10 keys',
    ],
    [
      'too long a parameter',
      { parameters: { url: 'https://example.org', contentType: 'x'.repeat(20_001) } },
      'at most 20000 characters',
    ],
  ])('is refused with %s', async (_name, overrides, message) => {
    await expect(service.create(aWebhook(sink.url, overrides))).rejects.toMatchObject({
      kind: 'ValidationError',
      message: expect.stringContaining(message),
    });
  });
});

describe('a caller from whom projects are hidden', () => {
  it('sees no integration that is for them alone, and not their names', async () => {
    const { id: ofBank } = await service.create(aWebhook(sink.url, { projects: ['bank'] }));
    const { id: ofBoth } = await service.create(aWebhook(sink.url, { projects: ['shop', 'bank'] }));
    const { addons } = await service.call(ListAddons, {}, withoutBank);
    expect(addons).toMatchObject([{ id: ofBoth, projects: ['shop'] }]);
    await expect(service.call(GetAddon, { params: { id: ofBank } }, withoutBank)).rejects.toMatchObject({
      kind: 'NotFoundError',
    });
    await service.call(DeleteAddon, { params: { id: ofBank } }, withoutBank);
    expect((await service.call(GetAddon, { params: { id: ofBank } })).projects).toEqual(['bank']);
  });

  it('cannot direct their events anywhere', async () => {
    for (const projects of [[], ['*'], ['bank'], ['shop', 'bank']])
      await expect(service.create(aWebhook(sink.url, { projects }), withoutBank)).rejects.toMatchObject({
        kind: 'NoAccessError',
        details: [{ path: '/body/projects' }],
      });
    const { id } = await service.create(aWebhook(sink.url, { projects: ['shop'] }), withoutBank);
    const body = aWebhook(sink.url, { projects: ['bank'] });
    await expect(service.call(UpdateAddon, { params: { id }, body }, withoutBank)).rejects.toMatchObject({
      kind: 'NoAccessError',
    });
  });

  it('are not told of by the refusal to edit what sends their events', async () => {
    const message = 'You may not edit this integration: an administrator has to.';
    const body = aWebhook(sink.url, { projects: ['shop'] });
    for (const before of [{}, { projects: ['shop', 'bank'] }, { projects: ['shop'], events: ['user-created'] }]) {
      const { id } = await service.create(aWebhook(sink.url, before));
      await expect(service.call(UpdateAddon, { params: { id }, body }, withoutBank)).rejects.toMatchObject({
        kind: 'NoAccessError',
        message,
        details: [{ message }],
      });
    }
    await expect(service.create(aWebhook(sink.url), withoutBank)).rejects.toThrow(
      'You may not direct the events of all projects: list projects.',
    );
  });

  it('who is no administrator cannot choose events that only administrators see', async () => {
    await expect(service.create(aWebhook(sink.url, { events: ['user-created'] }), editor)).rejects.toMatchObject({
      kind: 'NoAccessError',
      details: [{ path: '/body/events' }],
    });
    expect((await service.create(aWebhook(sink.url, { events: ['user-created'] }))).events).toEqual(['user-created']);
    const log = aWebhook('https://otlp.example.org/v1/logs', { provider: 'otlp', events: ['*'] });
    await expect(service.create(log, editor)).rejects.toMatchObject({ kind: 'NoAccessError' });
    expect((await service.create(log)).events).toEqual(['*']);
  });
});

it('a syslog server has an address with a host and a port of the internet', async () => {
  const syslog = (parameters: Record<string, string>) =>
    service.create(aWebhook('', { provider: 'syslog', parameters }));
  for (const url of ['https://siem.example.org', 'tls://siem.example.org/path', 'tls://10.1.2.3:6514', 'tls://siem'])
    await expect(syslog({ url }), url).rejects.toMatchObject({ kind: 'ValidationError' });
  const url = 'tls://siem.example.org:6514';
  await expect(syslog({ url, hostname: 'a b' })).rejects.toThrow('visible characters');
  expect(await syslog({ url })).toMatchObject({ provider: 'syslog', parameters: { url } });
});

it('a caller without the permission can neither create, update nor delete', async () => {
  const { id } = await service.create(aWebhook(sink.url));
  const params = { id };
  const body = aWebhook(sink.url);
  for (const write of [
    service.call(CreateAddon, { body }, noGrants),
    service.call(UpdateAddon, { params, body }, noGrants),
    service.call(DeleteAddon, { params }, noGrants),
  ])
    await expect(write).rejects.toMatchObject({ kind: 'NoAccessError' });
});

it('a test event is sent once, with the request and the response as the reply, and with secrets masked', async () => {
  const { id } = await service.create(withSecret());
  sink.respondWith((_request, response) => void response.writeHead(418).end('short and stout'));
  const result = await service.call(TestAddon, { params: { id } });
  expect(result).toMatchObject({
    request: { method: 'POST', headers: { authorization: '*****', 'content-type': 'text/plain' } },
    response: { status: 418, body: 'short and stout' },
    error: 'The destination responded 418: short and stout',
  });
  expect(JSON.stringify(result)).not.toContain('the-secret');
  expect(JSON.parse(result.request.body)).toMatchObject({
    type: 'feature-environment-enabled',
    createdBy: 'mia@example.com',
  });
  expect(sink.requests).toHaveLength(1);
  expect(await service.attempts(id)).toEqual([]);
});

describe('without the key of the secrets', () => {
  it('integrations with secrets can be listed and deleted, and changed where every secret is entered again', async () => {
    const { id } = await service.create(withSecret());
    const other = await startIntegrations(
      { INTEGRATIONS_SECRET_KEY: 'another key than the one before, of 32' },
      { url: service.url },
    );
    const denied = { kind: 'OperationDeniedError', message: expect.stringContaining('INTEGRATIONS_SECRET_KEY') };
    try {
      expect(other.lines.join('\n')).toContain('INTEGRATIONS_SECRET_KEY is not the key');
      expect((await other.call(ListAddons)).addons).toMatchObject([{ id }]);
      const parameters = { url: sink.url, authorization: '*****' };
      const body = aWebhook(sink.url, { parameters });
      await expect(other.call(UpdateAddon, { params: { id }, body })).rejects.toMatchObject(denied);
      // With another key than before, secrets that are entered again are stored under it.
      await other.call(UpdateAddon, { params: { id }, body: withSecret() });
      await other.call(UpdateAddon, { params: { id }, body });
      await other.call(DeleteAddon, { params: { id } });
    } finally {
      await other.stop();
    }
    const without = await startIntegrations({ INTEGRATIONS_SECRET_KEY: '' }, { url: service.url });
    await expect(without.create(withSecret())).rejects.toMatchObject(denied);
    await without.stop();
  });
});
