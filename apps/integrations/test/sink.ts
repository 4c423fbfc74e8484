import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** How the sink responds to a request; by default with 204. */
type Respond = (request: ReceivedRequest, response: ServerResponse) => void;

const accept: Respond = (_request, response) => void response.writeHead(204).end();

/** A destination of events on this machine. */
export async function startSink() {
  const requests: ReceivedRequest[] = [];
  let respond = accept;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const received = {
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      };
      requests.push(received);
      respond(received, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    requests,
    /** The events of the requests, in the order of their arrival. */
    events: () => requests.map(({ body }) => JSON.parse(body) as { readonly id: number; readonly featureName: string }),
    respondWith: (next: Respond): void => void (respond = next),
    /** Responds to all requests with a status, and with headers. */
    respondStatus: (status: number, headers: Readonly<Record<string, string>> = {}): void => {
      respond = (_request, response) => void response.writeHead(status, headers).end();
    },
    reset: (): void => {
      requests.length = 0;
      respond = accept;
    },
    stop: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
export type Sink = Awaited<ReturnType<typeof startSink>>;
