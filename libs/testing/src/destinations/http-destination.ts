import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface ReceivedEvent {
  readonly id: number;
  readonly type: string;
  readonly featureName: string;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A service that events are sent to, as it judges requests. */
export interface Provider {
  /** Replies as the service does. @throws Fault for what it refuses */
  readonly accept: (request: ReceivedRequest) => Reply;
  /** what it replies to a request too many */
  readonly tooMany: Reply;
}

/** What a service refuses, and how it says so. */
export class Fault extends Error {
  readonly reply: Reply;
  constructor(message: string, reply: Reply) {
    super(message);
    this.reply = reply;
  }
}

/** A webhook, which accepts everything. */
export const anyWebhook: Provider = { accept: () => ({ status: 204 }), tooMany: { status: 429 } };

function replyOf({ accept }: Provider, request: ReceivedRequest, faults: string[]): Reply {
  try {
    return accept(request);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    faults.push(error.message);
    return error.reply;
  }
}

/** A destination of events on this machine. */
export async function startHttpDestination(provider = anyWebhook) {
  const requests: ReceivedRequest[] = [];
  const faults: string[] = [];
  const judge = (request: ReceivedRequest, response: ServerResponse): void => {
    const { status, headers = {}, body = '' } = replyOf(provider, request, faults);
    response.writeHead(status, headers).end(body);
  };
  let respond = judge;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const received = { method, path, headers, body: Buffer.concat(chunks).toString('utf8') };
      requests.push(received);
      respond(received, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const respondWith = (next: typeof respond): void => void (respond = next);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    requests: requests as readonly ReceivedRequest[],
    /** why requests were refused, as the service sees it */
    faults: faults as readonly string[],
    /** The events of the requests, in the order of their arrival. */
    events: () => requests.map(({ body }) => JSON.parse(body) as ReceivedEvent),
    respondWith,
    /** Responds to all requests with a status, and with headers. */
    respondStatus: (status: number, headers: Readonly<Record<string, string>> = {}): void =>
      respondWith((_request, response) => void response.writeHead(status, headers).end()),
    /** Says as the service does that there are too many requests. */
    limitRate: (): void => {
      const { status, headers = {}, body = '' } = provider.tooMany;
      respondWith((_request, response) => void response.writeHead(status, headers).end(body));
    },
    reset: (): void => {
      requests.length = 0;
      faults.length = 0;
      respond = judge;
    },
    stop: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
export type HttpDestination = Awaited<ReturnType<typeof startHttpDestination>>;
