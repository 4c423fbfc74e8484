import {
  AddChanges,
  type Caller,
  type ChangeAction,
  EditChange,
  GetProposalTarget,
  PreviewChangeRequest,
  PreviewProposal,
  ProposeImport,
  RevertChangeRequest,
  SetChangeRequestConfig,
} from '@bunting/contracts';
import { gravatarUrlOf } from '@bunting/contracts/hashing';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  callers,
  startChangeRequests,
  type StartedChangeRequests,
  startedChangeRequests,
} from '../../test/started-change-requests.ts';

const service = startedChangeRequests();

describe('adding changes', () => {
  const enable = (feature = 'checkout') => ({ action: 'updateEnabled', feature, payload: { enabled: true } });
  const disable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: false } };
  const addStrategy = {
    action: 'addStrategy',
    feature: 'checkout',
    payload: { name: 'flexibleRollout', constraints: [], parameters: { rollout: '5' } },
  };

  /** What reviewing will do: puts a request into a state, with approvals. */
  const review = (
    id: number,
    state: string,
    approvedBy: readonly { id: number; name: string }[] = [],
  ): Promise<unknown> =>
    service.database.transaction(async ({ query }) => {
      await query('update change_request set state = $2 where id = $1', [id, state]);
      for (const { id: userId, name } of approvedBy) {
        await query('insert into approval values ($1, $2, $3, now())', [id, userId, name]);
      }
    });

  const emittedTypes = async (): Promise<string[]> => (await service.emittedEvents()).map(({ type }) => type);

  describe('the first change that a user proposes', () => {
    it('opens a draft that holds it, and returns it', async () => {
      const before = Date.now();
      const request = await service.add(enable());
      const mia = { id: 7, username: 'mia@bunting.example', imageUrl: gravatarUrlOf('mia@bunting.example') };
      const { createdAt } = request;
      expect(request).toEqual({
        id: expect.any(Number),
        title: `Change request #${request.id}`,
        environment: 'production',
        affectedEnvironments: [],
        project: 'shop',
        minApprovals: 1,
        state: 'Draft',
        features: [
          {
            name: 'checkout',
            changes: [
              {
                id: expect.any(Number),
                action: 'updateEnabled',
                payload: { enabled: true },
                createdBy: mia,
                createdAt,
              },
            ],
          },
        ],
        segments: [],
        approvals: [],
        rejections: [],
        comments: [],
        createdBy: mia,
        createdAt,
        stateTimestamps: { Draft: createdAt },
        revision: 1,
      });
      expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(before);
    });

    it('emits that a request was created, then each change, in one transaction with the request', async () => {
      const request = await service.add([enable(), addStrategy]);
      const [changeA, changeB] = request.features[0]?.changes ?? [];
      expect(await service.emittedEvents()).toMatchObject([
        { type: 'change-request-created', data: { changeRequestId: request.id, minApprovals: 1 }, featureName: null },
        { type: 'change-added', data: { changeRequestId: request.id, changeId: changeA?.id }, featureName: 'checkout' },
        { type: 'change-added', data: { changeRequestId: request.id, changeId: changeB?.id }, featureName: 'checkout' },
      ]);
    });

    it('is emitted without its payload while the request is a draft', async () => {
      await service.add(addStrategy);
      expect(JSON.stringify(await service.emittedEvents())).not.toContain('flexibleRollout');
    });
  });

  describe('a further change', () => {
    it('joins the pending request of its user', async () => {
      const first = await service.add(enable());
      const second = await service.add(addStrategy);
      expect(second).toMatchObject({ id: first.id, revision: 2 });
      expect(second.features).toMatchObject([
        { changes: [first.features[0]?.changes[0], { action: 'addStrategy', payload: addStrategy.payload }] },
      ]);
    });

    it('is checked on top of the earlier changes', async () => {
      await service.add([enable(), { action: 'updateSegment', payload: { id: 4, name: 'beta' } }]);
      await service.add(addStrategy);
      expect(service.features.checkRequests[1]).toMatchObject({
        project: 'shop',
        environment: 'production',
        changes: [addStrategy],
        earlier: [enable(), { action: 'updateSegment', payload: { id: 4, name: 'beta' } }],
      });
    });

    it('is checked in the place of the change that it replaces, also by an edit of that change', async () => {
      const rename = (name: string) => ({ action: 'updateSegment', payload: { id: 4, name } });
      const { id, segments } = await service.add([rename('a'), enable()]);
      expect(service.features.checkRequests[0]).not.toHaveProperty('order');
      await service.add(rename('b'));
      const changeId = segments[0]?.changes[0]?.id ?? 0;
      await service.call(EditChange, { params: { projectId: 'shop', id, changeId }, body: rename('c') });
      expect(service.features.checkRequests.slice(1)).toMatchObject([
        { earlier: [rename('a')], order: [1] },
        { earlier: [rename('b')], order: [1] },
      ]);
    });

    it('of another user, or for another environment, opens another request', async () => {
      const ids = [
        await service.add(enable()),
        await service.add(enable(), callers.lee),
        await service.add(enable(), callers.mia, 'development'),
      ].map(({ id }) => id);
      expect(new Set(ids).size).toBe(3);
    });

    it.each(['Scheduled', 'Applied', 'Rejected', 'Cancelled'])(
      'opens a new draft when the last is %s',
      async (state) => {
        const first = await service.add(enable());
        await review(first.id, state);
        const second = await service.add(enable());
        expect(second).toMatchObject({ state: 'Draft', revision: 1 });
        expect(second.id).toBeGreaterThan(first.id);
      },
    );

    it('that replaces an earlier one keeps the id and the snapshot of that', async () => {
      const update = { action: 'updateStrategy', feature: 'checkout' };
      const first = await service.add([
        { ...update, payload: { id: 'in-production', title: 'a', disabled: true } },
        enable(),
      ]);
      await service.add([{ ...update, payload: { id: 'in-production', title: 'b' } }, disable]);
      const [stored] = await service.pending();
      expect(stored?.features[0]?.changes).toMatchObject([
        {
          id: first.features[0]?.changes[0]?.id,
          payload: { id: 'in-production', title: 'b', disabled: true, snapshot: { title: 'as it was' } },
        },
        { id: first.features[0]?.changes[1]?.id, payload: { enabled: false } },
      ]);
      expect((await emittedTypes()).slice(3)).toEqual(['change-edited', 'change-edited']);
    });

    it('that deletes a strategy drops the earlier updates of it', async () => {
      const named = { feature: 'checkout', payload: { id: 'in-production' } };
      await service.add({ action: 'updateStrategy', ...named });
      await service.add({ action: 'deleteStrategy', ...named });
      expect((await service.pending())[0]?.features[0]?.changes).toMatchObject([{ action: 'deleteStrategy' }]);
      expect((await emittedTypes()).slice(2)).toEqual(['change-discarded', 'change-added']);
      expect(await service.stored()).toMatchObject({ change: 1 });
    });

    it('that is already part of the request changes and emits nothing', async () => {
      const archive = { action: 'archiveFeature', feature: 'checkout' };
      const first = await service.add(archive);
      const stored = await service.stored();
      expect(await service.add(archive)).toEqual(first);
      expect(await service.stored()).toEqual(stored);
    });

    it('wipes the approvals of a request in review', async () => {
      const { id } = await service.add(enable());
      await review(id, 'In review', [callers.lee]);
      expect((await service.pending())[0]?.approvals).toMatchObject([{ createdBy: { id: 8, username: 'lee' } }]);
      expect(await service.add(addStrategy)).toMatchObject({ id, state: 'In review', approvals: [] });
      expect(await service.pending()).toMatchObject([{ id, state: 'In review', approvals: [] }]);
      expect(await service.stored()).toMatchObject({ approval: 0 });
    });

    it('sends an approved request back to review, and emits that with its payload', async () => {
      const { id } = await service.add(enable());
      await review(id, 'Approved', [callers.lee, callers.kim]);
      expect(await service.add(addStrategy)).toMatchObject({ id, state: 'In review', approvals: [] });
      expect((await service.emittedEvents()).slice(2)).toMatchObject([
        { type: 'change-added', data: { payload: { name: 'flexibleRollout' } } },
        {
          type: 'change-request-sent-to-review',
          data: { changeRequestId: id, reason: 'changed' },
          preData: { state: 'Approved' },
        },
      ]);
      expect((await service.pending())[0]?.stateTimestamps).toHaveProperty(['In review']);
    });
  });

  describe('changes of segments', () => {
    it('are listed by segment, with its current name and the replaced values', async () => {
      const { features, segments } = await service.add([
        { action: 'updateSegment', feature: 'not looked at', payload: { id: 4, name: 'beta' } },
        enable(),
      ]);
      expect(features).toMatchObject([{ name: 'checkout' }]);
      expect(segments).toMatchObject([
        {
          id: 4,
          name: 'beta users',
          changes: [
            {
              action: 'updateSegment',
              payload: { id: 4, name: 'beta', snapshot: { id: 4, name: 'beta users', constraints: [] } },
            },
          ],
        },
      ]);
      expect(await service.emittedEvents()).toContainEqual(
        expect.objectContaining({
          featureName: null,
          data: expect.objectContaining({ action: 'updateSegment', segment: { id: 4, name: 'beta users' } }),
        }),
      );
    });
  });

  describe('actions without a payload', () => {
    it.each([['archiveFeature'], ['deleteDependency']])('%s gets an empty payload', async (action) => {
      for (const [feature, more] of [
        ['checkout', {}],
        ['banner', { payload: null }],
      ] as const) {
        await service.add({ action, feature, ...more });
      }
      expect((await service.pending())[0]?.features).toMatchObject([
        { name: 'checkout', changes: [{ action, payload: {} }] },
        { name: 'banner', changes: [{ action, payload: {} }] },
      ]);
    });
  });
});

describe('adding to a new draft', () => {
  const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
  const { lee, rita } = callers;

  const proposeInNewDraft = (body: unknown = enable) =>
    service.call(
      AddChanges,
      { params: { projectId: 'shop', environment: 'production' }, query: { new: true }, body },
      lee,
    );
  const states = async () => (await service.pending(lee)).map(({ id, state }) => [id, state]);

  it('is announced by the request to which it would be added, in whatever state that is', async () => {
    const target = async (caller: Caller = lee) =>
      (await service.call(GetProposalTarget, { params: { projectId: 'shop', environment: 'production' } }, caller))
        .changeRequest;
    expect(await target()).toBeNull();
    const { id } = await service.add(enable, lee);
    expect(await target()).toEqual({ id, title: `Change request #${id}`, state: 'Draft', approvals: 0 });
    expect(await target(rita)).toBeNull();
    await service.move(id, 'In review', lee);
    await service.move(id, 'Approved', rita);
    expect(await target()).toMatchObject({ id, state: 'Approved', approvals: 1 });
    const draft = await proposeInNewDraft();
    expect(await target()).toMatchObject({ id: draft.id, state: 'Draft' });
  });

  describe('a change with ?new=true', () => {
    it('does not change the requests in review or approved', async () => {
      const reviewed = await service.add(enable, lee);
      await service.move(reviewed.id, 'In review', lee);
      await service.move(reviewed.id, 'Approved', rita);
      const draft = await proposeInNewDraft();
      expect(await states()).toEqual([
        [reviewed.id, 'Approved'],
        [draft.id, 'Draft'],
      ]);
      // From now on the draft is what is added to, whichever way.
      expect((await service.add(enable, lee)).id).toBe(draft.id);
      expect((await proposeInNewDraft()).id).toBe(draft.id);
    });

    it('joins an existing draft: a user has at most one', async () => {
      const draft = await service.add(enable, lee);
      expect((await proposeInNewDraft()).id).toBe(draft.id);
    });

    it('creates one draft for concurrent proposals', async () => {
      const reviewed = await service.add(enable, lee);
      await service.move(reviewed.id, 'In review', lee);
      const titled = (nth: number) => ({
        action: 'addStrategy',
        feature: 'checkout',
        payload: { name: 'default', constraints: [], parameters: {}, title: `${nth}` },
      });
      const made = await Promise.all(Array.from({ length: 10 }, (_, nth) => proposeInNewDraft(titled(nth))));
      expect(new Set(made.map(({ id }) => id)).size).toBe(1);
      expect(await states()).toHaveLength(2);
      expect((await service.pending(lee))[1]?.features[0]?.changes).toHaveLength(10);
    });

    it('differs from a change without it, which joins the request in review and removes its approvals', async () => {
      const reviewed = await service.add(enable, lee);
      await service.move(reviewed.id, 'In review', lee);
      expect((await service.add({ ...enable, payload: { enabled: false } }, lee)).id).toBe(reviewed.id);
    });
  });

  describe('a change that comes while the request of its author is being applied', () => {
    const { ada } = callers;
    const approved = async () => {
      const { id } = await service.add(enable, lee);
      await service.move(id, 'In review', lee);
      await service.move(id, 'Approved', rita);
      return id;
    };

    it('creates a new draft instead of changing that request', async () => {
      const id = await approved();
      let draft: { readonly id: number; readonly state: string } | undefined;
      let added: () => void = () => undefined;
      const isAdded = new Promise<void>((resolve) => (added = resolve));
      service.features.whileApplying('before', async () => {
        draft = await service.add({ ...enable, payload: { enabled: false } }, lee).finally(added);
      });
      await service.move(id, 'Applied', ada);
      await isAdded;
      expect(draft).toMatchObject({ state: 'Draft' });
      expect(draft?.id).not.toBe(id);
      expect(await states()).toEqual([[draft?.id, 'Draft']]);
    });

    it('creates a new draft, although it was checked against the request before its decision', async () => {
      const id = await approved();
      service.features.meanwhile(() => service.move(id, 'Applied', ada));
      const draft = await service.add({ ...enable, payload: { enabled: false } }, lee);
      expect(draft).toMatchObject({ state: 'Draft' });
      expect(draft.id).not.toBe(id);
    });
  });

  describe('adding to a request', () => {
    it('makes one call about the feature only, for the fortieth change as for the first', async () => {
      const toggle = (feature: string) => ({ action: 'updateEnabled', feature, payload: { enabled: true } });
      service.features.know(Array.from({ length: 40 }, (_, nth) => `flag-${nth}`));
      const costs: { calls: number; earlier: number }[] = [];
      for (let nth = 0; nth < 40; nth++) {
        await service.add(toggle(`flag-${nth}`), lee);
        const requests = service.features.checkRequests;
        costs.push({ calls: requests.length - nth, earlier: requests.at(-1)?.earlier.length ?? -1 });
      }
      expect(costs).toEqual(Array.from({ length: 40 }, () => ({ calls: 1, earlier: 0 })));
    });
  });
});

describe('adding bad input', () => {
  const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
  const strategy = { name: 'default', constraints: [], parameters: {} };

  /** The refusal of a body, which stores and emits nothing. */
  const refusalOf = async (body: unknown, projectId = 'shop', environment = 'production') => {
    const stored = await service.stored();
    const refused = await service.call(AddChanges, { params: { projectId, environment }, body }, callers.lee).then(
      () => Promise.reject(new Error('The body was taken.')),
      (error: { kind: string; message: string; details: unknown }) => error,
    );
    expect(await service.stored()).toEqual(stored);
    return refused;
  };

  describe('a body that proposes changes', () => {
    it.each<[string, unknown, string]>([
      ['text', 'updateEnabled', '/body'],
      ['a number', 7, '/body'],
      ['null', null, '/body'],
      ['nothing', undefined, '/body'],
      ['an empty list', [], '/body'],
      ['a list of text', ['updateEnabled'], '/body/0'],
      ['201 changes', Array.from({ length: 201 }, () => enable), '/body'],
      ['1,000 changes', Array.from({ length: 1_000 }, () => enable), '/body'],
      ['a change without action', { feature: 'checkout', payload: {} }, '/body/action'],
      ['an unknown action', { ...enable, action: 'deleteFeature' }, '/body/action'],
      ['the name of a member of every object as action', { ...enable, action: 'constructor' }, '/body/action'],
      ['an action in other letters', [enable, { ...enable, action: 'UpdateEnabled' }], '/body/1/action'],
      ['a feature action without feature', { action: 'updateEnabled', payload: { enabled: true } }, '/body/feature'],
      ['a feature that is no text', { ...enable, feature: { name: 'checkout' } }, '/body/feature'],
    ])('is refused when it is %s', async (_, body, path) => {
      const { kind, message } = await refusalOf(body);
      expect(kind).toBe('ValidationError');
      expect(message).toContain(`\`${path}\``);
    });

    it.each<[ChangeAction, unknown, string]>([
      ['updateSegment', { name: 'beta' }, '/payload/id'],
      ['updateSegment', { id: 4, name: 7 }, '/payload/name'],
      [
        'updateSegment',
        { id: 4, constraints: [{ contextName: 'userId', operator: 'LIKE' }] },
        '/payload/constraints/0/operator',
      ],
      ['deleteSegment', { id: '4' }, '/payload/id'],
      ['deleteSegment', undefined, '/payload'],
      ['updateEnabled', { enabled: 'true' }, '/payload/enabled'],
      [
        'updateEnabled',
        { enabled: true, shouldActivateDisabledStrategies: 1 },
        '/payload/shouldActivateDisabledStrategies',
      ],
      ['addStrategy', { name: 'default', parameters: {} }, '/payload/constraints'],
      ['addStrategy', { name: 'default', constraints: [] }, '/payload/parameters'],
      ['addStrategy', { ...strategy, name: null }, '/payload/name'],
      ['addStrategy', { ...strategy, segments: ['4'] }, '/payload/segments/0'],
      ['addStrategy', { ...strategy, parameters: { rollout: null } }, '/payload/parameters/rollout'],
      ['addStrategy', { ...strategy, variants: [{ name: 'a', weight: 1001 }] }, '/payload/variants/0'],
      ['updateStrategy', { title: 'a' }, '/payload/id'],
      ['updateStrategy', { id: 'in-production', disabled: 'no' }, '/payload/disabled'],
      ['deleteStrategy', {}, '/payload/id'],
      ['archiveFeature', { enabled: true }, '/payload'],
      ['patchVariant', { variants: {} }, '/payload/variants'],
      ['patchVariant', { variants: [{ name: 'a', weight: -1 }] }, '/payload/variants/0/weight'],
      ['reorderStrategy', { id: 'in-production', sortOrder: 1 }, '/payload'],
      ['reorderStrategy', [{ id: 'in-production' }], '/payload/0/sortOrder'],
      ['addDependency', { enabled: true }, '/payload/feature'],
      ['addDependency', { feature: 'banner', variants: 'a' }, '/payload/variants'],
      ['deleteDependency', { feature: 'banner' }, '/payload'],
    ])(
      'is refused when %s has a payload like %j, and the message names the property',
      async (action, payload, path) => {
        const { kind, message } = await refusalOf([enable, { action, feature: 'checkout', payload }]);
        expect(kind).toBe('ValidationError');
        expect(message).toContain(`/body/1${path}`);
      },
    );

    it('is refused with a key that could become a prototype', async () => {
      const parameters: unknown = JSON.parse('{"__proto__": "5"}');
      const body = [{ action: 'addStrategy', feature: 'checkout', payload: { ...strategy, parameters } }];
      const { kind, message } = await refusalOf(body);
      expect(kind).toBe('ValidationError');
      expect(message).toContain('`/body/0/payload/parameters/__proto__`');
    });

    it.each<[string, unknown, string]>([
      ['an unknown feature', { ...enable, feature: 'nowhere' }, 'NotFoundError'],
      ['a feature of another project', { ...enable, feature: 'engine' }, 'NotFoundError'],
      [
        'an unknown strategy',
        { action: 'deleteStrategy', feature: 'checkout', payload: { id: 'none' } },
        'NotFoundError',
      ],
      [
        'a strategy of another environment',
        { action: 'updateStrategy', feature: 'checkout', payload: { id: 'in-development', title: 'a' } },
        'NotFoundError',
      ],
      [
        'a strategy of another feature',
        { action: 'deleteStrategy', feature: 'banner', payload: { id: 'in-production' } },
        'NotFoundError',
      ],
      ['an unknown segment', { action: 'deleteSegment', payload: { id: 99 } }, 'NotFoundError'],
      [
        'a segment of another project',
        { action: 'updateSegment', payload: { id: 5, name: 'mine' } },
        'ValidationError',
      ],
      ['one bad change among good ones', [enable, { ...enable, feature: 'nowhere' }, enable], 'NotFoundError'],
    ])('is refused as a whole when it names %s', async (_, body, kind) => {
      expect((await refusalOf(body)).kind).toBe(kind);
    });

    it.each([
      ['an unknown project', 'nowhere', 'production'],
      ['an unknown environment', 'shop', 'nowhere'],
      ['an environment that the project is not linked to', 'garage', 'development'],
    ])('is refused as not found for %s', async (_, projectId, environment) => {
      expect((await refusalOf(enable, projectId, environment)).kind).toBe('NotFoundError');
    });

    it('is refused when it updates what the request deletes', async () => {
      const named = { feature: 'checkout', payload: { id: 'in-production' } };
      const body = [
        { action: 'deleteStrategy', ...named },
        { action: 'updateStrategy', ...named },
      ];
      expect(await refusalOf(body)).toMatchObject({
        kind: 'ValidationError',
        message: 'Strategy is deleted by this change request: the `/body/1/payload/id` property names it.',
        details: [{ path: '/body/1/payload/id' }],
      });
    });

    it('is refused when the request would hold more than 500 changes', async () => {
      const add = { action: 'addStrategy', feature: 'checkout', payload: strategy };
      const many = Array.from({ length: 200 }, () => add);
      for (const body of [many, many, many.slice(0, 99)]) await service.add(body, callers.lee);
      expect(await refusalOf([add, add])).toMatchObject({ kind: 'ConflictError' });
      const full = await service.add(add, callers.lee);
      expect(full.features[0]?.changes).toHaveLength(500);
    });

    it('is accepted without properties that are no part of a change, such as a comment', async () => {
      const request = await service.add({ ...enable, comment: 'Please look at this', id: 99 }, callers.kim);
      expect(request.comments).toEqual([]);
      expect(JSON.stringify(request)).not.toContain('Please look');
      expect(service.features.checkRequests.at(-1)?.changes).toEqual([enable]);
    });

    it('keeps text that looks like SQL or Markdown unchanged', async () => {
      const title = `'; drop table change; -- $1 %s \\ " <b> 🏁 \u{1F468}\u200D\u{1F469} ${'x'.repeat(10_000)}`;
      const body = { action: 'addStrategy', feature: 'banner', payload: { ...strategy, title } };
      await service.add(body, callers.kim);
      const [pending] = await service.pending(callers.kim);
      expect(pending?.features.at(-1)?.changes[0]?.payload).toMatchObject({ title });
    });
  });
});

describe('a protected project', () => {
  const { lee, rita, ada } = callers;
  /** The same user as a caller who is not a member of the protected project. */
  const outside: Caller = { ...lee, proposalDeniedProjects: ['shop'] };
  const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
  const place = { projectId: 'shop', environment: 'production' };
  const forbidden = { kind: 'NoAccessError', message: expect.stringContaining('protected') };

  it('refuses proposals and previews by callers who are not members of a protected project', async () => {
    await expect(service.call(AddChanges, { params: place, body: enable }, outside)).rejects.toMatchObject(forbidden);
    const proposal = { params: place, body: [enable] };
    await expect(service.call(PreviewProposal, proposal, outside)).rejects.toMatchObject(forbidden);
    expect(await service.stored()).toMatchObject({ change_request: 0 });
  });

  it('refuses further steps by a former member of a protected project, who still sees their request', async () => {
    const { id, features } = await service.add(enable, lee);
    const edit = { params: { projectId: 'shop', id, changeId: features[0]?.changes[0]?.id ?? 0 }, body: enable };
    await expect(service.call(EditChange, edit, outside)).rejects.toMatchObject(forbidden);
    await expect(service.move(id, 'In review', outside)).rejects.toMatchObject(forbidden);
    expect(await service.get(id, outside)).toMatchObject({ state: 'Draft', revision: 1 });
  });

  it('refuses to revert a request of a protected project for callers who are not members', async () => {
    const { id } = await service.add(enable, lee);
    await service.move(id, 'In review', lee);
    await service.move(id, 'Approved', rita);
    await service.move(id, 'Applied', ada);
    const revert = { params: { projectId: 'shop', id } };
    await expect(service.call(RevertChangeRequest, revert, outside)).rejects.toMatchObject(forbidden);
  });

  it('accepts proposals of the same caller in projects that are not protected', async () => {
    expect(await service.add(enable, { ...lee, proposalDeniedProjects: ['another'] })).toMatchObject({
      state: 'Draft',
    });
  });
});

describe('the proposal of an import', () => {
  let replica: StartedChangeRequests;
  beforeAll(async () => {
    replica = await startChangeRequests({ url: service.url });
  });
  afterAll(() => replica.stop());

  const change = (feature: string, enabled: boolean) => ({
    action: 'updateEnabled' as const,
    feature,
    segment: null,
    payload: { enabled },
    snapshot: { enabled: !enabled },
  });
  const imported = (importId: string, at = service) =>
    at.call(ProposeImport, {
      body: {
        importId,
        project: 'shop',
        environment: 'production',
        title: 'Import of 2 features',
        by: { id: callers.lee.id, name: callers.lee.name },
        changes: [change('checkout', true), change('banner', false)],
      },
    });

  it('an import creates a request and sends it to review in the name of the importing user', async () => {
    const params = { projectId: 'shop', environment: 'production' };
    await service.call(SetChangeRequestConfig, { params, body: { changeRequestsEnabled: true, requiredApprovals: 2 } });
    const { id } = await imported(randomUUID());
    expect(await service.get(id, callers.kim)).toMatchObject({
      title: 'Import of 2 features',
      state: 'In review',
      environment: 'production',
      minApprovals: 2,
      createdBy: { id: callers.lee.id, username: callers.lee.name },
      features: [
        { name: 'checkout', changes: [{ action: 'updateEnabled', payload: { enabled: true } }] },
        { name: 'banner', changes: [{ action: 'updateEnabled', payload: { enabled: false } }] },
      ],
    });
    const emitted = (await service.emittedEvents()).filter(
      ({ data }) => (data as { changeRequestId?: number }).changeRequestId === id,
    );
    expect(emitted.map(({ type, createdBy }) => [type, createdBy])).toEqual(
      ['change-request-created', 'change-added', 'change-added', 'change-request-sent-to-review'].map((type) => [
        type,
        callers.lee.name,
      ]),
    );
  });

  it('an import does not change the draft of its author', async () => {
    const draft = await service.add(
      { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } },
      callers.lee,
    );
    const { id } = await imported(randomUUID());
    expect(id).not.toBe(draft.id);
    expect(await service.get(draft.id, callers.lee)).toEqual(draft);
  });

  it('an import creates one request, however often and by whichever replica it is processed', async () => {
    const importId = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, nth) => imported(importId, nth % 2 === 0 ? service : replica)),
    );
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(await service.stored()).toMatchObject({ change_request: 1, change: 2, outbox: 4 });
  });
});

describe('reverting', () => {
  const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
  const archive = { action: 'archiveFeature', feature: 'banner' };
  const { mia, lee, kim } = callers;

  const at = (id: number) => ({ projectId: 'shop', id });
  const revert = (id: number, caller = kim) => service.call(RevertChangeRequest, { params: at(id) }, caller);
  const applied = async (changes: readonly object[] = [enable]) => {
    const { id } = await service.add(changes, mia);
    for (const state of ['In review', 'Approved', 'Applied'] as const) await service.move(id, state, mia);
    return id;
  };

  describe('reverting an applied request', () => {
    it('creates a draft of the caller from the inverse changes that were stored with the result', async () => {
      const id = await applied();
      const draft = await revert(id);
      expect(draft).toMatchObject({
        state: 'Draft',
        title: `Revert of change request #${id}`,
        createdBy: { id: kim.id },
        features: [{ name: 'checkout', changes: [{ action: 'updateEnabled' }] }],
      });
      expect(await service.get(draft.id, kim)).toEqual(draft);
      expect((await service.emittedEvents()).slice(-2)).toMatchObject([
        { type: 'change-request-created', data: { changeRequestId: draft.id } },
        { type: 'change-added', data: { changeRequestId: draft.id } },
      ]);
    });

    it('needs the approvals of all that it affects, in its reply and in its event', async () => {
      const dependency = { action: 'addDependency', feature: 'checkout', payload: { feature: 'banner' } };
      const { id } = await service.add(dependency, mia, 'development');
      for (const state of ['In review', 'Approved', 'Applied'] as const) await service.move(id, state, mia);
      await service.call(SetChangeRequestConfig, {
        params: { projectId: 'shop', environment: 'production' },
        body: { changeRequestsEnabled: true, requiredApprovals: 2 },
      });
      const draft = await revert(id);
      expect(draft).toMatchObject({
        environment: 'development',
        minApprovals: 2,
        affectedEnvironments: ['production'],
      });
      expect((await service.emittedEvents()).findLast(({ type }) => type === 'change-request-created')).toMatchObject({
        data: { changeRequestId: draft.id, minApprovals: 2 },
      });
    });

    it('shows later edits as overwritten values', async () => {
      const id = await applied();
      service.features.edit('checkout', 'something newer');
      expect((await revert(id)).features[0]?.changes[0]?.overwrites).toHaveLength(1);
    });

    it('names the changes that it cannot revert', async () => {
      const { comments } = await revert(await applied([enable, archive]));
      expect(comments).toMatchObject([{ text: expect.stringContaining('banner stays archived until it is revived') }]);
    });

    it('is refused for a request that was not applied, for a caller with a draft, and for an unknown request', async () => {
      const { id } = await service.add(enable, lee);
      await expect(revert(id, lee)).rejects.toMatchObject({ kind: 'ConflictError' });
      await expect(revert(1e9)).rejects.toMatchObject({ kind: 'NotFoundError' });
      const done = await applied();
      await expect(revert(done, lee)).rejects.toThrow('You have a draft here already');
      expect(await service.stored()).toMatchObject({ change_request: 2 });
    });
  });

  describe('a preview', () => {
    it('works before review, for its author alone', async () => {
      const { id } = await service.add([enable], lee);
      service.features.archive('checkout');
      expect(await service.call(PreviewChangeRequest, { params: at(id) }, lee)).toMatchObject({
        applicable: false,
        features: [{ name: 'checkout', conflictCode: 'feature-archived' }],
      });
      await expect(service.call(PreviewChangeRequest, { params: at(id) }, mia)).rejects.toMatchObject({
        kind: 'NotFoundError',
      });
    });

    it('works for changes that are not proposed, and stores nothing', async () => {
      const params = { projectId: 'shop', environment: 'production' };
      const preview = (body: unknown) => service.call(PreviewProposal, { params, body }, kim);
      expect(await preview([enable, archive])).toMatchObject({
        applicable: true,
        features: [{ changes: [{ id: 0, action: 'updateEnabled' }] }, { changes: [{ id: 1 }] }],
      });
      await expect(preview({ ...enable, payload: { enabled: 1 } })).rejects.toThrow('/body/payload/enabled');
      expect(await service.stored()).toMatchObject({ change_request: 0, outbox: 0 });
    });
  });
});
