import type { Logger } from '@bunting/runtime';
import type { Server } from 'node:http';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { GatewayConfig } from '../config.ts';

/** Open files that the process needs besides the connections of clients: the pool of the database, NATS, files that it reads. */
const reservedFiles = 256;
const minConnections = 64;
const warnIntervalMs = 60_000;

/** Maximum open files of this process; `Infinity` where the system sets no limit. */
const maxOpenFiles = (): number => {
  const { report } = process;
  // Otherwise the report looks up the host names of all peers of the process, which can take long.
  Object.assign(report, { excludeNetwork: true });
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft: number | string } } };
  const softLimit = Number(userLimits?.open_files?.soft);
  return Number.isFinite(softLimit) ? softLimit : Number.POSITIVE_INFINITY;
};

/** Maximum open connections of clients: those of the setting, else as many as the limit of open files leaves. */
export const maxConnections = (
  { GATEWAY_MAX_CONNECTIONS: configured }: Pick<GatewayConfig, 'GATEWAY_MAX_CONNECTIONS'>,
  openFiles = maxOpenFiles(),
): number => (configured > 0 ? configured : Math.max(minConnections, openFiles - reservedFiles));

/**
 * Closes connections beyond a maximum as soon as they are opened, counts them, and warns at most once a minute. Without a maximum, clients
 * could use up all open files, and the gateway could connect neither to PostgreSQL nor to NATS.
 */
export const limitConnections = (
  server: Server,
  max: number,
  { log, metrics }: { readonly log: Pick<Logger, 'warn'>; readonly metrics: Registry },
): void => {
  if (Number.isFinite(max)) server.maxConnections = max;
  const registers = [metrics];
  const refused = new Counter({
    name: 'bunting_gateway_connections_refused_total',
    help: 'connections that the gateway closed because as many were open as it may have',
    registers,
  });
  new Gauge({
    name: 'bunting_gateway_connections',
    help: 'open connections of clients',
    registers,
    async collect() {
      const open = await new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
      this.set(open);
    },
  });
  let warnedAt = Number.NEGATIVE_INFINITY;
  let unreported = 0;
  server.on('drop', () => {
    refused.inc();
    unreported++;
    if (performance.now() - warnedAt < warnIntervalMs) return;
    warnedAt = performance.now();
    log.warn(
      `The gateway closed new connections: ${unreported} since the last such warning, because the ${max} that it may have are open. ` +
        'Start more gateways, or allow more open files (ulimit -n), and set GATEWAY_MAX_CONNECTIONS if it is lower.',
    );
    unreported = 0;
  });
};
