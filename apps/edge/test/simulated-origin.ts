import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A feature with what a test needs to tell its versions apart. */
export function flag(name: string, description = ''): Record<string, unknown> {
  return {
    name,
    description,
    type: 'release',
    enabled: true,
    project: 'default',
    stale: false,
    strategies: [],
    variants: [],
  };
}

export interface OriginEvent {
  readonly eventId: number;
  readonly [member: string]: unknown;
}

/** What answers a request instead of the honest origin; false leaves the request to it. */
type Lie = (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;

/** What an origin holds; replicas that are behind, and backups, are copies. */
export function originData(environment = 'development') {
  const features = new Map<string, Record<string, unknown>>();
  const segments = new Map<unknown, Record<string, unknown>>();
  const events: OriginEvent[] = [];
  let revision = 0;
  return {
    environment,
    events,
    get revision() {
      return revision;
    },
    list: () => [...features.values()],
    listSegments: () => [...segments.values()],
    putSegment: (segment: Record<string, unknown>): number => {
      segments.set(segment['id'], segment);
      revision++;
      events.push({ type: 'segment-updated', eventId: revision, segment });
      return revision;
    },
    put: (feature: Record<string, unknown>): number => {
      features.set(String(feature['name']), feature);
      revision++;
      events.push({ type: 'feature-updated', eventId: revision, feature });
      return revision;
    },
    remove: (featureName: string): number => {
      features.delete(featureName);
      revision++;
      events.push({ type: 'feature-removed', eventId: revision, featureName, project: 'default' });
      return revision;
    },
    /** The data as of now, which later changes of this one do not reach. */
    copy: () => {
      const copied = originData(environment);
      for (const event of events)
        if (event['type'] === 'feature-updated') copied.put(event['feature'] as Record<string, unknown>);
        else if (event['type'] === 'segment-updated') copied.putSegment(event['segment'] as Record<string, unknown>);
        else copied.remove(String(event['featureName']));
      return copied;
    },
  };
}
export type OriginData = ReturnType<typeof originData>;

/** Whether Unleash takes a report: of each application it must say when it started, and how often it reports. */
function isBulkReport(body: unknown): boolean {
  const { applications } = body as { readonly applications: readonly Record<string, unknown>[] };
  return applications.every(({ started, interval }) => started !== undefined && interval !== undefined);
}

/** A small HTTP server with the client API of Unleash, which can be made to lie, to lag and to be away. */
export async function startSimulatedOrigin({ port = 0, data = originData() } = {}) {
  const sockets = new Set<Socket>();
  const requests: { readonly method: string; readonly url: string; readonly headers: IncomingMessage['headers'] }[] =
    [];
  const bodies: { readonly url: string; readonly body: unknown }[] = [];
  const tokens = new Set<string>();
  const streams = new Set<{ readonly response: ServerResponse; at: number }>();
  const state = {
    data,
    lie: undefined as Lie | undefined,
    /** the operations that this origin does not have, by the ends of their paths */
    lacks: new Set<string>(),
    /** the blocks of lists, by their hashes */
    blocks: new Map<string, string>(),
  };
  const blocksAsked: string[] = [];

  const json = (response: ServerResponse, body: unknown, headers: Record<string, string> = {}, status = 200): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
  const since = (revision: number | undefined): readonly OriginEvent[] => {
    const { data: current } = state;
    if (revision === undefined || revision > current.revision)
      return [
        { type: 'hydration', eventId: current.revision, features: current.list(), segments: current.listSegments() },
      ];
    return current.events.filter(({ eventId }) => eventId > revision);
  };
  const revisionIn = (header: string | string[] | undefined): number | undefined => {
    const text = String(header ?? '').replaceAll('"', '');
    return /^\d+$/.test(text) ? Number(text) : undefined;
  };
  const writeEvent = (response: ServerResponse, event: string, events: readonly OriginEvent[], id: number): void => {
    response.write(`event: ${event}\nid: ${id}\ndata: ${JSON.stringify({ events })}\n\n`);
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { url = '', method = '', headers } = request;
    const path = url.split('?', 1)[0] ?? '';
    requests.push({ method, url, headers });
    if (method === 'POST') bodies.push({ url: path, body: JSON.parse(Buffer.concat(chunks).toString() || 'null') });
    if (state.lie !== undefined && (await state.lie(request, response))) return;
    if ([...state.lacks].some((end) => path.endsWith(end))) return json(response, { name: 'NotFoundError' }, {}, 404);
    const { data: current } = state;
    if (path === '/edge/validate') {
      const asked = (bodies.at(-1)?.body as { tokens: string[] }).tokens;
      const valid = asked.filter((token) => tokens.has(token));
      return json(response, {
        tokens: valid.map((token) => ({ token, type: 'client', environment: current.environment, projects: ['*'] })),
      });
    }
    if (!tokens.has(String(headers.authorization))) return json(response, { name: 'AuthenticationRequired' }, {}, 401);
    if (path === '/api/client/metrics/bulk' && !isBulkReport(bodies.at(-1)?.body))
      return json(response, { name: 'ValidationError' }, {}, 400);
    if (path === '/api/client/segment-blocks') {
      const { hashes } = bodies.at(-1)?.body as { hashes: string[] };
      blocksAsked.push(...hashes);
      const [found, missing] = [
        hashes.filter((hash) => state.blocks.has(hash)),
        hashes.filter((hash) => !state.blocks.has(hash)),
      ];
      return json(response, { blocks: found.map((hash) => ({ hash, text: state.blocks.get(hash) })), missing });
    }
    if (method === 'POST') return void response.writeHead(202).end();
    if (path === '/api/client/features') {
      const etag = `"f:${current.revision}:v1"`;
      if (headers['if-none-match'] === etag) return void response.writeHead(304, { etag }).end();
      const query = { environment: current.environment };
      return json(
        response,
        {
          version: 2,
          features: current.list(),
          segments: current.listSegments(),
          query,
          meta: { revisionId: current.revision },
        },
        { etag },
      );
    }
    if (path === '/api/client/delta') {
      const events = since(revisionIn(headers['if-none-match']));
      if (events.length === 0) return void response.writeHead(304).end();
      return json(response, { events }, { etag: `"${current.revision}"` });
    }
    if (path === '/api/client/streaming') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      writeEvent(response, 'unleash-connected', since(revisionIn(headers['last-event-id'])), current.revision);
      const stream = { response, at: current.revision };
      streams.add(stream);
      response.on('close', () => streams.delete(stream));
      return;
    }
    json(response, { name: 'NotFoundError' }, {}, 404);
  };

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
  });
  const listen = async (at: number): Promise<number> => {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const listening = await listen(port);
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: new URL(`http://127.0.0.1:${listening}`),
    port: listening,
    state,
    tokens,
    requests,
    /** the bodies of the POSTs that arrived, oldest first */
    bodies,
    /** the hashes of the blocks that were asked for, in their order */
    blocksAsked,
    /** Sends what is new to the open streams. */
    wakeStreams: (): void => {
      for (const stream of streams) {
        const events = state.data.events.filter(({ eventId }) => eventId > stream.at);
        stream.at = state.data.revision;
        if (events.length > 0) writeEvent(stream.response, 'unleash-updated', events, stream.at);
      }
    },
    /** the open streams */
    streams: (): readonly ServerResponse[] => [...streams].map(({ response }) => response),
    /** Ends all connections, and refuses new ones until `comeBack`. */
    goAway: async (): Promise<void> => {
      const closed = once(server, 'close');
      server.close();
      cut();
      await closed;
    },
    comeBack: async (): Promise<void> => void (await listen(listening)),
    cut,
    stop: async (): Promise<void> => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      cut();
      await closed;
    },
  };
}
export type SimulatedOrigin = Awaited<ReturnType<typeof startSimulatedOrigin>>;
