import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Constraint, PatchStrategy } from '@bunting/contracts';
import { aFeature, aStrategy } from '../../../test/builders.ts';
import { type StartedFeatures, startFeatures } from '../../../test/started-features.ts';

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
});
afterAll(() => features.stop());

const clients = 64;
const wanted = 240;
const most = 250;

const params = { projectId: 'default', featureName: 'busy', environment: 'development', strategyId: 'one' };
const add = (value: string) =>
  features.call(PatchStrategy, { params, body: [{ op: 'add', path: '/constraints/0/values/-', value }] });
const valuesNow = async () =>
  (await features.get('busy')).environments?.[0]?.strategies?.[0]?.constraints?.[0]?.values ?? [];

/** Lets clients add values one by one, each its next as soon as it has its answer. Gives what was refused. */
const addTogether = async (values: readonly string[]): Promise<unknown[]> => {
  const waiting = [...values];
  const refused: unknown[] = [];
  const client = async (): Promise<void> => {
    for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
      await add(value).catch((error: unknown) => refused.push(error));
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return refused;
};

it('loses no value of many clients that add to one constraint at once, and stops exactly at the limit', async () => {
  const constraint: Constraint = { contextName: 'userId', operator: 'IN', values: ['first'] };
  const strategies = [aStrategy({ id: 'one', constraints: [constraint] })];
  await features.given(aFeature({ name: 'busy', project: 'default', strategies }));

  const values = Array.from({ length: wanted - 1 }, (_, nth) => `value-${nth}`);
  expect(await addTogether(values)).toEqual([]);
  expect(new Set(await valuesNow())).toEqual(new Set(['first', ...values]));

  const refused = await addTogether(Array.from({ length: 20 }, (_, nth) => `more-${nth}`));
  expect(await valuesNow()).toHaveLength(most);
  expect(refused).toHaveLength(20 - (most - wanted));
  for (const error of refused) expect(error).toMatchObject({ kind: 'ExceedsLimitError', message: /userId/ });
}, 60_000);
