import { scopeKey } from '@bunting/contracts';
import type { ServerResponse } from 'node:http';
import type { Channel, StreamConnection, StreamOptions } from '../delivery/streams/stream-connection.ts';

/** Jitter: the share of its lifetime by which a stream may end early, so that streams that began concurrently do not reconnect concurrently. */
const lifetimeSpread = 0.2;

/** The streams that are open, also by scope. Their keep-alive comments are spread over the seconds of the interval. */
export const streamRegistry = ({
  GATEWAY_MAX_STREAM_SECONDS: maxSeconds,
  GATEWAY_STREAM_KEEP_ALIVE_SECONDS: keepAliveSeconds,
}: {
  readonly GATEWAY_MAX_STREAM_SECONDS: number;
  readonly GATEWAY_STREAM_KEEP_ALIVE_SECONDS: number;
}) => {
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
};
