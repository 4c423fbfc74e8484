import { configSchemaOf, HostConfig, keysOf, readConfig } from '@bunting/runtime';
import { expect, it } from 'vitest';
import { Ajv } from 'ajv';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { databaseSettingOf } from '../../apps/all-in-one/src/database-setting.ts';
import { services } from '../../apps/all-in-one/src/services.ts';
import { edgeService } from '../../apps/edge/src/service.ts';

interface Values {
  readonly env?: Readonly<Record<string, unknown>>;
  readonly services?: Readonly<
    Record<string, { readonly secretKeys?: readonly string[]; readonly env?: Readonly<Record<string, unknown>> }>
  >;
}

const repository = path.join(import.meta.dirname, '../..');
const chart = path.join(repository, 'deploy/helm/bunting');
function read(file: string): string {
  return readFileSync(path.join(chart, file), 'utf8');
}
const valuesFiles = ['values.yaml', ...readdirSync(path.join(chart, 'ci')).map((file) => `ci/${file}`)];

it.each(valuesFiles)('sets only settings that each service of the chart reads: %s', (file) => {
  const values = parse(read(file)) as Values;
  const common = new Set(keysOf(HostConfig));
  const unknown = services.flatMap((service) => {
    const known = new Set([...common, ...keysOf(configSchemaOf(service))]);
    const { secretKeys = [], env = {} } = values.services?.[service.name] ?? {};
    return [
      ...Object.keys(env).filter((key) => !known.has(key)),
      // Mounted secrets are read from files.
      ...secretKeys.filter((key) => !known.has(`${key}_FILE`)),
    ].map((key) => `${service.name}: ${key}`);
  });
  expect(unknown).toEqual([]);
  expect(Object.keys(values.env ?? {}).filter((key) => !common.has(key))).toEqual([]);
});

it.each(valuesFiles)('the chart sets values that each service accepts: %s', (file) => {
  const values = parse(read(file)) as Values;
  const textOf = (settings: Readonly<Record<string, unknown>> = {}): Record<string, string> =>
    Object.fromEntries(Object.entries(settings).map(([key, value]) => [key, String(value)]));
  const secretOf = (key: string): string =>
    key.endsWith('_DATABASE_URL')
      ? 'postgres://user@db/one'
      : key === 'SMTP_URL'
        ? 'smtps://mail'
        : 'a-secret-of-a-chart-of-more-than-32-characters';
  const nats = { BUS_URL: (parse(read('values.yaml')) as { nats: { url: string } }).nats.url };
  expect(() => readConfig(HostConfig, { ...nats, ...textOf(values.env) })).not.toThrow();
  for (const service of services) {
    const database = databaseSettingOf(service.name).setting;
    const { secretKeys = [], env } = values.services?.[service.name] ?? {};
    const secrets = Object.fromEntries([database, ...secretKeys].map((key) => [key, secretOf(key)]));
    expect(() => readConfig(configSchemaOf(service), { ...secrets, ...textOf(env) })).not.toThrow();
  }
});

it('the chart accepts its default values, and refuses a misspelt one and an image that is pinned by no digest', () => {
  const validate = new Ajv({ strict: false }).compile(JSON.parse(read('values.schema.json')) as object);
  const values = parse(read('values.yaml')) as Record<string, unknown>;
  expect([validate(values), validate.errors]).toEqual([true, null]);
  expect(validate({ ...values, ...(parse(read('ci/pods-values.yaml')) as object), services: values['services'] })).toBe(
    true,
  );
  expect(validate({ ...values, replcias: 3 })).toBe(false);
  expect(validate({ ...values, tolerations: { key: 'dedicated' } })).toBe(false);
  expect(validate({ ...values, image: { registry: 'example.org', digests: { gateway: 'latest' } } })).toBe(false);
  expect(validate({ ...values, image: { registry: 'example.org', tags: { gateway: '0.2.0' } } })).toBe(true);
  expect(validate({ ...values, image: { registry: 'example.org', tags: { gatway: '0.2.0' } } })).toBe(false);
});

it('the values of the chart take every setting of every service, and secrets as files', () => {
  const validate = new Ajv({ strict: false }).compile(JSON.parse(read('values.schema.json')) as object);
  const values = parse(read('values.yaml')) as Required<Values>;
  const valueOf = (schema: { readonly properties: object }): Record<string, string> =>
    Object.fromEntries(Object.keys(schema.properties).map((key) => [key, '1']));
  const filled = services.map((service) => {
    const secretKeys = keysOf(configSchemaOf(service)).filter((key) =>
      keysOf(configSchemaOf(service)).includes(`${key}_FILE`),
    );
    return [service.name, { ...values.services[service.name], env: valueOf(configSchemaOf(service)), secretKeys }];
  });
  const all = { ...values, env: valueOf(HostConfig), services: Object.fromEntries(filled) as Values['services'] };
  expect([validate(all), validate.errors]).toEqual([true, null]);
});

it('the templates of the chart name only settings that exist', () => {
  const known = new Set([HostConfig, ...services.map(configSchemaOf)].flatMap(keysOf));
  const named = readdirSync(path.join(chart, 'templates')).flatMap((file) =>
    [...read(`templates/${file}`).matchAll(/"((?:BUS|MEILI|DRAIN)_[A-Z_]+)"/g)].map(([, name = '']) => name),
  );
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

it('the chart of the edge sets only settings that an edge reads, and refuses a misspelt value', () => {
  const edge = (file: string): string => readFileSync(path.join(repository, 'deploy/helm/bunting-edge', file), 'utf8');
  // Those of glibc are read by no service.
  const ofAllocator = ['MALLOC_ARENA_MAX', 'MALLOC_MMAP_THRESHOLD_'];
  const known = new Set([...ofAllocator, ...[HostConfig, configSchemaOf(edgeService)].flatMap(keysOf)]);
  const named = [...edge('templates/edge.yaml').matchAll(/"([A-Z]+_[A-Z_]+)"/g)].map(([, name = '']) => name);
  expect(named).toContain('TOKENS_FILE');
  expect(named.filter((name) => !known.has(name))).toEqual([]);
  const validate = new Ajv({ strict: false }).compile(JSON.parse(edge('values.schema.json')) as object);
  const values = parse(edge('values.yaml')) as Record<string, unknown>;
  expect([validate(values), validate.errors]).toEqual([true, null]);
  for (const wrong of [{ replcias: 3 }, { kind: 'StatefulSet' }, { upstreamUrl: 'flags.example.org' }])
    expect(validate({ ...values, ...wrong }), JSON.stringify(wrong)).toBe(false);
});

it('each alert has a paragraph in the runbook and a test', () => {
  const { groups } = parse(readFileSync(path.join(repository, 'deploy/alerts/bunting.rules.yaml'), 'utf8')) as {
    groups: { rules: { alert: string; annotations: { runbook: string } }[] }[];
  };
  const { tests } = parse(readFileSync(path.join(repository, 'deploy/alerts/bunting.test.yaml'), 'utf8')) as {
    tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[];
  };
  const runbook = readFileSync(path.join(repository, 'docs/runbook.md'), 'utf8');
  const alerts = groups.flatMap(({ rules }) => rules);
  expect(alerts.length).toBeGreaterThan(10);
  for (const { alert, annotations } of alerts) {
    expect(runbook).toContain(`## ${alert}\n`);
    expect(annotations.runbook).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
    const fired = tests.flatMap((test) => test.alert_rule_test).filter(({ alertname }) => alertname === alert);
    expect(fired.some(({ exp_alerts: expected }) => expected.length > 0)).toBe(true);
  }
});
