import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Caller, ListProposedSegmentStrategies, SetTitle } from '@bunting/contracts';
import { callers, type StartedChangeRequests, startChangeRequests } from '../../../test/started-change-requests.ts';

const { mia, lee, kim } = callers;
const beta = 4;
const using = (feature: string, segments: readonly number[]) => ({
  action: 'addStrategy',
  feature,
  payload: { name: 'default', constraints: [], parameters: {}, segments },
});

let service: StartedChangeRequests;
beforeAll(async () => {
  service = await startChangeRequests();
});
beforeEach(() => service.reset());
afterAll(() => service.stop());

const usesOf = async (segment: number, caller: Caller = kim) =>
  (await service.call(ListProposedSegmentStrategies, { body: { segment } }, caller)).changeRequestStrategies;

it('lists the strategies to which open requests add the segment, existing strategies by their id', async () => {
  const update = {
    action: 'updateStrategy',
    feature: 'checkout',
    payload: { id: 'in-production', segments: [7, beta] },
  };
  const { id } = await service.add([update, using('banner', [beta]), using('banner', [44])], lee);
  await service.call(SetTitle, { params: { projectId: 'shop', id }, body: { title: 'Testers first' } }, lee);
  await service.move(id, 'In review', lee);
  const place = { projectId: 'shop', environment: 'production', changeRequest: { id, title: 'Testers first' } };
  expect(await usesOf(beta)).toEqual([
    { id: 'in-production', featureName: 'checkout', strategyName: 'default', ...place },
    { featureName: 'banner', strategyName: 'default', ...place },
  ]);
  await service.move(id, 'Cancelled', lee);
  expect(await usesOf(beta)).toEqual([]);
});

it('lists the strategy in a draft of another user without the id and title of that draft', async () => {
  const { id } = await service.add(using('banner', [beta]), mia);
  expect(await usesOf(beta, mia)).toMatchObject([{ changeRequest: { id } }]);
  expect(await usesOf(beta, kim)).toMatchObject([{ featureName: 'banner', changeRequest: { id: null, title: null } }]);
});

it('omits projects that are hidden from the caller', async () => {
  await service.add(using('banner', [beta]), mia);
  expect(await usesOf(beta, { ...kim, hiddenProjects: ['shop'] })).toEqual([]);
});
