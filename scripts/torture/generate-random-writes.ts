import type { SeededRandom } from './seeded-random.ts';
import type { ObservedSubject, FlagSummary, RequestSummary, Subject } from './subject.ts';

/** What the reply says of the object that a write has created: the id, which later writes need. */
export interface CreatedObject {
  readonly id: string | number;
}

/** A write of a flag or its project, with the events and the state that are expected after it. */
export interface WriteWithExpectation {
  /** a name for the ledger */
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** the events that it emits, as `eventKey` writes them */
  readonly events: readonly string[];
  /** the state of the subject after it */
  readonly expected: Subject;
  /** stores the id in the reply, if later writes need it */
  readonly onReply?: (reply: CreatedObject) => void;
  /** stores the id as a read shows it, if there was no reply */
  readonly onRead?: (observed: ObservedSubject) => void;
  /** another process may complete it later, so a read after a 503 does not prove that it did not happen */
  readonly completesLater?: boolean;
}

interface RandomWritesOptions {
  readonly project: string;
  readonly flag: string;
  /** whether changes may also be proposed in change requests */
  readonly withRequests: boolean;
  readonly random: SeededRandom;
}

const editsPerFlag = 12;

/** Generates writes that create a flag and edit it at random, and sends none: each says which events it emits, and which state it leads to. */
export const generateRandomWrites = function* ({
  project,
  flag,
  withRequests,
  random,
}: RandomWritesOptions): Generator<WriteWithExpectation> {
  const featuresPath = `/api/admin/projects/${project}/features`;
  const flagPath = `${featuresPath}/${flag}`;
  const developmentPath = `${flagPath}/environments/development`;
  const projectPath = `/api/admin/projects/${project}`;
  /** ids of the strategies in their order; undefined for those that a change request added */
  const strategyIds: (string | undefined)[] = [];
  let textCount = 0;
  let requestId = 0;
  /** a text that no other write has */
  const uniqueText = (): string => `${flag}-${++textCount}`;
  const subject = (flagState: Subject['flag'], requestState?: Subject['request']): Subject => ({
    exists: true,
    ...(flagState === undefined ? {} : { flag: flagState }),
    ...(requestState === undefined ? {} : { request: requestState }),
  });

  const initialDescription = uniqueText();
  let summary: FlagSummary = {
    description: initialDescription,
    enabled: false,
    tags: [],
    titles: [],
  };
  let request: RequestSummary | undefined;
  const updateRequest = (changes: Partial<RequestSummary>): void => {
    request = { state: 'Draft', changes: 0, comments: [], ...request, ...changes };
  };
  yield {
    operation: 'create a flag',
    method: 'POST',
    path: featuresPath,
    body: { name: flag, description: initialDescription },
    events: [`feature-created ${initialDescription}`],
    expected: subject(summary),
  };

  const tag = function* (): Generator<WriteWithExpectation> {
    const value = uniqueText();
    summary = { ...summary, tags: [...summary.tags, value].toSorted() };
    yield {
      operation: 'tag a flag',
      method: 'POST',
      path: `/api/admin/features/${flag}/tags`,
      body: { type: 'simple', value },
      events: [`feature-tagged ${value}`],
      expected: subject(summary, request),
    };
  };
  const addStrategy = function* (): Generator<WriteWithExpectation> {
    const title = uniqueText();
    summary = { ...summary, titles: [...summary.titles, title] };
    yield {
      operation: 'add a strategy',
      method: 'POST',
      path: `${developmentPath}/strategies`,
      body: { name: 'flexibleRollout', title },
      events: [`feature-strategy-add ${title}`],
      expected: subject(summary, request),
      onReply: ({ id }) => void (strategyIds[summary.titles.length - 1] = String(id)),
      onRead: (observed) =>
        void (strategyIds[summary.titles.length - 1] = observed.strategyIds[summary.titles.length - 1]),
    };
  };
  const patchStrategy = function* (): Generator<WriteWithExpectation> {
    const patchable = strategyIds.flatMap((id, nth) => (id === undefined ? [] : nth));
    if (patchable.length === 0) return yield* addStrategy();
    const index = random.pick(patchable);
    const title = uniqueText();
    summary = { ...summary, titles: summary.titles.with(index, title) };
    yield {
      operation: 'patch a strategy',
      method: 'PATCH',
      path: `${developmentPath}/strategies/${strategyIds[index]}`,
      body: [{ op: 'replace', path: '/title', value: title }],
      events: [`feature-strategy-update ${title}`],
      expected: subject(summary, request),
    };
  };
  const toggle = function* (): Generator<WriteWithExpectation> {
    if (summary.titles.length === 0) yield* addStrategy();
    summary = { ...summary, enabled: !summary.enabled };
    yield {
      operation: 'turn a flag on or off',
      method: 'POST',
      path: `${developmentPath}/${summary.enabled ? 'on' : 'off'}`,
      events: [summary.enabled ? 'feature-environment-enabled' : 'feature-environment-disabled'],
      expected: subject(summary, request),
    };
  };
  const patchDescription = function* (): Generator<WriteWithExpectation> {
    const description = uniqueText();
    summary = { ...summary, description };
    yield {
      operation: 'patch a flag',
      method: 'PATCH',
      path: flagPath,
      body: [{ op: 'replace', path: '/description', value: description }],
      events: [`feature-metadata-updated ${description}`],
      expected: subject(summary, request),
    };
  };
  const changeRequest = function* (): Generator<WriteWithExpectation> {
    if (request !== undefined) return;
    const titles = [uniqueText(), uniqueText()];
    for (const [nth, title] of titles.entries()) {
      updateRequest({ changes: nth + 1 });
      const payload = { name: 'flexibleRollout', title, constraints: [], parameters: { rollout: '50' } };
      yield {
        operation: 'propose a change',
        method: 'POST',
        path: `${projectPath}/environments/development/change-requests`,
        body: { action: 'addStrategy', feature: flag, payload },
        events: [...(nth === 0 ? ['change-request-created'] : []), 'change-added'],
        expected: subject(summary, request),
        onReply: ({ id }) => void (requestId = Number(id)),
        onRead: (observed) => void (requestId = observed.requestId ?? 0),
      };
    }
    const comment = uniqueText();
    updateRequest({ comments: [comment] });
    yield {
      operation: 'comment on a change request',
      method: 'POST',
      path: `${projectPath}/change-requests/${requestId}/comments`,
      body: { text: comment },
      events: ['change-request-comment-added'],
      expected: subject(summary, request),
    };
    const moveTo = (state: string, emitsEvents: readonly string[]): WriteWithExpectation => {
      updateRequest({ state });
      return {
        operation: `bring a change request to "${state}"`,
        method: 'PUT',
        path: `${projectPath}/change-requests/${requestId}/state`,
        body: { state },
        events: emitsEvents,
        expected: subject(summary, request),
      };
    };
    yield moveTo('In review', ['change-request-sent-to-review']);
    yield moveTo('Approved', ['change-request-approval-added', 'change-request-approved']);
    summary = { ...summary, titles: [...summary.titles, ...titles] };
    const emitted = titles.map((title) => `feature-strategy-add ${title}`);
    yield { ...moveTo('Applied', ['change-request-applied', ...emitted]), completesLater: true };
  };
  const archive = function* (): Generator<WriteWithExpectation> {
    yield {
      operation: 'archive a flag',
      method: 'DELETE',
      path: flagPath,
      events: ['feature-archived'],
      expected: subject('archived', request),
    };
  };

  const edits = [tag, tag, addStrategy, patchStrategy, patchStrategy, toggle, patchDescription];
  for (let nth = 0; nth < editsPerFlag; nth++) {
    yield* random.pick([...edits, ...(withRequests ? [changeRequest] : [])])();
  }
  if (random.chance(0.3)) yield* archive();
};
