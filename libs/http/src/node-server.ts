// What happens below Fastify: the address, limits of connections, pipelined requests and bytes that are not valid HTTP (docs/security.md, Limits).
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { serializeRefusal } from '@bunting/bus';
import { type Refusal, refusal } from '@bunting/contracts';
import type { Logger } from '@bunting/runtime';
import type { FastifyInstance } from 'fastify';
import { Counter, Gauge, type Registry } from 'prom-client';
import { unknownPathRefusal } from './errors.ts';
import { securityHeaders, splitCommaSeparated } from './response/headers.ts';
import type { HttpSettings } from './settings.ts';

/** The error that says which setting to change when an address is not available. */
function explainListenFailure(error: unknown, host: string, port: number): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new Error(`Port ${port} is in use by another program. Stop it, or choose another port with PORT.`, {
        cause: error,
      });
    case 'EACCES':
      return new Error(`Port ${port} is not for this user to listen on. Choose one above 1023 with PORT.`, {
        cause: error,
      });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new Error(`This machine has no address ${host} to listen on. Correct GATEWAY_HOST.`, { cause: error });
    default:
      return error;
  }
}

/** Checks before the start of anything else that the address is available. @throws Error that names the setting to change */
export async function requireAvailableAddress(host: string, port: number): Promise<void> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    throw explainListenFailure(error, host, port);
  }
  server.close();
  await once(server, 'close');
}

/** Listens and returns the URL. @throws Error that says which setting to change when the address is not available */
export async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    throw explainListenFailure(error, host, port);
  }
}

/** Open files that the process needs besides the connections of clients: the pool of the database, NATS, files that it reads. */
const reservedFiles = 256;
const minConnections = 64;
const warnIntervalMs = 60_000;

/** Maximum open files of this process; `Infinity` where the system sets no limit. */
function maxOpenFiles(): number {
  const { report } = process;
  // Otherwise the report looks up the host names of all peers of the process, which can take long.
  Object.assign(report, { excludeNetwork: true });
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft: number | string } } };
  const softLimit = Number(userLimits?.open_files?.soft);
  return Number.isFinite(softLimit) ? softLimit : Number.POSITIVE_INFINITY;
}

/** Maximum open connections of clients: those of the setting, else as many as the limit of open files leaves. */
export function maxConnections(
  { GATEWAY_MAX_CONNECTIONS: configured }: Pick<HttpSettings, 'GATEWAY_MAX_CONNECTIONS'>,
  openFiles = maxOpenFiles(),
): number {
  return configured > 0 ? configured : Math.max(minConnections, openFiles - reservedFiles);
}

/**
 * Closes connections beyond a maximum as soon as they are opened, counts them, and warns at most once a minute. Without a maximum, clients
 * could use up all open files, and the gateway could connect neither to PostgreSQL nor to NATS.
 */
function limitConnections(
  server: Server,
  max: number,
  { log, metrics }: { readonly log: Pick<Logger, 'warn'>; readonly metrics: Registry },
): void {
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
}

/** On stop: milliseconds for requests that are still arriving. */
export const stopArrivalGraceMs = 1_000;

/** On stop: milliseconds for clients to read responses that have started. */
export const stopReadGraceMs = 2_000;

/** Milliseconds that the longest request may take. */
export function maxRequestMs(config: HttpSettings): number {
  return Math.max(config.GATEWAY_CALL_TIMEOUT_MS, config.GATEWAY_LARGE_CALL_TIMEOUT_MS);
}

/** Milliseconds within which `close` ends: the longest request, its arrival and its reading, with a reserve. */
export function httpStopTimeoutMs(config: HttpSettings): number {
  return maxRequestMs(config) + 2 * stopArrivalGraceMs + stopReadGraceMs + 5_000;
}

function statusAndRefusal(code: string | undefined): { status: number; reason: Refusal } {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, reason: refusal('RequestTimeout', 'The request did not arrive in time. Send it again.') };
    case 'HPE_HEADER_OVERFLOW':
      return {
        status: 431,
        reason: refusal(
          'HeadersTooLarge',
          'The address and the headers of the request are larger than is accepted. Send fewer or shorter headers.',
        ),
      };
    default:
      return { status: 400, reason: refusal('ValidationError', 'The request is not valid HTTP.') };
  }
}

const securityHeaderLines = Object.entries(securityHeaders(false))
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');

/** Responds to bytes that are not valid HTTP, which reach no route, with the JSON body of every error. */
export function respondToInvalidHttp(error: { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const { status, reason } = statusAndRefusal(error.code);
  writeRawResponse(socket, status, reason);
}

function writeRawResponse(socket: Socket, status: number, reason: Refusal): void {
  const body = JSON.stringify(serializeRefusal(reason).error);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `${securityHeaderLines}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}

function withoutPort(entry: string): string {
  return entry
    .trim()
    .replace(/^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/, '$1')
    .replace(/^\[([\da-f:.]+)\](?::\d{1,5})?$/i, '$1');
}

/**
 * Removes the ports that some proxies, such as Azure Application Gateway, append to the addresses in `X-Forwarded-For`. With its port, each
 * connection of a client would count as a client of its own, and no address would match a trusted network.
 */
export function removeForwardedPorts(headers: IncomingHttpHeaders): void {
  const forwarded = headers['x-forwarded-for'];
  if (typeof forwarded !== 'string' || !forwarded.includes(':')) return;
  headers['x-forwarded-for'] = forwarded.split(',').map(withoutPort).join(', ');
}

/** Milliseconds after the longest allowed request until an inactive connection is closed. */
const idleGraceMs = 60_000;

/** Parses GATEWAY_TRUSTED_PROXIES. @throws Error that names the entry that is neither an address nor a network */
export function parseTrustedProxies(list = ''): string[] | false {
  const proxies = splitCommaSeparated(list);
  for (const entry of proxies) {
    const [address = '', bits, ...rest] = entry.split('/');
    const maxBits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
    if (
      maxBits < 0 ||
      rest.length > 0 ||
      (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= maxBits))
    ) {
      throw new Error(
        `GATEWAY_TRUSTED_PROXIES names ${entry}, which is neither an address nor a network like 10.0.0.0/8.`,
      );
    }
  }
  return proxies.length === 0 ? false : proxies;
}

function longestBodyTimeoutMs({ GATEWAY_BODY_TIMEOUT_MS, GATEWAY_LARGE_BODY_TIMEOUT_MS }: HttpSettings): number {
  return Math.max(GATEWAY_BODY_TIMEOUT_MS, GATEWAY_LARGE_BODY_TIMEOUT_MS);
}

function nodeOptions(config: HttpSettings): ServerOptions {
  const bodyTimeoutMs = longestBodyTimeoutMs(config);
  return {
    headersTimeout: Math.min(config.GATEWAY_HEADERS_TIMEOUT_MS, bodyTimeoutMs),
    // Node's limit is that of large bodies; ordinary bodies have their own, shorter one.
    requestTimeout: bodyTimeoutMs,
    keepAliveTimeout: config.GATEWAY_KEEP_ALIVE_TIMEOUT_MS,
    // Node checks timeouts at this interval; a quarter of the timeout bounds the excess at 25 %.
    connectionsCheckingInterval: Math.max(50, Math.round(config.GATEWAY_HEADERS_TIMEOUT_MS / 4)),
    maxHeaderSize: config.GATEWAY_MAX_HEADER_BYTES,
    // `checkRequestHead` refuses such requests with the headers and the JSON body of every error.
    requireHostHeader: false,
  };
}

/** The PEM texts with which a server speaks TLS. */
export interface ServerCertificate {
  readonly key: string;
  readonly cert: string;
}

/** @param trustsProxies whether the header `X-Forwarded-For` of a request may tell the address of its client */
export function createNodeServer(
  config: HttpSettings,
  trustsProxies: boolean,
  listener: RequestListener,
  certificate?: ServerCertificate,
): Server {
  const handle: RequestListener = trustsProxies
    ? (request, response) => {
        removeForwardedPorts(request.headers);
        listener(request, response);
      }
    : listener;
  if (certificate === undefined) return createServer(nodeOptions(config), handle);
  return createTlsServer({ ...nodeOptions(config), ...certificate }, handle);
}

/** Limits connections and headers, and handles what Fastify does not see: the header `Expect` and CONNECT. */
export function configureNodeServer(
  server: Server,
  { config, log, metrics }: { readonly config: HttpSettings; readonly log: Logger; readonly metrics: Registry },
): void {
  // Closes connections whose clients do not read the response.
  server.setTimeout(Math.max(maxRequestMs(config), longestBodyTimeoutMs(config)) + idleGraceMs);
  // Node silently drops headers beyond this number: it reads one more than is accepted, so that `checkRequestHead` notices the excess.
  server.maxHeadersCount = config.GATEWAY_MAX_HEADERS + 1;
  limitConnections(server, maxConnections(config), { log, metrics });
  // `100 Continue` is sent when the body is read.
  server.on('checkContinue', (request, response) => void server.emit('request', request, response));
  // Other expectations may be ignored (RFC 9110, 10.1.1). Node would respond itself, without headers and body.
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
  server.on('connect', (request, socket: Socket) => {
    // Node hands over the socket of CONNECT without an error listener.
    socket.on('error', () => socket.destroy());
    writeRawResponse(socket, 404, unknownPathRefusal(request.url ?? ''));
  });
}

/** Maximum pipelined requests that wait on one connection. */
const maxWaiting = 32;

type PendingRequest = readonly [request: IncomingMessage, response: ServerResponse];

/**
 * Handles the requests of one connection one after the other. Node emits pipelined requests immediately, and would buffer their responses
 * in memory until the client has read those before them. A connection with too many waiting requests is destroyed; requests that wait on
 * a closed connection are dropped.
 */
export function serializePipelinedRequests(handler: RequestListener): RequestListener {
  const queues = new WeakMap<Socket, PendingRequest[]>();

  const handle = ([request, response]: PendingRequest): void => {
    const { socket } = request;
    response.once('close', () => {
      const next = queues.get(socket)?.shift();
      if (next === undefined || !socket.writable) return void queues.delete(socket);
      handle(next);
    });
    handler(request, response);
  };

  return (request, response) => {
    const { socket } = request;
    const queue = queues.get(socket);
    if (queue === undefined) {
      queues.set(socket, []);
      return handle([request, response]);
    }
    if (queue.length >= maxWaiting) return void socket.destroy();
    queue.push([request, response]);
  };
}
