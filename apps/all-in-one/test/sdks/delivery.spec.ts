import {
  type ClientDelta,
  type ClientFeature,
  type ClientFeatures,
  type ClientFeaturesQuery,
  type ClientSegment,
  deliveryScope,
  type DeliveryScope,
} from '@bunting/contracts';
import { gatewayService } from '@bunting/gateway';
import { host, openLog, type RunningHost } from '@bunting/runtime';
import { eventually, startNats, type TestNats, longFreshnessTimeouts } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, apiOf, featurePath, platformClient, adminClient } from '../support/clients.ts';
import {
  featuresOfDatabase,
  type FeaturesOfDatabase,
  type HostedPlatform,
  startHostedPlatform,
} from '../support/hosted-platform.ts';

let nats: TestNats;
let platform: HostedPlatform;
let second: RunningHost;
let admin: Api;
/** the URLs of two gateways on the same databases */
let gateways: readonly string[];

beforeAll(async () => {
  nats = await startNats();
  const settings = {
    ...nats.settings,
    LOG_LEVEL: 'warn',
    GATEWAY_TOKEN_KEY: 'a key that both gateways know, of 32 characters',
  };
  platform = await startHostedPlatform(settings);
  const { GATEWAY_DATABASE_URL = '', GATEWAY_TOKEN_KEY = '' } = platform.environment;
  second = await host([gatewayService], {
    environment: {
      ...longFreshnessTimeouts,
      ...nats.settings,
      GATEWAY_DATABASE_URL,
      GATEWAY_TOKEN_KEY,
      PORT: '0',
      GATEWAY_HOST: '127.0.0.1',
    },
    log: openLog('warn'),
  });
  gateways = [platform.url, second.services.get('gateway')?.address ?? ''];
  admin = apiOf(platform.url, platform.token);
  for (const url of gateways) {
    await eventually(async () => expect((await apiOf(url, platform.token)('GET', '/health/ready')).status).toBe(200));
  }
});
afterAll(async () => {
  await second.stop();
  await platform.stop();
  await nats.stop();
});

interface Scope {
  readonly secret: string;
  readonly scope: DeliveryScope;
  readonly query: ClientFeaturesQuery;
}

const scopeOf = async (projects: readonly string[], environment: string, query: ClientFeaturesQuery = {}) => {
  const { apiToken } = adminClient(() => ({ ...platform, api: admin }));
  const { secret } = await apiToken(`scope-${Math.random()}`, { projects, environment });
  const grants = projects.map((project) => ({
    permission: 'CLIENT' as const,
    environment,
    ...(project === '*' ? {} : { project }),
  }));
  return { secret, scope: deliveryScope({ id: 1, name: 'sdk', grants }, environment, query), query };
};

const searchOf = ({ namePrefix, tag = [], project = [] }: ClientFeaturesQuery): string => {
  const search = new URLSearchParams();
  if (namePrefix !== undefined) search.set('namePrefix', namePrefix);
  for (const one of tag) search.append('tag', one);
  for (const one of project) search.append('project', one);
  return search.size === 0 ? '' : `?${search}`;
};

interface Held {
  readonly features: readonly ClientFeature[];
  readonly segments: readonly ClientSegment[] | undefined;
}

/** The features as the database has them. */
const truthOf = ({ scope }: Scope): Promise<FeaturesOfDatabase> =>
  featuresOfDatabase(platform.environment['FEATURES_DATABASE_URL'] ?? '', scope);

const polled = async (url: string, { secret, query }: Scope): Promise<Held> => {
  const { clientSpec, ...rest } = query;
  const headers: Record<string, string> = clientSpec === undefined ? {} : { 'unleash-client-spec': clientSpec };
  const response = await apiOf(url, secret)<ClientFeatures>(
    'GET',
    `/api/client/features${searchOf(rest)}`,
    undefined,
    headers,
  );
  expect({ status: response.status, text: response.status === 200 ? '' : response.text }).toEqual({
    status: 200,
    text: '',
  });
  expect(response.headers.get('bunting-stale')).toBeNull();
  return { features: response.body.features, segments: response.body.segments };
};

/** An SDK that polls deltas: it applies events by name and id. */
const deltaClient = ({ secret, query, scope }: Scope) => {
  const features = new Map<string, ClientFeature>();
  const segments = new Map<number, ClientSegment>();
  let tag: string | undefined;
  const { clientSpec: _, ...rest } = query;
  return {
    poll: async (url: string): Promise<void> => {
      const headers: Record<string, string> = tag === undefined ? {} : { 'if-none-match': tag };
      const path = `/api/client/delta${searchOf(rest)}`;
      const { status, body, ...response } = await apiOf(url, secret)<ClientDelta>('GET', path, undefined, headers);
      if (status === 304) return;
      expect(status).toBe(200);
      const ids = body.events.map(({ eventId }) => eventId);
      expect(ids).toEqual(ids.toSorted((one, other) => one - other));
      expect(ids[0]).toBeGreaterThan(tag === undefined ? -1 : Number(tag.replaceAll('"', '')));
      tag = response.headers.get('etag') ?? '';
      expect(tag).toBe(`"${ids.at(-1)}"`);
      expect(body.events.filter(({ type }) => type === 'hydration').length).toBe('if-none-match' in headers ? 0 : 1);
      for (const event of body.events) {
        if (event.type === 'hydration') {
          for (const feature of event.features) features.set(feature.name, feature);
          for (const segment of event.segments) segments.set(segment.id, segment);
        } else if (event.type === 'feature-updated') features.set(event.feature.name, event.feature);
        else if (event.type === 'feature-removed') features.delete(event.featureName);
        else if (event.type === 'segment-updated') segments.set(event.segment.id, event.segment);
        else segments.delete(event.segmentId);
      }
    },
    /** Expects that the SDK has exactly the features of the database, and every segment that they use. */
    expectCurrent: async (): Promise<void> => {
      const truth = await truthOf({ secret, query, scope: { ...scope, inlineSegments: false } });
      const byName = [...features.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
      expect(byName).toEqual(truth.features);
      for (const segment of truth.segments ?? []) expect(segments.get(segment.id)).toEqual(segment);
    },
  };
};

/** Random numbers that are the same in each run. */
const randomFrom = (seed: number) => {
  let state = seed;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  return { next, of: <T>(items: readonly T[]): T => items[next(items.length)] as T };
};

const projects = ['north', 'south', 'west'] as const;
const environments = ['development', 'production'] as const;
const names = Array.from({ length: 12 }, (_, nth) => `${nth % 2 === 0 ? 'a' : 'b'}-flag-${nth}`);

/** One change by an administrator, which may be refused. */
const randomChange = async (random: ReturnType<typeof randomFrom>, segments: number[]): Promise<void> => {
  const { next, of } = random;
  const [project, environment, name] = [of(projects), of(environments), of(names)];
  const found = await admin<{ features: { name: string; project: string }[] }>(
    'GET',
    `/api/admin/search/features?query=${name}`,
  );
  const home = found.body.features.find((feature) => feature.name === name)?.project ?? project;
  const at = featurePath(home, name);
  const in_ = `${at}/environments/${environment}`;
  const used = segments.length === 0 || next(3) === 0 ? [] : [of(segments), of(segments)];
  const constraints = [{ contextName: 'userId', operator: 'IN', values: [String(next(5))] }];
  const strategy = {
    name: 'flexibleRollout',
    parameters: { rollout: String(next(100)) },
    constraints,
    segments: [...new Set(used)],
  };
  const changes: readonly (() => Promise<unknown>)[] = [
    () => admin('POST', `/api/admin/projects/${project}/features`, { name, description: `No. ${next(100)}` }),
    () => admin('POST', `/api/admin/projects/${project}/features`, { name }),
    () => admin('POST', `${in_}/${of(['on', 'off'])}`),
    () => admin('POST', `${in_}/strategies`, strategy),
    () => admin('POST', `${in_}/strategies`, { ...strategy, disabled: true }),
    async () => {
      const { body } = await admin<{ id: string }[]>('GET', `${in_}/strategies`);
      const id = Array.isArray(body) ? body.at(0)?.id : undefined;
      await (next(2) === 0
        ? admin('DELETE', `${in_}/strategies/${id}`)
        : admin('PATCH', `${in_}/strategies/${id}`, [
            { op: 'replace', path: '/parameters/rollout', value: String(next(100)) },
          ]));
    },
    () => admin('PATCH', at, [{ op: 'replace', path: '/description', value: `No. ${next(1_000)}` }]),
    () => admin('PATCH', at, [{ op: 'replace', path: '/impressionData', value: next(2) === 0 }]),
    () => admin('PATCH', `${in_}/variants`, [{ op: 'replace', path: '', value: [] }]),
    () => admin('PUT', `${in_}/variants`, [{ name: 'blue', weight: 1000, weightType: 'variable' }]),
    () => admin('DELETE', at),
    () => admin('POST', `/api/admin/archive/revive/${name}`),
    () => admin('POST', `${at}/changeProject`, { newProjectId: of(projects) }),
    () => admin('POST', `/api/admin/features/${name}/tags`, { type: 'simple', value: of(['red', 'blue']) }),
    () => admin('DELETE', `/api/admin/features/${name}/tags/simple/${of(['red', 'blue'])}`),
    () => admin('POST', `${at}/dependencies`, { feature: of(names), enabled: next(2) === 0 }),
    () => admin('DELETE', `${at}/dependencies`),
    () => admin('POST', `/api/admin/projects/${home}/stale`, { features: [name], stale: next(2) === 0 }),
    async () => {
      const { body } = await admin<{ id: number }>('POST', '/api/admin/segments', {
        name: `s-${next(1e9)}`,
        constraints,
      });
      segments.push(body.id);
    },
    async () => {
      if (segments.length > 0)
        await admin('PUT', `/api/admin/segments/${of(segments)}`, { name: `s-${next(1e9)}`, constraints });
    },
    async () => {
      if (segments.length > 0) await admin('DELETE', `/api/admin/segments/${of(segments)}`);
    },
    () => admin('POST', `/api/admin/projects/${project}/environments`, { environment }),
    () =>
      next(4) === 0 ? admin('DELETE', `/api/admin/projects/${project}/environments/${environment}`) : Promise.resolve(),
    () => (next(3) === 0 ? admin('DELETE', `/api/admin/archive/${name}`) : Promise.resolve()),
  ];
  await of(changes)();
};

describe('SDK responses that two gateways serve from memory', () => {
  it('equal the database after each of many random changes, in every scope', async () => {
    for (const project of projects) await platformClient(admin).createProject(project);
    const scopes = [
      await scopeOf(['*'], 'development', { clientSpec: '5.2.0' }),
      await scopeOf(['north'], 'development', { clientSpec: '5.2.0' }),
      await scopeOf(['north', 'west'], 'production'),
      await scopeOf(['*'], 'production', { clientSpec: '5.2.0', namePrefix: 'a-' }),
      await scopeOf(['*'], 'development', { clientSpec: '4.3.0', tag: ['simple:red'], project: ['south'] }),
    ];
    const clients = scopes.map(deltaClient);
    const random = randomFrom(20_261_122);
    const segments: number[] = [];
    for (let round = 0; round < 60; round++) {
      await randomChange(random, segments);
      const [scope, url] = [scopes[round % scopes.length] as Scope, random.of(gateways)];
      const held = await polled(url, scope);
      expect(held).toEqual(await truthOf(scope));
      const client = random.of(clients);
      await client.poll(random.of(gateways));
      await client.expectCurrent();
    }
    for (const client of clients) {
      await client.poll(random.of(gateways));
      await client.expectCurrent();
    }
    for (const scope of scopes) {
      const truth = await truthOf(scope);
      for (const url of gateways) expect(await polled(url, scope)).toEqual(truth);
    }
    expect((await truthOf(scopes[0] as Scope)).features.length).toBeGreaterThan(3);
  });
});
