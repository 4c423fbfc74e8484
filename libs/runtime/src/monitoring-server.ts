import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';
import type { Readiness, RunningService } from './service.ts';

const readinessTtlMs = 1_000;
/** A service whose check of readiness takes longer counts as not ready in `bunting_ready`: metrics do not wait for it. */
const readinessTimeoutMs = 2_000;

/**
 * Serves `/health/live`, `/health/ready` and `/metrics` of one service on a port of its own. Readiness is cached for a second.
 * @param readinessCheck returns the check of the service, or undefined while the service is starting or stopping
 */
export async function startMonitoringServer(
  port: number,
  metrics: Registry,
  readinessCheck: () => RunningService['ready'] | undefined,
) {
  let checkedAt = Number.NEGATIVE_INFINITY;
  let lastCheck: Promise<Readiness | Error | undefined> | undefined;

  const check = (): Promise<Readiness | Error | undefined> => {
    const ready = readinessCheck();
    if (ready === undefined) return Promise.resolve(new Error('The service is starting or stopping.'));
    if (lastCheck !== undefined && performance.now() - checkedAt < readinessTtlMs) return lastCheck;
    checkedAt = performance.now();
    return (lastCheck = ready().catch((error: Error) => error));
  };

  new Gauge({
    name: 'bunting_ready',
    help: '1 while the service is ready, as /health/ready says',
    registers: [metrics],
    async collect() {
      const timeout = sleep(readinessTimeoutMs, new Error('It took too long.'), { ref: false });
      this.set((await Promise.race([check(), timeout])) instanceof Error ? 0 : 1);
    },
  });

  const server: Server = createServer((request, response) => {
    const respond = (status: number, type: string, body: string) =>
      response.writeHead(status, { 'content-type': type }).end(body);
    const respondJson = (status: number, body: unknown) => respond(status, 'application/json', JSON.stringify(body));
    switch (request.url) {
      case '/health/live':
        return respondJson(200, { health: 'GOOD' });
      case '/health/ready':
        return void check().then((outcome) =>
          outcome instanceof Error
            ? respondJson(503, { health: 'BAD', reason: outcome.message })
            : respondJson(200, { health: 'GOOD', ...outcome }),
        );
      case '/metrics':
        return void metrics.metrics().then((text) => respond(200, metrics.contentType, text));
      default:
        return respondJson(404, {
          name: 'NotFoundError',
          message: 'This port serves /health/live, /health/ready and /metrics.',
        });
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(`Port ${port} is taken: stop the program that uses it, or choose another port.`)
          : error,
      ),
    );
    server.listen(port, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // A client with requests on a keep-alive connection would keep the process from exiting.
        server.closeAllConnections();
      }),
  };
}
export type MonitoringServer = Awaited<ReturnType<typeof startMonitoringServer>>;
