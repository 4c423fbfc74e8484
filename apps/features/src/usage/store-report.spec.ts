import { afterAll, beforeAll, expect, it } from 'vitest';
import { type UnitOfWork, SerializationFailure } from '../unit-of-work/unit-of-work.ts';
import { type FeaturesWithoutLoops, featuresWithoutLoops } from '../../test/features-unit-of-work.ts';
import { mia } from '../../test/started-features.ts';
import { storeReport } from './endpoints.ts';

let features: FeaturesWithoutLoops;
beforeAll(async () => {
  features = await featuresWithoutLoops();
});
afterAll(() => features.stop());

it('takes new applications from the budget of a key once, although a conflict repeats the transaction', async () => {
  let conflicts = 2;
  const conflicting = ((context: Parameters<UnitOfWork>[0], job: Parameters<UnitOfWork>[1]) =>
    features.transaction(context, async (tx) => {
      const reply = await job(tx);
      if (conflicts-- > 0) throw new SerializationFailure('a conflict');
      return reply;
    })) as UnitOfWork;
  const [taken, unlisted]: [number[], unknown[]] = [[], []];
  const store = storeReport(conflicting, {
    limit: 1_000,
    takeFromBudget: (_, wanted) => {
      taken.push(wanted);
      return 2;
    },
    onUnlisted: (reason, applications) => void unlisted.push([reason, applications]),
  });
  const now = new Date();
  const request = { caller: mia, now, deadline: new Date(now.getTime() + 30_000), traceparent: '' };
  const applications = ['shop', 'till', 'scale'].map((appName) => ({
    appName,
    projects: ['*'],
    environment: 'development',
    isFrontend: false,
    createdBy: 'mia',
  }));
  await store(request, { counts: [], applications }, null);
  expect(conflicts).toBe(-1);
  expect([taken, unlisted]).toEqual([[3], [['rate', 1]]]);
  const names = { name: 'names', text: 'select app_name as name from client_application order by app_name' };
  expect(await features.database.read(names)).toEqual([{ name: 'shop' }, { name: 'till' }]);
});
