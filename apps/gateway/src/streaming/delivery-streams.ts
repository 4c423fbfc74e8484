import { scopeKey, unavailable } from '@bunting/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ConcurrentRequestLimits } from '../admission/concurrent-request-limits.ts';
import type { UnreadResponses } from '../admission/unread-responses.ts';
import type { GatewayConfig } from '../config.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { DeliveryView } from '../delivery/store/delivery-view.ts';
import type { StreamMetrics } from '../monitoring/stream-metrics.ts';
import { drainStreams } from './drain-streams.ts';
import { type Channel, endStream, isWritable, type StreamConnection, type StreamOptions } from './stream-connection.ts';
import { streamPermits } from './stream-permits.ts';
import { streamReauthentication } from './stream-reauthentication.ts';
import { streamWriter } from './stream-writer.ts';

export interface DeliveryStreamsOptions {
  readonly delivery: Pick<Delivery, 'store' | 'isLoaded' | 'viewOf' | 'catchUp' | 'onChange'>;
  readonly config: Pick<
    GatewayConfig,
    | 'GATEWAY_MAX_SDK_STREAMS'
    | 'GATEWAY_MAX_SDK_STREAMS_PER_CLIENT'
    | 'GATEWAY_MAX_STREAM_SECONDS'
    | 'GATEWAY_STREAM_KEEP_ALIVE_SECONDS'
  >;
  readonly limits: Pick<ConcurrentRequestLimits, 'clientOf' | 'responseSent'>;
  readonly unread: Pick<UnreadResponses, 'add'>;
  readonly measured: StreamMetrics;
  readonly draining: AbortSignal;
  /** milliseconds between the start of draining and the end of accepting requests */
  readonly drainDelayMs: number;
}

const tickMs = 1_000;
/** Jitter: the share of its lifetime by which a stream may end early, so that streams that began concurrently do not reconnect concurrently. */
const lifetimeSpread = 0.2;
/** So many streams are written to before other requests get their turn. */
const sliceSize = 500;
/** A revision before the first of every history. */
const noRevision = -1;

/**
 * The streams of changes to clients that evaluate features. Each is brought from its own revision to the newest at each change, and when its
 * client has read everything before: changes that a slow client missed are merged, and nothing is queued for it.
 */
export const deliveryStreams = (options: DeliveryStreamsOptions) => {
  const { delivery, config, limits, unread, measured, draining, drainDelayMs } = options;
  const { store } = delivery;
  const keepAliveSeconds = config.GATEWAY_STREAM_KEEP_ALIVE_SECONDS;
  const connections = new Set<StreamConnection>();
  const channels = new Map<string, Channel>();
  /** streams whose revision is later than that of the store: this gateway lags, or the database was restored from a backup */
  const ahead = new Set<StreamConnection>();
  const permits = streamPermits(config);
  const reauthentication = streamReauthentication();
  const writer = streamWriter(unread, (connection) => bringUpToDate(connection));
  let opened = 0;
  let ticks = 0;
  let timer: NodeJS.Timeout | undefined;
  let changedAt = 0;

  /** @param ofChannel the view of its channel, where the caller has it */
  function bringUpToDate(connection: StreamConnection, ofChannel?: DeliveryView): void {
    if (!delivery.isLoaded || !isWritable(connection)) return;
    const isSameHistory = connection.epoch === store.epoch;
    if (isSameHistory && connection.revision > store.position) return void ahead.add(connection);
    const view = ofChannel ?? delivery.viewOf(connection.channel.scope);
    if (!sendChanges(connection, view, isSameHistory ? connection.revision : noRevision)) return;
    measured.lag.observe({ kind: connection.options.kind }, (performance.now() - changedAt) / 1_000);
  }

  /** @returns whether there was anything to send */
  function sendChanges(connection: StreamConnection, view: DeliveryView, after: number): boolean {
    const event = connection.options.changesAfter(view, after);
    // Changes outside the scope count as sent, so that the revision of an idle stream stays within the retained history.
    Object.assign(connection, { revision: store.position, epoch: store.epoch });
    if (event !== undefined) writer.writeEvent(connection, event);
    return event !== undefined;
  }

  /** Brings the streams ahead of the memory up to date, once the memory has all committed rows. */
  const settleAhead = async (): Promise<void> => {
    if (ahead.size === 0) return;
    const waiting = [...ahead];
    if ((await delivery.catchUp()) > 0 || !delivery.isLoaded) return;
    for (const connection of waiting) {
      ahead.delete(connection);
      // A revision that is still later is from before a backup was restored.
      if (isWritable(connection))
        sendChanges(connection, delivery.viewOf(connection.channel.scope), connection.revision);
    }
  };

  const bringChannelsUpToDate = async (): Promise<void> => {
    let written = 0;
    for (const { scope, connections: ofScope } of channels.values()) {
      if (!store.hasEnvironment(scope.environment)) {
        for (const connection of ofScope) endStream(connection, 'environment');
        continue;
      }
      const view = delivery.viewOf(scope);
      for (const connection of ofScope) {
        bringUpToDate(connection, view);
        if (++written % sliceSize === 0) await nextTurn();
      }
    }
  };
  let running: Promise<void> | undefined;
  let isStale = false;
  delivery.onChange(() => {
    changedAt = performance.now();
    isStale = true;
    running ??= (async () => {
      while (isStale) {
        isStale = false;
        await bringChannelsUpToDate();
      }
    })().finally(() => void (running = undefined));
  });

  /** Each second: ends streams past their lifetime, keeps idle ones alive in their turn, and checks their tokens. */
  const tick = (): void => {
    ticks++;
    const now = performance.now();
    const slot = ticks % keepAliveSeconds;
    for (const connection of connections) {
      if (now >= connection.endsAt) endStream(connection, 'lifetime');
      else if (connection.slot === slot && isWritable(connection)) writer.writeKeepAlive(connection);
    }
    reauthentication.check();
    settleAhead().catch(() => undefined);
  };

  const drain = (): void => drainStreams(connections, drainDelayMs);
  if (draining.aborted) drain();
  else draining.addEventListener('abort', drain, { once: true });

  const add = (raw: ServerResponse, clientKey: string, streamOptions: StreamOptions): StreamConnection => {
    const { scope, first } = streamOptions;
    const key = scopeKey(scope);
    const channel = channels.get(key) ?? { key, scope, connections: new Set() };
    channels.set(key, channel);
    const lifetimeMs = config.GATEWAY_MAX_STREAM_SECONDS * 1_000 * (1 - lifetimeSpread * Math.random());
    const connection: StreamConnection = {
      raw,
      clientKey,
      channel,
      options: streamOptions,
      revision: first.id,
      epoch: store.epoch,
      isBlocked: false,
      ending: undefined,
      slot: opened++ % keepAliveSeconds,
      endsAt: performance.now() + lifetimeMs,
    };
    channel.connections.add(connection);
    connections.add(connection);
    reauthentication.add(connection);
    timer ??= setInterval(tick, tickMs).unref();
    return connection;
  };
  const remove = (connection: StreamConnection): void => {
    const { channel } = connection;
    channel.connections.delete(connection);
    if (channel.connections.size === 0) channels.delete(channel.key);
    connections.delete(connection);
    ahead.delete(connection);
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
      writer.writeEvent(connection, first, preamble);
      // What was committed since the first event was computed.
      bringUpToDate(connection);
      return reply;
    },
    /** Reauthenticates the tokens of all streams, after rights or tokens have changed. */
    checkTokens: reauthentication.check,
  };
};
export type DeliveryStreams = ReturnType<typeof deliveryStreams>;
