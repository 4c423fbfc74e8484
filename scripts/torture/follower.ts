import type { Event, FeedEvent } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from './chance.ts';

/** What a follower of the event feed has read so far, and what it was told that no follower should be told. */
export interface Read {
  readonly events: readonly FeedEvent[];
  /** how often it had to ask again */
  readonly cutOff: number;
  readonly complaints: readonly string[];
}

/** Somebody who reads the event feed along, through any gateway, and knows nothing but the last event that arrived. */
export interface Follower {
  readonly read: Read;
  /** Waits until it has read up to an event. */
  upTo(id: Event['id']): Promise<void>;
  stop(): Promise<void>;
}

export interface FollowerOptions {
  readonly urls: readonly string[];
  readonly token: string;
  readonly chance: Chance;
}

const pauseAfterTroubleMs = 150;
/** Longer than a gateway waits for a service that is away: what is silent for so long is dead. */
const silenceMs = 45_000;
const upToMs = 60_000;

/** Follows the event feed; whenever it is cut off, it asks any gateway for what follows the last event that it has. */
export const startFollower = ({ urls, token, chance }: FollowerOptions): Follower => {
  const events: FeedEvent[] = [];
  const complaints: string[] = [];
  const leaving = new AbortController();
  let cutOff = 0;

  const take = (line: string): void => {
    if (line === '') return;
    try {
      events.push(JSON.parse(line) as FeedEvent);
    } catch {
      complaints.push(`The feed has a line that is no JSON: ${line}`);
    }
  };

  /** Reads one stream to its end, whatever ends it. What came of a line that is not whole comes again. */
  const readStream = async (): Promise<void> => {
    const silence = new AbortController();
    let patience = setTimeout(() => silence.abort(), silenceMs);
    try {
      const after = events.at(-1)?.id ?? 0;
      const response = await fetch(`${chance.one(urls)}/api/admin/events/feed?follow=true&after=${after}`, {
        headers: { authorization: token },
        signal: AbortSignal.any([leaving.signal, silence.signal]),
      });
      if (!response.ok) {
        const said = `the feed after event ${after} was answered ${response.status}: ${await response.text()}`;
        if (response.status < 500 && response.status !== 429) complaints.push(said);
        return;
      }
      let rest = '';
      for await (const piece of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
        clearTimeout(patience);
        patience = setTimeout(() => silence.abort(), silenceMs);
        const lines = `${rest}${piece}`.split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) take(line);
      }
    } catch {
      // It was cut off: it goes on where it was.
    } finally {
      clearTimeout(patience);
    }
  };

  const following = (async () => {
    for (;;) {
      await readStream();
      if (leaving.signal.aborted) return;
      cutOff++;
      await sleep(chance.between(0, pauseAfterTroubleMs));
    }
  })();

  return {
    get read() {
      return { events, cutOff, complaints };
    },
    upTo: (id) =>
      eventually(
        () => {
          const last = events.at(-1)?.id ?? 0;
          if (last < id) throw new Error(`The follower of the feed is at event ${last} of ${id}.`);
        },
        { timeoutMs: upToMs },
      ),
    stop: async () => {
      leaving.abort();
      await following;
    },
  };
};
