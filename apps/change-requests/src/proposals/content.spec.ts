import { invalid, type Refusal, refusal, type RefusalExtras } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { aChange, aCheckedChange, anApprovalBy, aRequest, kim, lee, mia, miaNow, noon } from '../../test/builders.ts';
import { addChanges, createDraft, editChange, refusePrototypeKeys, withPathsOfSingleChange } from './content.ts';

const one = '2026-11-21T13:00:00.000Z';
const enable = aCheckedChange({ action: 'updateEnabled', payload: { enabled: true } });
const addStrategy = aCheckedChange({ action: 'addStrategy', payload: { name: 'default' } });
function typesOf(events: readonly { type: string }[]): string[] {
  return events.map(({ type }) => type);
}

describe('a new request', () => {
  const draft = createDraft({ id: 31, uid: null, project: 'shop', environment: 'production', minApprovals: 2 }, miaNow);

  it('is a draft of its author with the number of approvals that is currently required', () => {
    expect(draft.request).toEqual(
      aRequest({ minApprovals: 2, revision: 0, createdAt: one, stateTimestamps: { Draft: one } }),
    );
  });

  it('emits that it was created, by whom, where and when', () => {
    expect(draft.events).toEqual([
      {
        type: 'change-request-created',
        createdAt: one,
        createdBy: 'mia@bunting.example',
        createdByUserId: 7,
        project: 'shop',
        environment: 'production',
        featureName: null,
        data: { changeRequestId: 31, minApprovals: 2 },
        preData: null,
        tags: [],
      },
    ]);
  });
});

describe('a request that changes are added to', () => {
  it('appends them after its earlier changes, in the order of the proposal', () => {
    const earlier = aChange({ id: 4, position: 6, action: 'addStrategy' });
    const { request } = addChanges(aRequest({ changes: [earlier] }), [addStrategy, enable], [11, 12], miaNow);
    expect(request.changes).toEqual([
      earlier,
      { ...addStrategy, id: 11, position: 7, featureCreatedAt: null, createdBy: mia, createdAt: one },
      { ...enable, id: 12, position: 8, featureCreatedAt: null, createdBy: mia, createdAt: one },
    ]);
  });

  it('stays a draft, and counts one revision per edit however many changes it brings', () => {
    const { request } = addChanges(aRequest({ revision: 3 }), [addStrategy, enable], [11, 12], miaNow);
    expect(request).toMatchObject({ state: 'Draft', revision: 4, stateTimestamps: { Draft: noon } });
  });

  it('loses all approvals in review, and stays in review', () => {
    const approvals = [anApprovalBy(lee)];
    const before = aRequest({ state: 'In review', approvals, stateTimestamps: { Draft: noon, 'In review': noon } });
    const { request, events } = addChanges(before, [enable], [11], miaNow);
    expect(request).toMatchObject({ state: 'In review', approvals: [], stateTimestamps: before.stateTimestamps });
    expect(typesOf(events)).toEqual(['change-added', 'change-request-sent-to-review']);
    expect(events[1]).toMatchObject({ preData: { state: 'In review', approvedBy: [lee.id] } });
    expect(typesOf(addChanges({ ...before, approvals: [] }, [enable], [11], miaNow).events)).toEqual(['change-added']);
  });

  it('goes back to review when it was approved, without its approvals, and emits that last', () => {
    const before = aRequest({ state: 'Approved', approvals: [anApprovalBy(lee), anApprovalBy(kim)] });
    const { request, events } = addChanges(before, [enable], [11], miaNow);
    expect(request).toMatchObject({
      state: 'In review',
      approvals: [],
      stateTimestamps: { Draft: noon, 'In review': one },
    });
    expect(typesOf(events)).toEqual(['change-added', 'change-request-sent-to-review']);
    expect(events[1]).toMatchObject({
      data: { changeRequestId: 31, reason: 'changed' },
      preData: { state: 'Approved' },
    });
  });

  it('keeps its approvals when the changes are already part of it', () => {
    const archive = aCheckedChange({ action: 'archiveFeature' });
    const before = aRequest({ state: 'Approved', approvals: [anApprovalBy(lee)], changes: [aChange(archive)] });
    const { request, events } = addChanges(before, [archive], [11], miaNow);
    expect(request).toBe(before);
    expect(events).toEqual([]);
  });

  it.each(['Scheduled', 'Applied', 'Rejected', 'Cancelled'] as const)(
    'refuses further changes in state %s',
    (state) => {
      expect(() => addChanges(aRequest({ state }), [enable], [11], miaNow)).toThrow(
        expect.objectContaining({ kind: 'ConflictError', message: expect.stringContaining(state) }),
      );
    },
  );

  it('holds 500 changes at most', () => {
    const changes = Array.from({ length: 499 }, (_, index) => aChange({ id: index + 1, action: 'addStrategy' }));
    const almostFull = aRequest({ changes });
    expect(addChanges(almostFull, [addStrategy], [900], miaNow).request.changes).toHaveLength(500);
    expect(() => addChanges(almostFull, [addStrategy, addStrategy], [900, 901], miaNow)).toThrow(
      expect.objectContaining({ kind: 'ConflictError', message: 'A change request can hold at most 500 changes' }),
    );
  });

  it('holds 8 MiB at most, with what its changes replace, and may shrink', () => {
    const holding = (bytes: number) => ({ ...addStrategy, payload: 'a'.repeat(bytes), snapshot: 'å' });
    const overhead = Buffer.byteLength(JSON.stringify(['', 'å']));
    const limit = 8 * 1024 * 1024;
    const { request } = addChanges(aRequest(), [holding(limit - overhead)], [11], miaNow);
    const exceeds = expect.objectContaining({
      kind: 'ExceedsLimitError',
      message: expect.stringMatching(/^A change request can hold at most 8388608 bytes/),
    });
    expect(() => addChanges(request, [addStrategy], [12], miaNow)).toThrow(exceeds);
    expect(() => addChanges(aRequest(), [holding(limit - overhead + 1)], [11], miaNow)).toThrow(exceeds);
    expect(() => editChange(request, 11, holding(limit), miaNow)).toThrow(exceeds);
    const tooLarge = aRequest({
      changes: [aChange({ id: 11, action: 'addStrategy', payload: 'a'.repeat(2 * limit) })],
    });
    expect(editChange(tooLarge, 11, holding(limit), miaNow).request.revision).toBe(tooLarge.revision + 1);
  });

  it('is merged in the order of the body', () => {
    const disable = { ...enable, payload: { enabled: false } };
    const { request, events } = addChanges(aRequest(), [enable, addStrategy, disable], [11, 12, 13], miaNow);
    expect(request.changes).toMatchObject([
      { id: 11, action: 'updateEnabled', payload: { enabled: false } },
      { id: 12, action: 'addStrategy' },
    ]);
    expect(typesOf(events)).toEqual(['change-added', 'change-added', 'change-edited']);
  });
});

describe('the events of the changes of a request', () => {
  const before = aChange({ id: 5, action: 'updateStrategy', payload: { id: 's1', title: 'a' } });
  const update = aCheckedChange({ action: 'updateStrategy', payload: { id: 's1', title: 'b' } });
  const remove = aCheckedChange({ action: 'deleteStrategy', payload: { id: 's1' } });
  const segment = { id: 4, name: 'beta' };
  const dropSegment = aCheckedChange({ action: 'deleteSegment', segment, payload: { id: 4 } });

  it('names the change, its feature and its payload once it is in review', () => {
    const { events } = addChanges(aRequest({ state: 'In review' }), [enable], [11], miaNow);
    expect(events).toEqual([
      {
        type: 'change-added',
        createdAt: one,
        createdBy: 'mia@bunting.example',
        createdByUserId: 7,
        project: 'shop',
        environment: 'production',
        featureName: 'checkout',
        data: {
          changeRequestId: 31,
          changeId: 11,
          action: 'updateEnabled',
          feature: 'checkout',
          payload: { enabled: true },
        },
        preData: null,
        tags: [],
      },
    ]);
  });

  it('contain the change before and after an edit', () => {
    const { events } = addChanges(aRequest({ state: 'In review', changes: [before] }), [update], [11], miaNow);
    expect(events).toMatchObject([
      {
        type: 'change-edited',
        data: { changeId: 5, payload: { id: 's1', title: 'b' } },
        preData: { changeId: 5, payload: { id: 's1', title: 'a' } },
      },
    ]);
  });

  it('report a dropped change before the one that replaces it', () => {
    const { events } = addChanges(aRequest({ state: 'In review', changes: [before] }), [remove], [11], miaNow);
    expect(events).toMatchObject([
      { type: 'change-discarded', data: { changeId: 5 }, preData: { payload: { id: 's1', title: 'a' } } },
      { type: 'change-added', data: { changeId: 11, action: 'deleteStrategy' } },
    ]);
  });

  it('names the segment, and no feature, of a change of a segment', () => {
    const { events } = addChanges(aRequest({ state: 'In review' }), [dropSegment], [11], miaNow);
    expect(events).toMatchObject([{ featureName: null, data: { segment } }]);
    expect(events[0]?.data).not.toHaveProperty('feature');
  });

  it('keeps the payload of a draft to itself, what it was as well as what it became', () => {
    const draft = aRequest({ changes: [before] });
    const all = [update, remove].flatMap((change) => addChanges(draft, [change, enable], [11, 12], miaNow).events);
    expect(typesOf(all)).toEqual(['change-edited', 'change-added', 'change-discarded', 'change-added', 'change-added']);
    for (const { data, preData } of all) {
      expect(data).not.toHaveProperty('payload');
      expect(preData).toBeNull();
    }
  });
});

describe('a body', () => {
  it.each([
    ['{"__proto__": {}}', '/body/__proto__'],
    ['[{"payload": {"parameters": {"__proto__": "x"}}}]', '/body/0/payload/parameters/__proto__'],
    ['{"payload": [{"a": [null, {"__proto__": 1}]}]}', '/body/payload/0/a/1/__proto__'],
  ])('is refused with a key that could become a prototype: %s', (json, path) => {
    expect(() => refusePrototypeKeys(JSON.parse(json), '/body')).toThrow(`The \`${path}\` property is not allowed.`);
  });

  it.each(['null', '"__proto__"', '7', '[]', '{"proto": {"constructor": "prototype"}}'])(
    'is accepted with the harmless key: %s',
    (json) => {
      expect(() => refusePrototypeKeys(JSON.parse(json), '/body')).not.toThrow();
    },
  );
});

function rewritten(error: Refusal): Refusal {
  return withPathsOfSingleChange(error) as Refusal;
}

it.each([
  [
    'of the change',
    'The `/body/0` property must be object.',
    '/body/0',
    'The `/body` property must be object.',
    '/body',
  ],
  [
    'of a part of the change',
    'Could not find strategy type with name flexible: see the `/body/0/payload/name` property.',
    '/body/0/payload/name',
    'Could not find strategy type with name flexible: see the `/body/payload/name` property.',
    '/body/payload/name',
  ],
])(
  'an error of a change that is the whole body names the path %s in that body',
  (_, message, path, shown, shownPath) => {
    const { kind, message: text, details } = rewritten(invalid(message, path));
    expect({ kind, text, details }).toEqual({
      kind: 'ValidationError',
      text: shown,
      details: [{ message: shown, path: shownPath }],
    });
  },
);

it.each([
  [
    'before its path',
    'Segment `/body/0/payload` does not exist: see the `/body/0/payload` property.',
    'Segment `/body/0/payload` does not exist: see the `/body/payload` property.',
  ],
  [
    'after its path',
    'The `/body/0/payload` property must be short. You provided "`/body/0/payload`".',
    'The `/body/payload` property must be short. You provided "`/body/0/payload`".',
  ],
])('an error of a single change quotes texts of the request unchanged %s', (_, message, shown) => {
  expect(rewritten(invalid(message, '/body/0/payload')).message).toBe(shown);
});

it('an error of a single change keeps paths that are not those of the first change', () => {
  const message = 'The `/body/01` property must be object.';
  expect(rewritten(invalid(message, '/body/01')).details).toEqual([{ message, path: '/body/01' }]);
});

it('an error of a single change keeps everything that it carries beside its paths', () => {
  const extras = {
    id: 'f00',
    details: [{ message: 'No' }],
    permissions: ['UPDATE_FEATURE'],
    retryAfterSeconds: 3,
    signInOptions: { path: '/auth/simple/login', type: 'password', defaultHidden: false, options: [] },
    tag: '7',
  } satisfies Required<RefusalExtras>;
  const { message, extras: kept } = rewritten(refusal('NoAccessError', 'No /body/0', extras));
  expect({ message, kept }).toEqual({ message: 'No /body/0', kept: extras });
});

it('an error that is no refusal stays the same', () => {
  const error = new Error('/body/0');
  expect(withPathsOfSingleChange(error)).toBe(error);
});
