import {
  AddComment,
  DiscardChange,
  DiscardDraft,
  EditChange,
  eventTypes,
  type OutboxEvent,
  SetApprovers,
  SetChangeRequestConfig,
  SetTitle,
} from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { expect, it } from 'vitest';
import { callers, startedChangeRequests } from '../../test/started-change-requests.ts';
import { transitions } from './state-machine.ts';

const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
const disable = { ...enable, payload: { enabled: false } };
const renamed = { action: 'updateSegment', payload: { id: 4, name: 'beta testers' } };
const { lee, rita, ada } = callers;
const anyNumber = expect.any(Number) as unknown as number;
const scheduledAt = '2099-01-01T00:00:00.000Z';

const service = startedChangeRequests();

async function drafted(body: unknown = enable) {
  return (await service.add(body, lee)).id;
}
async function inReview(body?: unknown) {
  const id = await drafted(body);
  await service.move(id, 'In review', lee, { comment: 'please' });
  return id;
}
async function approved() {
  const id = await inReview();
  await service.move(id, 'Approved', rita);
  return id;
}
async function scheduled() {
  const id = await approved();
  await service.move(id, 'Scheduled', ada, { scheduledAt });
  return id;
}
async function due(id: number) {
  const text = `update schedule set scheduled_at = now() where change_request_id = $1`;
  await service.database.transaction(({ query }) => query(text, [id]));
}
function until(type: string) {
  return eventually(async () => expect((await service.emittedEvents()).map((event) => event.type)).toContain(type));
}
async function firstChange(id: number) {
  return (await service.get(id, lee)).features[0]?.changes[0]?.id ?? 0;
}

/** Every event type of a request, at least once: how it is caused, and its content. */
const table: readonly [
  type: OutboxEvent['type'],
  when: string,
  comesAbout: () => Promise<number>,
  emitted: Partial<Omit<OutboxEvent, 'data' | 'preData'>> & { data: object; preData: object | null },
][] = [
  ['change-request-created', 'a first change', drafted, { data: { minApprovals: 1 }, preData: null, createdBy: 'lee' }],
  [
    'change-added',
    'a change in a draft, whose payload is still private',
    drafted,
    { featureName: 'checkout', data: { changeId: 0, action: 'updateEnabled', feature: 'checkout' }, preData: null },
  ],
  [
    'change-added',
    'a change in review',
    async () => {
      const id = await inReview();
      service.features.know(['later']);
      await service.add({ ...enable, feature: 'later' }, lee);
      return id;
    },
    {
      featureName: 'later',
      data: { changeId: 0, action: 'updateEnabled', feature: 'later', payload: { enabled: true } },
      preData: null,
    },
  ],
  [
    'change-added',
    'a change of a segment',
    () => drafted(renamed),
    {
      featureName: null,
      data: { changeId: 0, action: 'updateSegment', segment: { id: 4, name: 'beta users' } },
      preData: null,
    },
  ],
  [
    'change-edited',
    'another payload for a change',
    async () => {
      const id = await inReview();
      const params = { projectId: 'shop', id, changeId: await firstChange(id) };
      await service.call(EditChange, { params, body: disable }, lee);
      return id;
    },
    {
      featureName: 'checkout',
      data: { changeId: 0, action: 'updateEnabled', feature: 'checkout', payload: { enabled: false } },
      preData: { changeId: 0, action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } },
    },
  ],
  [
    'change-edited',
    'a change that takes the place of another',
    async () => {
      const id = await inReview();
      await service.add(disable, lee);
      return id;
    },
    { data: { changeId: 0, payload: { enabled: false } }, preData: { payload: { enabled: true } } },
  ],
  [
    'change-discarded',
    'a change that is taken out',
    async () => {
      const id = await inReview([enable, renamed]);
      const params = { projectId: 'shop', id, changeId: await firstChange(id) };
      await service.call(DiscardChange, { params }, lee);
      return id;
    },
    {
      featureName: 'checkout',
      data: { changeId: 0, action: 'updateEnabled', feature: 'checkout' },
      preData: { payload: { enabled: true } },
    },
  ],
  [
    'change-request-discarded',
    'a draft that is given up',
    async () => {
      const id = await drafted([enable, renamed]);
      await service.call(DiscardDraft, { params: { projectId: 'shop', id } }, lee);
      return id;
    },
    { data: { changes: 2 }, preData: null },
  ],
  [
    'change-request-sent-to-review',
    'a draft that is finished',
    inReview,
    { data: { comment: 'please' }, preData: { state: 'Draft' } },
  ],
  [
    'change-request-sent-to-review',
    'an edit of what was approved',
    async () => {
      const id = await approved();
      await service.add(disable, lee);
      return id;
    },
    { data: { reason: 'changed' }, preData: { state: 'Approved', approvedBy: [rita.id] } },
  ],
  [
    'change-request-sent-to-review',
    'an edit of what somebody has approved, while more approvals are missing',
    async () => {
      const params = { projectId: 'shop', environment: 'production' };
      await service.call(SetChangeRequestConfig, {
        params,
        body: { changeRequestsEnabled: true, requiredApprovals: 2 },
      });
      const id = await approved();
      await service.add(disable, lee);
      return id;
    },
    { data: { reason: 'changed' }, preData: { state: 'In review', approvedBy: [rita.id] } },
  ],
  [
    'change-request-approval-added',
    'an approval',
    approved,
    { data: { approvals: 1, minApprovals: 1 }, preData: null, createdBy: 'rita' },
  ],
  [
    'change-request-approved',
    'the last approval that it takes',
    approved,
    { data: { approvals: 1, minApprovals: 1 }, preData: { state: 'In review' }, createdBy: 'rita' },
  ],
  [
    'change-request-rejected',
    'a no',
    async () => {
      const id = await inReview();
      await service.move(id, 'Rejected', rita, { comment: 'not now' });
      return id;
    },
    { data: { comment: 'not now' }, preData: { state: 'In review' } },
  ],
  [
    'change-request-cancelled',
    'a withdrawal',
    async () => {
      const id = await approved();
      await service.move(id, 'Cancelled', lee);
      return id;
    },
    { data: {}, preData: { state: 'Approved' } },
  ],
  ['change-request-scheduled', 'a time', scheduled, { data: { scheduledDate: scheduledAt }, preData: null }],
  [
    'change-request-scheduled',
    'another time',
    async () => {
      const id = await scheduled();
      await service.move(id, 'Scheduled', ada, { scheduledAt: '2099-02-01T00:00:00.000Z' });
      return id;
    },
    {
      data: { scheduledDate: '2099-02-01T00:00:00.000Z' },
      preData: { status: 'pending', scheduledDate: scheduledAt },
    },
  ],
  [
    'change-request-applied',
    'its effect',
    async () => {
      const id = await approved();
      await service.move(id, 'Applied', ada);
      return id;
    },
    { data: { changes: 1 }, preData: { state: 'Approved' }, createdBy: 'ada' },
  ],
  [
    'change-request-scheduled-application-success',
    'its effect at its time',
    async () => {
      const id = await scheduled();
      await due(id);
      await until('change-request-scheduled-application-success');
      return id;
    },
    { data: { scheduledDate: expect.any(String) as unknown as string }, preData: null, createdBy: 'ada' },
  ],
  [
    'change-request-scheduled-application-failure',
    'its failure at its time',
    async () => {
      const id = await scheduled();
      service.gateway.grant(ada.id, []);
      await due(id);
      await until('change-request-scheduled-application-failure');
      return id;
    },
    {
      data: {
        scheduledDate: expect.any(String) as unknown as string,
        reason: expect.stringContaining('no longer has the permission') as unknown as string,
      },
      preData: null,
    },
  ],
  [
    'change-request-schedule-suspended',
    'an edit that it would undo',
    async () => {
      service.features.edit('checkout', 'first');
      const update = { action: 'updateStrategy', feature: 'checkout', payload: { id: 'in-production', title: 'ours' } };
      const id = await inReview(update);
      await service.move(id, 'Approved', rita);
      await service.move(id, 'Scheduled', ada, { scheduledAt });
      service.features.edit('checkout', 'second');
      service.features.emit('feature-strategy-update', 'checkout');
      await until('change-request-schedule-suspended');
      return id;
    },
    {
      data: { reason: expect.stringContaining('overwrite') as unknown as string },
      preData: { status: 'pending', scheduledBy: ada.id },
    },
  ],
  [
    'change-request-comment-added',
    'a comment',
    async () => {
      const id = await inReview();
      await service.call(AddComment, { params: { projectId: 'shop', id }, body: { text: 'why not' } }, rita);
      return id;
    },
    { data: { commentId: anyNumber, comment: 'why not' }, preData: null, createdBy: 'rita' },
  ],
  [
    'change-request-comment-added',
    'a comment on a draft, whose text is still private',
    async () => {
      const id = await drafted();
      await service.call(AddComment, { params: { projectId: 'shop', id }, body: { text: 'a note to self' } }, lee);
      return id;
    },
    { data: { commentId: anyNumber }, preData: null },
  ],
  [
    'change-request-requested-approvers-updated',
    'other requested reviewers',
    async () => {
      const id = await inReview();
      await service.call(SetApprovers, { params: { projectId: 'shop', id }, body: { reviewers: [rita.id] } }, lee);
      return id;
    },
    { data: { reviewers: [rita.id] }, preData: { reviewers: [] }, createdBy: 'lee' },
  ],
];

it.each(table)('%s is emitted for %s', async (type, _when, comesAbout, emitted) => {
  const changeRequestId = await comesAbout();
  const event = (await service.emittedEvents()).filter((one) => one.type === type).at(-1);
  // The database assigns ids: any number is right.
  const { data, preData, ...rest } = emitted;
  const withId = (document: object) =>
    'changeId' in document ? { ...document, changeId: expect.any(Number) as unknown as number } : document;
  expect(event).toMatchObject({ project: 'shop', environment: 'production', tags: [], ...rest });
  expect(event?.data).toEqual(
    type === 'change-edited' && Object.keys(data).length === 2
      ? expect.objectContaining(withId(data))
      : { changeRequestId, ...withId(data) },
  );
  if (preData === null) expect(event?.preData).toBeNull();
  else expect(event?.preData).toMatchObject(withId(preData));
});

it('change-request-configuration-updated is emitted for protection, and only when it changes', async () => {
  const protect = (body: { changeRequestsEnabled: boolean; requiredApprovals?: number }) =>
    service.call(SetChangeRequestConfig, { params: { projectId: 'shop', environment: 'production' }, body });
  await protect({ changeRequestsEnabled: true, requiredApprovals: 10 });
  await protect({ changeRequestsEnabled: true, requiredApprovals: 10 });
  await protect({ changeRequestsEnabled: false });
  const on = { changeRequestsEnabled: true, requiredApprovals: 10 };
  const off = { changeRequestsEnabled: false, requiredApprovals: null };
  expect(await service.emittedEvents()).toMatchObject([
    { type: 'change-request-configuration-updated', data: on, preData: off, environment: 'production' },
    { type: 'change-request-configuration-updated', data: off, preData: on },
  ]);
});

it('emits nothing for a title, and for the reviewers who are requested already', async () => {
  const id = await inReview();
  const setApprovers = { params: { projectId: 'shop', id }, body: { reviewers: [rita.id] } };
  await service.call(SetApprovers, setApprovers, lee);
  const before = await service.emittedEvents();
  await service.call(SetTitle, { params: { projectId: 'shop', id }, body: { title: 'Friday' } }, lee);
  await service.call(SetApprovers, setApprovers, lee);
  expect(await service.emittedEvents()).toEqual(before);
});

it('the cases of this file cover every event type of change requests, and every transition emits one of them', () => {
  const tested = new Set([...table.map(([type]) => type), 'change-request-configuration-updated']);
  expect(tested).toEqual(new Set(eventTypes.filter((type) => type.startsWith('change-'))));
  expect(transitions.flatMap(({ emits }) => emits).filter((type) => !tested.has(type))).toEqual([]);
});
