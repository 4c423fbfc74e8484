import type { Logger } from '@bunting/runtime';
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { Registry } from 'prom-client';
import type { GatewayConfig } from '../config.ts';
import { unknownPathRefusal } from './errors.ts';
import { limitConnections, maxConnections } from './limit-connections.ts';
import { removeForwardedPorts } from './request/remove-forwarded-ports.ts';
import { maxRequestMs } from './request-timeouts.ts';
import { writeRawResponse } from './response/raw-response.ts';
import { splitCommaSeparated } from './split-comma-separated.ts';

/** Milliseconds after the longest allowed request until an inactive connection is closed. */
const idleGraceMs = 60_000;

/** Parses GATEWAY_TRUSTED_PROXIES. @throws Error that names the entry that is neither an address nor a network */
export const parseTrustedProxies = (list = ''): string[] | false => {
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
};

const longestBodyTimeoutMs = ({ GATEWAY_BODY_TIMEOUT_MS, GATEWAY_LARGE_BODY_TIMEOUT_MS }: GatewayConfig): number =>
  Math.max(GATEWAY_BODY_TIMEOUT_MS, GATEWAY_LARGE_BODY_TIMEOUT_MS);

/** The options of Node's server. */
const nodeOptions = (config: GatewayConfig): ServerOptions => {
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
};

/** @param trustsProxies whether the header `X-Forwarded-For` of a request may tell the address of its client */
export const createNodeServer = (config: GatewayConfig, trustsProxies: boolean, listener: RequestListener): Server => {
  if (!trustsProxies) return createServer(nodeOptions(config), listener);
  return createServer(nodeOptions(config), (request, response) => {
    removeForwardedPorts(request.headers);
    listener(request, response);
  });
};

/** Limits connections and headers, and handles what Fastify does not see: the header `Expect` and CONNECT. */
export const configureNodeServer = (
  server: Server,
  { config, log, metrics }: { readonly config: GatewayConfig; readonly log: Logger; readonly metrics: Registry },
): void => {
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
};
