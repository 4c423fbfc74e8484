import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { eventually } from '@bunting/testing';
import { type CreatedObject, generateRandomWrites, type WriteWithExpectation } from './generate-random-writes.ts';
import type { SeededRandom } from './seeded-random.ts';
import { readProject, readSubject, retryingReader, type Subject } from './subject.ts';

interface WriterOptions {
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
  /** the longest pause between two writes */
  readonly maxPauseMs: number;
  /** resolves when writes may be sent */
  readonly mayWrite: () => Promise<void>;
}

interface WriteResult {
  readonly outcome: WriteOutcome;
  readonly status: number;
  readonly body: unknown;
  /** the text of an error response, or the error of the connection */
  readonly error?: string;
}

const requestTimeoutMs = 20_000;
/** A write without a response may happen until its deadline: the default call timeout of the gateway and two seconds. */
const deadlineMs = 12_000;
/** For how long a failed read is retried. */
const readTimeoutMs = 60_000;
const retryDelayMs = 150;
/** The API lists a limited number of change requests of a project, each of which has one flag: this is below it. */
const maxFlagsPerProject = 200;
/** A project gets no more change requests after one of unknown outcome, and is replaced when it has this many flags. */
const maxFlagsWithoutRequests = 12;

function outcomeOf(status: number): WriteOutcome {
  return status < 300 ? 'acknowledged' : status < 500 && status !== 429 ? 'refused' : 'unknown';
}

/** Whether the connection was refused: then the write was not sent, and can be repeated at another gateway. */
function isConnectionRefused(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: string } };
  return cause?.code === 'ECONNREFUSED';
}

/**
 * Writes sequentially, through any gateway, until the end of the run. After a 5xx it does what docs/reliability.md advises: it reads, and
 * retries the write if it is missing.
 */
export async function runWriter({
  name,
  urls,
  token,
  random,
  record,
  isOver,
  maxProjects,
  countRestores,
  maxPauseMs,
  mayWrite,
}: WriterOptions): Promise<void> {
  const read = retryingReader({ urls, token }, (all) => random.pick(all), readTimeoutMs);

  const send = async ({ method, path, body }: WriteWithExpectation): Promise<WriteResult | 'not sent'> => {
    try {
      const response = await fetch(`${random.pick(urls)}${path}`, {
        method,
        headers: { authorization: token, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        signal: AbortSignal.timeout(requestTimeoutMs),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const outcome = outcomeOf(response.status);
      if (outcome !== 'acknowledged') return { outcome, status: response.status, body: undefined, error: text };
      return { outcome, status: response.status, body: text === '' ? undefined : JSON.parse(text) };
    } catch (error) {
      if (isConnectionRefused(error)) return 'not sent';
      return { outcome: 'unknown', status: 0, body: undefined, error: String((error as Error).cause ?? error) };
    }
  };

  /** Determines whether a write has happened: reads its subject until the state is that before or that after the write. */
  const determineOutcome = async (
    project: string,
    subject: string,
    before: Subject,
    write: WriteWithExpectation,
  ): Promise<WriteOutcome> => {
    const observed = await eventually(
      async () => {
        const current = await readSubject(read, await readProject(read, project), project, subject);
        if (isDeepStrictEqual(current.subject, before) || isDeepStrictEqual(current.subject, write.expected))
          return current;
        throw new Error(
          `${subject} is neither as before "${write.operation}" nor as after it: ${JSON.stringify(current.subject)}`,
        );
      },
      { timeoutMs: readTimeoutMs },
    );
    if (!isDeepStrictEqual(observed.subject, write.expected)) return 'absent';
    write.onRead?.(observed);
    return 'found';
  };

  /** Repeats a write until it has happened, is refused, or has an unknown outcome. Every attempt is recorded. */
  const complete = async (
    project: string,
    subject: string,
    before: Subject,
    write: WriteWithExpectation,
  ): Promise<WriteOutcome | 'over'> => {
    const restoresBefore = countRestores();
    for (;;) {
      await mayWrite();
      if (isOver()) return 'over';
      const sentAt = new Date().toISOString();
      const startedAt = performance.now();
      const result = await send(write);
      if (result === 'not sent') {
        await sleep(retryDelayMs);
        continue;
      }
      const { status, body, error } = result;
      let { outcome } = result;
      const { operation, events, expected } = write;
      const ms = Math.round(performance.now() - startedAt);
      let reason = error;
      // With a response the write has ended; without one, it has ended after its deadline.
      const isSettled = status > 0 || random.chance(0.5);
      if (outcome === 'unknown' && isSettled && write.completesLater !== true) {
        if (status === 0) await sleep(Math.max(0, deadlineMs - ms));
        outcome = await determineOutcome(project, subject, before, write).catch((unsettled: Error) => {
          reason = `${error}; ${unsettled.message}`;
          return 'unknown' as const;
        });
      }
      // The restored database may have lost the write, or may have an earlier draft again, to which a proposal was added: the state may be
      // neither that before the write nor that after it.
      if (expected.request !== undefined && countRestores() > restoresBefore) {
        outcome = 'unknown';
        reason = error;
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
      if (outcome === 'acknowledged') write.onReply?.(body as CreatedObject);
      if (outcome !== 'absent') return outcome;
      await sleep(retryDelayMs);
    }
  };

  const createProject = (project: string): WriteWithExpectation => ({
    operation: 'create a project',
    method: 'POST',
    path: '/api/admin/projects',
    body: { id: project, name: project },
    events: ['project-created'],
    expected: { exists: true },
  });

  let project: { readonly name: string; flags: number; withRequests: boolean; readonly restores: number } | undefined;
  let projects = 0;
  for (let nth = 1; !isOver(); nth++) {
    // The restored copy may have an open draft, which would receive the next change of the same user and environment.
    const isFromBeforeRestore = project?.withRequests === true && project.restores !== countRestores();
    const isUsedUp =
      project !== undefined && project.flags >= (project.withRequests ? maxFlagsPerProject : maxFlagsWithoutRequests);
    if (project === undefined || ((isUsedUp || isFromBeforeRestore) && projects < maxProjects)) {
      const projectName = `${name}-${nth}`;
      const outcome = await complete(projectName, projectName, { exists: false }, createProject(projectName));
      projects++;
      const hasProject = outcome === 'acknowledged' || outcome === 'found';
      project = hasProject ? { name: projectName, flags: 0, withRequests: true, restores: countRestores() } : undefined;
      if (project === undefined) {
        await sleep(retryDelayMs);
        continue;
      }
    }
    const flag = `${name}-${nth}-flag`;
    project.flags++;
    if (project.flags > maxFlagsPerProject || project.restores !== countRestores()) project.withRequests = false;
    let before: Subject = { exists: true };
    for (const write of generateRandomWrites({
      project: project.name,
      flag,
      withRequests: project.withRequests,
      random,
    })) {
      // After a restore, another change request may have the id of the one of this flag, and an earlier draft may be open again.
      if (write.expected.request !== undefined && project.restores !== countRestores()) break;
      const outcome = await complete(project.name, flag, before, write);
      if (outcome === 'over') return;
      if (outcome !== 'acknowledged' && outcome !== 'found') {
        // The next change of this writer would be added to the change request whose state is unknown.
        if (write.path.includes('/change-requests')) project.withRequests = false;
        await sleep(retryDelayMs);
        break;
      }
      before = write.expected;
      await sleep(random.fractional(0, maxPauseMs));
    }
  }
}

/**
 * The outcome of a write. `acknowledged`: a success. `refused`: a client error, which none of these writes should get. The others
 * got a 5xx or no response. `unknown`: it may have happened. `found`: a later read showed that it happened. `absent`: a later read
 * showed that it did not, and from then on it must never happen.
 */
export type WriteOutcome = 'acknowledged' | 'refused' | 'unknown' | 'found' | 'absent';

/** Whether a write with this outcome is certain to have happened. */
export function hasHappened(outcome: WriteOutcome): boolean {
  return outcome === 'acknowledged' || outcome === 'found';
}

/** One attempt of a write. */
export interface LedgerEntry {
  readonly project: string;
  /** the project or flag; it has one writer, which writes sequentially */
  readonly subject: string;
  readonly operation: string;
  readonly sentAt: string;
  readonly ms: number;
  readonly outcome: WriteOutcome;
  readonly status: number;
  /** the response or error, unless it was a success */
  readonly error?: string;
  /** the events that it emits if it happens, as `eventKey` writes them */
  readonly events: readonly string[];
  /** the state of the subject if it happens */
  readonly expected: Subject;
}

/** The ledger of one writer. Each entry is synced to disk before the next write begins. */
export function openLedger(file: string): { write(entry: LedgerEntry): void; close(): void } {
  const handle = openSync(file, 'a', 0o600);
  return {
    write: (entry) => {
      writeSync(handle, `${JSON.stringify(entry)}\n`);
      fsyncSync(handle);
    },
    close: () => closeSync(handle),
  };
}

export function readLedger(file: string): LedgerEntry[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LedgerEntry);
}
