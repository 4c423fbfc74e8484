import { scopeKey, unavailable } from '@bunting/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ConcurrentRequestLimits } from '../admission/concurrent-request-limits.ts';
import type { UnreadResponses } from '../admission/unread-responses.ts';
import type { GatewayConfig } from '../config.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { DeliveryView } from '../delivery/view/delivery-view.ts';
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
  readonly metrics: StreamMetrics;
  readonly draining: AbortSignal;
  /** milliseconds between the start of draining and the end of accepting requests */
  readonly drainDelayMs: number;
}

const tickMs = 1_000;
/** Jitter: the share of its lifetime by which a stream may end early, so that streams that began concurrently do not reconnect concurrently. */
const lifetimeSpread = 0.2;
/** The number of streams that are written to before other requests are handled. */
const sliceSize = 500;
/** A revision before every revision of a store: the changes after it are the full state. */
const beforeAnyRevision = -1;

/**
 * The streams of changes to clients that evaluate features. Each stream is brought from its own revision to the newest one at each change,
 * and when its client has read what was sent before: changes that a slow client missed are merged, and nothing is queued for it.
 */
export const deliveryStreams = (options: DeliveryStreamsOptions) => {
  const { delivery, config, limits, unread, metrics, draining, drainDelayMs } = options;
  const { store } = delivery;
  const keepAliveSeconds = config.GATEWAY_STREAM_KEEP_ALIVE_SECONDS;
  const connections = new Set<StreamConnection>();
  const channels = new Map<string, Channel>();
  /** streams whose revision is later than that of the store: this gateway lags, or the database was restored from a backup */
  const aheadConnections = new Set<StreamConnection>();
  const permits = streamPermits(config);
  const reauthentication = streamReauthentication();
  const writer = streamWriter(unread, (connection) => bringUpToDate(connection));
  let openedCount = 0;
  let tickCount = 0;
  let timer: NodeJS.Timeout | undefined;
  let changedAt = 0;

  /** @param channelView the view of the channel of the stream, where the caller has it */
  function bringUpToDate(connection: StreamConnection, channelView?: DeliveryView): void {
    if (!delivery.isLoaded || !isWritable(connection)) return;
    const isSameHistory = connection.epoch === store.epoch;
    if (isSameHistory && connection.revision > store.position) return void aheadConnections.add(connection);
    const view = channelView ?? delivery.viewOf(connection.channel.scope);
    if (!sendChanges(connection, view, isSameHistory ? connection.revision : beforeAnyRevision)) return;
    metrics.lag.observe({ kind: connection.options.kind }, (performance.now() - changedAt) / 1_000);
  }

  /** @returns whether there was anything to send */
  function sendChanges(connection: StreamConnection, view: DeliveryView, after: number): boolean {
    const event = connection.options.changesAfter(view, after);
    // Changes outside the scope count as sent, so that the revision of an idle stream stays within the retained history.
    Object.assign(connection, { revision: store.position, epoch: store.epoch });
    if (event !== undefined) writer.writeEvent(connection, event);
    return event !== undefined;
  }

  /** Brings the streams whose revision is later than that of the store up to date, once the store has applied all committed rows. */
  const bringAheadUpToDate = async (): Promise<void> => {
    if (aheadConnections.size === 0) return;
    const waiting = [...aheadConnections];
    if ((await delivery.catchUp()) > 0 || !delivery.isLoaded) return;
    for (const connection of waiting) {
      aheadConnections.delete(connection);
      // A revision that is still later is from before a backup was restored.
      if (isWritable(connection))
        sendChanges(connection, delivery.viewOf(connection.channel.scope), connection.revision);
    }
  };

  const bringChannelsUpToDate = async (): Promise<void> => {
    let written = 0;
    for (const { scope, connections: scopeConnections } of channels.values()) {
      if (!store.hasEnvironment(scope.environment)) {
        for (const connection of scopeConnections) endStream(connection, 'environment');
        continue;
      }
      const view = delivery.viewOf(scope);
      for (const connection of scopeConnections) {
        bringUpToDate(connection, view);
        if (++written % sliceSize === 0) await nextTurn();
      }
    }
  };
  let update: Promise<void> | undefined;
  /** whether the store has changed since the running update began */
  let hasChanged = false;
  delivery.onChange(() => {
    changedAt = performance.now();
    hasChanged = true;
    update ??= (async () => {
      while (hasChanged) {
        hasChanged = false;
        await bringChannelsUpToDate();
      }
    })().finally(() => void (update = undefined));
  });

  /** Called each second: ends streams past their lifetime, sends the keep-alive comments of this second, and checks the tokens. */
  const tick = (): void => {
    tickCount++;
    const now = performance.now();
    const slot = tickCount % keepAliveSeconds;
    for (const connection of connections) {
      if (now >= connection.endsAt) endStream(connection, 'lifetime');
      else if (connection.slot === slot && isWritable(connection)) writer.writeKeepAlive(connection);
    }
    reauthentication.check();
    bringAheadUpToDate().catch(() => undefined);
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
      slot: openedCount++ % keepAliveSeconds,
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
    aheadConnections.delete(connection);
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
      const connection = add(raw, limits.clientOf(request)?.id ?? request.ip, streamOptions);
      metrics.openToSdks.inc({ kind });
      raw.on('error', () => raw.destroy());
      raw.once('close', () => {
        remove(connection);
        metrics.openToSdks.dec({ kind });
        metrics.ended.inc({ kind, reason: connection.ending ?? 'client' });
      });
      writer.writeEvent(connection, first, preamble);
      // Sends what was committed since the first event was computed.
      bringUpToDate(connection);
      return reply;
    },
    /** Reauthenticates the tokens of all streams, after rights or tokens have changed. */
    checkTokens: reauthentication.check,
  };
};
export type DeliveryStreams = ReturnType<typeof deliveryStreams>;
