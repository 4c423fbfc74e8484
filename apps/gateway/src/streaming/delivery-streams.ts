import { type DeliveryScope, refusal, Refusal, scopeKey, unavailable } from '@bunting/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { concurrencyLimit, type Quota } from '../admission/concurrency-limit.ts';
import type { Client, RequestLimits } from '../admission/concurrent-request-limits.ts';
import type { UnreadResponses } from '../admission/unread-responses.ts';
import type { GatewayConfig } from '../config.ts';
import type { DeliveryView } from '../delivery/store/delivery-view.ts';
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

/** How the changes of a scope become events of a stream. */
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

/** The token of a stream, which is reauthenticated while the stream is open. */
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
  readonly connections: Set<StreamConnection>;
}

interface CheckedToken {
  readonly credential: StreamCredential;
  readonly connections: Set<StreamConnection>;
  /** the caller as of the last check, as text */
  caller: string | undefined;
}

/** The state of one stream: its connection and its revision. While the client does not read, no changes are computed; they are once it resumes. */
interface StreamConnection {
  readonly raw: ServerResponse;
  readonly options: StreamOptions;
  readonly channel: Channel;
  readonly checked: CheckedToken;
  readonly clientKey: string;
  /** the second of the keep-alive interval in which its comment is sent */
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
/** Jitter: the share of its lifetime by which a stream may end early, so that streams that began concurrently do not reconnect concurrently. */
const lifetimeSpread = 0.2;
/** So many streams are written to before other requests get their turn. */
const sliceSize = 500;
/** Draining ends streams in batches over at least this time. */
const minDrainMs = 1_000;
const drainBatchEveryMs = 50;
/** A revision before the first of every history. */
const noRevision = -1;
/** Minimum bytes for which a stream counts whose client does not read. */
const minUnreadBytes = 16 * 1024;

const headOf = ({ event, id }: StreamEvent): string =>
  `${event === undefined ? '' : `event: ${event}\n`}id: ${id}\ndata: `;

/** Events up to this size are joined to one piece, once for all streams that get the same data: each write costs a system call. */
const maxJoinedBytes = 64 * 1024;
const joinedEvents = new WeakMap<Buffer, { readonly head: string; readonly bytes: Buffer }>();
const joinToBuffer = (event: StreamEvent, more: string): Buffer | string => {
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
  const checks = new Map<string, CheckedToken>();
  const connections = new Set<StreamConnection>();
  /** streams whose revision is later than that of the store: this gateway lags, or the database was restored from a backup */
  const ahead = new Set<StreamConnection>();
  const permits = concurrencyLimit();
  let opened = 0;
  let ticks = 0;
  let timer: NodeJS.Timeout | undefined;
  let changedAt = 0;

  const quotasOf = ({ id, group }: Client): readonly Quota[] => {
    const { GATEWAY_MAX_SDK_STREAMS: all, GATEWAY_MAX_SDK_STREAMS_PER_CLIENT: perClient } = config;
    const half = Math.max(1, Math.floor(all / 2));
    return [
      { key: 'everyone', limit: all, refuse: tooMany('of this gateway', all) },
      { key: `client ${id}`, limit: perClient, refuse: tooMany('of this key', perClient) },
      ...(group === undefined ? [] : [{ key: group, limit: half, refuse: tooMany(`with ${group}`, half) }]),
    ];
  };

  const isWritable = ({ raw, ending }: StreamConnection): boolean =>
    ending === undefined && !raw.destroyed && !raw.writableEnded;

  /** Waits until the client has read what was written, and then brings it up to date. */
  const awaitReading = (connection: StreamConnection, bytes: number, shared: object | undefined): void => {
    const { raw, clientKey, channel } = connection;
    connection.isBlocked = true;
    const read = unread.add(raw, clientKey, Math.max(bytes, minUnreadBytes), {
      shared,
      onEnd: () => void (connection.ending ??= 'unread'),
    });
    raw.once('drain', () => {
      read();
      connection.isBlocked = false;
      if (isWritable(connection)) bringUpToDate(connection, delivery.viewOf(channel.scope));
    });
  };

  const write = (connection: StreamConnection, event: StreamEvent, more = ''): void => {
    const { raw } = connection;
    const { data } = event;
    if (data.length <= maxJoinedBytes) raw.write(joinToBuffer(event, more));
    else {
      raw.cork();
      raw.write(headOf(event));
      raw.write(data);
      raw.write(`\n\n${more}`);
      raw.uncork();
    }
    if (raw.writableNeedDrain) awaitReading(connection, data.length, typeof data === 'string' ? undefined : data);
  };

  function bringUpToDate(connection: StreamConnection, view: DeliveryView): void {
    if (connection.isBlocked || !delivery.isLoaded || !isWritable(connection)) return;
    const isSameHistory = connection.epoch === store.epoch;
    if (isSameHistory && connection.revision > store.position) return void ahead.add(connection);
    if (!sendChanges(connection, view, isSameHistory ? connection.revision : noRevision)) return;
    measured.lag.observe({ kind: connection.options.kind }, (performance.now() - changedAt) / 1_000);
  }

  /** @returns whether there was anything to send */
  function sendChanges(connection: StreamConnection, view: DeliveryView, after: number): boolean {
    const event = connection.options.changesAfter(view, after);
    // Changes outside the scope count as sent, so that the revision of an idle stream stays within the retained history.
    Object.assign(connection, { revision: store.position, epoch: store.epoch });
    if (event !== undefined) write(connection, event);
    return event !== undefined;
  }

  const end = (connection: StreamConnection, reason: Ending): void => {
    if (connection.ending !== undefined) return;
    connection.ending = reason;
    connection.raw.end();
  };

  /** Brings the streams ahead of the memory up to date, once the memory has all committed rows. */
  const settleAhead = async (): Promise<void> => {
    if (ahead.size === 0) return;
    const waiting = [...ahead];
    if ((await delivery.catchUp()) > 0 || !delivery.isLoaded) return;
    for (const connection of waiting) {
      ahead.delete(connection);
      if (connection.isBlocked || !isWritable(connection)) continue;
      // A revision that is still later is from before a backup was restored.
      sendChanges(connection, delivery.viewOf(connection.channel.scope), connection.revision);
    }
  };

  const bringChannelsUpToDate = async (): Promise<void> => {
    let written = 0;
    for (const channel of channels.values()) {
      if (!store.hasEnvironment(channel.scope.environment)) {
        for (const connection of channel.connections) end(connection, 'environment');
        continue;
      }
      const view = delivery.viewOf(channel.scope);
      for (const connection of channel.connections) {
        bringUpToDate(connection, view);
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

  const check = async (checked: CheckedToken): Promise<void> => {
    try {
      const principal = await checked.credential.authenticate();
      const caller = JSON.stringify(principal.caller);
      if (caller === checked.caller) return;
      checked.caller = caller;
      for (const connection of checked.connections)
        if (!connection.options.mayContinue(principal)) end(connection, 'token');
    } catch (error) {
      // While tokens cannot be looked up, streams stay open.
      if (!(error instanceof Refusal) || error.kind !== 'AuthenticationRequired') return;
      for (const connection of checked.connections) end(connection, 'token');
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
    for (const connection of connections) {
      if (now >= connection.endsAt) end(connection, 'lifetime');
      else if (connection.slot === slot && !connection.isBlocked && isWritable(connection)) {
        connection.raw.write(keepAlive);
        if (connection.raw.writableNeedDrain) awaitReading(connection, keepAlive.length, undefined);
      }
    }
    checkTokens();
    settleAhead().catch(() => undefined);
  };

  const drain = (): void => {
    const until = performance.now() + Math.max(drainDelayMs, minDrainMs);
    const endBatch = (): void => {
      const batchesLeft = Math.max(1, Math.floor((until - performance.now()) / drainBatchEveryMs));
      const openConnections = [...connections].filter(({ ending }) => ending === undefined);
      for (const connection of openConnections.slice(0, Math.ceil(openConnections.length / batchesLeft)))
        end(connection, 'drain');
      if (connections.size > 0) setTimeout(endBatch, drainBatchEveryMs).unref();
    };
    endBatch();
  };
  if (draining.aborted) drain();
  else draining.addEventListener('abort', drain, { once: true });

  const add = (raw: ServerResponse, clientKey: string, streamOptions: StreamOptions): StreamConnection => {
    const { scope, credential, first } = streamOptions;
    const channelKey = scopeKey(scope);
    const channel = channels.get(channelKey) ?? {
      key: channelKey,
      scope,
      connections: new Set<StreamConnection>(),
    };
    channels.set(channelKey, channel);
    const checked = checks.get(credential.key) ?? {
      credential,
      connections: new Set<StreamConnection>(),
      caller: undefined,
    };
    checks.set(credential.key, checked);
    // Rights that have changed since the stream was authorised are found by the next check.
    checked.caller = undefined;
    const lifetimeMs = config.GATEWAY_MAX_STREAM_SECONDS * 1_000 * (1 - lifetimeSpread * Math.random());
    const connection: StreamConnection = {
      raw,
      clientKey,
      channel,
      checked,
      options: streamOptions,
      revision: first.id,
      epoch: store.epoch,
      isBlocked: false,
      ending: undefined,
      slot: opened++ % keepAliveSeconds,
      endsAt: performance.now() + lifetimeMs,
    };
    for (const group of [connections, channel.connections, checked.connections]) group.add(connection);
    timer ??= setInterval(tick, tickMs).unref();
    return connection;
  };
  const remove = (connection: StreamConnection): void => {
    const { channel, checked } = connection;
    for (const group of [connections, channel.connections, checked.connections, ahead]) group.delete(connection);
    if (channel.connections.size === 0) channels.delete(channel.key);
    if (checked.connections.size === 0) checks.delete(checked.credential.key);
    if (connections.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  return {
    /**
     * Acquires a permit for the stream of a request, until its connection closes.
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
      const connection = add(raw, limits.clientOf(request)?.id ?? request.ip, streamOptions);
      measured.openToSdks.inc({ kind });
      raw.on('error', () => raw.destroy());
      raw.once('close', () => {
        remove(connection);
        measured.openToSdks.dec({ kind });
        measured.ended.inc({ kind, reason: connection.ending ?? 'client' });
      });
      write(connection, first, preamble);
      // What was committed since the first event was computed.
      if (!connection.isBlocked) bringUpToDate(connection, delivery.viewOf(connection.channel.scope));
      return reply;
    },
    /** Reauthenticates the tokens of all streams, after rights or tokens have changed. */
    checkTokens,
  };
};
export type DeliveryStreams = ReturnType<typeof deliveryStreams>;
