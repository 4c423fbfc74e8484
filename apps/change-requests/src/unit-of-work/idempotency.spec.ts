import type { CallRequest } from '@bunting/bus';
import {
  AddChanges,
  AddComment,
  type AnyOperation,
  type Caller,
  ChangeState,
  DiscardChange,
  DiscardDraft,
  EditChange,
  type EventType,
  httpOperations,
  isRead,
  type Refusal,
  RevertChangeRequest,
  serviceOf,
  SetApprovers,
  SetChangeRequestConfig,
  SetTitle,
  unavailable,
} from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { callers, startedChangeRequests } from '../../test/started-change-requests.ts';

const { mia, rita, ada } = callers;
const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
const archive = { action: 'archiveFeature', feature: 'banner' };
const production = { projectId: 'shop', environment: 'production' };

const service = startedChangeRequests();

/** A write that is retried with one idempotency key. */
interface Write {
  readonly operation: AnyOperation;
  readonly request: CallRequest<AnyOperation>;
  readonly caller?: Caller;
}
function writing<O extends AnyOperation>(operation: O, request: CallRequest<O>, caller: Caller = mia): Write {
  return {
    operation,
    request,
    caller,
  };
}

function at(id: number) {
  return { projectId: 'shop', id };
}
function moving(id: number, state: string, caller: Caller, more = {}) {
  return writing(ChangeState, { params: at(id), body: { state, ...more } } as CallRequest<typeof ChangeState>, caller);
}
function draft() {
  return service.add([enable]);
}
async function inReview() {
  const { id } = await draft();
  await service.move(id, 'In review');
  return id;
}
async function approved() {
  const id = await inReview();
  await service.move(id, 'Approved', rita);
  return id;
}
function changeIn(request: Awaited<ReturnType<typeof draft>>) {
  return request.features[0]?.changes[0]?.id ?? 0;
}

interface WriteCase {
  readonly description: string;
  /** the types of the events that the write emits; none for what other services need not know */
  readonly emits: readonly EventType[];
  readonly prepare: () => Promise<Write>;
}

const writes: readonly WriteCase[] = [
  {
    description: 'begins a request',
    emits: ['change-request-created', 'change-added'],
    prepare: async () => writing(AddChanges, { params: production, body: enable }),
  },
  {
    description: 'adds to a request',
    emits: ['change-added'],
    prepare: async () => {
      await draft();
      return writing(AddChanges, { params: production, body: [archive] });
    },
  },
  {
    description: 'replaces a change',
    emits: ['change-edited'],
    prepare: async () => {
      const request = await draft();
      const body = { ...enable, payload: { enabled: false } };
      return writing(EditChange, { params: { ...at(request.id), changeId: changeIn(request) }, body });
    },
  },
  {
    description: 'takes a change out',
    emits: ['change-discarded'],
    prepare: async () => {
      const request = await service.add([enable, archive]);
      return writing(DiscardChange, { params: { ...at(request.id), changeId: changeIn(request) } });
    },
  },
  {
    description: 'discards a draft',
    emits: ['change-request-discarded'],
    prepare: async () => writing(DiscardDraft, { params: at((await draft()).id) }),
  },
  {
    description: 'gives a title',
    emits: [],
    prepare: async () => writing(SetTitle, { params: at((await draft()).id), body: { title: 'Friday' } }),
  },
  {
    description: 'says something',
    emits: ['change-request-comment-added'],
    prepare: async () => writing(AddComment, { params: at((await draft()).id), body: { text: 'Why?' } }),
  },
  {
    description: 'asks for approval',
    emits: ['change-request-requested-approvers-updated'],
    prepare: async () => writing(SetApprovers, { params: at((await draft()).id), body: { reviewers: [rita.id] } }),
  },
  {
    description: 'sends to review',
    emits: ['change-request-sent-to-review'],
    prepare: async () => moving((await draft()).id, 'In review', mia, { comment: 'Please.' }),
  },
  {
    description: 'approves',
    emits: ['change-request-approval-added', 'change-request-approved'],
    prepare: async () => moving(await inReview(), 'Approved', rita, { comment: 'Fine.' }),
  },
  {
    description: 'rejects',
    emits: ['change-request-rejected'],
    prepare: async () => moving(await inReview(), 'Rejected', rita),
  },
  {
    description: 'schedules',
    emits: ['change-request-scheduled'],
    prepare: async () =>
      moving(await approved(), 'Scheduled', ada, { scheduledAt: new Date(Date.now() + 3_600_000).toISOString() }),
  },
  {
    description: 'applies',
    emits: ['change-request-applied'],
    prepare: async () => moving(await approved(), 'Applied', ada, { comment: 'Now.' }),
  },
  {
    description: 'makes a request that undoes another',
    emits: ['change-request-created', 'change-added'],
    prepare: async () => {
      const id = await approved();
      await service.move(id, 'Applied', ada);
      return writing(RevertChangeRequest, { params: at(id) });
    },
  },
  {
    description: 'protects an environment',
    emits: ['change-request-configuration-updated'],
    prepare: async () =>
      writing(SetChangeRequestConfig, {
        params: production,
        body: { changeRequestsEnabled: true, requiredApprovals: 2 },
      }),
  },
];

/** Everything stored and emitted about requests, once no schedule is left to be checked for conflicts. */
async function everything() {
  await eventually(async () => {
    const text = 'select from schedule where unchecked_edits > 0';
    expect(await service.database.read({ text })).toEqual([]);
  });
  const parts = ['change_request', 'change', 'approval', 'rejection', 'comment', 'schedule', 'protected_environment'];
  const all = parts.map((table) => `'${table}', (select json_agg(t order by t::text) from ${table} t)`).join(', ');
  const text = `select json_build_object(${all}) as stored`;
  return [await service.database.read({ text }), await service.emittedEvents()];
}
function send({ operation, request, caller }: Write, idempotencyKey: string) {
  return service.call(operation, request, caller, 10_000, { idempotencyKey });
}

async function tagNow({ operation, request, caller }: Write): Promise<readonly string[]> {
  const refused = await service
    .call(operation, request, caller, 10_000, { ifMatch: ['none'] })
    .catch((error: unknown) => error as Refusal);
  expect(refused).toMatchObject({ kind: 'PreconditionFailed', tag: expect.any(String) });
  return [(refused as Refusal).tag ?? ''];
}

describe.each(writes)('a write that $description', ({ prepare }) => {
  it('is refused when If-Match is outdated', async () => {
    const write = await prepare();
    if (write.operation.ifMatch === undefined) return;
    const before = await everything();
    const ifMatch = await tagNow(write);
    expect(await everything()).toEqual(before);
    const { operation, request, caller } = write;
    const sent = await Promise.allSettled(
      [1, 2].map(() => service.call(operation, request, caller, 10_000, { ifMatch })),
    );
    expect(sent.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe.each(writes)('a write that $description, sent again with its Idempotency-Key', ({ prepare, emits }) => {
  it('emits its events, has no further effect and is replayed', async () => {
    const [write, key] = [await prepare(), randomUUID()];
    const before = (await service.emittedEvents()).length;
    const first = await send(write, key);
    expect((await service.emittedEvents()).slice(before).map(({ type }) => type)).toEqual(emits);
    const after = await everything();
    expect(await send(write, key)).toEqual(first);
    expect(await everything()).toEqual(after);
  });

  it('has one effect when it is sent several times concurrently', async () => {
    const [write, key] = [await prepare(), randomUUID()];
    const before = (await service.emittedEvents()).length;
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => send(write, key)));
    const answer = await send(write, key);
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') expect(outcome.value).toEqual(answer);
      else expect(outcome.reason).toMatchObject({ kind: 'ConflictError' });
    }
    expect((await service.emittedEvents()).length - before).toBe(emits.length);
  });
});

it('the cases of this file cover every write operation', async () => {
  const tested = new Set<string>();
  for (const { prepare } of writes) tested.add((await prepare()).operation.subject);
  const all = httpOperations.filter((operation) => serviceOf(operation) === 'change-requests' && !isRead(operation));
  expect(all.map(({ subject }) => subject).filter((subject) => !tested.has(subject))).toEqual([]);
});

describe('applying, sent again with its Idempotency-Key while it runs', () => {
  it('gets the tag of the first response, and is marked as a replay', async () => {
    const [id, idempotencyKey] = [await approved(), randomUUID()];
    const apply = () =>
      service.headersOf(ChangeState, { params: at(id), body: { state: 'Applied' } }, ada, { idempotencyKey });
    const isBegun = Promise.withResolvers<void>();
    const retried = Promise.withResolvers<void>();
    service.features.whileApplying('before', () => {
      isBegun.resolve();
      return retried.promise;
    });
    const first = apply();
    await isBegun.promise;
    const retries = await Promise.all([apply(), apply()]);
    retried.resolve();
    const replay = { ETag: expect.any(String), 'Idempotency-Replayed': 'true' };
    expect(retries).toEqual([replay, replay]);
    expect(await first).toMatchObject({ ETag: retries[0]?.['ETag'] });
    expect(await apply()).toEqual(retries[0]);
  });

  it('is replayed when the first request ended after the stored reply was looked for', async () => {
    const [id, idempotencyKey] = [await approved(), randomUUID()];
    const request = { params: at(id), body: { state: 'Applied' as const } };
    const apply = () => service.headersOf(ChangeState, request, ada, { idempotencyKey });
    const isHeld = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    service.features.whileReadingEnvironments(() => {
      isHeld.resolve();
      return released.promise;
    });
    const late = apply();
    await isHeld.promise;
    const first = await apply();
    released.resolve();
    expect(await late).toEqual({ ...first, 'Idempotency-Replayed': 'true' });
  });
});

describe('applying that was interrupted', () => {
  it.each(['before', 'after'] as const)('%s it took effect is completed by a retry, with one effect', async (when) => {
    const id = await approved();
    const [write, key] = [moving(id, 'Applied', ada, { comment: 'Now.' }), randomUUID()];
    service.features.whileApplying(when, () => {
      throw unavailable('away');
    });
    await expect(send(write, key)).rejects.toMatchObject({ kind: 'ServiceUnavailable' });
    // The database never holds the key: a person who reads it cannot get the stored reply by a retry.
    expect(JSON.stringify(await everything())).not.toContain(key);
    const answer = { id, state: 'Applied', comment: 'Now.' };
    expect(await send(write, key)).toEqual(answer);
    expect(await send(write, key)).toEqual(answer);
    expect(service.features.applied.filter((one) => one.id === id)).toHaveLength(1);
    expect((await service.get(id)).comments).toHaveLength(1);
    await expect(send(moving(id, 'Applied', ada), key)).rejects.toMatchObject({ kind: 'IdempotencyKeyReused' });
  });

  it('is refused again for a retry when it was refused, and a new request may try again', async () => {
    const id = await approved();
    const [write, key] = [moving(id, 'Applied', ada), randomUUID()];
    service.features.archive('checkout');
    await expect(send(write, key)).rejects.toMatchObject({ kind: 'ConflictError' });
    await expect(send(write, key)).rejects.toMatchObject({ message: 'Feature has been archived' });
  });

  it('adds no comment while it is refused, however often it is tried', async () => {
    const id = await approved();
    service.features.archive('checkout');
    for (let nth = 0; nth < 2; nth++) {
      await expect(send(moving(id, 'Applied', ada, { comment: 'Now.' }), randomUUID())).rejects.toMatchObject({
        kind: 'ConflictError',
      });
    }
    expect((await service.get(id)).comments).toEqual([]);
  });
});
