import type { ClientConfig } from 'pg';

/**
 * TCP keep-alive on both ends, so that a connection whose other end has vanished is closed within half a minute. By default the
 * server would hold its locks for two hours, and block migrations and relays of other processes.
 */
export const keepAlive = {
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  options: '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=4',
} satisfies ClientConfig;
