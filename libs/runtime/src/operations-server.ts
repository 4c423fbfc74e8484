import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { RunningService } from './service.ts';

const readinessTtlMs = 1_000;

/** Serves `/health/live`, `/health/ready` and `/metrics` of one service on a port of its own. Readiness is cached for a second. */
export const startOperationsServer = async (
  port: number,
  metrics: Registry,
  readiness: () => RunningService['ready'] | undefined,
) => {
  let checkedAt = Number.NEGATIVE_INFINITY;
  let reason: string | undefined;

  const check = async (): Promise<string | undefined> => {
    const ready = readiness();
    if (ready === undefined) return 'The service is starting or stopping.';
    if (performance.now() - checkedAt < readinessTtlMs) return reason;
    reason = await ready().then(
      () => undefined,
      (error: Error) => error.message,
    );
    checkedAt = performance.now();
    return reason;
  };

  const server: Server = createServer((request, response) => {
    const respond = (status: number, type: string, body: string) =>
      response.writeHead(status, { 'content-type': type }).end(body);
    const json = (status: number, body: unknown) => respond(status, 'application/json', JSON.stringify(body));
    switch (request.url) {
      case '/health/live':
        return json(200, { health: 'GOOD' });
      case '/health/ready':
        return void check().then((failure) =>
          failure === undefined ? json(200, { health: 'GOOD' }) : json(503, { health: 'BAD', reason: failure }),
        );
      case '/metrics':
        return void metrics.metrics().then((text) => respond(200, metrics.contentType, text));
      default:
        return json(404, {
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
};
export type OperationsServer = Awaited<ReturnType<typeof startOperationsServer>>;
