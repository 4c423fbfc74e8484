import {
  AddComment,
  type Caller,
  ChangeState,
  CountActionable,
  CountChangeRequests,
  DiscardChange,
  DiscardDraft,
  EditChange,
  GetChangeRequestConfig,
  ListChangeRequests,
  ListOpenChangeRequests,
  ListPendingOfFeature,
  SetChangeRequestConfig,
  SetTitle,
  unavailable,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { eventually } from '@bunting/testing';
import { describe, expect, it } from 'vitest';
import { callers, startedChangeRequests } from '../../test/started-change-requests.ts';

const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
const addStrategy = {
  action: 'addStrategy',
  feature: 'checkout',
  payload: { name: 'flexibleRollout', constraints: [], parameters: { rollout: '5' } },
};
const { mia, lee, kim, rita, ron, ada } = callers;
const project = { projectId: 'shop' };

const service = startedChangeRequests();

function at(id: number) {
  return { projectId: 'shop', id };
}
function protect(requiredApprovals: number, environment = 'production') {
  return service.call(SetChangeRequestConfig, {
    params: { ...project, environment },
    body: { changeRequestsEnabled: true, requiredApprovals },
  });
}
async function emittedTypes() {
  return (await service.emittedEvents()).map(({ type }) => type);
}
async function inReview() {
  const { id } = await service.add([enable, addStrategy], lee);
  await service.move(id, 'In review', lee);
  return id;
}
async function approved() {
  const id = await inReview();
  await service.move(id, 'Approved', rita);
  return id;
}
const conflict = { kind: 'ConflictError' };
const forbidden = { kind: 'NoAccessError' };
const absent = { kind: 'NotFoundError' };

describe('a request', () => {
  it('goes from draft to applied', async () => {
    await protect(2);
    const { id, minApprovals } = await service.add([enable, addStrategy], lee);
    expect(minApprovals).toBe(2);
    expect(await service.move(id, 'In review', lee, { comment: ' please ' })).toEqual({
      id,
      state: 'In review',
      comment: 'please',
    });
    await service.move(id, 'Approved', rita);
    expect(await service.get(id)).toMatchObject({ state: 'In review', approvals: [{ createdBy: { id: 10 } }] });
    await service.move(id, 'Approved', ron);
    expect(await service.get(id)).toMatchObject({ state: 'Approved', comments: [{ text: 'please' }] });
    await service.move(id, 'Applied', ada);
    expect(await service.get(id)).toMatchObject({ state: 'Applied', approvals: [{}, {}] });
    expect(service.features.applied).toMatchObject([{ id, by: 'ada', changes: [{ change: enable }, {}] }]);
    expect((await service.emittedEvents()).slice(4)).toMatchObject([
      {
        type: 'change-request-sent-to-review',
        createdBy: 'lee',
        data: { comment: 'please' },
        preData: { state: 'Draft' },
      },
      { type: 'change-request-approval-added', data: { approvals: 1, minApprovals: 2 }, createdBy: 'rita' },
      { type: 'change-request-approval-added', data: { approvals: 2 }, createdBy: 'ron' },
      { type: 'change-request-approved', preData: { state: 'In review' } },
      { type: 'change-request-applied', createdBy: 'ada', data: { changeRequestId: id, changes: 2 } },
    ]);
  });

  it('says who took it from state to state, and who made it lose approvals', async () => {
    const { id } = await service.add(enable, lee);
    expect(await service.get(id, lee)).not.toHaveProperty('steps');
    await service.move(id, 'In review', lee);
    await service.move(id, 'Approved', rita);
    await service.add(addStrategy, lee);
    await service.move(id, 'Approved', ron);
    await service.move(id, 'Applied', ada);
    const { steps = [], stateTimestamps = {} } = await service.get(id);
    expect(steps.map(({ state, createdBy }) => [state, createdBy?.id])).toEqual([
      ['In review', lee.id],
      ['Approved', rita.id],
      ['In review', lee.id],
      ['Approved', ron.id],
      ['Applied', ada.id],
    ]);
    expect(steps.at(-1)?.createdAt).toBe(stateTimestamps['Applied']);
    expect(steps[3]?.createdBy?.username).toBe('ron');
    expect(steps.at(-1)).not.toHaveProperty('scheduled');
  });

  it('holds one change where two say the same, and that is done once', async () => {
    const off = { ...enable, payload: { enabled: false } };
    const first = await service.add(off, lee);
    const second = await service.add(off, lee);
    expect(second.features).toEqual(first.features);
    await service.move(first.id, 'In review', lee);
    await service.move(first.id, 'Approved', rita);
    await service.move(first.id, 'Applied', ada);
    expect(service.features.applied).toMatchObject([{ id: first.id, changes: [{ change: off }] }]);
    expect(service.features.applied[0]?.changes).toHaveLength(1);
  });

  it('names people by their user names, not by their e-mail addresses, at every step', async () => {
    const ida = { ...lee, name: 'ida@bunting.example', username: 'ida' };
    const rut = { ...rita, name: 'rut@bunting.example', username: 'rut' };
    const username = (name: string) => ({ createdBy: { username: name } });
    const { id } = await service.add(enable, ida);
    await service.move(id, 'In review', ida);
    await service.call(AddComment, { params: at(id), body: { text: 'Ready.' } }, ida);
    await service.move(id, 'Approved', rut, { comment: 'Fine.' });
    const named = {
      ...username('ida'),
      features: [{ changes: [username('ida')] }],
      approvals: [username('rut')],
      comments: [username('ida'), username('rut')],
    };
    expect(await service.get(id)).toMatchObject(named);
    expect(await service.pending(ida)).toMatchObject([named]);
    await service.move(id, 'Rejected', rut);
    expect(await service.get(id)).toMatchObject({ rejections: [username('rut')] });
    expect((await service.emittedEvents()).at(-1)).toMatchObject({ createdBy: 'rut@bunting.example' });
  });

  it('is applied by a user with the username too, by which searches find the events of the changes', async () => {
    const id = await approved();
    await service.move(id, 'Applied', { ...ada, name: 'ada@bunting.example', username: 'ada' });
    expect(service.features.applied).toMatchObject([{ id, by: 'ada@bunting.example', username: 'ada' }]);
  });

  it('can be rejected by a reviewer, and then nothing follows', async () => {
    const id = await inReview();
    await expect(service.move(id, 'Rejected', lee)).rejects.toMatchObject(forbidden);
    await service.move(id, 'Rejected', ron, { comment: 'not now' });
    expect(await service.get(id)).toMatchObject({
      state: 'Rejected',
      rejections: [{ createdBy: { username: 'ron' } }],
    });
    for (const state of ['In review', 'Approved', 'Applied', 'Cancelled', 'Draft'] as const) {
      await expect(service.move(id, state)).rejects.toMatchObject(conflict);
    }
  });

  it('can be cancelled by its author', async () => {
    const id = await approved();
    await expect(service.move(id, 'Cancelled', kim)).rejects.toMatchObject(forbidden);
    await service.move(id, 'Cancelled', lee);
    expect((await service.emittedEvents()).at(-1)).toMatchObject({
      type: 'change-request-cancelled',
      preData: { state: 'Approved' },
    });
  });

  it('is approved by those who may do so in its environment, and never by its author', async () => {
    const id = await inReview();
    await expect(service.move(id, 'Approved', kim)).rejects.toMatchObject(forbidden);
    await expect(service.move(id, 'Approved', ada)).rejects.toMatchObject(forbidden);
    await expect(service.move(id, 'Approved', lee)).rejects.toThrow('Authors can not review');
    const elsewhere = await service.add(enable, lee, 'development');
    await service.move(elsewhere.id, 'In review', lee);
    await expect(service.move(elsewhere.id, 'Approved', rita)).rejects.toMatchObject(forbidden);
    await service.move(id, 'Approved', rita);
    await expect(service.move(id, 'Applied', rita)).rejects.toMatchObject(forbidden);
  });

  it('of an administrator may be approved and applied by the administrator', async () => {
    const { id } = await service.add(enable, mia);
    for (const state of ['In review', 'Approved', 'Applied'] as const) await service.move(id, state, mia);
    expect(await service.get(id)).toMatchObject({ state: 'Applied' });
  });

  it('takes a second approval of the same user for the first', async () => {
    await protect(2);
    const id = await inReview();
    await service.move(id, 'Approved', rita);
    const emitted = await service.emittedEvents();
    await service.move(id, 'Approved', rita);
    expect(await service.emittedEvents()).toEqual(emitted);
    expect((await service.get(id)).approvals).toHaveLength(1);
  });

  it('keeps the approvals that it needs when the configuration changes', async () => {
    await protect(3);
    const id = await inReview();
    await protect(1);
    expect(await service.get(id)).toMatchObject({ minApprovals: 3 });
  });

  it('in conflict is not applied and emits nothing', async () => {
    const id = await approved();
    service.features.archive('checkout');
    const emitted = await service.emittedEvents();
    await expect(service.move(id, 'Applied', ada)).rejects.toMatchObject({
      ...conflict,
      message: 'Feature has been archived',
      details: [{ code: 'feature-archived', feature: 'checkout' }, {}],
    });
    expect(await service.get(id)).toMatchObject({
      state: 'Approved',
      features: [{ conflict: 'Feature has been archived', conflictCode: 'feature-archived' }],
    });
    expect(await service.emittedEvents()).toEqual(emitted);
  });

  it.each([
    [{ state: 'Done' }, '/body/state'],
    [{ state: 'Approved', comment: 'x'.repeat(1_000_000) }, '/body/comment'],
    [{ state: 'Scheduled', scheduledAt: 'tomorrow' }, '/body/scheduledAt'],
  ])('refuses an invalid change of state and names the property: %j', (body, path) => {
    expect(() => parse(ChangeState.body, body, '/body')).toThrow(path);
  });
});

describe('a draft', () => {
  it('is its author alone: for anybody else it does not exist', async () => {
    const { id } = await service.add(enable, lee);
    await expect(service.get(id, mia)).rejects.toMatchObject(absent);
    await expect(service.move(id, 'Cancelled', mia)).rejects.toMatchObject(absent);
    await expect(service.call(AddComment, { params: at(id), body: { text: 'hm' } }, mia)).rejects.toMatchObject(absent);
    expect(await service.call(ListChangeRequests, { params: project }, mia)).toEqual([]);
    expect(await service.call(ListPendingOfFeature, { params: { ...project, featureName: 'checkout' } }, mia)).toEqual(
      [],
    );
    expect(await service.call(CountChangeRequests, { params: project }, mia)).toMatchObject({ total: 0 });
    expect(await service.get(id, lee)).toMatchObject({ id, state: 'Draft' });
  });

  it('is discarded with all that it holds', async () => {
    const { id } = await service.add([enable, addStrategy], lee);
    await service.call(DiscardDraft, { params: at(id) }, lee);
    expect(await service.stored()).toMatchObject({ change_request: 0, change: 0 });
    expect((await service.emittedEvents()).at(-1)).toMatchObject({
      type: 'change-request-discarded',
      data: { changes: 2 },
    });
    const sent = await inReview();
    await expect(service.call(DiscardDraft, { params: at(sent) }, lee)).rejects.toMatchObject({
      ...conflict,
      message: 'A change request in state "In review" cannot be discarded: only a draft can',
    });
  });

  it('is not found under another project', async () => {
    const { id } = await service.add(enable, lee);
    const params = { projectId: 'garage', id };
    await expect(service.call(DiscardDraft, { params }, lee)).rejects.toMatchObject(absent);
  });
});

describe('the content of a request', () => {
  it('is edited change by change, which wipes approvals', async () => {
    const id = await approved();
    const [first] = (await service.get(id)).features[0]!.changes;
    const params = { ...at(id), changeId: first!.id };
    const body = { ...enable, payload: { enabled: false } };
    const edited = await service.call(EditChange, { params, body }, lee);
    expect(edited).toMatchObject({
      state: 'In review',
      approvals: [],
      features: [{ changes: [{ id: first!.id, payload: { enabled: false } }, { action: 'addStrategy' }] }],
    });
    expect((await emittedTypes()).slice(-2)).toEqual(['change-edited', 'change-request-sent-to-review']);
    expect(await service.get(id)).toEqual(edited);
    await expect(service.call(EditChange, { params, body }, mia)).rejects.toMatchObject(forbidden);
    await expect(service.call(EditChange, { params, body: addStrategy }, lee)).rejects.toThrow('/body/action');
    await expect(service.call(EditChange, { params, body: { ...body, feature: 'banner' } }, lee)).rejects.toThrow(
      '/body/feature',
    );
    await expect(service.call(EditChange, { params: { ...params, changeId: 1e9 }, body }, lee)).rejects.toMatchObject(
      absent,
    );
  });

  it('keeps at least one change, once it is no draft', async () => {
    const id = await inReview();
    const [first, second] = (await service.get(id)).features[0]!.changes;
    await service.call(DiscardChange, { params: { ...at(id), changeId: first!.id } }, lee);
    await expect(
      service.call(DiscardChange, { params: { ...at(id), changeId: second!.id } }, lee),
    ).rejects.toMatchObject({
      kind: 'ValidationError',
    });
    expect((await service.get(id)).features[0]?.changes).toHaveLength(1);
    expect((await emittedTypes()).at(-1)).toBe('change-discarded');
  });

  it('of an empty draft cannot be sent to review', async () => {
    const { id, features } = await service.add(enable, lee);
    await service.call(DiscardChange, { params: { ...at(id), changeId: features[0]!.changes[0]!.id } }, lee);
    await expect(service.move(id, 'In review', lee)).rejects.toMatchObject(conflict);
  });
});

describe('a title and comments', () => {
  it('are refused if they are a megabyte long', () => {
    const text = 'x'.repeat(1024 * 1024);
    expect(() => parse(AddComment.body, { text }, '/body')).toThrow('`/body/text`');
    expect(() => parse(SetTitle.body, { title: text }, '/body')).toThrow('`/body/title`');
    expect(() => parse(ChangeState.body, { state: 'Rejected', comment: text }, '/body')).toThrow('`/body/comment`');
  });

  it('are refused if they are blank or too long', () => {
    for (const title of [' ', 'x'.repeat(256)]) {
      expect(() => parse(SetTitle.body, { title }, '/body')).toThrow('/body/title');
    }
    for (const text of ['', 'x'.repeat(1001)]) {
      expect(() => parse(AddComment.body, { text }, '/body')).toThrow('/body/text');
    }
  });

  it('are kept, and wipe no approvals', async () => {
    const id = await approved();
    await service.call(SetTitle, { params: at(id), body: { title: ' Open checkout ' } }, lee);
    await service.call(AddComment, { params: at(id), body: { text: 'Nice.' } }, kim);
    expect(await service.get(id)).toMatchObject({
      title: 'Open checkout',
      state: 'Approved',
      comments: [{ text: 'Nice.', createdBy: { username: 'kim' } }],
    });
    await expect(service.call(SetTitle, { params: at(id), body: { title: 'mine' } }, kim)).rejects.toMatchObject(
      forbidden,
    );
  });
});

describe('a comment on a change', () => {
  async function commented() {
    const { id, features } = await service.add([enable, addStrategy], lee);
    const [turnOn, strategy] = features[0]!.changes.map((change) => change.id);
    await service.call(AddComment, { params: at(id), body: { text: 'Why 5 %?', changeId: strategy! } }, lee);
    return { id, turnOn, strategy };
  }

  it('says which change it is about', async () => {
    const { id, strategy } = await commented();
    await service.call(AddComment, { params: at(id), body: { text: 'On the whole.' } }, lee);
    const { comments } = await service.get(id, lee);
    expect(comments).toMatchObject([
      { text: 'Why 5 %?', change: { id: strategy, action: 'addStrategy', feature: 'checkout' } },
      { text: 'On the whole.' },
    ]);
    expect(comments?.[1]).not.toHaveProperty('change');
  });

  it('stays with what the change was when the change is discarded', async () => {
    const { id, strategy } = await commented();
    await service.call(DiscardChange, { params: { ...at(id), changeId: strategy! } }, lee);
    const { comments, features } = await service.get(id, lee);
    expect(features[0]?.changes.map(({ action }) => action)).toEqual(['updateEnabled']);
    expect(comments).toMatchObject([{ text: 'Why 5 %?', change: { id: strategy, action: 'addStrategy' } }]);
  });

  it('is refused for a change that the request does not have, also for one of another request', async () => {
    const { id } = await commented();
    const other = await service.add(enable, kim);
    const foreign = other.features[0]!.changes[0]!.id;
    await expect(
      service.call(AddComment, { params: at(id), body: { text: 'Hm.', changeId: foreign } }, lee),
    ).rejects.toMatchObject({ kind: 'ValidationError', message: expect.stringContaining('no such change') as string });
    expect((await service.get(id, lee)).comments).toHaveLength(1);
  });
});

describe('the configuration of a project', () => {
  const config = () => service.call(GetChangeRequestConfig, { params: project });

  it('says for each environment whether it is protected', async () => {
    await protect(10);
    expect(await config()).toEqual([
      { environment: 'production', type: 'production', changeRequestEnabled: true, requiredApprovals: 10 },
      { environment: 'development', type: 'development', changeRequestEnabled: false, requiredApprovals: null },
      { environment: 'staging', type: 'staging', changeRequestEnabled: false, requiredApprovals: null },
    ]);
  });

  it('emits an event when it changes, and only then', async () => {
    await protect(2);
    await protect(2);
    const params = { ...project, environment: 'production' };
    await service.call(SetChangeRequestConfig, { params, body: { changeRequestsEnabled: false } });
    const [on, off] = [
      { changeRequestsEnabled: true, requiredApprovals: 2 },
      { changeRequestsEnabled: false, requiredApprovals: null },
    ];
    expect(await service.emittedEvents()).toMatchObject([
      { type: 'change-request-configuration-updated', data: on, preData: off },
      { type: 'change-request-configuration-updated', data: off, preData: on },
    ]);
  });

  const sent = (isProtected: boolean) => ({ project: 'shop', environment: 'production', isProtected });
  /** Without repetitions: the background job may send the same change as well, and its version identifies it. */
  const sentProtections = () => [...new Map(service.features.protection.map((one) => [one.version, one])).values()];

  it('is known to the features service, which refuses direct edits, before the reply', async () => {
    await protect(2);
    expect(sentProtections().at(-1)).toMatchObject(sent(true));
  });

  it('is sent to the features service again after an outage of it', async () => {
    await protect(2);
    service.features.whileProtecting(() => {
      throw unavailable('gone');
    });
    const params = { ...project, environment: 'production' };
    // The call fails, unless the background job was the first to meet the outage.
    await Promise.allSettled([
      service.call(SetChangeRequestConfig, { params, body: { changeRequestsEnabled: false } }),
    ]);
    await eventually(() => expect(sentProtections().slice(-2)).toMatchObject([sent(true), sent(false)]));
  });

  it('can be set again after a restored backup of this service that does not know it', async () => {
    await protect(2);
    await eventually(() => expect(service.features.isProtected('production')).toBe(true));
    await service.database.transaction(({ query }) => query('truncate protected_environment'));
    const params = { ...project, environment: 'production' };
    await service.call(SetChangeRequestConfig, { params, body: { changeRequestsEnabled: false } });
    await eventually(() => expect(service.features.isProtected('production')).toBe(false));
  });

  it('takes effect after a restored backup of this service, whose versions the features service has seen', async () => {
    const params = { ...project, environment: 'production' };
    await protect(2);
    await service.call(SetChangeRequestConfig, { params, body: { changeRequestsEnabled: false } });
    await eventually(() => expect(service.features.isProtected('production')).toBe(false));
    await service.database.transaction(({ query }) => query('alter sequence unsynced_protection_version_seq restart'));
    await protect(2);
    await eventually(() => expect(service.features.isProtected('production')).toBe(true));
  });

  it('requires at least the approvals of the environment, unless an administrator sets fewer', async () => {
    service.features.requireApprovals('production', 3);
    const owner = { ...kim, grants: [{ permission: 'PROJECT_CHANGE_REQUEST_WRITE' as const, project: 'shop' }] };
    const params = { ...project, environment: 'production' };
    const set = (changeRequestsEnabled: boolean, requiredApprovals?: number, caller: Caller = owner) =>
      service.call(SetChangeRequestConfig, { params, body: { changeRequestsEnabled, requiredApprovals } }, caller);
    const needed = async () => (await config())[0]?.requiredApprovals;
    const refusedAt = (path: string) => ({ kind: 'ValidationError', details: [{ path }] });

    await expect(set(true, 2)).rejects.toMatchObject(refusedAt('/body/requiredApprovals'));
    await set(false);
    expect(await needed()).toBeNull();
    await set(true);
    expect(await needed()).toBe(3);
    await set(true, 5);
    await expect(set(false)).rejects.toMatchObject(refusedAt('/body/changeRequestsEnabled'));
    expect(await needed()).toBe(5);
    await set(true, 1, mia);
    await set(true, 1);
    expect(await needed()).toBe(1);
  });

  it('is refused to callers without the permission, and for unknown environments', async () => {
    const body = { changeRequestsEnabled: true };
    const set = (environment: string, caller: (typeof callers)[keyof typeof callers]) =>
      service.call(SetChangeRequestConfig, { params: { ...project, environment }, body }, caller);
    await expect(set('production', lee)).rejects.toMatchObject(forbidden);
    await expect(set('nowhere', mia)).rejects.toMatchObject(absent);
  });
});

describe('what a project shows', () => {
  it('is every request, newest first; what is pending for a feature; and what the caller can act on', async () => {
    await protect(1);
    const first = await approved();
    const second = await service.add(enable, kim);
    await service.move(second.id, 'In review', kim);
    const listed = await service.call(ListChangeRequests, { params: project }, ron);
    expect(listed.map(({ id }) => id)).toEqual([second.id, first]);
    const pending = (featureName: string) =>
      service.call(ListPendingOfFeature, { params: { ...project, featureName } }, ron);
    expect((await pending('checkout')).map(({ id }) => id)).toEqual([first, second.id]);
    expect(await pending('banner')).toEqual([]);
    expect(await service.call(CountChangeRequests, { params: project })).toEqual({
      total: 2,
      applied: 0,
      approved: 1,
      rejected: 0,
      reviewRequired: 1,
      scheduled: 0,
    });
    const actionable = async (caller: (typeof callers)[keyof typeof callers]) =>
      (await service.call(CountActionable, { params: project }, caller)).total;
    expect([await actionable(kim), await actionable(rita), await actionable(ada), await actionable(mia)]).toEqual([
      0, 1, 1, 2,
    ]);
    expect(await service.call(ListOpenChangeRequests, { params: project }, kim)).toEqual(await service.pending(kim));
  });

  it('reads the conflicts of 300 requests with one call', async () => {
    await service.database.transaction(({ query }) =>
      query(
        `with request as (
           insert into change_request (project, environment, state, min_approvals, created_by_id, created_by_name, created_at, revision, state_timestamps)
           select 'shop', 'production', 'In review', 1, 1000 + n, 'another user', now(), 1, '{}' from generate_series(1, 300) as n returning id)
         insert into change (change_request_id, position, action, feature, payload, created_by_id, created_by_name, created_at)
         select id, 1, 'updateEnabled', 'checkout', '{"enabled": true}', 7, 'mia', now() from request`,
      ),
    );
    service.features.archive('checkout');
    const before = service.features.previewCalls();
    const listed = await service.call(ListChangeRequests, { params: project });
    expect(listed).toHaveLength(300);
    expect(listed.every(({ features }) => features[0]?.conflict === 'Feature has been archived')).toBe(true);
    expect(service.features.previewCalls() - before).toBe(1);
  });
});
