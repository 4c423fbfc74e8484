import { eventually } from '@bunting/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { SeededRandom } from '../seeded-random.ts';
import type { LedgerEntry, WriteOutcome } from './write-ledger.ts';
import { type ObservedSubject, readSubject, retryingReader, readProject } from './api-reader.ts';
import type { FlagSummary, RequestSummary, Subject } from './subject-state.ts';

export interface WriterOptions {
  readonly name: string;
  readonly urls: readonly string[];
  readonly token: string;
  readonly random: SeededRandom;
  readonly record: (entry: LedgerEntry) => void;
  readonly isOver: () => boolean;
  /** how many projects it may create; the API limits their total */
  readonly maxProjects: number;
  /** how often the database of change requests was restored to an older copy: earlier ids may have been reused since */
  readonly countRestores: () => number;
  /** resolves when writes may be sent */
  readonly mayWrite: () => Promise<void>;
}

/** One write. */
interface Step {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly events: readonly string[];
  readonly expected: Subject;
  /** stores from the reply what later steps need */
  readonly onReply?: (reply: never) => void;
  /** stores the same from a read, if there was no reply */
  readonly onRead?: (observed: ObservedSubject) => void;
  /** another process may complete it later, so a read after a 503 does not prove that it did not happen */
  readonly completesLater?: boolean;
}

interface WriteResult {
  readonly outcome: WriteOutcome;
  readonly status: number;
  readonly body: unknown;
  readonly said?: string;
}

const requestTimeoutMs = 20_000;
/** A write without a response may happen until its deadline: the default call timeout of the gateway and two seconds. */
const deadlineMs = 12_000;
const readMs = 60_000;
const retryDelayMs = 150;
const stepsPerFlag = 12;
/** Below the number of change requests that a project lists. */
const maxFlagsPerProject = 200;
/** After a change request of unknown outcome, the project gets no more of them, and this many flags later it is replaced. */
const maxFlagsWithoutRequests = 12;

const outcomeOf = (status: number): WriteOutcome =>
  status < 300 ? 'acknowledged' : status < 500 && status !== 429 ? 'refused' : 'unknown';

/** The connection was refused, so the write was not sent and can be repeated at another gateway. */
const isConnectionRefused = (error: unknown): boolean => {
  const { cause } = error as { cause?: { code?: string } };
  return cause?.code === 'ECONNREFUSED';
};

/**
 * Writes sequentially, through any gateway, until the end of the run. After a 5xx it does what docs/reliability.md advises: it reads, and
 * retries the write if it is missing.
 */
export const runWriter = async ({
  name,
  urls,
  token,
  random,
  record,
  isOver,
  maxProjects,
  countRestores,
  mayWrite,
}: WriterOptions): Promise<void> => {
  const read = retryingReader({ urls, token }, (all) => random.pick(all), readMs);

  const send = async ({ method, path, body }: Step): Promise<WriteResult | 'not sent'> => {
    try {
      const response = await fetch(`${random.pick(urls)}${path}`, {
        method,
        headers: { authorization: token, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        signal: AbortSignal.timeout(requestTimeoutMs),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const outcome = outcomeOf(response.status);
      if (outcome !== 'acknowledged') return { outcome, status: response.status, body: undefined, said: text };
      return { outcome, status: response.status, body: text === '' ? undefined : JSON.parse(text) };
    } catch (error) {
      if (isConnectionRefused(error)) return 'not sent';
      return { outcome: 'unknown', status: 0, body: undefined, said: String((error as Error).cause ?? error) };
    }
  };

  /** Reads a subject until its state is that before or that after a write. */
  const settle = async (project: string, subject: string, before: Subject, step: Step): Promise<WriteOutcome> => {
    const observed = await eventually(
      async () => {
        const now = await readSubject(read, await readProject(read, project), project, subject);
        if (isDeepStrictEqual(now.subject, before) || isDeepStrictEqual(now.subject, step.expected)) return now;
        throw new Error(
          `${subject} is neither as before "${step.operation}" nor as after it: ${JSON.stringify(now.subject)}`,
        );
      },
      { timeoutMs: readMs },
    );
    if (!isDeepStrictEqual(observed.subject, step.expected)) return 'absent';
    step.onRead?.(observed);
    return 'found';
  };

  /** Repeats a write until it has happened, is refused, or has an unknown outcome. Every attempt is recorded. */
  const make = async (
    project: string,
    subject: string,
    before: Subject,
    step: Step,
  ): Promise<WriteOutcome | 'over'> => {
    const restoresBefore = countRestores();
    for (;;) {
      await mayWrite();
      if (isOver()) return 'over';
      const sentAt = new Date().toISOString();
      const startedAt = performance.now();
      const result = await send(step);
      if (result === 'not sent') {
        await sleep(retryDelayMs);
        continue;
      }
      const { status, body, said } = result;
      let { outcome } = result;
      const { operation, events, expected } = step;
      const ms = Math.round(performance.now() - startedAt);
      let reason = said;
      // With a response the write has ended; without one, it has ended after its deadline.
      const isSettled = status > 0 || random.chance(0.5);
      if (outcome === 'unknown' && isSettled && step.completesLater !== true) {
        if (status === 0) await sleep(Math.max(0, deadlineMs - ms));
        outcome = await settle(project, subject, before, step).catch((error: Error) => {
          reason = `${said}; ${error.message}`;
          return 'unknown' as const;
        });
      }
      // The restored database may have lost it, or may have an earlier draft again, to which a proposal was added: the state may be
      // neither that before nor that after.
      if (expected.request !== undefined && countRestores() > restoresBefore) {
        outcome = 'unknown';
        reason = said;
      }
      record({
        project,
        subject,
        operation,
        sentAt,
        ms,
        outcome,
        status,
        ...(reason === undefined ? {} : { error: reason }),
        events,
        expected,
      });
      if (outcome === 'acknowledged') step.onReply?.(body as never);
      if (outcome !== 'absent') return outcome;
      await sleep(retryDelayMs);
    }
  };

  const createProject = (project: string): Step => ({
    operation: 'create a project',
    method: 'POST',
    path: '/api/admin/projects',
    body: { id: project, name: project },
    events: ['project-created'],
    expected: { exists: true },
  });

  /** The writes to one flag. */
  const steps = function* (project: string, flag: string, withRequests: boolean): Generator<Step> {
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

    const tag = function* (): Generator<Step> {
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
    const addStrategy = function* (): Generator<Step> {
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
    const patchStrategy = function* (): Generator<Step> {
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
    const toggle = function* (): Generator<Step> {
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
    const describe = function* (): Generator<Step> {
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
    const changeRequest = function* (): Generator<Step> {
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
      const moveTo = (state: string, emitsEvents: readonly string[]): Step => {
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
    const archive = function* (): Generator<Step> {
      yield {
        operation: 'archive a flag',
        method: 'DELETE',
        path: here,
        events: ['feature-archived'],
        expected: subject('archived', request),
      };
    };

    const basicSteps = [tag, tag, addStrategy, patchStrategy, patchStrategy, toggle, describe];
    for (let nth = 0; nth < stepsPerFlag; nth++) {
      yield* random.pick([...basicSteps, ...(withRequests ? [changeRequest] : [])])();
    }
    if (random.chance(0.3)) yield* archive();
  };

  let project: { readonly name: string; flags: number; withRequests: boolean; readonly restores: number } | undefined;
  let projects = 0;
  for (let nth = 1; !isOver(); nth++) {
    // A draft that returned with an older copy would receive the next change of its user and environment.
    const isOfBefore = project?.withRequests === true && project.restores !== countRestores();
    const isUsedUp =
      project !== undefined && project.flags >= (project.withRequests ? maxFlagsPerProject : maxFlagsWithoutRequests);
    if (project === undefined || ((isUsedUp || isOfBefore) && projects < maxProjects)) {
      const wanted = `${name}-${nth}`;
      const outcome = await make(wanted, wanted, { exists: false }, createProject(wanted));
      projects++;
      const isThere = outcome === 'acknowledged' || outcome === 'found';
      project = isThere ? { name: wanted, flags: 0, withRequests: true, restores: countRestores() } : undefined;
      if (project === undefined) {
        await sleep(retryDelayMs);
        continue;
      }
    }
    const flag = `${name}-${nth}-flag`;
    project.flags++;
    if (project.flags > maxFlagsPerProject || project.restores !== countRestores()) project.withRequests = false;
    let before: Subject = { exists: true };
    for (const step of steps(project.name, flag, project.withRequests)) {
      // The id of its change request may have been reused since.
      if (before.request !== undefined && project.restores !== countRestores()) break;
      const outcome = await make(project.name, flag, before, step);
      if (outcome === 'over') return;
      if (outcome !== 'acknowledged' && outcome !== 'found') {
        // The next change of this writer would be added to the change request whose state is unknown.
        if (step.path.includes('/change-requests')) project.withRequests = false;
        await sleep(retryDelayMs);
        break;
      }
      before = step.expected;
      await sleep(random.fractional(0, 60));
    }
  }
};
