import { invalid, unavailable } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { describe, expect, it } from 'vitest';
import {
  callers,
  type StartedChangeRequests,
  startChangeRequests,
  startedChangeRequests,
} from '../../test/started-change-requests.ts';

const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
const update = { action: 'updateStrategy', feature: 'checkout', payload: { id: 'in-production', title: 'ours' } };
const { mia, lee, kim, rita, ron, ada } = callers;

const service = startedChangeRequests();

async function approved(changes: readonly object[] = [enable], author: (typeof callers)[keyof typeof callers] = lee) {
  const { id } = await service.add(changes, author);
  await service.move(id, 'In review', author);
  await service.move(id, 'Approved', rita);
  return id;
}
function inMs(ms: number) {
  return { scheduledAt: new Date(Date.now() + ms).toISOString() };
}
/** Waits until no schedule is left to be checked for conflicts. */
function checked() {
  return eventually(async () => {
    const unchecked = { text: 'select from schedule where unchecked_edits > 0' };
    expect(await service.database.read(unchecked)).toEqual([]);
  });
}
async function emittedTypes() {
  return (await service.emittedEvents()).map(({ type }) => type);
}
function until(id: number, expected: object) {
  return eventually(async () => expect(await service.get(id)).toMatchObject(expected));
}
async function setTime(id: number, when: string) {
  await service.database.transaction(({ query }) =>
    query(`update schedule set scheduled_at = now() + $2::interval where change_request_id = $1`, [id, when]),
  );
  service.wake();
}

describe('a scheduled request', () => {
  it('is applied at its time on behalf of the user who scheduled it', async () => {
    const id = await approved();
    const time = inMs(5_000);
    expect(await service.move(id, 'Scheduled', ada, time)).toEqual({ id, state: 'Scheduled', ...time });
    expect(await service.get(id)).toMatchObject({ schedule: { status: 'pending', ...time } });
    await until(id, { state: 'Applied' });
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(time.scheduledAt));
    expect(service.features.applied).toMatchObject([{ id, by: 'ada', shownAs: 'Ada Berg' }]);
    expect((await service.emittedEvents()).slice(-3)).toMatchObject([
      { type: 'change-request-scheduled', data: { scheduledDate: time.scheduledAt }, createdBy: 'ada' },
      { type: 'change-request-applied', createdBy: 'ada' },
      { type: 'change-request-scheduled-application-success', data: { scheduledDate: time.scheduledAt } },
    ]);
    const applied = await service.get(id);
    expect(applied).not.toHaveProperty('schedule');
    const createdBy = { id: ada.id };
    expect(applied.steps?.slice(2)).toMatchObject([
      { state: 'Scheduled', createdBy, schedule: { status: 'pending', ...time } },
      { state: 'Applied', createdBy, scheduled: true },
    ]);
  });

  it('is applied once by several replicas', async () => {
    const replicas = await Promise.all([1, 2].map(() => startChangeRequests({ url: service.url })));
    const ids = await Promise.all([lee, ron].map((author) => approved([enable], author)));
    for (const id of ids) await service.move(id, 'Scheduled', ada, inMs(60_000));
    for (const id of ids) await setTime(id, '200 ms');
    for (const id of ids) await until(id, { state: 'Applied' });
    const applied = [service, ...replicas].flatMap(({ features }) => features.applied.map((done) => done.id));
    expect(applied.toSorted()).toEqual(ids.toSorted());
    expect((await emittedTypes()).filter((type) => type === 'change-request-applied')).toHaveLength(2);
    for (const replica of replicas) await replica.stop();
  });

  it.each([
    ['in the past', { scheduledAt: '2020-01-01T00:00:00.000Z' }],
    ['missing', {}],
    ['impossible', { scheduledAt: '2099-12-31T23:59:60Z' }],
  ])('needs a time that is not %s', async (_, more) => {
    const id = await approved();
    await expect(service.move(id, 'Scheduled', ada, more)).rejects.toThrow('/body/scheduledAt');
    expect(await service.get(id)).toMatchObject({ state: 'Approved' });
  });

  it('cannot be edited, only applied, rejected or rescheduled', async () => {
    const id = await approved();
    await expect(service.move(id, 'Scheduled', rita, inMs(60_000))).rejects.toMatchObject({ kind: 'NoAccessError' });
    await service.move(id, 'Scheduled', ada, inMs(60_000));
    for (const state of ['Cancelled', 'Approved', 'In review', 'Draft'] as const) {
      await expect(service.move(id, state)).rejects.toMatchObject({ kind: 'ConflictError' });
    }
    expect((await service.add(enable, lee)).id).not.toBe(id);
    const later = inMs(120_000);
    await service.move(id, 'Scheduled', ada, later);
    expect((await service.get(id)).schedule).toEqual({ status: 'pending', ...later });
    await service.move(id, 'Rejected', lee);
    expect(await service.get(id)).toMatchObject({ state: 'Rejected' });
    expect(await service.get(id)).not.toHaveProperty('schedule');
  });

  it('fails with its reason when it can no longer be applied, and can be retried', async () => {
    const id = await approved();
    await service.move(id, 'Scheduled', ada, inMs(60_000));
    await checked();
    service.features.archive('checkout');
    await setTime(id, '0 s');
    const reason = 'conflicts: Feature has been archived (1 in total)';
    await until(id, { state: 'Scheduled', schedule: { status: 'failed', reason, failureReason: reason } });
    // It stays failed: nothing is left to be checked, which would suspend it for the same conflict.
    const unchecked = { text: 'select from schedule where unchecked_edits > 0' };
    expect(await service.database.read(unchecked)).toEqual([]);
    expect((await service.emittedEvents()).at(-1)).toMatchObject({
      type: 'change-request-scheduled-application-failure',
      data: { reason },
    });
    await expect(service.move(id, 'Scheduled', ada, inMs(60_000))).rejects.toThrow('Feature has been archived');
  });

  it('is suspended by an edit that it would overwrite, and runs after it is rescheduled', async () => {
    service.features.edit('checkout', 'first');
    const id = await approved([update]);
    await service.move(id, 'Scheduled', ada, inMs(60_000));
    service.features.edit('checkout', 'second');
    service.features.emit('feature-strategy-update', 'checkout');
    const reason = 'Strategy in-production of feature flag checkout was changed; applying would overwrite that change';
    await until(id, { state: 'Scheduled', schedule: { status: 'suspended', reason } });
    expect((await service.emittedEvents()).at(-1)).toMatchObject({
      type: 'change-request-schedule-suspended',
      data: { reason },
      preData: { status: 'pending' },
    });
    await service.move(id, 'Scheduled', ada, inMs(60_000));
    await setTime(id, '0 s');
    await until(id, { state: 'Applied' });
  });

  it('is suspended at its time by an edit whose event was not consumed', async () => {
    service.features.edit('checkout', 'first');
    const id = await approved([update]);
    await service.move(id, 'Scheduled', ada, inMs(60_000));
    await checked();
    service.features.edit('checkout', 'second');
    await setTime(id, '0 s');
    await until(id, { schedule: { status: 'suspended' } });
    expect(service.features.applied).toEqual([]);
  });

  it('stays pending after edits of other objects', async () => {
    const id = await approved();
    await service.move(id, 'Scheduled', ada, inMs(60_000));
    const text = "select position::integer from consumer_checkpoint where producer = 'features'";
    const consumed = async () => (await service.database.read<{ position: number }>({ text }))[0]?.position ?? 0;
    const before = await consumed();
    service.features.emit('feature-strategy-update', 'banner');
    service.features.emit('feature-strategy-update', 'checkout');
    await eventually(async () => expect(await consumed()).toBe(before + 2));
    await checked();
    expect(await service.get(id)).toMatchObject({ schedule: { status: 'pending' } });
    await setTime(id, '0 s');
    await until(id, { state: 'Applied' });
  });

  it.each([
    ['is applied a minute late', '-1 minute', { state: 'Applied' }],
    [
      'fails with a reason when it could not begin for an hour',
      '-1 hour',
      { schedule: { status: 'failed', reason: 'it could not begin within 15 minutes of the scheduled time' } },
    ],
  ])('%s', async (_, when, expected) => {
    const id = await approved();
    await service.move(id, 'Scheduled', ada, inMs(60_000));
    await setTime(id, when);
    await until(id, expected);
  });
});

describe('a scheduled request is suspended as soon as', () => {
  const addStrategy = (segments: readonly number[]) => ({
    action: 'addStrategy',
    feature: 'checkout',
    payload: { name: 'default', constraints: [], parameters: {}, segments },
  });
  const archive = { action: 'archiveFeature', feature: 'checkout' };
  const deleteSegment = { action: 'deleteSegment', payload: { id: 4 } };
  it.each<[string, object, Parameters<StartedChangeRequests['features']['emit']>]>([
    ['a segment that its new strategy uses is deleted', addStrategy([5, 4]), ['segment-deleted', null, { id: 4 }]],
    [
      'a feature that it archives gets a child',
      archive,
      ['feature-dependency-added', 'banner', { feature: 'checkout' }],
    ],
    ['a strategy uses a segment that it deletes', deleteSegment, ['feature-strategy-add', 'banner', { segments: [4] }]],
    ['the type of its strategy is deleted', addStrategy([]), ['strategy-deleted', null, { name: 'default' }]],
    ['its project is archived', addStrategy([]), ['project-archived', null]],
  ])('%s', async (_, change, event) => {
    const id = await approved([change]);
    await service.move(id, 'Scheduled', ada, inMs(60_000));
    await checked();
    // From now on the request has a conflict, which a check finds.
    service.features.deleteProject('shop');
    service.features.emit(...event);
    await eventually(async () =>
      expect((await service.emittedEvents()).at(-1)).toMatchObject({ type: 'change-request-schedule-suspended' }),
    );
  });
});

describe('of a project that is gone', () => {
  it('a scheduled request is suspended with that reason, and without a warning', async () => {
    const id = await approved();
    await service.move(id, 'Scheduled', ada, inMs(60_000));
    service.features.deleteProject('shop');
    service.features.emit('feature-deleted', 'checkout');
    await eventually(async () =>
      expect((await service.emittedEvents()).at(-1)).toMatchObject({
        type: 'change-request-schedule-suspended',
        data: { changeRequestId: id, reason: 'Project is no longer available' },
      }),
    );
    expect(service.warnings).toEqual([]);
  });
});

describe('a defect of the features service', () => {
  const defect = () => {
    throw new Error('a defect');
  };

  it('delays the check of a schedule for conflicts, with one warning for any number of attempts', async () => {
    const id = await approved([update]);
    await service.move(id, 'Scheduled', ada, inMs(60_000));
    await checked();
    for (let nth = 0; nth < 3; nth++) service.features.whileChecking(defect);
    service.features.edit('checkout', 'newer');
    service.features.emit('feature-strategy-update', 'checkout');
    await until(id, { schedule: { status: 'suspended' } });
    expect(service.warnings.filter((text) => text.startsWith('The background jobs'))).toEqual([
      expect.stringContaining(`failed on change request ${id} and retry with backoff`),
    ]);
  });

  it('delays the application of a request, with one warning for any number of attempts', async () => {
    const id = await approved();
    await service.move(id, 'Scheduled', ada, inMs(60_000));
    for (let nth = 0; nth < 3; nth++) service.features.whileApplying('before', defect);
    await setTime(id, '0 s');
    await until(id, { state: 'Applied' });
    expect(service.warnings.filter((text) => text.startsWith('The background jobs'))).toEqual([
      expect.stringContaining(`failed on change request ${id} and retry with backoff`),
    ]);
  });
});

describe('a request that the features service refuses', () => {
  const refuse = () => {
    throw invalid('This is no longer accepted.');
  };

  it('fails at its scheduled time with the reason, and can be scheduled again', async () => {
    const id = await approved();
    await service.move(id, 'Scheduled', ada, inMs(60_000));
    service.features.whileApplying('before', refuse);
    await setTime(id, '0 s');
    await until(id, {
      state: 'Scheduled',
      schedule: { status: 'failed', reason: 'conflicts: This is no longer accepted. (1 in total)' },
    });
    await service.move(id, 'Scheduled', ada, inMs(60_000));
    await setTime(id, '0 s');
    await until(id, { state: 'Applied' });
  });

  it('is not left in progress when a user applies it', async () => {
    const id = await approved();
    service.features.whileApplying('before', refuse);
    await expect(service.move(id, 'Applied', ada)).rejects.toMatchObject({
      kind: 'ConflictError',
      message: 'This is no longer accepted.',
    });
    await service.move(id, 'Cancelled', lee);
    expect(await service.get(id)).toMatchObject({ state: 'Cancelled' });
  });
});

describe('after the deletion of a user', () => {
  const planned = async (author: (typeof callers)[keyof typeof callers] = lee) => {
    const id = await approved([enable], author);
    await service.move(id, 'Scheduled', ada, inMs(60_000));
    return id;
  };
  const remove = ({ id }: { readonly id: number }) => {
    service.gateway.remove(id);
    service.gateway.emit(id);
  };

  it('their scheduled requests are suspended, and another user can schedule them', async () => {
    const id = await planned();
    remove(ada);
    const reason = `The user who scheduled this change request (user id: ${ada.id}) has been deleted`;
    await until(id, { state: 'Scheduled', schedule: { status: 'suspended', reason } });
    expect((await service.emittedEvents()).at(-1)).toMatchObject({
      type: 'change-request-schedule-suspended',
      createdByUserId: -1337,
      data: { changeRequestId: id, reason },
      preData: { status: 'pending' },
    });
    await service.move(id, 'Scheduled', mia, inMs(60_000));
    await setTime(id, '0 s');
    await until(id, { state: 'Applied' });
    expect(service.features.applied).toMatchObject([{ id, by: mia.name }]);
  });

  it('their pending requests are cancelled, their schedules are suspended and their name is removed', async () => {
    const id = await planned(kim);
    const open = await approved([enable], kim);
    const draft = await service.add(enable, kim);
    const mine = await approved([enable]);
    remove(kim);
    await until(open, { state: 'Cancelled', createdBy: { id: kim.id, username: null, imageUrl: null } });
    await until(draft.id, { state: 'Cancelled' });
    const reason = `The author of this change request (user id: ${kim.id}) has been deleted`;
    await until(id, { schedule: { status: 'suspended', reason }, createdBy: { username: null } });
    expect(await service.get(mine)).toMatchObject({ state: 'Approved', createdBy: { username: 'lee' } });
  });

  it('a user who gets their id after a restored backup of the gateway keeps change requests', async () => {
    remove(kim);
    const deleted = { text: 'select user_id::integer as id from deleted_user' };
    const deletedIds = async () => (await service.database.read<{ id: number }>(deleted)).map(({ id }) => id);
    await eventually(async () => expect(await deletedIds()).toEqual([kim.id]));
    service.gateway.restore();
    await eventually(async () => expect(await deletedIds()).toEqual([]));
    const [kept, gone] = [await approved([enable], kim), await approved([enable], lee)];
    remove(lee);
    await until(gone, { state: 'Cancelled' });
    expect(await service.get(kept)).toMatchObject({ state: 'Approved', createdBy: { username: 'kim' } });
  });

  it('their approval does not count any more, and the request returns to review', async () => {
    const id = await approved();
    const later = await planned(kim);
    remove(rita);
    await until(id, { state: 'In review', approvals: [] });
    await until(later, { state: 'In review', approvals: [] });
    expect(await service.get(later)).not.toHaveProperty('schedule');
    await service.move(id, 'Approved', ron);
    await service.move(id, 'Applied', ada);
    expect(await service.get(id)).toMatchObject({ state: 'Applied' });
  });

  it('closed requests keep their approval', async () => {
    const id = await approved();
    await service.move(id, 'Applied', ada);
    const later = await approved([enable], kim);
    remove(rita);
    await until(later, { approvals: [] });
    expect(await service.get(id)).toMatchObject({ state: 'Applied', approvals: [{ createdBy: { id: rita.id } }] });
  });
});

describe('at its time, a scheduled request', () => {
  it('is suspended when the user who scheduled it is disabled, with or without an event', async () => {
    const id = await approved();
    await service.move(id, 'Scheduled', ada, inMs(60_000));
    service.gateway.remove(ada.id);
    await setTime(id, '0 s');
    const reason = `The user who scheduled this change request (user id: ${ada.id}) has been deleted or disabled`;
    await until(id, { schedule: { status: 'suspended', reason } });
    expect(service.features.applied).toEqual([]);
  });

  it('fails when the user who scheduled it may no longer apply it', async () => {
    const id = await approved();
    await service.move(id, 'Scheduled', ada, inMs(60_000));
    service.gateway.grant(ada.id, [{ permission: 'APPLY_CHANGE_REQUEST', project: 'shop', environment: 'staging' }]);
    await setTime(id, '0 s');
    const reason = `the user who scheduled it (user id: ${ada.id}) no longer has the permission to apply it`;
    await until(id, { schedule: { status: 'failed', reason } });
    expect((await emittedTypes()).at(-1)).toBe('change-request-scheduled-application-failure');
    expect(service.features.applied).toEqual([]);
  });

  it('is not applied when an approver may no longer approve, and returns to review', async () => {
    const id = await approved();
    await service.move(id, 'Scheduled', ada, inMs(60_000));
    service.gateway.grant(rita.id, []);
    await setTime(id, '0 s');
    await until(id, { state: 'In review', approvals: [] });
    expect(service.features.applied).toEqual([]);
  });

  it('waits while the gateway is unavailable to check the permissions of its user, with one warning', async () => {
    const id = await approved();
    await service.move(id, 'Scheduled', ada, inMs(60_000));
    service.gateway.whileReadingUsers(() => {
      throw unavailable('gone');
    });
    await setTime(id, '0 s');
    await until(id, { state: 'Applied' });
    await eventually(() =>
      expect(service.warnings).toEqual([
        `The background jobs of change requests wait for an unavailable service and retry every 50 ms. Blocked: 1 of them, the first on change request ${id}: gone`,
        'The background jobs of change requests work again.',
      ]),
    );
  });
});

describe('applying that is interrupted', () => {
  it.each(['before', 'after'] as const)('%s it took effect is completed in the background, once', async (when) => {
    const id = await approved();
    const away = () => {
      throw unavailable('gone');
    };
    service.features.whileApplying(when, away);
    await expect(service.move(id, 'Applied', ada)).rejects.toMatchObject({ kind: 'ServiceUnavailable' });
    // A request that is being applied accepts no changes: its author gets a new draft.
    const draft = await service.add(enable, lee);
    expect([draft.state, draft.id > id]).toEqual(['Draft', true]);
    await expect(service.move(id, 'Cancelled', lee)).rejects.toThrow('Change request is being applied');
    await until(id, { state: 'Applied' });
    expect(service.features.applied).toHaveLength(1);
    expect((await emittedTypes()).filter((type) => type === 'change-request-applied')).toHaveLength(1);
  });

  it('is completed as well when the clock of the database was set back since it began', async () => {
    const id = await approved();
    service.features.whileApplying('before', () => {
      throw unavailable('gone');
    });
    await expect(service.move(id, 'Applied', ada)).rejects.toMatchObject({ kind: 'ServiceUnavailable' });
    await service.database.transaction(({ query }) =>
      query(`update change_request set applying_since = now() + interval '400 days' where id = $1`, [id]),
    );
    service.wake();
    await until(id, { state: 'Applied' });
    expect(service.features.applied).toHaveLength(1);
  });
});
