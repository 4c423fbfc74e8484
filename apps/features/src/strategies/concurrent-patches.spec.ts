import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Constraint, PatchStrategy } from '@bunting/contracts';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { type StartedFeatures, startFeatures } from '../../test/started-features.ts';

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
});
afterAll(() => features.stop());

const clients = 64;
const wanted = 240;
const most = 250;

const rounds = Array.from({ length: 10 }, (_, nth) => nth + 1);

const at = (featureName: string) => ({
  projectId: 'default',
  featureName,
  environment: 'development',
  strategyId: featureName,
});
const add = (featureName: string, value: string) =>
  features.call(PatchStrategy, {
    params: at(featureName),
    body: [{ op: 'add', path: '/constraints/0/values/-', value }],
  });
const valuesOf = async (featureName: string) =>
  (await features.get(featureName)).environments?.[0]?.strategies?.[0]?.constraints?.[0]?.values ?? [];

/** Lets clients concurrently add values one by one. Returns the refusals. */
const addTogether = async (featureName: string, values: readonly string[]): Promise<unknown[]> => {
  const waiting = [...values];
  const refused: unknown[] = [];
  const client = async (): Promise<void> => {
    for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
      await add(featureName, value).catch((error: unknown) => refused.push(error));
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return refused;
};

const withOneValue = async (name: string): Promise<void> => {
  const constraint: Constraint = { contextName: 'userId', operator: 'IN', values: ['first'] };
  const strategies = [aStrategy({ id: name, constraints: [constraint] })];
  await features.given(aFeature({ name, project: 'default', strategies }));
};
const values = Array.from({ length: wanted - 1 }, (_, nth) => `value-${nth}`);

it.each(rounds)(
  'loses no value of many clients that concurrently add to one constraint, in round %i',
  async (round) => {
    const name = `busy-${round}`;
    await withOneValue(name);
    expect(await addTogether(name, values)).toEqual([]);
    const stored = await valuesOf(name);
    expect(stored).toHaveLength(wanted);
    expect(new Set(stored)).toEqual(new Set(['first', ...values]));
  },
);

it('concurrent patches stop exactly at the limit of values', async () => {
  await withOneValue('full');
  expect(await addTogether('full', values)).toEqual([]);
  const refused = await addTogether(
    'full',
    Array.from({ length: 20 }, (_, nth) => `more-${nth}`),
  );
  expect(await valuesOf('full')).toHaveLength(most);
  expect(refused).toHaveLength(20 - (most - wanted));
  for (const error of refused) expect(error).toMatchObject({ kind: 'ExceedsLimitError', message: /userId/ });
  await expect(add('full', 'one too many')).rejects.toMatchObject({ kind: 'ExceedsLimitError', message: /userId/ });
});
