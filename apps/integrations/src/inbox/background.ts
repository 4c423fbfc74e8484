import { type Bus, systemContext } from '@bunting/bus';
import {
  GetPeopleOfChangeRequest,
  GetPermissionsOfUsers,
  ListFeatureFollowers,
  ListTokensNearTheirEnd,
  notificationDays,
  ReadEventLog,
  Refusal,
  type RequestOf,
  retryOutcomes,
} from '@bunting/contracts';
import { type Log, logAfterRestartMs, logFailure, startLoop } from '@bunting/runtime';
import pLimit from 'p-limit';
import { Counter, Gauge, type Registry } from 'prom-client';
import { endOfLog } from '../addons/endpoints.ts';
import { call } from '../calls.ts';
import { followRestoredLog } from '../delivery/restored-log.ts';
import type { LogMarkStore } from '../delivery/log-mark-store.ts';
import { isOtherLog, type LogPage } from '../delivery/log-position.ts';
import type { InboxPosition, InboxStore } from './inbox-store.ts';
import {
  asksForReview,
  changeRequestOf,
  deletedProjectOf,
  deletedUserOf,
  followedFeatureOf,
  type Followers,
  type Notice,
  noticesOf,
  noticeOfToken,
  type PeopleOfChangeRequest,
  settledReviewOf,
  tokenDays,
} from './notification.ts';

interface InboxOptions {
  readonly bus: Bus;
  readonly store: InboxStore;
  readonly marks: LogMarkStore;
  readonly intervalMs: number;
  /** the longest pause after a failure */
  readonly maxBackoffMs?: number;
  /** called when people were told of something */
  readonly onTold?: () => void;
  readonly metrics: Registry;
  readonly log: Log;
}

type LogRequest = RequestOf<typeof ReadEventLog>['body'];

const pageSize = 100;
/** After how many attempts an event is left out whose people cannot be looked up although nothing is away. */
const maxAttemptsAlone = 20;
const callTimeoutMs = 10_000;
const maxUsersPerCall = 1_000;
const maxConcurrentCalls = 8;
const tokenIntervalMs = 3_600_000;
const housekeepingMs = 60_000;
const dayMs = 86_400_000;

/**
 * Tells people of the events of the log, until it is stopped. What people are told and the position in the log up to which they are is one
 * transaction, so that a process that dies leaves nobody out and tells nobody twice. Of several replicas the fastest one moves the position.
 */
export function startInbox(options: InboxOptions) {
  const { bus, store, marks, intervalMs, maxBackoffMs, onTold, metrics, log } = options;
  const { countLeftOut, caughtUp } = registerInboxMetrics(metrics);
  const context = () => systemContext(callTimeoutMs);
  const readLog = (after: number, limit: number, more: Partial<LogRequest> = {}): Promise<LogPage> =>
    call(bus, ReadEventLog, { body: { after, limit, ...more } }, context());

  const peopleOf = async (id: number, withReviewers: boolean): Promise<PeopleOfChangeRequest | undefined> => {
    try {
      return await call(bus, GetPeopleOfChangeRequest, { body: { id, withReviewers } }, context());
    } catch (error) {
      if (error instanceof Refusal && error.kind === 'NotFoundError') return undefined;
      throw error;
    }
  };

  /** The notices without service accounts, and without users who are deleted or disabled. */
  const toPeople = async (notices: readonly Notice[]): Promise<Notice[]> => {
    const ids = [...new Set(notices.flatMap(({ userIds }) => userIds))];
    const people = new Set<number>();
    for (let from = 0; from < ids.length; from += maxUsersPerCall) {
      const body = { ids: ids.slice(from, from + maxUsersPerCall) };
      const { users } = await call(bus, GetPermissionsOfUsers, { body }, context());
      for (const { user, caller } of users) if (caller.isService !== true) people.add(user.id);
    }
    return notices.flatMap((notice) => {
      const userIds = notice.userIds.filter((id) => people.has(id));
      return userIds.length === 0 ? [] : [{ ...notice, userIds }];
    });
  };

  /** The entries with their summaries; without them where the log was restored meanwhile. */
  const described = async (entries: LogPage['events']): Promise<LogPage['events']> => {
    const events = new Map<string, LogPage['events'][number]>();
    const last = entries.at(-1)?.event.id ?? 0;
    for (let after = (entries[0]?.event.id ?? 0) - 1; after < last;) {
      const page = await readLog(after, Math.min(last - after, pageSize));
      for (const entry of page.events) events.set(entry.uid, entry);
      after = page.events.at(-1)?.event.id ?? last;
    }
    return entries.map((entry) => events.get(entry.uid) ?? entry);
  };

  const lookUp = async (entries: LogPage['events']): Promise<Notice[]> => {
    const requestIds = new Set(entries.flatMap(({ event }) => changeRequestOf(event) ?? []));
    const asked = new Set(entries.flatMap(({ event }) => (asksForReview(event) ? (changeRequestOf(event) ?? []) : [])));
    const names = [...new Set(entries.flatMap(({ event }) => followedFeatureOf(event) ?? []))];
    const inTurn = pLimit(maxConcurrentCalls);
    const [requests, followers] = await Promise.all([
      Promise.all([...requestIds].map((id) => inTurn(async () => [id, await peopleOf(id, asked.has(id))] as const))),
      names.length === 0 ? noFollowers : call(bus, ListFeatureFollowers, { body: { names } }, context()),
    ]);
    const changeRequests = new Map(requests.flatMap(([id, people]) => (people === undefined ? [] : [[id, people]])));
    const notices = (some: LogPage['events']) =>
      some.flatMap((entry) => noticesOf(entry, { changeRequests, followers }));
    // Few events are told to anybody, and only those need their summaries.
    const told = entries.filter((entry) => notices([entry]).length > 0);
    return told.length === 0 ? [] : toPeople(notices(await described(told)));
  };

  /** How many events are read at once. Fewer after a failure: the people of a whole page may be too many to look up in time. */
  let limit = pageSize;

  /** An event that has failed alone, and how often. */
  let failing = { id: 0, attempts: 0 };

  /** What people are told of events. Reads fewer at once after a failure, and leaves out a single one that fails again and again. */
  const lookUpOrLeaveOut = async (entries: LogPage['events']): Promise<Notice[]> => {
    try {
      const notices = await lookUp(entries);
      limit = Math.min(pageSize, limit * 2);
      return notices;
    } catch (error) {
      limit = Math.max(1, Math.floor(entries.length / 2));
      const [first, second] = entries;
      if (first === undefined || second !== undefined || isOutage(error)) throw error;
      const { id, type } = first.event;
      failing = { id, attempts: failing.id === id ? failing.attempts + 1 : 1 };
      if (failing.attempts < maxAttemptsAlone) throw error;
      logFailure(
        log,
        `Nobody is told of event ${id} (${type}), whose people could not be looked up ${failing.attempts} times`,
        error,
      );
      countLeftOut();
      return [];
    }
  };

  /** whether a commit may not be in the log yet */
  let hasNewCommits = true;

  /** Tells people of what follows a position. @returns the position behind it; undefined at the end of the log */
  const tellPage = async (position: InboxPosition, waitsForCommits: boolean): Promise<InboxPosition | undefined> => {
    const page = await readLog(position.position, limit, { waitsForCommits, omitsDescriptions: true });
    if (isOtherLog(page, position)) {
      await followRestoredLog({ marks, readLog, log }, position.generation, position.position);
      return store.position();
    }
    const last = page.events.at(-1);
    if (last === undefined) return undefined;
    // Of a log that is read again from far back, what is kept no longer is not told again.
    const oldest = Date.now() - notificationDays * dayMs;
    const recent = page.events.filter(({ event }) => Date.parse(event.createdAt) >= oldest);
    const notices = await lookUpOrLeaveOut(recent);
    const deletedUsers = page.events.flatMap(({ event }) => deletedUserOf(event) ?? []);
    const deletedProjects = page.events.flatMap(({ event }) => deletedProjectOf(event) ?? []);
    const settled = page.events.flatMap(({ event }) => settledReviewOf(event) ?? []);
    const next = { ...position, position: last.event.id, hash: last.hash };
    const isStored = await store.commit(position, next, { notices, settled, deletedUsers, deletedProjects });
    if (isStored && notices.length > 0) onTold?.();
    return isStored ? next : store.position();
  };

  const following = startLoop({
    name: 'Telling people of events',
    intervalMs,
    minIntervalMs: 100,
    burst: 20,
    ...(maxBackoffMs === undefined ? {} : { maxBackoffMs }),
    logAfterFailingForMs: logAfterRestartMs,
    log,
    run: async () => {
      const waitsForCommits = hasNewCommits;
      hasNewCommits = false;
      try {
        let position = await store.position();
        if (position === undefined) await store.begin(await endOfLog(bus));
        // What is committed meanwhile wakes the next round: if each page waited for it, a round under load would not end.
        for (let isFirst = true; position !== undefined; isFirst = false)
          position = await tellPage(position, waitsForCommits && isFirst);
        caughtUp();
      } catch (error) {
        hasNewCommits ||= waitsForCommits;
        throw error;
      }
    },
  });
  const tokens = startLoop({
    name: 'Telling people of tokens that end soon',
    intervalMs: tokenIntervalMs,
    // The gateway may be starting as well, and nothing is late by hours.
    logAfterFailingForMs: housekeepingMs,
    log,
    run: async () => {
      const ending = await call(bus, ListTokensNearTheirEnd, { body: { days: tokenDays } }, context());
      const now = new Date();
      await store.tell(await toPeople(ending.tokens.flatMap((token) => noticeOfToken(token, now) ?? [])));
      onTold?.();
    },
  });
  const housekeeping = startLoop({
    name: 'Dropping old notifications',
    intervalMs: housekeepingMs,
    log,
    run: async () => ((await store.dropOld()) > 0 ? 0 : housekeepingMs),
  });

  return {
    /** Looks for events of a commit now. */
    wake: (): void => {
      hasNewCommits = true;
      following.wake();
    },
    stop: async (): Promise<void> => {
      await Promise.all([following.stop(), tokens.stop(), housekeeping.stop()]);
    },
  };
}

/** Whether a failure ends by itself: during it, everything waits. */
function isOutage(error: unknown): boolean {
  return error instanceof Refusal && retryOutcomes[error.kind] === 'may succeed';
}

function registerInboxMetrics(registry: Registry) {
  let caughtUpAt = performance.now();
  new Gauge({
    name: 'bunting_inbox_lag_seconds',
    help: 'time since people were told of everything in the event log; an idle inbox looks every few seconds',
    registers: [registry],
    collect() {
      this.set((performance.now() - caughtUpAt) / 1_000);
    },
  });
  const leftOut = new Counter({
    name: 'bunting_inbox_events_left_out_total',
    help: 'events that nobody is told of, since their people could not be looked up',
    registers: [registry],
  });
  return {
    countLeftOut: (): void => leftOut.inc(),
    caughtUp: (): void => void (caughtUpAt = performance.now()),
  };
}

const noFollowers: Followers = { features: [], productionEnvironments: [] };
