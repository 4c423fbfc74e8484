import { unavailable } from '@bunting/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OutgoingHttpHeaders } from 'node:http';
import type { ConcurrentRequestLimits } from '../../admission/concurrent-requests.ts';
import type { UnreadResponses } from '../../admission/unread-responses.ts';
import type { GatewayConfig } from '../../config.ts';
import type { Delivery } from '../delivery.ts';
import type { StreamMetrics } from '../../monitoring/stream-metrics.ts';
import { drainStreams } from '../../streaming/drain-streams.ts';
import { endStream, isWritable, type StreamConnection, type StreamOptions } from './stream-connection.ts';
import { streamPermits } from '../../streaming/stream-permits.ts';
import { streamReauthentication } from '../../streaming/stream-reauthentication.ts';
import { streamRegistry } from '../../streaming/stream-registry.ts';
import { streamUpdates } from '../../streaming/stream-updates.ts';
import { streamWriter } from '../../streaming/stream-writer.ts';

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

/**
 * The streams of changes to clients that evaluate features. Each stream is brought from its own revision to the newest one at each change,
 * and when its client has read what was sent before.
 */
export const deliveryStreams = (options: DeliveryStreamsOptions) => {
  const { delivery, config, limits, unread, metrics, draining, drainDelayMs } = options;
  const permits = streamPermits(config);
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
    /** Reauthenticates the tokens of all streams, after rights or tokens have changed. */
    checkTokens: reauthentication.check,
  };
};
export type DeliveryStreams = ReturnType<typeof deliveryStreams>;
