import { afterAll, beforeAll, expect, it } from 'vitest';
import { type MetricsBody, ReportMetrics } from '@bunting/contracts';
import { addFeatures } from '../../test/add-features.ts';
import { aFeature } from '../../test/builders.ts';
import { type FeaturesWithoutLoops, featuresWithoutLoops } from '../../test/features-unit-of-work.ts';
import { callerWith } from '../../test/started-features.ts';

const count = 10_000;
let features: FeaturesWithoutLoops;
beforeAll(async () => {
  features = await featuresWithoutLoops();
  const flags = Array.from({ length: count }, (_, nth) => aFeature({ name: `flag-${nth}`, project: 'default' }));
  await addFeatures(features.database, flags);
});
afterAll(() => features.stop());

const report = async (flags: number): Promise<number> => {
  const stop = new Date().toISOString();
  const toggles: MetricsBody['bucket']['toggles'] = {};
  for (let nth = 0; nth < flags; nth++) toggles[`flag-${nth}`] = { yes: 1, no: 2, variants: { red: 1 } };
  const caller = callerWith({ permission: 'CLIENT', environment: 'development' });
  const body = { appName: 'web', bucket: { start: stop, stop, toggles } };
  return features.statementsOf(() => features.call(ReportMetrics, { body }, caller, { timeoutMs: 60_000 }));
};

it('stores a report about ten thousand features with as many statements as one about one feature', async () => {
  const [first, later] = [await report(count), await report(count)];
  expect(first).toBeLessThanOrEqual(15);
  expect(later).toBeLessThanOrEqual(first);
  expect(await report(1)).toBe(later);
  const [sum] = await features.database.transaction(({ query }) =>
    query<{ yes: number; live: number }>(
      `select sum(yes)::bigint as yes, (select count(*) from feature where lifecycle @> '[{"stage": "pre-live"}]') as live
      from feature_usage_hour`,
    ),
  );
  expect(sum).toEqual({ yes: 2 * count + 1, live: count });
});
