import { eventually } from '@bunting/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Chance } from './chance.ts';
import type { Entry, Outcome } from './ledger.ts';
import { type Observed, observe, reader, readProject } from './observed.ts';
import type { Flag, Request, Subject } from './subject.ts';

export interface WriterOptions {
  readonly name: string;
  readonly urls: readonly string[];
  readonly token: string;
  readonly chance: Chance;
  readonly write: (entry: Entry) => void;
  readonly isOver: () => boolean;
  /** how many projects it may make: there is a limit to those of all */
  readonly mostProjects: number;
  /** how often the database of change requests was put back to an older copy: ids of before then may be others' since */
  readonly restores: () => number;
}

/** A write that is to be made next. */
interface Step {
  readonly what: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly tells: readonly string[];
  readonly then: Subject;
  /** takes from the answer what later steps need */
  readonly learn?: (answer: never) => void;
  /** takes the same from a read, where there was no answer */
  readonly recover?: (observed: Observed) => void;
  /** what another process finishes later once it has begun, so that a read after a 503 does not settle it */
  readonly isFinishedLater?: boolean;
}

interface Answer {
  readonly outcome: Outcome;
  readonly status: number;
  readonly body: unknown;
  readonly said?: string;
}

const answerMs = 20_000;
/** A write that was not answered at all may happen until its deadline, which is what a gateway gives a service by default. */
const unansweredMs = 12_000;
const readMs = 60_000;
const pauseAfterTroubleMs = 150;
const stepsOfOne = 12;
/** A project lists no more change requests than this. */
const flagsOfOne = 200;
/** In a project with a change request of which nobody knows no more are made; so many flags later there is another project. */
const flagsWithoutRequests = 12;

const outcomeOf = (status: number): Outcome =>
  status < 300 ? 'acknowledged' : status < 500 && status !== 429 ? 'refused' : 'unknown';

/** Nobody listened: that write was never sent, and can be made again elsewhere. */
const wasNotSent = (error: unknown): boolean => {
  const { cause } = error as { cause?: { code?: string } };
  return cause?.code === 'ECONNREFUSED';
};

/**
 * Writes through any gateway until it is over, one write after the other. After an answer of 5xx it does what
 * docs/reliability.md advises: it reads, and sends the write again if it is not there.
 */
export const runWriter = async ({
  name,
  urls,
  token,
  chance,
  write,
  isOver,
  mostProjects,
  restores,
}: WriterOptions): Promise<void> => {
  const read = reader({ urls, token }, (all) => chance.one(all), readMs);

  const send = async ({ method, path, body }: Step): Promise<Answer | 'not sent'> => {
    try {
      const response = await fetch(`${chance.one(urls)}${path}`, {
        method,
        headers: { authorization: token, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        signal: AbortSignal.timeout(answerMs),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const outcome = outcomeOf(response.status);
      if (outcome !== 'acknowledged') return { outcome, status: response.status, body: undefined, said: text };
      return { outcome, status: response.status, body: text === '' ? undefined : JSON.parse(text) };
    } catch (error) {
      if (wasNotSent(error)) return 'not sent';
      return { outcome: 'unknown', status: 0, body: undefined, said: String((error as Error).cause ?? error) };
    }
  };

  /** Reads a subject until it shows either what was there before a write or what the write makes of it. */
  const settle = async (project: string, subject: string, before: Subject, step: Step): Promise<Outcome> => {
    const observed = await eventually(
      async () => {
        const now = await observe(read, await readProject(read, project), project, subject);
        if (isDeepStrictEqual(now.subject, before) || isDeepStrictEqual(now.subject, step.then)) return now;
        throw new Error(
          `${subject} is neither as before "${step.what}" nor as after it: ${JSON.stringify(now.subject)}`,
        );
      },
      { timeoutMs: readMs },
    );
    if (!isDeepStrictEqual(observed.subject, step.then)) return 'absent';
    step.recover?.(observed);
    return 'found';
  };

  /** Makes a write until it has happened, is refused, or its outcome cannot be known. Every attempt is remembered. */
  const make = async (project: string, subject: string, before: Subject, step: Step): Promise<Outcome | 'over'> => {
    const restoresBefore = restores();
    for (;;) {
      if (isOver()) return 'over';
      const at = new Date().toISOString();
      const startedAt = performance.now();
      const answer = await send(step);
      if (answer === 'not sent') {
        await sleep(pauseAfterTroubleMs);
        continue;
      }
      const { status, body, said } = answer;
      let { outcome } = answer;
      const { what, tells, then } = step;
      const ms = Math.round(performance.now() - startedAt);
      let reason = said;
      // An answer says that the write is over; without one, it is over after its deadline.
      const isSettled = status > 0 || chance.happens(0.5);
      if (outcome === 'unknown' && isSettled && step.isFinishedLater !== true) {
        if (status === 0) await sleep(Math.max(0, unansweredMs - ms));
        outcome = await settle(project, subject, before, step).catch((error: Error) => {
          reason = `${said}; ${error.message}`;
          return 'unknown' as const;
        });
      }
      // What the database of change requests had is forgotten, and is neither as before nor as after.
      if (outcome !== 'acknowledged' && then.request !== undefined && restores() > restoresBefore) {
        outcome = 'unknown';
        reason = said;
      }
      write({
        project,
        subject,
        what,
        at,
        ms,
        outcome,
        status,
        ...(reason === undefined ? {} : { said: reason }),
        tells,
        then,
      });
      if (outcome === 'acknowledged') step.learn?.(body as never);
      if (outcome !== 'absent') return outcome;
      await sleep(pauseAfterTroubleMs);
    }
  };

  const createProject = (project: string): Step => ({
    what: 'create a project',
    method: 'POST',
    path: '/api/admin/projects',
    body: { id: project, name: project },
    tells: ['project-created'],
    then: { exists: true },
  });

  /** The sequence of writes to one flag. */
  const steps = function* (project: string, flag: string, withRequests: boolean): Generator<Step> {
    const features = `/api/admin/projects/${project}/features`;
    const here = `${features}/${flag}`;
    const development = `${here}/environments/development`;
    const requests = `/api/admin/projects/${project}`;
    /** of each strategy in its place; one that a change request adds keeps its id to itself */
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
    let now: Flag = {
      description: first,
      enabled: false,
      tags: [],
      titles: [],
    };
    let request: Request | undefined;
    yield {
      what: 'create a flag',
      method: 'POST',
      path: features,
      body: { name: flag, description: first },
      tells: [`feature-created ${first}`],
      then: subject(now),
    };

    const tag = function* (): Generator<Step> {
      const value = mark();
      now = { ...now, tags: [...now.tags, value].toSorted() };
      yield {
        what: 'tag a flag',
        method: 'POST',
        path: `/api/admin/features/${flag}/tags`,
        body: { type: 'simple', value },
        tells: [`feature-tagged ${value}`],
        then: subject(now, request),
      };
    };
    const addStrategy = function* (): Generator<Step> {
      const title = mark();
      now = { ...now, titles: [...now.titles, title] };
      yield {
        what: 'add a strategy',
        method: 'POST',
        path: `${development}/strategies`,
        body: { name: 'flexibleRollout', title },
        tells: [`feature-strategy-add ${title}`],
        then: subject(now, request),
        learn: ({ id }: { id: string }) => void (ids[now.titles.length - 1] = id),
        recover: ({ strategyIds }) => void (ids[now.titles.length - 1] = strategyIds[now.titles.length - 1]),
      };
    };
    const patchStrategy = function* (): Generator<Step> {
      const known = ids.flatMap((id, nth) => (id === undefined ? [] : nth));
      if (known.length === 0) return yield* addStrategy();
      const at = chance.one(known);
      const title = mark();
      now = { ...now, titles: now.titles.with(at, title) };
      yield {
        what: 'patch a strategy',
        method: 'PATCH',
        path: `${development}/strategies/${ids[at]}`,
        body: [{ op: 'replace', path: '/title', value: title }],
        tells: [`feature-strategy-update ${title}`],
        then: subject(now, request),
      };
    };
    const toggle = function* (): Generator<Step> {
      if (now.titles.length === 0) yield* addStrategy();
      now = { ...now, enabled: !now.enabled };
      yield {
        what: 'turn a flag on or off',
        method: 'POST',
        path: `${development}/${now.enabled ? 'on' : 'off'}`,
        tells: [now.enabled ? 'feature-environment-enabled' : 'feature-environment-disabled'],
        then: subject(now, request),
      };
    };
    const describe = function* (): Generator<Step> {
      const description = mark();
      now = { ...now, description };
      yield {
        what: 'patch a flag',
        method: 'PATCH',
        path: here,
        body: [{ op: 'replace', path: '/description', value: description }],
        tells: [`feature-metadata-updated ${description}`],
        then: subject(now, request),
      };
    };
    const changeRequest = function* (): Generator<Step> {
      if (request !== undefined) return;
      const titles = [mark(), mark()];
      for (const [nth, title] of titles.entries()) {
        request = { state: 'Draft', changes: nth + 1, comments: [] };
        const payload = { name: 'flexibleRollout', title, constraints: [], parameters: { rollout: '50' } };
        yield {
          what: 'propose a change',
          method: 'POST',
          path: `${requests}/environments/development/change-requests`,
          body: { action: 'addStrategy', feature: flag, payload },
          tells: [...(nth === 0 ? ['change-request-created'] : []), 'change-added'],
          then: subject(now, request),
          learn: ({ id }: { id: number }) => void (requestId = id),
          recover: (observed) => void (requestId = observed.requestId ?? 0),
        };
      }
      const comment = mark();
      request = { ...(request as unknown as Request), comments: [comment] };
      yield {
        what: 'comment on a change request',
        method: 'POST',
        path: `${requests}/change-requests/${requestId}/comments`,
        body: { text: comment },
        tells: [],
        then: subject(now, request),
      };
      const moveTo = (state: string, tells: readonly string[]): Step => {
        request = { ...(request as Request), state };
        return {
          what: `bring a change request to "${state}"`,
          method: 'PUT',
          path: `${requests}/change-requests/${requestId}/state`,
          body: { state },
          tells,
          then: subject(now, request),
        };
      };
      yield moveTo('In review', ['change-request-sent-to-review']);
      yield moveTo('Approved', ['change-request-approval-added', 'change-request-approved']);
      now = { ...now, titles: [...now.titles, ...titles] };
      const told = titles.map((title) => `feature-strategy-add ${title}`);
      yield { ...moveTo('Applied', ['change-request-applied', ...told]), isFinishedLater: true };
    };
    const archive = function* (): Generator<Step> {
      yield {
        what: 'archive a flag',
        method: 'DELETE',
        path: here,
        tells: ['feature-archived'],
        then: subject('archived', request),
      };
    };

    const plainly = [tag, tag, addStrategy, patchStrategy, patchStrategy, toggle, describe];
    for (let nth = 0; nth < stepsOfOne; nth++) {
      yield* chance.one([...plainly, ...(withRequests ? [changeRequest] : [])])();
    }
    if (chance.happens(0.3)) yield* archive();
  };

  let project: { readonly name: string; flags: number; withRequests: boolean; readonly restores: number } | undefined;
  let projects = 0;
  for (let nth = 1; !isOver(); nth++) {
    // A draft that came back with an older copy would take the next change of its user and environment.
    const isOfBefore = project?.withRequests === true && project.restores !== restores();
    const isUsedUp =
      project !== undefined && project.flags >= (project.withRequests ? flagsOfOne : flagsWithoutRequests);
    if (project === undefined || ((isUsedUp || isOfBefore) && projects < mostProjects)) {
      const wanted = `${name}-${nth}`;
      const outcome = await make(wanted, wanted, { exists: false }, createProject(wanted));
      projects++;
      const isThere = outcome === 'acknowledged' || outcome === 'found';
      project = isThere ? { name: wanted, flags: 0, withRequests: true, restores: restores() } : undefined;
      if (project === undefined) {
        await sleep(pauseAfterTroubleMs);
        continue;
      }
    }
    const flag = `${name}-${nth}-flag`;
    project.flags++;
    if (project.flags > flagsOfOne || project.restores !== restores()) project.withRequests = false;
    let before: Subject = { exists: true };
    for (const step of steps(project.name, flag, project.withRequests)) {
      // The id of its change request may be that of another since.
      if (before.request !== undefined && project.restores !== restores()) break;
      const outcome = await make(project.name, flag, before, step);
      if (outcome === 'over') return;
      if (outcome !== 'acknowledged' && outcome !== 'found') {
        // The next change of this writer would go to the change request whose state is unknown.
        if (step.path.includes('/change-requests')) project.withRequests = false;
        await sleep(pauseAfterTroubleMs);
        break;
      }
      before = step.then;
      await sleep(chance.between(0, 60));
    }
  }
};
