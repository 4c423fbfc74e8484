import autocannon, { type Request, type Result } from 'autocannon';
import type { BenchOperation, BenchRequest } from './bench-operations.ts';
import type { ServerUnderTest } from './server-under-test.ts';

/** The measurements of the load generator. */
export interface LoadResult {
  readonly operation: string;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly errors: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly requests: number;
}

/** The headers of a request: its own, and the token. */
export const headersFor = (
  target: Pick<ServerUnderTest, 'token'>,
  { body, headers }: BenchRequest,
): Record<string, string> => ({
  ...headers,
  authorization: target.token,
  ...(body === undefined ? {} : { 'content-type': 'application/json' }),
});

interface LoadOptions {
  readonly connections: number;
  readonly seconds: number;
  /** the number of the first request; 0 when left out */
  readonly first?: number | undefined;
}

/** Sends requests of an operation over a number of connections for some seconds. */
export const generateLoad = (
  target: Pick<ServerUnderTest, 'url' | 'token'>,
  operation: BenchOperation,
  { connections, seconds, first = 0 }: LoadOptions,
): Promise<LoadResult> => {
  let nth = first;
  const statuses: Record<string, number> = {};
  const setupRequest = (request: Request): Request => {
    const benchRequest = operation.request(nth++);
    const { method, path, body } = benchRequest;
    return {
      ...request,
      method,
      path,
      headers: headersFor(target, benchRequest),
      body: body === undefined ? undefined : JSON.stringify(body),
    } as Request;
  };
  return new Promise((resolve, reject) => {
    const run = autocannon(
      { url: target.url, connections, duration: seconds, requests: [{ setupRequest }] },
      (error: Error | null, result: Result) => {
        if (error !== null) return reject(error);
        resolve({
          operation: operation.name,
          requestsPerSecond: Math.round(result.requests.average),
          p50Ms: result.latency.p50,
          p99Ms: result.latency.p99,
          errors: result.errors + result.timeouts + result.non2xx - (statuses['304'] ?? 0),
          statuses,
          requests: result.requests.total,
        });
      },
    );
    run.on('response', (_client: unknown, status: number) => {
      statuses[status] = (statuses[status] ?? 0) + 1;
    });
  });
};
