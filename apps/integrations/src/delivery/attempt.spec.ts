import { type Event, eventTypes } from '@bunting/contracts';
import {
  anyWebhook,
  datadogEvents,
  type HttpDestination,
  newRelicEvents,
  otlpLogs,
  type Provider,
  selfSignedCertificate,
  slackApi,
  slackWebhook,
  startHttpDestination,
  startSyslogServer,
  teamsConnector,
  teamsWorkflow,
} from '@bunting/testing/destinations';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Target } from '../addons/addon.ts';
import { allowedAddresses } from '../sending/addresses.ts';
import { type HttpClient, httpClient } from '../sending/http-client.ts';
import { attemptBy } from './attempt.ts';
import { switchedOn } from '../../test/payloads.ts';

const event: Event = {
  ...switchedOn,
  label: 'Flag enabled',
  summary: '**mia** enabled **[banner](/projects/shop/features/banner)** for the **production** environment',
};
const long = '"<😀>]\\ & *_`[x](y) \u0000\n'.repeat(3_000);
const longName = 'x'.repeat(250);
const longNames = { project: longName, environment: longName, featureName: longName };
/** Events that are odd: large, nearly empty, of a type that only a later version knows, and of every type. */
const oddEvents: readonly Event[] = [
  { ...event, ...longNames, summary: long, label: long, createdBy: long.slice(0, 250) },
  { ...event, data: { text: long }, preData: { text: long }, summary: '', label: '' },
  { ...event, featureName: null, project: null, environment: null, createdByUserId: null, tags: null },
  { ...event, ...longNames, summary: `\ud800${'﷽'.repeat(20_000)}` },
  { ...event, type: 'flag-teleported', label: null, summary: null },
  ...eventTypes.map((type) => ({ ...event, type })),
] as Event[];

interface Kind {
  readonly provider: Provider;
  readonly parameters: Readonly<Record<string, string>>;
  /** parameters with which the service refuses, and what it says then */
  readonly refused: { readonly parameters: Readonly<Record<string, string>>; readonly reason: string };
  /** milliseconds that it asks to wait where there are too many requests */
  readonly waitMs: number | undefined;
}

const channels = ['flags'];
const kinds: Readonly<Record<string, Kind>> = {
  webhook: {
    provider: anyWebhook,
    parameters: {},
    refused: { parameters: { bodyTemplate: '{{#a}}' }, reason: 'Unclosed section' },
    waitMs: undefined,
  },
  slack: {
    provider: slackWebhook({ channels }),
    parameters: { defaultChannel: 'flags' },
    refused: { parameters: { defaultChannel: 'other' }, reason: 'responded 404: channel_not_found' },
    waitMs: 30_000,
  },
  'slack-app': {
    provider: slackApi({ token: 'xoxb-1', channels }),
    parameters: { accessToken: 'xoxb-1', defaultChannels: 'flags' },
    refused: { parameters: { accessToken: 'xoxb-2' }, reason: 'invalid_auth' },
    waitMs: 30_000,
  },
  teams: {
    provider: teamsConnector(),
    parameters: {},
    refused: { parameters: { customHeaders: '{"content-type":"text/plain"}' }, reason: 'responded 400: Bad payload' },
    waitMs: undefined,
  },
  teamsworkflow: {
    provider: teamsWorkflow(),
    parameters: {},
    refused: { parameters: { customHeaders: '{"content-type":"text/plain"}' }, reason: 'TriggerInputSchemaMismatch' },
    waitMs: 17_000,
  },
  datadog: {
    provider: datadogEvents({ apiKey: 'dd' }),
    parameters: { apiKey: 'dd' },
    refused: { parameters: { apiKey: 'other' }, reason: 'responded 403: {"errors":["Forbidden"]}' },
    waitMs: undefined,
  },
  'new-relic': {
    provider: newRelicEvents({ licenseKey: 'nr' }),
    parameters: { licenseKey: 'nr' },
    refused: { parameters: { licenseKey: 'other' }, reason: 'responded 403' },
    waitMs: 60_000,
  },
  otlp: {
    provider: otlpLogs(),
    parameters: {},
    refused: { parameters: { customHeaders: '{"content-type":"text/plain"}' }, reason: 'responded 400' },
    waitMs: 5_000,
  },
};

let client: HttpClient;
const started: HttpDestination[] = [];
beforeAll(() => void (client = httpClient({ allowed: allowedAddresses('127.0.0.1'), timeoutMs: 20_000 })));
afterAll(() => client.close());
afterEach(async () => {
  for (const one of started.splice(0)) await one.stop();
});

/** Starts the service of a kind, and attempts to send to it, also where its address is fixed. */
async function startKind(name: string) {
  const { provider, parameters } = kinds[name] as Kind;
  const destination = await startHttpDestination(provider);
  started.push(destination);
  const { origin } = new URL(destination.url);
  const send: HttpClient['send'] = (request) => {
    const { pathname } = new URL(request.url);
    return client.send({ ...request, url: `${origin}${pathname}` });
  };
  const { event: attempt } = attemptBy(send, 'https://flags.example.org', () => new Date());
  const targetWith = (more: Readonly<Record<string, string>>): Target => ({
    id: 1,
    setUpBy: null,
    provider: name,
    description: '',
    enabled: true,
    events: ['*'],
    projects: [],
    environments: [],
    parameters: { url: destination.url, ...parameters, ...more },
  });
  return {
    destination,
    attempt: (sent: Event, more: Readonly<Record<string, string>> = {}) =>
      attempt(targetWith(more), { uid: '6f1c9a52-0d8c-4b53-9a49-6f2f3d0f6f01', event: sent }),
  };
}

describe.each(Object.keys(kinds))('the destination %s', (name) => {
  it('accepts an event of every type, also of a later version, and each that is odd', async () => {
    const { destination, attempt } = await startKind(name);
    for (const sent of oddEvents) {
      const outcome = await attempt(sent);
      expect([outcome.state, outcome.reason, destination.faults]).toEqual(['success', expect.any(String), []]);
    }
    expect(destination.requests.length).toBe(oddEvents.length);
  });

  it('refuses what is wrong, which is a failure that says why', async () => {
    const { attempt } = await startKind(name);
    const { parameters, reason } = (kinds[name] as Kind).refused;
    expect(await attempt(event, parameters)).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining(reason),
    });
  });

  it('is left alone for as long as it asks where there are too many messages, which are no success', async () => {
    const { destination, attempt } = await startKind(name);
    destination.limitRate();
    expect(await attempt(event)).toMatchObject({ state: 'failed', waitMs: (kinds[name] as Kind).waitMs });
    destination.reset();
    expect(await attempt(event)).toMatchObject({ state: 'success' });
  });
});

it('a message that one of two channels refuses is no failure, and says which one', async () => {
  const { attempt } = await startKind('slack-app');
  expect(await attempt(event, { defaultChannels: 'flags,other' })).toMatchObject({
    state: 'successWithErrors',
    reason: expect.stringContaining('channel_not_found'),
  });
});

it('a receiver of syslog can read each event, however odd it is', async () => {
  const certificate = selfSignedCertificate();
  const server = await startSyslogServer(certificate);
  const tls = httpClient({ allowed: allowedAddresses('127.0.0.1'), timeoutMs: 20_000, ca: certificate.cert });
  try {
    const { event: attempt } = attemptBy(tls.send, '', () => new Date());
    const target = {
      id: 1,
      setUpBy: null,
      provider: 'syslog',
      enabled: true,
      description: '',
      events: [],
      projects: [],
    };
    for (const sent of oddEvents.slice(0, 20))
      expect(
        await attempt(
          { ...target, environments: [], parameters: { url: server.url, hostname: 'flags.example.org' } },
          { uid: '6f1c9a52-0d8c-4b53-9a49-6f2f3d0f6f01', event: sent },
        ),
      ).toMatchObject({ state: 'success' });
    expect([server.connections.length, server.faults]).toEqual([20, []]);
  } finally {
    await tls.close();
    server.stop();
  }
});
