import { type DeliveryScope, describeScope, refusal, Refusal, unavailable } from '@bunting/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { concurrencyLimit, type Quota } from '../admission/concurrency-limit.ts';
import type { Client, RequestLimits } from '../admission/concurrent-request-limits.ts';
import type { UnreadResponses } from '../admission/unread-responses.ts';
import type { GatewayConfig } from '../config.ts';
import type { DeliveryView } from '../delivery/delivery-view.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { StreamMetrics } from '../monitoring/stream-metrics.ts';
import type { Principal } from '../persistence/tokens/token-lookup.ts';

/** A server-sent event (WHATWG HTML, 9.2). */
export interface StreamEvent {
  /** `message` when left out */
  readonly event?: string;
  /** what the client sends as `Last-Event-ID` when it reconnects; the revision up to which it has everything */
  readonly id: number;
  /** without line breaks */
  readonly data: string | Buffer;
}

/** How a stream presents what its scope gets. */
export interface StreamOptions {
  /** the label of its metrics */
  readonly kind: 'sdk' | 'ofrep';
  readonly scope: DeliveryScope;
  /** the event that the stream begins with; the client has everything up to its id */
  readonly first: StreamEvent;
  /** written after the first event, as it is */
  readonly preamble?: string;
  /** The event for a client that has everything up to a revision; undefined where there is nothing newer. */
  readonly changesAfter: (view: DeliveryView, revision: number) => StreamEvent | undefined;
  readonly credential: StreamCredential;
  /** Whether the stream may go on, when the rights of its credential have changed. */
  readonly mayContinue: (principal: Principal) => boolean;
}

/** The token of a stream, which is authenticated again while the stream is open. */
export interface StreamCredential {
  /** streams with one key share their checks */
  readonly key: string;
  /** @throws Refusal `AuthenticationRequired` once the token is not valid any more */
  readonly authenticate: () => Principal | Promise<Principal>;
}

type Ending = 'client' | 'token' | 'environment' | 'lifetime' | 'drain' | 'unread';

interface Channel {
  readonly key: string;
  readonly scope: DeliveryScope;
  readonly readers: Set<Reader>;
}

interface Checked {
  readonly credential: StreamCredential;
  readonly readers: Set<Reader>;
  /** the caller as of the last check, as text */
  caller: string | undefined;
}

/** All that is held of a client: its revision and its connection. What it does not read is computed when it reads again. */
interface Reader {
  readonly raw: ServerResponse;
  readonly options: StreamOptions;
  readonly channel: Channel;
  readonly checked: Checked;
  readonly holder: string;
  /** the second of the keep-alive interval in which it gets its comment */
  readonly slot: number;
  /** milliseconds of `performance.now()` */
  readonly endsAt: number;
  /** the position up to which the client has everything, or is being sent it */
  revision: number;
  /** the history that the revision belongs to */
  epoch: number;
  /** whether the client has not read what was written last */
  isBlocked: boolean;
  ending: Ending | undefined;
}

export interface DeliveryStreamsOptions {
  readonly delivery: Pick<Delivery, 'store' | 'isLoaded' | 'viewOf' | 'catchUp' | 'onChange'>;
  readonly config: Pick<
    GatewayConfig,
    | 'GATEWAY_MAX_SDK_STREAMS'
    | 'GATEWAY_MAX_SDK_STREAMS_PER_CLIENT'
    | 'GATEWAY_MAX_STREAM_SECONDS'
    | 'GATEWAY_STREAM_KEEP_ALIVE_SECONDS'
  >;
  readonly limits: Pick<RequestLimits, 'clientOf' | 'responseSent'>;
  readonly unread: Pick<UnreadResponses, 'add'>;
  readonly measured: StreamMetrics;
  readonly draining: AbortSignal;
  /** milliseconds between the start of draining and the end of accepting requests */
  readonly drainDelayMs: number;
}

const keepAlive = ': keep-alive\n\n';
const tickMs = 1_000;
/** Streams end within this part of their lifetime before its end, so that those that began together do not reconnect together. */
const lifetimeSpread = 0.2;
/** So many streams are written to before other requests get their turn. */
const sliceSize = 500;
/** Draining ends streams in batches over at least this time. */
const minDrainMs = 1_000;
const drainBatchEveryMs = 50;
/** Before the first revision of every history. */
const beforeAll = -1;
/** What a stream that does not read counts at least. */
const minUnreadBytes = 16 * 1024;

const headOf = ({ event, id }: StreamEvent): string =>
  `${event === undefined ? '' : `event: ${event}\n`}id: ${id}\ndata: `;

/** Events up to this size are joined to one piece, once for all streams that get the same data: each write costs a system call. */
const maxJoinedBytes = 64 * 1024;
const joinedEvents = new WeakMap<Buffer, { readonly head: string; readonly bytes: Buffer }>();
const joined = (event: StreamEvent, more: string): Buffer | string => {
  const { data } = event;
  const head = headOf(event);
  if (typeof data === 'string') return `${head}${data}\n\n${more}`;
  const cached = joinedEvents.get(data);
  if (cached?.head === head && more === '') return cached.bytes;
  const bytes = Buffer.concat([Buffer.from(head), data, Buffer.from(`\n\n${more}`)]);
  if (more === '') joinedEvents.set(data, { head, bytes });
  return bytes;
};

const tooMany = (whose: string, limit: number) => (): Refusal =>
  refusal(
    'RateLimitError',
    `There are ${limit} streams ${whose}, which is the limit. Poll instead, or try again later.`,
    {
      retryAfterSeconds: 60,
    },
  );

/**
 * The streams of changes to clients that evaluate features. Each is brought from its own revision to the newest at each change, and when its
 * client has read everything before: changes that a slow client missed are merged, and nothing is queued for it.
 */
export const deliveryStreams = (options: DeliveryStreamsOptions) => {
  const { delivery, config, limits, unread, measured, draining, drainDelayMs } = options;
  const { store } = delivery;
  const keepAliveSeconds = config.GATEWAY_STREAM_KEEP_ALIVE_SECONDS;
  const channels = new Map<string, Channel>();
  const checks = new Map<string, Checked>();
  const readers = new Set<Reader>();
  /** Their revision is ahead of the memory: this gateway is behind, or the database was restored from a backup. */
  const ahead = new Set<Reader>();
  const permits = concurrencyLimit();
  let opened = 0;
  let ticks = 0;
  let timer: NodeJS.Timeout | undefined;
  let changedAt = 0;

  const quotasOf = ({ id, group }: Client): readonly Quota[] => {
    const { GATEWAY_MAX_SDK_STREAMS: all, GATEWAY_MAX_SDK_STREAMS_PER_CLIENT: perClient } = config;
    const half = Math.max(1, Math.floor(all / 2));
    return [
      { holder: 'everyone', limit: all, refuse: tooMany('of this gateway', all) },
      { holder: `client ${id}`, limit: perClient, refuse: tooMany('of this key', perClient) },
      ...(group === undefined ? [] : [{ holder: group, limit: half, refuse: tooMany(`with ${group}`, half) }]),
    ];
  };

  const isWritable = ({ raw, ending }: Reader): boolean => ending === undefined && !raw.destroyed && !raw.writableEnded;

  /** Waits until the client has read everything, and brings it up to date then. */
  const awaitReading = (reader: Reader, bytes: number, shared: object | undefined): void => {
    const { raw, holder, channel } = reader;
    reader.isBlocked = true;
    const read = unread.add(raw, holder, Math.max(bytes, minUnreadBytes), {
      shared,
      onEnd: () => void (reader.ending ??= 'unread'),
    });
    raw.once('drain', () => {
      read();
      reader.isBlocked = false;
      if (isWritable(reader)) bringUpToDate(reader, delivery.viewOf(channel.scope));
    });
  };

  const write = (reader: Reader, event: StreamEvent, more = ''): void => {
    const { raw } = reader;
    const { data } = event;
    if (data.length <= maxJoinedBytes) raw.write(joined(event, more));
    else {
      raw.cork();
      raw.write(headOf(event));
      raw.write(data);
      raw.write(`\n\n${more}`);
      raw.uncork();
    }
    if (raw.writableNeedDrain) awaitReading(reader, data.length, typeof data === 'string' ? undefined : data);
  };

  function bringUpToDate(reader: Reader, view: DeliveryView): void {
    if (reader.isBlocked || !delivery.isLoaded || !isWritable(reader)) return;
    const isSameHistory = reader.epoch === store.epoch;
    if (isSameHistory && reader.revision > store.position) return void ahead.add(reader);
    if (!sendChanges(reader, view, isSameHistory ? reader.revision : beforeAll)) return;
    measured.lag.observe({ kind: reader.options.kind }, (performance.now() - changedAt) / 1_000);
  }

  /** @returns whether there was anything to send */
  function sendChanges(reader: Reader, view: DeliveryView, after: number): boolean {
    const event = reader.options.changesAfter(view, after);
    // What does not concern the scope counts as sent, so that an idle stream does not fall behind the history that is kept.
    Object.assign(reader, { revision: store.position, epoch: store.epoch });
    if (event !== undefined) write(reader, event);
    return event !== undefined;
  }

  const end = (reader: Reader, reason: Ending): void => {
    if (reader.ending !== undefined) return;
    reader.ending = reason;
    reader.raw.end();
  };

  /** Brings those up to date whose revision is ahead of the memory, once the memory has everything that was committed. */
  const settleAhead = async (): Promise<void> => {
    if (ahead.size === 0) return;
    const waiting = [...ahead];
    if ((await delivery.catchUp()) > 0 || !delivery.isLoaded) return;
    for (const reader of waiting) {
      ahead.delete(reader);
      if (reader.isBlocked || !isWritable(reader)) continue;
      // A revision that is still ahead belongs to a history that a restored backup has ended.
      sendChanges(reader, delivery.viewOf(reader.channel.scope), reader.revision);
    }
  };

  const bringChannelsUpToDate = async (): Promise<void> => {
    let written = 0;
    for (const channel of channels.values()) {
      if (!store.hasEnvironment(channel.scope.environment)) {
        for (const reader of channel.readers) end(reader, 'environment');
        continue;
      }
      const view = delivery.viewOf(channel.scope);
      for (const reader of channel.readers) {
        bringUpToDate(reader, view);
        if (++written % sliceSize === 0) await nextTurn();
      }
    }
  };
  let running: Promise<void> | undefined;
  let isStale = false;
  const onChange = (): void => {
    changedAt = performance.now();
    isStale = true;
    running ??= (async () => {
      while (isStale) {
        isStale = false;
        await bringChannelsUpToDate();
      }
    })().finally(() => void (running = undefined));
  };
  delivery.onChange(onChange);

  const check = async (checked: Checked): Promise<void> => {
    try {
      const principal = await checked.credential.authenticate();
      const caller = JSON.stringify(principal.caller);
      if (caller === checked.caller) return;
      checked.caller = caller;
      for (const reader of checked.readers) if (!reader.options.mayContinue(principal)) end(reader, 'token');
    } catch (error) {
      // While tokens cannot be looked up, streams go on.
      if (!(error instanceof Refusal) || error.kind !== 'AuthenticationRequired') return;
      for (const reader of checked.readers) end(reader, 'token');
    }
  };
  let checking: Promise<unknown> | undefined;
  const checkTokens = (): void => {
    checking ??= Promise.all([...checks.values()].map(check)).finally(() => void (checking = undefined));
  };

  const tick = (): void => {
    ticks++;
    const now = performance.now();
    const slot = ticks % keepAliveSeconds;
    for (const reader of readers) {
      if (now >= reader.endsAt) end(reader, 'lifetime');
      else if (reader.slot === slot && !reader.isBlocked && isWritable(reader)) {
        reader.raw.write(keepAlive);
        if (reader.raw.writableNeedDrain) awaitReading(reader, keepAlive.length, undefined);
      }
    }
    checkTokens();
    settleAhead().catch(() => undefined);
  };

  const drain = (): void => {
    const until = performance.now() + Math.max(drainDelayMs, minDrainMs);
    const endBatch = (): void => {
      const batchesLeft = Math.max(1, Math.floor((until - performance.now()) / drainBatchEveryMs));
      const openReaders = [...readers].filter(({ ending }) => ending === undefined);
      for (const reader of openReaders.slice(0, Math.ceil(openReaders.length / batchesLeft))) end(reader, 'drain');
      if (readers.size > 0) setTimeout(endBatch, drainBatchEveryMs).unref();
    };
    endBatch();
  };
  if (draining.aborted) drain();
  else draining.addEventListener('abort', drain, { once: true });

  const add = (raw: ServerResponse, holder: string, streamOptions: StreamOptions): Reader => {
    const { scope, credential, first } = streamOptions;
    const channelKey = JSON.stringify(describeScope(scope));
    const channel = channels.get(channelKey) ?? {
      ...{ key: channelKey, scope, readers: new Set<Reader>() },
    };
    channels.set(channelKey, channel);
    const checked = checks.get(credential.key) ?? { credential, readers: new Set<Reader>(), caller: undefined };
    checks.set(credential.key, checked);
    const lifetimeMs = config.GATEWAY_MAX_STREAM_SECONDS * 1_000 * (1 - lifetimeSpread * Math.random());
    const reader: Reader = {
      ...{
        raw,
        holder,
        channel,
        checked,
        options: streamOptions,
        revision: first.id,
        epoch: store.epoch,
        isBlocked: false,
        ending: undefined,
      },
      ...{ slot: opened++ % keepAliveSeconds, endsAt: performance.now() + lifetimeMs },
    };
    for (const group of [readers, channel.readers, checked.readers]) group.add(reader);
    timer ??= setInterval(tick, tickMs).unref();
    return reader;
  };
  const remove = (reader: Reader): void => {
    const { channel, checked } = reader;
    for (const group of [readers, channel.readers, checked.readers, ahead]) group.delete(reader);
    if (channel.readers.size === 0) channels.delete(channel.key);
    if (checked.readers.size === 0) checks.delete(checked.credential.key);
    if (readers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  return {
    /**
     * Takes a permit for the stream of a request until its connection closes.
     * @throws Refusal `RateLimitError` beyond the limits, `ServiceUnavailable` while the gateway drains
     */
    reserve: (request: FastifyRequest, reply: FastifyReply): void => {
      if (draining.aborted) throw unavailable('The gateway is stopping. Please reconnect.', 1);
      const client = limits.clientOf(request);
      if (client !== undefined) reply.raw.once('close', permits.acquire(quotasOf(client)));
    },
    /** Answers with a stream that stays open until its client, its token, its environment or the gateway ends it. */
    open: (request: FastifyRequest, reply: FastifyReply, streamOptions: StreamOptions): FastifyReply => {
      const { kind, first, preamble } = streamOptions;
      reply.hijack();
      const { raw } = reply;
      limits.responseSent(request);
      if (raw.destroyed) return reply;
      raw.writeHead(200, {
        ...(reply.getHeaders() as OutgoingHttpHeaders),
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      if (request.method === 'HEAD') return (reply.raw.end(), reply);
      const reader = add(raw, limits.clientOf(request)?.id ?? request.ip, streamOptions);
      measured.openToSdks.inc({ kind });
      raw.on('error', () => raw.destroy());
      raw.once('close', () => {
        remove(reader);
        measured.openToSdks.dec({ kind });
        measured.ended.inc({ kind, reason: reader.ending ?? 'client' });
      });
      write(reader, first, preamble);
      // What was committed since the first event was computed.
      if (!reader.isBlocked) bringUpToDate(reader, delivery.viewOf(reader.channel.scope));
      return reply;
    },
    /** Authenticates the tokens of all streams again, after rights or tokens have changed. */
    checkTokens,
  };
};
export type DeliveryStreams = ReturnType<typeof deliveryStreams>;
