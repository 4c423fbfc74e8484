import { beforeAll, describe, expect, it } from 'vitest';
import { type CallRequest, isCheckedByEndpoint } from '@bunting/bus';
import {
  type AnyOperation,
  CreateProject,
  isEqual,
  isObjectSchema,
  type OutboxEvent,
  permissionsFor,
  Refusal,
  type ReplyOf,
} from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { type ConsumerSnapshot, readConsumerSnapshot, readEmitted } from './consumer-snapshot.ts';
import { callerWith, mia, type StartedFeatures, useFeatures } from './started-features.ts';

// The event catalogue: one row for each write of the service, with every event that it emits in full and in order.
// The rows of a noun are in `event-catalogue/<noun>.ts`; `event-catalogue.spec.ts` runs them.

/** An expected event: an omitted property is null, and omitted tags are none. */
export type ExpectedEvent = Partial<OutboxEvent> & Pick<OutboxEvent, 'type'>;

type Send = <O extends AnyOperation>(operation: O, request: CallRequest<O>) => Promise<ReplyOf<O>>;

/** A step of a row: requests, or direct work on the service. */
export interface Step {
  /** the operations that the step calls */
  readonly operations: readonly AnyOperation[];
  run(features: StartedFeatures, send: Send): Promise<unknown>;
}

export interface CatalogueRow {
  /** the write as a gerund, with which the names of the tests begin */
  readonly write: string;
  /** prepares what the write needs */
  readonly given?: Step;
  readonly request: Step;
  readonly emits: readonly ExpectedEvent[];
  /** what happens when the same write comes a second time, without an Idempotency-Key */
  readonly repeated: 'emits nothing' | 'is refused' | 'emits again';
  /** the actor of the events, if it is not the caller */
  readonly actor?: { readonly name: string; readonly id: number };
}

/** Calls an operation with a request that depends on what is stored. */
export const sendComputed = <O extends AnyOperation>(
  operation: O,
  requestOf: (features: StartedFeatures) => Promise<CallRequest<O>>,
): Step => ({
  operations: [operation],
  run: async (features, send) => send(operation, await requestOf(features)),
});

/** Calls an operation. */
export const send = <O extends AnyOperation>(operation: O, request: CallRequest<O>): Step =>
  sendComputed(operation, () => Promise.resolve(request));

/** Works on the service without a request. */
export const direct = (work: (features: StartedFeatures) => Promise<unknown>): Step => ({
  operations: [],
  run: work,
});

/** Runs steps one after the other. */
export const inOrder = (...steps: readonly Step[]): Step => ({
  operations: steps.flatMap(({ operations }) => operations),
  run: async (features, sendRequest) => {
    for (const step of steps) await step.run(features, sendRequest);
  },
});

interface SentRequest {
  readonly operation: AnyOperation;
  readonly request: CallRequest<AnyOperation>;
  readonly idempotencyKey: string;
  readonly reply: unknown;
}

/** The `If-Match` of a request: a wrong entity tag must be refused without effect, and the refusal names the current one. */
const currentEntityTag = async (
  features: StartedFeatures,
  operation: AnyOperation,
  request: CallRequest<AnyOperation>,
) => {
  if (operation.ifMatch === undefined) return {};
  const refusal = await features
    .call(operation, request, mia, { ifMatch: ['none'] })
    .catch((error: unknown) => error as Refusal);
  expect(refusal).toMatchObject({ kind: 'PreconditionFailed', tag: expect.any(String) });
  return { ifMatch: [(refusal as Refusal).tag ?? ''] };
};

/** The permissions that an operation needs, in a project. */
const callerIn = (project: string, operation: AnyOperation) =>
  callerWith(...permissionsFor(operation).map((permission) => ({ permission, project })));

/** Whether a request names features that are not of its project where the project in its URL is another one. */
const namesFeatures = ({ http, body }: AnyOperation): boolean =>
  http?.url.includes(':featureName') === true || (isObjectSchema(body) && 'features' in body.properties);

/**
 * A write of the Admin API must not change an object of another project: neither by a caller with the permission there alone, nor through
 * the URL of a project in which the caller has it.
 */
const requireRefusalFromElsewhere = async (
  features: StartedFeatures,
  operation: AnyOperation,
  request: CallRequest<AnyOperation>,
): Promise<void> => {
  const { http } = operation;
  if (http?.url.startsWith('/api/admin/') !== true) return;
  if (isCheckedByEndpoint(operation)) {
    await expect(features.call(operation, request, callerIn('elsewhere', operation))).rejects.toMatchObject({
      kind: 'NoAccessError',
    });
  }
  if (!http.url.includes(':projectId') || !namesFeatures(operation)) return;
  const { projectId } = request.params as { readonly projectId: string };
  const other = projectId === 'yard' ? 'shop' : 'yard';
  const before = await readEmitted(features);
  const elsewhere = { ...request, params: { ...(request.params as object), projectId: other } };
  const refusal = await features.call(operation, elsewhere, callerIn(other, operation)).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (http.url.includes(':featureName')) expect(refusal).toBeInstanceOf(Refusal);
  expect(await readEmitted(features)).toEqual(before);
};

/** Sends requests with an Idempotency-Key each, and records them. */
const recordingSend =
  (features: StartedFeatures, sent: SentRequest[]): Send =>
  async (operation, request) => {
    await requireRefusalFromElsewhere(features, operation, request);
    const idempotencyKey = randomUUID();
    const headers = { idempotencyKey, ...(await currentEntityTag(features, operation, request)) };
    const reply = await features.call(operation, request, mia, headers);
    sent.push({ operation, request, idempotencyKey, reply });
    return reply;
  };

/** Sends requests without headers. */
const plainSend =
  (features: StartedFeatures): Send =>
  (operation, request) =>
    features.call(operation, request);

const completeEvent = (event: ExpectedEvent, actor: { readonly name: string; readonly id: number }) => ({
  project: null,
  environment: null,
  featureName: null,
  data: null,
  preData: null,
  tags: [],
  ...event,
  createdAt: expect.any(String),
  createdBy: actor.name,
  createdByUserId: actor.id,
});

/** Declares five tests for each row: the events and the states of the write, whether the gateway waits for them, its repetition with the same Idempotency-Key, and without. */
export const describeRows = (rows: readonly CatalogueRow[]): void => {
  const features = useFeatures();
  beforeAll(async () => {
    for (const id of ['shop', 'yard']) await features.call(CreateProject, { body: { id, name: id } });
  });

  describe.each(rows)('$write', ({ write, given, request, emits, repeated, actor = mia }) => {
    const sent: SentRequest[] = [];
    let before: ConsumerSnapshot;
    beforeAll(async () => {
      await features.database.transaction(({ query }) => query('delete from feature; delete from tag'));
      await given?.run(features, plainSend(features));
      before = await readConsumerSnapshot(features);
      await features.clearOutbox();
    });

    it(`${write} emits ${emits.map(({ type }) => type).join(', ') || 'nothing'}`, async () => {
      await request.run(features, recordingSend(features, sent));
      const emitted = await features.emittedEvents();
      const contents = emitted.map(({ groupType: _type, groupId: _id, ...event }) => event);
      expect(contents).toEqual(emits.map((event) => completeEvent(event, actor)));
      const groups = new Set(emitted.map(({ groupId }) => groupId));
      if (sent.length === 1 && emitted.length > 1) expect([groups.size, groups.has(undefined)]).toEqual([1, false]);
    });

    it(`${write} emits what it changes for consumers of states, and for SDKs`, async () => {
      const now = await readConsumerSnapshot(features);
      const emitted = await readEmitted(features);
      const keys = [...new Set([...before.keys(), ...now.keys()])];
      const changed = keys.filter((key) => !isEqual(before.get(key) ?? null, now.get(key) ?? null));
      expect(changed.map((key) => [key, emitted.get(key)])).toEqual(changed.map((key) => [key, now.get(key) ?? null]));
    });

    it(`${write} makes the gateway wait for the state of a project if it emits one`, async () => {
      if ((await features.states('project')).length === 0) return;
      expect(sent.map(({ operation }) => operation.changesProjectVisibility)).toContain(true);
    });

    it(`${write} with the same Idempotency-Key returns the same reply and emits nothing more`, async () => {
      for (const { operation, request: body, idempotencyKey, reply } of sent) {
        expect(await features.call(operation, body, mia, { idempotencyKey })).toEqual(reply);
      }
      expect(await features.emittedEvents()).toHaveLength(emits.length);
    });

    it(`${write} ${repeated} when it is repeated`, async () => {
      await features.clearOutbox();
      const repetition = request.run(features, plainSend(features));
      await (repeated === 'is refused' ? expect(repetition).rejects.toBeInstanceOf(Refusal) : repetition);
      expect(await features.emittedEvents()).toHaveLength(repeated === 'emits again' ? emits.length : 0);
    });
  });
};
