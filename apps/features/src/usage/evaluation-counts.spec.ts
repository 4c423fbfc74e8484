import { type BulkMetricsBody, type Caller, grantedProjects, type MetricsBody } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../test/builders.ts';
import { effectiveEnvironment, proxiedApplications, unlistedApplication } from '../applications/application.ts';
import {
  type EvaluationCount,
  evaluationCounts,
  findFeaturesEnteringStages,
  matchCounts,
  mayReportOn,
  proxiedCounts,
  replaceUnlistedNames,
  type ReportedFeature,
  stagesToEnter,
} from './evaluation-counts.ts';

const now = new Date('2026-03-01T10:30:20.000Z');
const minuteOf = (text: string): number => Date.parse(text) / 60_000;
const sdk = (...grants: Caller['grants']): Caller => ({ id: 7, name: 'shop-web', grants });

const report = (toggles: MetricsBody['bucket']['toggles'], stop: string | number = now.toISOString()): MetricsBody => ({
  appName: 'web',
  bucket: { start: 0, stop, toggles },
});
const oneAt = (stop: string | number) => evaluationCounts(report({ checkout: { yes: 1 } }, stop), 'production', now)[0];

describe('a report of metrics', () => {
  it('omits zero counts', () => {
    const counts = evaluationCounts(
      report({ checkout: { yes: 2, variants: { red: 2, blue: 0 } }, idle: { yes: 0, no: 0 }, silent: {} }),
      'production',
      now,
    );
    expect(counts).toEqual([
      {
        feature: 'checkout',
        environment: 'production',
        appName: 'web',
        minute: minuteOf('2026-03-01T10:30:00Z'),
        yes: 2,
        no: 0,
        variants: { red: 2 },
      },
    ]);
  });

  it('counts in the minute in which it ended, and never in the future', () => {
    expect(oneAt('2026-03-01T10:12:59Z')?.minute).toBe(minuteOf('2026-03-01T10:12:00Z'));
    expect(oneAt(Date.parse('2026-03-01T10:12:59Z'))?.minute).toBe(minuteOf('2026-03-01T10:12:00Z'));
    expect(oneAt('2099-01-01T00:00:00Z')?.minute).toBe(minuteOf('2026-03-01T10:30:00Z'));
  });

  it('is refused with an invalid date, which is named', () => {
    expect(refusalOf(() => oneAt('2016-12-31T23:59:60Z')).message).toContain('/body/bucket/stop');
  });

  it('accepts names such as constructor', () => {
    const toggles = JSON.parse('{"__proto__": {"yes": 1, "variants": {"__proto__": 1}}}') as typeof body.bucket.toggles;
    const body = report(toggles);
    const [count] = evaluationCounts(body, 'production', now);
    expect(count?.feature).toBe('__proto__');
    expect(JSON.stringify(count?.variants)).toBe('{"__proto__":1}');
  });
});

describe('the metrics of a proxy', () => {
  const metric = (environment: string, timestamp: string) => ({
    featureName: 'checkout',
    environment,
    appName: 'web',
    timestamp,
    yes: 1,
    no: 0,
  });
  const body: BulkMetricsBody = {
    applications: [{ appName: 'web', sdkVersion: 'node:1' }],
    metrics: [
      metric('production', '2026-03-01T10:00:00Z'),
      metric('production', '2026-03-01T09:00:00Z'),
      metric('development', '2026-03-01T10:00:00Z'),
    ],
  };
  const caller = sdk({ permission: 'CLIENT', environment: 'production' });

  it('counts for the environment of the token only, up to the end of its hour or now', () => {
    expect(proxiedCounts(body, caller, now).map(({ environment, minute }) => [environment, minute])).toEqual([
      ['production', minuteOf('2026-03-01T10:30:00Z')],
      ['production', minuteOf('2026-03-01T09:59:00Z')],
    ]);
  });

  it('counts without the applications that have impossible names', () => {
    const named = (appName: string) => ({ ...metric('production', '2026-03-01T10:00:00Z'), appName });
    const names = ['web', '', 'x'.repeat(256)];
    const odd: BulkMetricsBody = { applications: names.map((appName) => ({ appName })), metrics: names.map(named) };
    expect(proxiedCounts(odd, caller, now).map(({ appName }) => appName)).toEqual(['web']);
    expect(proxiedApplications(odd, caller).map(({ appName }) => appName)).toEqual(['web']);
  });

  it('contains each application once', () => {
    expect(proxiedApplications(body, caller)).toEqual([
      {
        appName: 'web',
        sdkVersion: 'node:1',
        projects: ['*'],
        environment: 'production',
        instanceId: 'default',
        isFrontend: false,
        createdBy: caller.name,
      },
    ]);
  });

  it('contains no instance of an application without registration, and the SDK that its counts name', () => {
    const [one, ...more] = proxiedApplications({ ...body, applications: [] }, caller);
    expect([one?.appName, one?.instanceId, one?.sdkVersion, more]).toEqual(['web', undefined, undefined, []]);
    const metrics = body.metrics.map((counts) => ({ ...counts, sdkVersion: 'unleash-js-sdk:3.8.2' }));
    expect(proxiedApplications({ applications: [], metrics }, caller)).toMatchObject([
      { appName: 'web', sdkVersion: 'unleash-js-sdk:3.8.2' },
    ]);
  });
});

it('metrics count for the environment of the token, else for the named one, else for the default one', () => {
  expect(effectiveEnvironment(sdk({ permission: 'CLIENT', environment: 'production' }), 'development')).toBe(
    'production',
  );
  expect(effectiveEnvironment(sdk({ permission: 'CLIENT' }), 'development')).toBe('development');
  expect(effectiveEnvironment(sdk({ permission: 'CLIENT' }), undefined)).toBe('default');
});

it('metrics count for the projects of the token', () => {
  const bound = sdk({ permission: 'CLIENT', project: 'shop' }, { permission: 'CLIENT', project: 'garage' });
  expect(grantedProjects(bound)).toEqual(['shop', 'garage']);
  expect([mayReportOn(bound, 'shop'), mayReportOn(bound, 'moon')]).toEqual([true, false]);
  expect(grantedProjects(sdk({ permission: 'ADMIN' }))).toEqual(['*']);
});

describe('the first metrics', () => {
  const types = new Map([
    ['production', 'production'],
    ['development', 'development'],
  ]);
  const entered = (stages: readonly string[], enabledIn: readonly string[], ...from: readonly string[]) =>
    stagesToEnter({ name: 'checkout', project: 'shop', stages, enabledIn }, from, types, now.toISOString()).map(
      ({ stage }) => stage,
    );

  it('move a feature to pre-live from any environment', () => {
    expect(entered(['initial'], ['development'], 'development')).toEqual(['pre-live']);
    expect(entered(['initial'], [], 'production')).toEqual(['pre-live']);
  });

  it('move a feature to live from production, where it is on', () => {
    expect(entered(['initial', 'pre-live'], ['production'], 'production')).toEqual(['live']);
    expect(entered(['initial'], ['production'], 'development', 'production')).toEqual(['pre-live', 'live']);
    expect(entered(['initial'], ['production'], 'development')).toEqual(['pre-live']);
  });

  it('change nothing the second time', () => {
    expect(entered(['initial', 'pre-live', 'live'], ['production'], 'production')).toEqual([]);
    expect(entered(['initial', 'pre-live', 'completed'], [], 'production')).toEqual([]);
  });
});

const count = (feature: string, about: Partial<EvaluationCount> = {}): EvaluationCount => ({
  feature,
  environment: 'production',
  appName: 'web',
  minute: 1,
  yes: 1,
  no: 0,
  variants: {},
  ...about,
});
const stored = (name: string, about: Partial<ReportedFeature> = {}): ReportedFeature => ({
  name,
  project: 'shop',
  stages: ['initial'],
  enabledIn: [],
  ...about,
});
const caller: Caller = { id: 7, name: 'web', grants: [{ permission: 'CLIENT', project: 'shop' }] };

describe('the metrics of an unlisted application', () => {
  it('count without its name', () => {
    const counts = [count('checkout'), count('checkout', { appName: 'till' })];
    expect(replaceUnlistedNames(counts, new Set(['web'])).map(({ appName }) => appName)).toEqual([
      'web',
      unlistedApplication,
    ]);
  });
});

describe('metrics', () => {
  it('count for features that exist in a project of the key', () => {
    const counts = [count('checkout'), count('cart'), count('vault')];
    const matched = matchCounts(counts, [stored('checkout'), stored('vault', { project: 'bank' })], caller);
    expect(matched.features.map(({ name }) => name)).toEqual(['checkout']);
    expect(matched.counts).toEqual([counts[0]]);
  });

  it('of other features are listed as missing, once for each listed application and environment', () => {
    const counts = [
      count('cart'),
      count('cart', { minute: 2 }),
      count('cart', { environment: 'development' }),
      count('cart', { appName: unlistedApplication }),
      count('vault'),
    ];
    expect(matchCounts(counts, [stored('vault', { project: 'bank' })], caller).missing).toEqual([
      { appName: 'web', environment: 'production', feature: 'cart' },
      { appName: 'web', environment: 'development', feature: 'cart' },
      { appName: 'web', environment: 'production', feature: 'vault' },
    ]);
  });

  it('of a feature with a name that is too long for any feature are left out', () => {
    const counts = [count('x'.repeat(256)), count('cart'), count('checkout')];
    const matched = matchCounts(counts, [stored('checkout')], caller);
    expect([matched.counts.length, matched.missing.map(({ feature }) => feature)]).toEqual([1, ['cart']]);
  });

  it('add at most a thousand missing features in one report', () => {
    const counts = Array.from({ length: 1_001 }, (_, nth) => count(`flag-${nth}`));
    expect(matchCounts(counts, [], caller).missing).toHaveLength(1_000);
  });

  it('move features to the stages that they have not entered, each by the environments of its own counts', () => {
    const types = new Map([
      ['production', 'production'],
      ['development', 'development'],
    ]);
    const now = '2026-03-01T10:30:00.000Z';
    const features = [
      stored('checkout', { enabledIn: ['production'] }),
      stored('cart', { enabledIn: ['production'] }),
      stored('search', { stages: ['initial', 'pre-live'] }),
    ];
    const counts = [count('checkout'), count('cart', { environment: 'development' }), count('search')];
    expect(findFeaturesEnteringStages(features, counts, types, now)).toEqual([
      {
        name: 'checkout',
        stages: [
          { stage: 'pre-live', enteredStageAt: now },
          { stage: 'live', enteredStageAt: now },
        ],
      },
      { name: 'cart', stages: [{ stage: 'pre-live', enteredStageAt: now }] },
    ]);
  });
});
