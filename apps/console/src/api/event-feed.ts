import { type FeedEvent, SearchEvents } from '@bunting/contracts';
import { useEffect, useRef } from 'react';
import { call } from './call.ts';
import { authorization } from './session.ts';

type Listener = (event: FeedEvent) => void;

const listeners = new Set<Listener>();
let connection: AbortController | undefined;

const retryMs = { first: 1_000, max: 30_000 } as const;
/** Milliseconds without a byte after which a connection counts as lost, as after sleep. The server sends an empty line every 10 seconds. */
const maxSilenceMs = 30_000;
const watchIntervalMs = 5_000;

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

const newestId = async (signal: AbortSignal): Promise<number> => {
  const { events } = await call(SearchEvents, { query: { limit: '1' }, signal });
  return events[0]?.id ?? 0;
};

interface StreamListener {
  /** Called for every chunk, also of empty lines. */
  readonly onBytes: () => void;
  readonly onEvent: Listener;
}

/** Reads events, one a line, until the stream ends. */
const follow = async (after: number, signal: AbortSignal, { onBytes, onEvent }: StreamListener): Promise<void> => {
  const response = await fetch(`/api/admin/events/feed?follow=true&after=${after}`, {
    headers: { accept: 'application/x-ndjson', ...authorization() },
    credentials: 'same-origin',
    cache: 'no-store',
    signal,
  });
  if (!response.ok || response.body === null) throw new Error(`The feed answered with status ${response.status}.`);
  let rest = '';
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    onBytes();
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') onEvent(JSON.parse(line) as FeedEvent);
  }
};

/** Follows the events from now on, over every disconnection and sleep, each event once, until it is stopped. */
const run = async (signal: AbortSignal): Promise<void> => {
  let last: number | undefined;
  let pauseMs: number = retryMs.first;
  while (!signal.aborted) {
    const connecting = new AbortController();
    const attempt = AbortSignal.any([signal, connecting.signal]);
    let receivedAt = Date.now();
    const watch = setInterval(() => {
      if (Date.now() - receivedAt > maxSilenceMs) connecting.abort();
    }, watchIntervalMs);
    try {
      last ??= await newestId(attempt);
      await follow(last, attempt, {
        onBytes: () => {
          receivedAt = Date.now();
          pauseMs = retryMs.first;
        },
        onEvent: (event) => {
          last = event.id;
          for (const listener of [...listeners]) listener(event);
        },
      });
    } catch {
      // The pages work without live events; whether Bunting can be reached is shown by their own calls.
    } finally {
      clearInterval(watch);
    }
    await pause(pauseMs, signal);
    pauseMs = Math.min(retryMs.max, pauseMs * 2);
  }
};

/** Calls a function for each event that comes while the component is on the screen. All components share one connection. */
export const useLiveEvents = (listener: Listener): void => {
  const current = useRef(listener);
  useEffect(() => {
    current.current = listener;
  });
  useEffect(() => {
    const stable: Listener = (event) => current.current(event);
    listeners.add(stable);
    if (connection === undefined) {
      connection = new AbortController();
      void run(connection.signal);
    }
    return () => {
      listeners.delete(stable);
      if (listeners.size > 0) return;
      connection?.abort();
      connection = undefined;
    };
  }, []);
};
