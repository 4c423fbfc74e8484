import { type FeedEvent, SearchEvents } from '@bunting/contracts';
import { useEffect, useRef } from 'react';
import { call } from './call.ts';
import { authorization } from './session.ts';

type Listener = (event: FeedEvent) => void;

const listeners = new Set<Listener>();
let connection: AbortController | undefined;

const retryMs = { first: 1_000, max: 30_000 } as const;

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

/** Reads events, one a line, until the stream ends. */
const follow = async (after: number, signal: AbortSignal, emit: Listener): Promise<void> => {
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
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') emit(JSON.parse(line) as FeedEvent);
  }
};

/** Follows the events from now on, over every disconnection, each event once, until it is stopped. */
const run = async (signal: AbortSignal): Promise<void> => {
  let last: number | undefined;
  let pauseMs: number = retryMs.first;
  while (!signal.aborted) {
    try {
      last ??= await newestId(signal);
      await follow(last, signal, (event) => {
        last = event.id;
        pauseMs = retryMs.first;
        for (const listener of [...listeners]) listener(event);
      });
    } catch {
      // The pages work without live events; whether Bunting can be reached is shown by their own calls.
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
