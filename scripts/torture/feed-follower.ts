import type { Event, FeedEvent } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SeededRandom } from './seeded-random.ts';

interface FeedFollowerOptions {
  readonly urls: readonly string[];
  readonly token: string;
  readonly random: SeededRandom;
}

const retryDelayMs = 150;
/** Longer than a gateway waits for an unavailable service. */
const silenceTimeoutMs = 45_000;
const readTimeoutMs = 60_000;

/** Follows the event feed, and reconnects to any gateway whenever the stream ends. */
export function startFeedFollower({ urls, token, random }: FeedFollowerOptions) {
  const events: FeedEvent[] = [];
  const violations: string[] = [];
  const stopping = new AbortController();
  let interruptions = 0;

  const addEvent = (line: string): void => {
    if (line === '') return;
    try {
      events.push(JSON.parse(line) as FeedEvent);
    } catch {
      violations.push(`The feed contains a line that is not JSON: ${line}`);
    }
  };

  /** Reads one stream until it ends or fails. An incomplete last line is discarded: its event is sent again after the reconnect. */
  const readStream = async (): Promise<void> => {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), silenceTimeoutMs);
    try {
      const after = events.at(-1)?.id ?? 0;
      const response = await fetch(`${random.pick(urls)}/api/admin/events/feed?follow=true&after=${after}`, {
        headers: { authorization: token },
        signal: AbortSignal.any([stopping.signal, silence.signal]),
      });
      if (!response.ok) {
        const error = `the feed after event ${after} was answered ${response.status}: ${await response.text()}`;
        if (response.status < 500 && response.status !== 429) violations.push(error);
        return;
      }
      let incompleteLine = '';
      for await (const piece of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), silenceTimeoutMs);
        const lines = `${incompleteLine}${piece}`.split('\n');
        incompleteLine = lines.pop() ?? '';
        for (const line of lines) addEvent(line);
      }
    } catch {
      // The stream was interrupted: the next one continues after the last event.
    } finally {
      clearTimeout(timer);
    }
  };

  const following = (async () => {
    for (;;) {
      await readStream();
      if (stopping.signal.aborted) return;
      interruptions++;
      await sleep(random.fractional(0, retryDelayMs));
    }
  })();

  return {
    get state() {
      return { events, interruptions, violations };
    },
    /** Waits until the follower has read an event. @throws Error after a minute */
    waitFor: (id: Event['id']): Promise<void> =>
      eventually(
        () => {
          const last = events.at(-1)?.id ?? 0;
          if (last < id) throw new Error(`The follower of the feed is at event ${last} of ${id}.`);
        },
        { timeoutMs: readTimeoutMs },
      ),
    stop: async (): Promise<void> => {
      stopping.abort();
      await following;
    },
  };
}
export type FeedFollower = ReturnType<typeof startFeedFollower>;
