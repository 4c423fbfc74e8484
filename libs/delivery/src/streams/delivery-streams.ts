import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type Refusal, refusal, scopeKey, unavailable } from '@bunting/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { concurrencyLimit, type ConcurrentRequestLimits, type QuotaClient, type UnreadResponses } from '@bunting/http';
import type { Delivery } from '../delivery.ts';
import {
  type Channel,
  endStream,
  isWritable,
  type StreamConnection,
  type StreamOptions,
  streamReauthentication,
  streamUpdates,
  streamWriter,
} from './stream-connection.ts';
import type { DeliverySettings } from '../settings.ts';

/** Jitter: the share of its lifetime by which a stream may end early, so that streams that began concurrently do not reconnect concurrently. */
const lifetimeSpread = 0.2;

/** The streams that are open, also by scope. Their keep-alive comments are spread over the seconds of the interval. */
function streamRegistry({
  GATEWAY_MAX_STREAM_SECONDS: maxSeconds,
  GATEWAY_STREAM_KEEP_ALIVE_SECONDS: keepAliveSeconds,
}: {
  readonly GATEWAY_MAX_STREAM_SECONDS: number;
  readonly GATEWAY_STREAM_KEEP_ALIVE_SECONDS: number;
}) {
  const connections = new Set<StreamConnection>();
  const channels = new Map<string, Channel>();
  let openedCount = 0;

  return {
    connections: connections as ReadonlySet<StreamConnection>,
    /** by the key of their scope */
    channels: channels as ReadonlyMap<string, Channel>,
    /** Adds the stream of a response, whose client has everything up to the first event. */
    add: (raw: ServerResponse, clientKey: string, epoch: number, options: StreamOptions): StreamConnection => {
      const { scope, first } = options;
      const key = scopeKey(scope);
      const channel = channels.get(key) ?? { key, scope, connections: new Set() };
      channels.set(key, channel);
      const lifetimeMs = maxSeconds * 1_000 * (1 - lifetimeSpread * Math.random());
      const connection: StreamConnection = {
        raw,
        clientKey,
        channel,
        options,
        revision: first.id,
        epoch,
        isBlocked: false,
        ending: undefined,
        slot: openedCount++ % keepAliveSeconds,
        endsAt: performance.now() + lifetimeMs,
      };
      channel.connections.add(connection);
      connections.add(connection);
      return connection;
    },
    remove: (connection: StreamConnection): void => {
      const { channel } = connection;
      channel.connections.delete(connection);
      if (channel.connections.size === 0) channels.delete(channel.key);
      connections.delete(connection);
    },
  };
}

function tooMany(scope: string, limit: number) {
  return (): Refusal =>
    refusal(
      'RateLimitError',
      `There are ${limit} streams ${scope}, which is the limit. Poll instead, or try again later.`,
      { retryAfterSeconds: 60 },
    );
}

/** Limits the streams of a gateway, of each client, and of each group of clients, which gets half of all streams. */
export function streamPermits({
  GATEWAY_MAX_SDK_STREAMS: maxStreams,
  GATEWAY_MAX_SDK_STREAMS_PER_CLIENT: perClient,
}: Pick<DeliverySettings, 'GATEWAY_MAX_SDK_STREAMS' | 'GATEWAY_MAX_SDK_STREAMS_PER_CLIENT'>) {
  const permits = concurrencyLimit();
  const half = Math.max(1, Math.floor(maxStreams / 2));
  return {
    /** @returns the function that releases the permit. @throws Refusal `RateLimitError` beyond a limit */
    acquire: ({ id, group }: QuotaClient) =>
      permits.acquire([
        { key: 'all clients', limit: maxStreams, refuse: tooMany('of this gateway', maxStreams) },
        { key: `client ${id}`, limit: perClient, refuse: tooMany('of this key', perClient) },
        ...(group === undefined ? [] : [{ key: group, limit: half, refuse: tooMany(`with ${group}`, half) }]),
      ]),
  };
}

export type StreamPermits = ReturnType<typeof streamPermits>;

/** Draining ends streams in batches over at least this time. */
const minDrainMs = 1_000;
const batchIntervalMs = 50;

/** Ends all streams in even batches over `drainMs`, but at least `minDrainMs`, so that their clients do not reconnect concurrently. */
function drainStreams(connections: ReadonlySet<StreamConnection>, drainMs: number): void {
  const deadline = performance.now() + Math.max(drainMs, minDrainMs);
  const endBatch = (): void => {
    const batchesLeft = Math.max(1, Math.floor((deadline - performance.now()) / batchIntervalMs));
    const open = [...connections].filter(({ ending }) => ending === undefined);
    for (const connection of open.slice(0, Math.ceil(open.length / batchesLeft))) endStream(connection, 'drain');
    if (connections.size > 0) setTimeout(endBatch, batchIntervalMs).unref();
  };
  endBatch();
}

export interface DeliveryStreamsOptions {
  readonly delivery: Pick<Delivery, 'store' | 'isLoaded' | 'viewOf' | 'catchUp' | 'onChange'>;
  readonly config: Pick<
    DeliverySettings,
    | 'GATEWAY_MAX_SDK_STREAMS'
    | 'GATEWAY_MAX_SDK_STREAMS_PER_CLIENT'
    | 'GATEWAY_MAX_STREAM_SECONDS'
    | 'GATEWAY_STREAM_KEEP_ALIVE_SECONDS'
  >;
  readonly limits: Pick<ConcurrentRequestLimits, 'clientOf' | 'responseSent'>;
  readonly unread: Pick<UnreadResponses, 'add'>;
  /** those of all streams of the process, where several deliveries share them */
  readonly permits?: StreamPermits;
  readonly metrics: StreamMetrics;
  readonly draining: AbortSignal;
  /** milliseconds between the start of draining and the end of accepting requests */
  readonly drainDelayMs: number;
}

const tickMs = 1_000;

/**
 * The streams of changes to clients that evaluate features. Each stream is brought from its own revision to the newest one at each change,
 * and when its client has read what was sent before.
 */
export function deliveryStreams(options: DeliveryStreamsOptions) {
  const { delivery, config, limits, unread, metrics, draining, drainDelayMs } = options;
  const permits = options.permits ?? streamPermits(config);
  const streams = streamRegistry(config);
  const { connections, channels } = streams;
  const reauthentication = streamReauthentication();
  const writer = streamWriter(unread, (connection) => updates.bringUpToDate(connection));
  const updates = streamUpdates({ delivery, channels, writer, metrics });
  let tickCount = 0;
  let timer: NodeJS.Timeout | undefined;

  /** Called each second: ends streams past their lifetime, sends the keep-alive comments of this second, and checks the tokens. */
  const tick = (): void => {
    tickCount++;
    const now = performance.now();
    const slot = tickCount % config.GATEWAY_STREAM_KEEP_ALIVE_SECONDS;
    for (const connection of connections) {
      if (now >= connection.endsAt) endStream(connection, 'lifetime');
      else if (connection.slot === slot && isWritable(connection)) writer.writeKeepAlive(connection);
    }
    reauthentication.check();
    updates.bringAheadUpToDate().catch(() => undefined);
  };

  const drain = (): void => drainStreams(connections, drainDelayMs);
  if (draining.aborted) drain();
  else draining.addEventListener('abort', drain, { once: true });

  const remove = (connection: StreamConnection): void => {
    streams.remove(connection);
    updates.remove(connection);
    reauthentication.remove(connection);
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
      if (client !== undefined) reply.raw.once('close', permits.acquire(client));
    },
    /** Responds with a stream that stays open until its client, its token, its environment or the gateway ends it. */
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
      const clientKey = limits.clientOf(request)?.id ?? request.ip;
      const connection = streams.add(raw, clientKey, delivery.store.epoch, streamOptions);
      reauthentication.add(connection);
      timer ??= setInterval(tick, tickMs).unref();
      metrics.openToSdks.inc({ kind });
      raw.on('error', () => raw.destroy());
      raw.once('close', () => {
        remove(connection);
        metrics.openToSdks.dec({ kind });
        metrics.ended.inc({ kind, reason: connection.ending ?? 'client' });
      });
      writer.writeEvent(connection, first, preamble);
      // Sends what was committed since the first event was computed.
      updates.bringUpToDate(connection);
      return reply;
    },
    /** Ends all streams, of a delivery that ends before its process does. */
    close: (): void => {
      draining.removeEventListener('abort', drain);
      for (const connection of [...connections]) endStream(connection, 'environment');
    },
    /** Reauthenticates the tokens of all streams, after rights or tokens have changed. */
    checkTokens: reauthentication.check,
  };
}
export type DeliveryStreams = ReturnType<typeof deliveryStreams>;

/** The metrics of the responses that a gateway streams, by kind: `events` to administrators, `sdk` and `ofrep` to SDKs. */
export function streamMetrics(registry: Registry) {
  const registers = [registry];
  return {
    open: new Gauge({
      name: 'bunting_gateway_open_streams',
      help: 'responses that the gateway streams now, by kind',
      labelNames: ['kind'] as const,
      registers,
    }),
    openToSdks: new Gauge({
      name: 'bunting_sdk_streams',
      help: 'open streams to SDKs, by kind',
      labelNames: ['kind'] as const,
      registers,
    }),
    ended: new Counter({
      name: 'bunting_sdk_streams_ended_total',
      help: 'streams to SDKs that have ended, by kind and reason',
      labelNames: ['kind', 'reason'] as const,
      registers,
    }),
    lag: new Histogram({
      name: 'bunting_sdk_stream_lag_seconds',
      help: 'time from a change in the memory of the gateway until it is handed to a stream of an SDK, by kind',
      labelNames: ['kind'] as const,
      buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
      registers,
    }),
  };
}
export type StreamMetrics = ReturnType<typeof streamMetrics>;
