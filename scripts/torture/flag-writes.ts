import type { SeededRandom } from '../seeded-random.ts';
import type { ObservedSubject } from './api-reader.ts';
import type { FlagSummary, RequestSummary, Subject } from './subject-state.ts';

/** One write. */
export interface Write {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly events: readonly string[];
  readonly expected: Subject;
  /** stores from the reply what later writes need */
  readonly onReply?: (reply: never) => void;
  /** stores the same from a read, if there was no reply */
  readonly onRead?: (observed: ObservedSubject) => void;
  /** another process may complete it later, so a read after a 503 does not prove that it did not happen */
  readonly completesLater?: boolean;
}

export interface FlagWritesOptions {
  readonly project: string;
  readonly flag: string;
  /** whether changes may also be proposed in change requests */
  readonly withRequests: boolean;
  readonly random: SeededRandom;
}

const editsPerFlag = 12;

/** Creates a flag and edits it at random; each write says which events and which state it leads to. */
export const flagWrites = function* ({ project, flag, withRequests, random }: FlagWritesOptions): Generator<Write> {
  const features = `/api/admin/projects/${project}/features`;
  const here = `${features}/${flag}`;
  const development = `${here}/environments/development`;
  const requests = `/api/admin/projects/${project}`;
  /** ids of the strategies in their order; undefined for those that a change request added */
  const ids: (string | undefined)[] = [];
  let marks = 0;
  let requestId = 0;
  const mark = (): string => `${flag}-${++marks}`;
  const subject = (flagNow: Subject['flag'], requestNow?: Subject['request']): Subject => ({
    exists: true,
    ...(flagNow === undefined ? {} : { flag: flagNow }),
    ...(requestNow === undefined ? {} : { request: requestNow }),
  });

  const first = mark();
  let now: FlagSummary = {
    description: first,
    enabled: false,
    tags: [],
    titles: [],
  };
  let request: RequestSummary | undefined;
  yield {
    operation: 'create a flag',
    method: 'POST',
    path: features,
    body: { name: flag, description: first },
    events: [`feature-created ${first}`],
    expected: subject(now),
  };

  const tag = function* (): Generator<Write> {
    const value = mark();
    now = { ...now, tags: [...now.tags, value].toSorted() };
    yield {
      operation: 'tag a flag',
      method: 'POST',
      path: `/api/admin/features/${flag}/tags`,
      body: { type: 'simple', value },
      events: [`feature-tagged ${value}`],
      expected: subject(now, request),
    };
  };
  const addStrategy = function* (): Generator<Write> {
    const title = mark();
    now = { ...now, titles: [...now.titles, title] };
    yield {
      operation: 'add a strategy',
      method: 'POST',
      path: `${development}/strategies`,
      body: { name: 'flexibleRollout', title },
      events: [`feature-strategy-add ${title}`],
      expected: subject(now, request),
      onReply: ({ id }: { id: string }) => void (ids[now.titles.length - 1] = id),
      onRead: ({ strategyIds }) => void (ids[now.titles.length - 1] = strategyIds[now.titles.length - 1]),
    };
  };
  const patchStrategy = function* (): Generator<Write> {
    const knownIds = ids.flatMap((id, nth) => (id === undefined ? [] : nth));
    if (knownIds.length === 0) return yield* addStrategy();
    const index = random.pick(knownIds);
    const title = mark();
    now = { ...now, titles: now.titles.with(index, title) };
    yield {
      operation: 'patch a strategy',
      method: 'PATCH',
      path: `${development}/strategies/${ids[index]}`,
      body: [{ op: 'replace', path: '/title', value: title }],
      events: [`feature-strategy-update ${title}`],
      expected: subject(now, request),
    };
  };
  const toggle = function* (): Generator<Write> {
    if (now.titles.length === 0) yield* addStrategy();
    now = { ...now, enabled: !now.enabled };
    yield {
      operation: 'turn a flag on or off',
      method: 'POST',
      path: `${development}/${now.enabled ? 'on' : 'off'}`,
      events: [now.enabled ? 'feature-environment-enabled' : 'feature-environment-disabled'],
      expected: subject(now, request),
    };
  };
  const describe = function* (): Generator<Write> {
    const description = mark();
    now = { ...now, description };
    yield {
      operation: 'patch a flag',
      method: 'PATCH',
      path: here,
      body: [{ op: 'replace', path: '/description', value: description }],
      events: [`feature-metadata-updated ${description}`],
      expected: subject(now, request),
    };
  };
  const changeRequest = function* (): Generator<Write> {
    if (request !== undefined) return;
    const titles = [mark(), mark()];
    for (const [nth, title] of titles.entries()) {
      request = { state: 'Draft', changes: nth + 1, comments: [] };
      const payload = { name: 'flexibleRollout', title, constraints: [], parameters: { rollout: '50' } };
      yield {
        operation: 'propose a change',
        method: 'POST',
        path: `${requests}/environments/development/change-requests`,
        body: { action: 'addStrategy', feature: flag, payload },
        events: [...(nth === 0 ? ['change-request-created'] : []), 'change-added'],
        expected: subject(now, request),
        onReply: ({ id }: { id: number }) => void (requestId = id),
        onRead: (observed) => void (requestId = observed.requestId ?? 0),
      };
    }
    const comment = mark();
    request = { ...(request as unknown as RequestSummary), comments: [comment] };
    yield {
      operation: 'comment on a change request',
      method: 'POST',
      path: `${requests}/change-requests/${requestId}/comments`,
      body: { text: comment },
      events: [],
      expected: subject(now, request),
    };
    const moveTo = (state: string, emitsEvents: readonly string[]): Write => {
      request = { ...(request as RequestSummary), state };
      return {
        operation: `bring a change request to "${state}"`,
        method: 'PUT',
        path: `${requests}/change-requests/${requestId}/state`,
        body: { state },
        events: emitsEvents,
        expected: subject(now, request),
      };
    };
    yield moveTo('In review', ['change-request-sent-to-review']);
    yield moveTo('Approved', ['change-request-approval-added', 'change-request-approved']);
    now = { ...now, titles: [...now.titles, ...titles] };
    const emitted = titles.map((title) => `feature-strategy-add ${title}`);
    yield { ...moveTo('Applied', ['change-request-applied', ...emitted]), completesLater: true };
  };
  const archive = function* (): Generator<Write> {
    yield {
      operation: 'archive a flag',
      method: 'DELETE',
      path: here,
      events: ['feature-archived'],
      expected: subject('archived', request),
    };
  };

  const edits = [tag, tag, addStrategy, patchStrategy, patchStrategy, toggle, describe];
  for (let nth = 0; nth < editsPerFlag; nth++) {
    yield* random.pick([...edits, ...(withRequests ? [changeRequest] : [])])();
  }
  if (random.chance(0.3)) yield* archive();
};
