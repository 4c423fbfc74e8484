import { type FeedEvent, SearchEvents } from '@bunting/contracts';
import { useEffect, useRef } from 'react';
import { call } from './call.ts';
import { authorizationHeader } from './pending-sign-in.ts';

type Listener = (event: FeedEvent) => void;

const listeners = new Set<Listener>();
let connection: AbortController | undefined;

const backoffLimitsMs = { first: 1_000, max: 30_000 } as const;
/**
 * Milliseconds without a byte after which a connection counts as lost, such as when the computer has slept. The server sends an empty line
 * every 10 seconds.
 */
const maxSilenceMs = 30_000;
const silenceCheckIntervalMs = 5_000;

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

async function newestEventId(signal: AbortSignal): Promise<number> {
  const { events } = await call(SearchEvents, { query: { limit: '1' }, signal });
  return events[0]?.id ?? 0;
}

interface StreamListener {
  /** Called for every chunk, also of empty lines. */
  readonly onBytes: () => void;
  readonly onEvent: Listener;
}

/** Reads the events after an id, one a line, until the stream ends. */
async function readFeed(after: number, signal: AbortSignal, { onBytes, onEvent }: StreamListener): Promise<void> {
  const response = await fetch(`/api/admin/events/feed?follow=true&after=${after}`, {
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

/** Passes each new event to the listeners once, and reconnects after every disconnection and sleep, until the signal aborts. */
async function followFeed(signal: AbortSignal): Promise<void> {
  let lastEventId: number | undefined;
  let backoffMs: number = backoffLimitsMs.first;
  while (!signal.aborted) {
    const connectionTimeout = new AbortController();
    const attemptSignal = AbortSignal.any([signal, connectionTimeout.signal]);
    let lastReceivedAt = Date.now();
    const silenceTimer = setInterval(() => {
      if (Date.now() - lastReceivedAt > maxSilenceMs) connectionTimeout.abort();
    }, silenceCheckIntervalMs);
    try {
      lastEventId ??= await newestEventId(attemptSignal);
      await readFeed(lastEventId, attemptSignal, {
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
    }
    await sleep(backoffMs, signal);
    backoffMs = Math.min(backoffLimitsMs.max, backoffMs * 2);
  }
}

/** Calls `listener` with each event that is recorded while the component is mounted. All components share one connection to the feed. */
export function useEventFeed(listener: Listener): void {
  const latestListener = useRef(listener);
  useEffect(() => {
    latestListener.current = listener;
  });
  useEffect(() => {
    const registeredListener: Listener = (event) => latestListener.current(event);
    listeners.add(registeredListener);
    if (connection === undefined) {
      connection = new AbortController();
      void followFeed(connection.signal);
    }
    return () => {
      listeners.delete(registeredListener);
      if (listeners.size > 0) return;
      connection?.abort();
      connection = undefined;
    };
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
