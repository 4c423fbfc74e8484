import { randomBytes } from 'node:crypto';
import type { ClientFeature, ClientSegment, DeliveryScope } from '@bunting/contracts';
import { gatewayService } from '@bunting/gateway';
import { host, openLog, type RunningHost } from '@bunting/runtime';
import { eventually, longFreshnessTimeouts, reservePort, startBalancer, startNats, withClient } from '@bunting/testing';
import { expect } from 'vitest';
import { databaseSettingOf } from '../../src/database-setting.ts';
import { services } from '../../src/services.ts';
import { apiOf } from './clients.ts';
import { migratedDatabases } from './databases.ts';

/** Starts every service on databases of its own, over the bus that the settings name. */
export const startHostedPlatform = async (
  settings: Readonly<Record<string, string>>,
  /** the databases of another PostgreSQL than that of the tests */
  urlOf?: (database: string) => string,
) => {
  const token = `hosted-${randomBytes(24).toString('hex')}`;
  const environment: Record<string, string> = {
    PORT: '0',
    GATEWAY_HOST: '127.0.0.1',
    GATEWAY_PASSWORD_COST: '10',
    GATEWAY_OPS_PORT: String(await reservePort()),
    BUNTING_ADMIN_TOKEN: token,
    CHANGE_REQUESTS_ADMIN_TOKENS_REVIEW: 'true',
    CHANGE_REQUESTS_ADMINS_REVIEW_OWN: 'true',
    ...longFreshnessTimeouts,
    ...settings,
  };
  const databases = urlOf === undefined ? await migratedDatabases() : undefined;
  Object.assign(environment, databases?.settings);
  if (urlOf !== undefined) for (const { name } of services) environment[databaseSettingOf(name).setting] = urlOf(name);
  const logged: string[] = [];
  const log = openLog(settings['LOG_LEVEL'] ?? 'info', { write: (line) => void logged.push(line) });
  const hosted = await host(services, { environment, log });
  return {
    url: hosted.services.get('gateway')?.address ?? '',
    token,
    hosted,
    /** the settings that it was started with, for another host on the same databases */
    environment,
    /** the lines logged so far, parsed */
    lines: (): Record<string, unknown>[] => logged.map((line) => JSON.parse(line) as Record<string, unknown>),
    /** Stops the host and removes its databases. */
    stop: async (): Promise<void> => {
      await hosted.stop();
      await databases?.drop();
    },
  };
};
/** Every service, hosted in the test's own process, where a test can read the log and stop the host. */
export type HostedPlatform = Awaited<ReturnType<typeof startHostedPlatform>>;

/** Starts a gateway that can be restarted at the same port. */
const startGatewayAt = async (port: number, settings: Readonly<Record<string, string>>) => {
  let running: RunningHost | undefined;
  /** @param more additional settings, until the next restart */
  const start = async (more: Readonly<Record<string, string>> = {}): Promise<void> => {
    running = await host([gatewayService], {
      environment: { ...settings, ...more, PORT: String(port), GATEWAY_HOST: '127.0.0.1' },
      log: openLog('error'),
    });
  };
  const url = `http://127.0.0.1:${port}`;
  await start();
  return {
    url,
    start,
    stop: async (): Promise<void> => running?.stop(),
  };
};
export type RestartableGateway = Awaited<ReturnType<typeof startGatewayAt>>;

/** Restarts one gateway after the other: `away` runs while one is stopped, `back` once it runs again. */
export const restartInTurn = async (
  gateways: readonly RestartableGateway[],
  { away, back }: { away(nth: number): Promise<void>; back(): Promise<void> },
): Promise<void> => {
  for (const [nth, gateway] of gateways.entries()) {
    await gateway.stop();
    await away(nth);
    await gateway.start();
    await back();
  }
};

/** A platform over NATS, and a load balancer before two gateways that can be restarted. */
export const startBalancedPlatform = async () => {
  const nats = await startNats();
  const platform = await startHostedPlatform({
    ...nats.settings,
    LOG_LEVEL: 'error',
    GATEWAY_TOKEN_KEY: 'a key that all gateways know, of 32 characters',
  });
  const { GATEWAY_DATABASE_URL = '', GATEWAY_TOKEN_KEY = '' } = platform.environment;
  const settings = { ...nats.settings, GATEWAY_DATABASE_URL, GATEWAY_TOKEN_KEY };
  const gateways = [
    await startGatewayAt(await reservePort(), settings),
    await startGatewayAt(await reservePort(), settings),
  ];
  const balancer = await startBalancer(gateways.map(({ url }) => url));
  return {
    ...platform,
    api: apiOf(platform.url, platform.token),
    nats,
    gateways,
    balancer,
    allReady: (): Promise<void> => eventually(() => expect(balancer.ready().length).toBe(gateways.length)),
    stop: async (): Promise<void> => {
      await balancer.stop();
      for (const gateway of gateways) await gateway.stop();
      await platform.stop();
      await nats.stop();
    },
  };
};
export type BalancedPlatform = Awaited<ReturnType<typeof startBalancedPlatform>>;

/** The expected features of an SDK, computed from the tables of the features service. */
export interface FeaturesOfDatabase {
  readonly features: ClientFeature[];
  /** undefined where the strategies carry the constraints of their segments */
  readonly segments: ClientSegment[] | undefined;
}

/** SQL: a strategy without what SDKs do not evaluate, and without `segments`, which each format adds in its own way. */
const strategyWithoutMetadata = `(strategy - '{id,title,disabled,sortOrder,segments}'::text[])`;

const withSegmentIds = `${strategyWithoutMetadata} || jsonb_build_object('segments', (
  select jsonb_agg(id order by id::integer) from jsonb_array_elements(strategy -> 'segments') as id))`;

const withSegmentConstraints = `${strategyWithoutMetadata} || jsonb_build_object('constraints', (strategy -> 'constraints') || coalesce((
  select jsonb_agg(item.it order by segment.id, item.place)
  from segment cross join jsonb_array_elements(segment.constraints) with ordinality as item (it, place)
  where segment.id in (select used::integer from jsonb_array_elements_text(strategy -> 'segments') as used)), '[]'))`;

const strategies = (withSegments: string): string => `coalesce((
  select jsonb_agg(case when strategy -> 'segments' = '[]' then ${strategyWithoutMetadata} else ${withSegments} end order by place)
  from jsonb_array_elements(f.it -> 'strategies') with ordinality as listed (strategy, place)
  where strategy -> 'disabled' is distinct from 'true'), '[]')`;

// A feature whose strategies are all disabled is off, whereas one without strategies is on for all users.
const isOn = `coalesce((f.it -> 'enabled')::boolean, false)
  and (f.it -> 'strategies' = '[]' or f.it -> 'strategies' @> '[{"disabled": false}]')`;

const clientFeature = (withSegments: string): string => {
  const members = `
    'name', f.name, 'type', f.type, 'description', f.description, 'project', f.project, 'stale', f.stale,
    'impressionData', f.impression_data, 'enabled', ${isOn}, 'strategies', ${strategies(withSegments)},
    'variants', coalesce(f.it -> 'variants', '[]')`;
  return `case when f.parents = '{}' then json_build_object(${members}) else json_build_object(${members},
    'dependencies', (
      select jsonb_agg(case when parent -> 'enabled' = 'false' then parent - 'variants' else parent end)
      from jsonb_array_elements(f.dependencies) as parent)) end`;
};

/** SQL: the features of a scope. `$1` environment, `$2` projects or null, `$3` prefix of names, `$4` tags as JSON documents or null. */
const selectFeatures = (withSegments: string): string => `
  with wanted as (
    select f.*, case when connected.project is not null then f.environments -> $1::text end as it
    from feature f
    left join project_environment connected on connected.project = f.project and connected.environment = $1::text
    where f.archived_at is null and ($2::text[] is null or f.project = any ($2::text[])) and starts_with(f.name, $3)
      and ($4::text[] is null or f.tags @> any ($4::text[]::jsonb[])))
  select
    (select coalesce(json_agg(${clientFeature(withSegments)} order by f.name collate "C"), '[]') from wanted f) as features,
    (select coalesce(json_agg(json_build_object('id', segment.id, 'name', segment.name, 'constraints', segment.constraints)
        order by segment.id), '[]')
      from segment where segment.id in (
        select used::text::integer
        from wanted f, jsonb_path_query(f.it, '$.strategies[*] ? (@.disabled != true).segments[*]') as used)) as segments`;

/**
 * Computes the features that SDKs of a scope must have from the tables of the features service, independently of the delivery rows from
 * which gateways serve them.
 * @param url the database of the features service
 */
export const featuresOfDatabase = async (
  url: string,
  { environment, projects, namePrefix = '', tags, inlineSegments }: DeliveryScope,
): Promise<FeaturesOfDatabase> => {
  const documents = tags?.map((tag) => JSON.stringify([tag])) ?? null;
  const { rows } = await withClient(url, (client) =>
    client.query<{ features: ClientFeature[]; segments: ClientSegment[] }>(
      selectFeatures(inlineSegments ? withSegmentConstraints : withSegmentIds),
      [environment, projects ?? null, namePrefix, documents],
    ),
  );
  const [row] = rows;
  if (row === undefined) throw new Error('The database returned no row.');
  return { features: row.features, segments: inlineSegments ? undefined : row.segments };
};
