import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type LookupAddress, type LookupAllOptions, lookup as lookUpHost } from 'node:dns';
import net, { type LookupFunction } from 'node:net';
import tls from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { Agent, DiagnosticsChannel, Dispatcher } from 'undici';
import { type AllowedAddresses, isAllowedAddress, tlsAddress, urlFault } from './addresses.ts';

/** A request to a destination. */
export interface OutgoingRequest {
  /** POST when left out */
  readonly method?: 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** milliseconds in which the response must be complete, where that is less than for every request */
  readonly timeoutMs?: number;
}

/** The response of a destination, of which at most 64 kB were read. */
export interface DestinationResponse {
  /** null where the protocol has none */
  readonly status: number | null;
  readonly retryAfter: string | undefined;
  readonly body: string;
  /** whom it did not reach of those that it is for, as a sentence, where it has reached others */
  readonly shortfall?: string;
}

/** The request was not sent, or got no response; the message says why. */
export class SendingError extends Error {}

export type Send = (request: OutgoingRequest) => Promise<DestinationResponse>;

export interface HttpClientOptions {
  readonly allowed: AllowedAddresses;
  /** milliseconds in which the response must be complete */
  readonly timeoutMs: number;
  /** further certificates of authorities, for tests */
  readonly ca?: string;
  /** what finds the addresses of a host, for tests: by default the system does */
  readonly lookup?: (
    host: string,
    options: LookupAllOptions,
    callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
  ) => void;
}

const maxResponseBytes = 64 * 1024;
const maxConnectionsPerHost = 64;
const maxHeaderBytes = 16 * 1024;
const syslogPort = 6514;
const headersChannel = 'undici:client:sendHeaders';
/** of errors of a connection that the other side has closed */
const closedCodes = new Set<string | undefined>(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
const maxKnownAddresses = 1_000;

/**
 * Sends requests to addresses that users chose: to public ones and those that are allowed, and to no others. A host is resolved once for each
 * connection, which is made to an address that was checked. Redirects are not followed, and certificates are verified. To an address with the
 * scheme `tls` the body is written as a frame of syslog.
 */
export function httpClient({ allowed, timeoutMs: maxTimeoutMs, ca, lookup = lookUpHost }: HttpClientOptions) {
  const checkedLookup: LookupFunction = (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error !== null) return callback(error, []);
      const forbidden = addresses.find(({ address }) => !isAllowedAddress(address, host, allowed));
      // All of them are checked, so that the choice among them does not matter.
      if (forbidden !== undefined || addresses[0] === undefined)
        return callback(new SendingError(`${host} resolves to an address that is not of the internet`), []);
      if (options.all === true) return callback(null, addresses);
      return callback(null, addresses[0].address, addresses[0].family);
    });
  };
  /** how many bytes a connection had received when the latest request on it was sent, which is when the response before was complete */
  const bytesBefore = new WeakMap<net.Socket, number>();
  const noteBytes = (message: unknown): void => {
    const { socket } = message as DiagnosticsChannel.ClientSendHeadersMessage;
    bytesBefore.set(socket, socket.bytesRead);
  };
  subscribe(headersChannel, noteBytes);
  /** errors of connections that were closed instead of a response, after a response to an earlier request */
  const errorsOfReused = new WeakSet<Error>();
  const noteError = (socket: net.Socket, error: NodeJS.ErrnoException): void => {
    const before = bytesBefore.get(socket) ?? 0;
    if (before > 0 && socket.bytesRead === before && closedCodes.has(error.code)) errorsOfReused.add(error);
  };
  let agent: Promise<Agent> | undefined;
  // The dispatcher itself, below `fetch` and `request` of undici, takes half of the CPU of the client of Node.js, which is most of a delivery's.
  // Its hundred modules are a twentieth of all that a start loads, and most starts send nothing.
  const startAgent = async (): Promise<Agent> => {
    const undici = await import('undici');
    const connect = undici.buildConnector({
      lookup: checkedLookup as never,
      timeout: maxTimeoutMs,
      ...(ca === undefined ? {} : { ca }),
    });
    return new undici.Agent({
      connections: maxConnectionsPerHost,
      connect: (options, callback) =>
        connect(options, (...result) => {
          const [, socket] = result;
          socket?.once('error', (error) => noteError(socket, error));
          if (socket) takeContinue(socket);
          callback(...result);
        }),
      maxHeaderSize: maxHeaderBytes,
      // One time-out is for the whole of a request.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  };

  /** What a request to an address needs, or why there may be none: an address gets many, and parsing it takes as long as sending. */
  const knownAddresses = new LRUCache<
    string,
    { readonly origin: string; readonly path: string } | { readonly fault: string }
  >({ max: maxKnownAddresses });
  const addressOf = (text: string) => {
    const known = knownAddresses.get(text);
    if (known !== undefined) return known;
    const fault = urlFault(text, allowed);
    const { origin, pathname, search } = fault === undefined ? new URL(text) : emptyUrl;
    const address = fault === undefined ? { origin, path: `${pathname}${search}` } : { fault };
    knownAddresses.set(text, address);
    return address;
  };

  const post = (outgoing: OutgoingRequest, dispatcher: Agent): Promise<DestinationResponse> =>
    new Promise((resolve, reject) => {
      const { method = 'POST', url, headers, body } = outgoing;
      const timeoutMs = Math.min(maxTimeoutMs, outgoing.timeoutMs ?? maxTimeoutMs);
      const address = addressOf(url);
      if ('fault' in address) return reject(new SendingError(`the address ${address.fault}`));
      let status: number | undefined;
      let retryAfter: string | undefined;
      const chunks: Buffer[] = [];
      let bytes = 0;
      let isOver = false;
      let isRepeated = false;
      let started: Dispatcher.DispatchController | undefined;
      const end = (failure?: Error): void => {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        // Once there is a status, it decides, also if the body never ends.
        if (status === undefined) reject(failure as Error);
        else {
          const text = Buffer.concat(chunks).subarray(0, maxResponseBytes).toString('utf8').toWellFormed();
          resolve({ status, retryAfter, body: text });
        }
        // What is left of the response is not read.
        if (failure !== undefined) started?.abort(failure);
      };
      const timer = setTimeout(() => end(new SendingError(`no complete response within ${timeoutMs} ms`)), timeoutMs);
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart: (controller) => {
          started = controller;
          if (isOver) controller.abort(new SendingError('the request has ended before it began'));
        },
        onResponseStart: (_controller, statusCode, responseHeaders) => {
          if (statusCode < 200) return;
          status = statusCode;
          retryAfter = [responseHeaders['retry-after']].flat()[0];
        },
        onResponseData: (_controller, chunk) => {
          bytes += chunk.length;
          chunks.push(chunk);
          if (bytes >= maxResponseBytes) end(new SendingError('the response is longer than is read'));
        },
        onResponseEnd: () => end(),
        onResponseError: (_controller, error) => {
          if (isOver || status !== undefined || isRepeated || !errorsOfReused.has(error))
            return end(toSendingError(error));
          // The server has closed an idle connection just now. What has begun to respond has read the request.
          isRepeated = true;
          dispatch();
        },
      };
      const dispatch = () => dispatcher.dispatch({ ...address, method, headers, body }, handler);
      dispatch();
    });

  /** Writes a frame to a syslog server: its bytes after their number (RFC 5425, 4.3). */
  const writeBefore = ({ url, body }: OutgoingRequest, signal: AbortSignal): Promise<DestinationResponse> =>
    new Promise((resolve, reject) => {
      const fault = urlFault(url, allowed, 'tls');
      const address = fault === undefined ? tlsAddress(url) : undefined;
      if (address === undefined) return reject(new SendingError(`the address ${fault}`));
      const { host, port } = address;
      let hasReadAll = false;
      let failure: Error | undefined;
      const socket = tls.connect({
        host,
        port: port === '' ? syslogPort : Number(port),
        lookup: checkedLookup,
        ...(net.isIP(host) === 0 ? { servername: host } : {}),
        ...(ca === undefined ? {} : { ca }),
      });
      const abort = (): void =>
        void socket.destroy(
          new SendingError(
            socket.writableFinished
              ? `the server has not confirmed within ${maxTimeoutMs} ms that it has read the event, by closing the connection`
              : `no connection within ${maxTimeoutMs} ms`,
          ),
        );
      signal.addEventListener('abort', abort);
      socket.once('secureConnect', () => socket.end(`${Buffer.byteLength(body)} ${body}`));
      // Nothing is expected; what comes is not kept.
      socket.resume();
      // A server closes its side once it has read everything (RFC 5425, 4.4): the protocol has no other confirmation.
      socket.once('end', () => (hasReadAll = socket.writableFinished));
      socket.once('error', (error) => (failure = error));
      socket.once('close', () => {
        signal.removeEventListener('abort', abort);
        if (failure instanceof SendingError) reject(failure);
        else if (failure !== undefined) reject(new SendingError(reasonOf(failure)));
        else if (hasReadAll) resolve({ status: null, retryAfter: undefined, body: '' });
        else reject(new SendingError('the connection was closed before the event was sent'));
      });
    });

  const send: Send = async (request) =>
    /^tls:/i.test(request.url)
      ? writeBefore(request, AbortSignal.timeout(maxTimeoutMs))
      : post(request, await (agent ??= startAgent()));
  const close = async (): Promise<void> => {
    unsubscribe(headersChannel, noteBytes);
    await (await agent)?.destroy();
  };
  return { send, close };
}
export type HttpClient = ReturnType<typeof httpClient>;

const continueLine = Buffer.from('HTTP/1.1 100');
const otherInterim = '2'.charCodeAt(0);

/**
 * Some servers ask for the body with 100, although nobody waits for that (RFC 9110, 15.2). undici closes the connection then, and skips every other
 * interim response, so it gets another one.
 */
function takeContinue(socket: net.Socket): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  socket.read = (size?: number) => {
    const chunk = read(size);
    const last = continueLine.length - 1;
    if (chunk?.subarray(0, last + 1).equals(continueLine) === true) chunk[last] = otherInterim;
    return chunk;
  };
}

const emptyUrl = { origin: '', pathname: '', search: '' };

function toSendingError(error: Error): SendingError {
  if (error instanceof SendingError) return error;
  if ((error as NodeJS.ErrnoException).code === 'UND_ERR_SOCKET')
    return new SendingError('the connection was closed without a response');
  return new SendingError(reasonOf(error as NodeJS.ErrnoException));
}

/** Why a request failed, without what it contained. */
function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  return code === undefined || message.includes(code) ? message : `${message} (${code})`;
}
