import { type Bus, systemContext } from '@bunting/bus';
import {
  GetPeopleOfChangeRequest,
  GetPermissionsOfUsers,
  ListFeatureFollowers,
  ListTokensNearTheirEnd,
  notificationDays,
  ReadEventLog,
  Refusal,
} from '@bunting/contracts';
import { type Log, startLoop } from '@bunting/runtime';
import pLimit from 'p-limit';
import { endOfLog } from '../addons/endpoints.ts';
import { call } from '../calls.ts';
import { followRestoredLog } from '../delivery/background.ts';
import type { LogMarkStore } from '../delivery/log-mark-store.ts';
import { isOtherLog, type LogPage } from '../delivery/log-position.ts';
import type { InboxPosition, InboxStore } from './inbox-store.ts';
import {
  asksForReview,
  changeRequestOf,
  deletedUserOf,
  followedFeatureOf,
  type Followers,
  type Notice,
  noticeOf,
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
  readonly log: Log;
}

const pageSize = 100;
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
export function startInbox({ bus, store, marks, intervalMs, log }: InboxOptions) {
  const context = () => systemContext(callTimeoutMs);
  const readLog = (after: number, limit: number, waitsForCommits = false): Promise<LogPage> =>
    call(bus, ReadEventLog, { body: { after, limit, waitsForCommits } }, context());

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

  const noticesOf = async (entries: LogPage['events']): Promise<Notice[]> => {
    const requestIds = new Set(entries.flatMap(({ event }) => changeRequestOf(event) ?? []));
    const asked = new Set(entries.flatMap(({ event }) => (asksForReview(event) ? (changeRequestOf(event) ?? []) : [])));
    const names = [...new Set(entries.flatMap(({ event }) => followedFeatureOf(event) ?? []))];
    const inTurn = pLimit(maxConcurrentCalls);
    const [requests, followers] = await Promise.all([
      Promise.all([...requestIds].map((id) => inTurn(async () => [id, await peopleOf(id, asked.has(id))] as const))),
      names.length === 0 ? noFollowers : call(bus, ListFeatureFollowers, { body: { names } }, context()),
    ]);
    const changeRequests = new Map(requests.flatMap(([id, people]) => (people === undefined ? [] : [[id, people]])));
    return toPeople(entries.flatMap((entry) => noticeOf(entry, { changeRequests, followers }) ?? []));
  };

  /** How many events are read at once. Fewer after a failure: the people of a whole page may be too many to look up in time. */
  let limit = pageSize;

  /** whether a commit may not be in the log yet */
  let hasNewCommits = true;

  /** Tells people of what follows a position. @returns the position behind it; undefined at the end of the log */
  const tellPage = async (position: InboxPosition, waitsForCommits: boolean): Promise<InboxPosition | undefined> => {
    const page = await readLog(position.position, limit, waitsForCommits);
    if (isOtherLog(page, position)) {
      await followRestoredLog({ marks, readLog, log }, position.generation, position.position);
      return store.position();
    }
    const last = page.events.at(-1);
    if (last === undefined) return undefined;
    // Of a log that is read again from far back, what is kept no longer is not told again.
    const oldest = Date.now() - notificationDays * dayMs;
    const recent = page.events.filter(({ event }) => Date.parse(event.createdAt) >= oldest);
    const notices = await noticesOf(recent).catch((error: unknown) => {
      limit = Math.max(1, Math.floor(limit / 2));
      throw error;
    });
    limit = Math.min(pageSize, limit * 2);
    const deletedUsers = page.events.flatMap(({ event }) => deletedUserOf(event) ?? []);
    const settled = page.events.flatMap(({ event }) => settledReviewOf(event) ?? []);
    const next = { ...position, position: last.event.id, hash: last.hash };
    return (await store.commit(position, next, { notices, settled, deletedUsers })) ? next : store.position();
  };

  const following = startLoop({
    name: 'Telling people of events',
    intervalMs,
    minIntervalMs: 100,
    burst: 20,
    log,
    run: async () => {
      const waitsForCommits = hasNewCommits;
      hasNewCommits = false;
      try {
        let position = await store.position();
        if (position === undefined) await store.begin(await endOfLog(bus));
        while (position !== undefined) position = await tellPage(position, waitsForCommits);
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

const noFollowers: Followers = { features: [], productionEnvironments: [] };
