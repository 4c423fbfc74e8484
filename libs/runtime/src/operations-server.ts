import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { RunningService } from './service.ts';

export interface OperationsServer {
  readonly port: number;
  close(): Promise<void>;
}

const cachedForMs = 1_000;

/** `/health/live`, `/health/ready` and `/metrics` of one service, on a port of its own. */
export const startOperationsServer = async (
  port: number,
  metrics: Registry,
  readiness: () => RunningService['ready'] | undefined,
): Promise<OperationsServer> => {
  let checkedAt = Number.NEGATIVE_INFINITY;
  let trouble: string | undefined;

  const check = async (): Promise<string | undefined> => {
    const ready = readiness();
    if (ready === undefined) return 'The service is starting or stopping.';
    if (performance.now() - checkedAt < cachedForMs) return trouble;
    trouble = await ready().then(
      () => undefined,
      (error: Error) => error.message,
    );
    checkedAt = performance.now();
    return trouble;
  };

  const server: Server = createServer((request, response) => {
    const answer = (status: number, type: string, body: string) =>
      response.writeHead(status, { 'content-type': type }).end(body);
    const json = (status: number, body: unknown) => answer(status, 'application/json', JSON.stringify(body));
    switch (request.url) {
      case '/health/live':
        return json(200, { health: 'GOOD' });
      case '/health/ready':
        return void check().then((reason) =>
          reason === undefined ? json(200, { health: 'GOOD' }) : json(503, { health: 'BAD', reason }),
        );
      case '/metrics':
        return void metrics.metrics().then((text) => answer(200, metrics.contentType, text));
      default:
        return json(404, { name: 'NotFoundError', message: 'Here are /health/live, /health/ready and /metrics.' });
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
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Who asks again and again on one connection would keep the process from ending.
        server.closeAllConnections();
      }),
  };
};
