import { type FeedEvent, type FoundEvents, SearchEvents } from '@bunting/contracts';
import { useEffect, useRef } from 'react';
import { basePath } from '../base-path.ts';
import { sendAfterSignIn, urlOf } from './call.ts';
import { clockToleranceMs } from './last-write.ts';
import { authorizationHeader } from './pending-sign-in.ts';

type Listener = (event: FeedEvent) => void;

const listeners = new Set<Listener>();
let isFollowing = false;
/** This module is loaded before the first page that listens reads anything. */
const loadedAt = performance.now();

const backoffLimitsMs = { first: 1_000, max: 30_000 } as const;
/**
 * Milliseconds without a byte after which a connection counts as lost, such as when the computer has slept. The server sends an empty line
 * every 10 seconds.
 */
const maxSilenceMs = 30_000;
const silenceCheckIntervalMs = 5_000;

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

function untilShown(): Promise<void> {
  return new Promise((resolve) => {
    const onChange = (): void => {
      if (document.hidden) return;
      document.removeEventListener('visibilitychange', onChange);
      resolve();
    };
    document.addEventListener('visibilitychange', onChange);
    onChange();
  });
}

const [positionPageSize, maxPositionPages] = [10, 100] as const;

/**
 * The id of the newest event that happened before this module was loaded, by the clock of the server. A page reads what it shows while this
 * is asked: what is saved between the two is passed to its listeners, and what it has read already may be.
 */
async function firstPosition(signal: AbortSignal): Promise<number> {
  let since: number | undefined;
  let oldestId = 0;
  for (let page = 0; page < maxPositionPages; page++) {
    const query = { limit: String(positionPageSize), offset: String(page * positionPageSize) };
    const { response, body } = await sendAfterSignIn('GET', urlOf(SearchEvents, { query }), { signal });
    const { events } = body as FoundEvents;
    since ??= Date.parse(response.headers.get('date') ?? '') - (performance.now() - loadedAt) - clockToleranceMs;
    const before = events.find(({ createdAt }) => !(Date.parse(createdAt) >= (since as number)));
    if (before !== undefined) return before.id;
    if (events.length < positionPageSize) return 0;
    oldestId = events.at(-1)?.id ?? 0;
  }
  return oldestId;
}

interface StreamListener {
  /** Called for every chunk, also of empty lines. */
  readonly onBytes: () => void;
  readonly onEvent: Listener;
}

/** Reads the events after an id, one a line, until the stream ends. */
async function readFeed(after: number, signal: AbortSignal, { onBytes, onEvent }: StreamListener): Promise<void> {
  const response = await fetch(`${basePath}/api/admin/events/feed?follow=true&after=${after}`, {
    headers: { accept: 'application/x-ndjson', ...authorizationHeader() },
    credentials: 'same-origin',
    cache: 'no-store',
    signal,
  });
  if (!response.ok || response.body === null) throw new Error(`The feed answered with status ${response.status}.`);
  let incompleteLine = '';
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    onBytes();
    const lines = (incompleteLine + value).split('\n');
    incompleteLine = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') onEvent(JSON.parse(line) as FeedEvent);
  }
}

/**
 * Passes each new event to the listeners once, and reconnects after every disconnection and sleep. A page that is not seen has no connection,
 * of which a browser has six for all tabs by HTTP/1.1: it gets the events of that time when it is shown again.
 */
async function followFeed(): Promise<never> {
  let lastEventId: number | undefined;
  let backoffMs: number = backoffLimitsMs.first;
  for (;;) {
    await untilShown();
    const connection = new AbortController();
    let lastReceivedAt = Date.now();
    const silenceTimer = setInterval(() => {
      if (Date.now() - lastReceivedAt > maxSilenceMs) connection.abort();
    }, silenceCheckIntervalMs);
    const onVisibilityChange = (): void => {
      if (document.hidden) connection.abort();
    };
    document.addEventListener('visibilitychange', onVisibilityChange);
    try {
      lastEventId ??= await firstPosition(connection.signal);
      await readFeed(lastEventId, connection.signal, {
        onBytes: () => {
          lastReceivedAt = Date.now();
          backoffMs = backoffLimitsMs.first;
        },
        onEvent: (event) => {
          lastEventId = event.id;
          for (const listener of [...listeners]) listener(event);
        },
      });
    } catch {
      // The pages work without live events; whether Bunting can be reached is shown by their own calls.
    } finally {
      clearInterval(silenceTimer);
      document.removeEventListener('visibilitychange', onVisibilityChange);
    }
    if (document.hidden) continue;
    await sleep(backoffMs);
    backoffMs = Math.min(backoffLimitsMs.max, backoffMs * 2);
  }
}

/**
 * Calls `listener` with each event that is recorded while the component is mounted, and with those that were recorded since its page began to
 * read. All components share one connection to the feed, which stays for the pages after this one.
 */
export function useEventFeed(listener: Listener): void {
  const latestListener = useRef(listener);
  useEffect(() => {
    latestListener.current = listener;
  });
  useEffect(() => {
    const registeredListener: Listener = (event) => latestListener.current(event);
    listeners.add(registeredListener);
    if (!isFollowing) {
      isFollowing = true;
      void followFeed();
    }
    return () => void listeners.delete(registeredListener);
  }, []);
}

/** For how long events are gathered before what they concern is read again, in milliseconds. */
const gatherMs = 1_000;

/**
 * Runs `run` after events, once for all that come within a second: never while it still runs, nor sooner than `atLeastMs` after the last run,
 * nor while the page is hidden. What it has not yet answered then it answers later, by one run.
 */
class EventBatches {
  #hasEvents = false;
  #isRunning = false;
  #isStopped = false;
  #nextAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #run: () => unknown;
  readonly #atLeastMs: number;

  constructor(run: () => unknown, atLeastMs: number) {
    this.#run = run;
    this.#atLeastMs = atLeastMs;
    document.addEventListener('visibilitychange', this.#schedule);
  }

  add(): void {
    this.#hasEvents = true;
    this.#schedule();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    document.removeEventListener('visibilitychange', this.#schedule);
  }

  readonly #schedule = (): void => {
    if (!this.#hasEvents || this.#isRunning || this.#isStopped || document.hidden) return;
    this.#timer ??= setTimeout(() => void this.#start(), Math.max(gatherMs, this.#nextAt - performance.now()));
  };

  async #start(): Promise<void> {
    this.#timer = undefined;
    if (document.hidden) return;
    this.#hasEvents = false;
    this.#isRunning = true;
    try {
      await this.#run();
    } catch {
      // The pages show why they could not be read.
    }
    this.#isRunning = false;
    this.#nextAt = performance.now() + this.#atLeastMs;
    this.#schedule();
  }
}

/**
 * Calls `listener` after events that concern it, once for all that come within a second, however many they are. Where it returns a promise,
 * the next call waits for that: a slow read is not begun anew by each event. A hidden page calls it when it is shown again.
 * @param atLeastMs the time from one call's end to the next call, in milliseconds; the same in all renders
 */
export function useEventBatches(
  concerns: (event: FeedEvent) => boolean,
  listener: () => unknown,
  atLeastMs: number = gatherMs,
): void {
  const latestListener = useRef(listener);
  useEffect(() => {
    latestListener.current = listener;
  });
  const batches = useRef<EventBatches | undefined>(undefined);
  useEventFeed((event) => {
    if (concerns(event)) batches.current?.add();
  });
  useEffect(() => {
    const started = new EventBatches(() => latestListener.current(), atLeastMs);
    batches.current = started;
    return () => started.stop();
  }, [atLeastMs]);
}
