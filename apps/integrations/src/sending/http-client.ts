import { type LookupAddress, lookup } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import net, { type LookupFunction } from 'node:net';
import tls from 'node:tls';
import { urlToHttpOptions } from 'node:url';
import { LRUCache } from 'lru-cache';
import { type AllowedAddresses, isAllowedAddress, tlsAddress, urlFault } from './addresses.ts';

/** A request to a destination. */
export interface OutgoingRequest {
  /** POST when left out */
  readonly method?: 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
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
}

const maxResponseBytes = 64 * 1024;
const maxConnectionsPerHost = 64;
const maxHeaderBytes = 16 * 1024;
const syslogPort = 6514;
const maxKnownAddresses = 1_000;

/**
 * Sends requests to addresses that users chose: to public ones and those that are allowed, and to no others. A host is resolved once for each
 * connection, which is made to an address that was checked. Redirects are not followed, and certificates are verified. To an address with the
 * scheme `tls` the body is written as a frame of syslog.
 */
export function httpClient({ allowed, timeoutMs, ca }: HttpClientOptions) {
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
  const agentOptions = { keepAlive: true, maxSockets: maxConnectionsPerHost, lookup: checkedLookup };
  const agents = {
    'http:': new http.Agent(agentOptions),
    'https:': new https.Agent({ ...agentOptions, ...(ca === undefined ? {} : { ca }) }),
  };

  /** What a request to an address needs, or why there may be none: an address gets many, and parsing it takes as long as sending. */
  const knownAddresses = new LRUCache<string, { readonly options: http.RequestOptions } | { readonly fault: string }>({
    max: maxKnownAddresses,
  });
  const addressOf = (text: string) => {
    const known = knownAddresses.get(text);
    if (known !== undefined) return known;
    const fault = urlFault(text, allowed);
    const address = fault === undefined ? { options: urlToHttpOptions(new URL(text)) } : { fault };
    knownAddresses.set(text, address);
    return address;
  };

  const sendBefore = (outgoing: OutgoingRequest, signal: AbortSignal): Promise<DestinationResponse> =>
    new Promise((resolve, reject) => {
      const { method = 'POST', url: text, headers, body } = outgoing;
      const address = addressOf(text);
      if ('fault' in address) return reject(new SendingError(`the address ${address.fault}`));
      const { options } = address;
      const protocol = options.protocol as keyof typeof agents;
      const module = protocol === 'https:' ? https : http;
      let finish: (() => void) | undefined;
      let isRepeated = false;
      const fail = (error: Error): void =>
        reject(
          error instanceof SendingError
            ? error
            : new SendingError(
                signal.aborted
                  ? `no complete response within ${timeoutMs} ms`
                  : reasonOf(error as NodeJS.ErrnoException),
              ),
        );
      const request = module.request(
        {
          ...options,
          method,
          agent: agents[protocol],
          headers: { ...headers, 'content-length': Buffer.byteLength(body), connection: 'keep-alive' },
          maxHeaderSize: maxHeaderBytes,
          signal,
        },
        (response) => {
          const chunks: Buffer[] = [];
          let bytes = 0;
          // Once there is a status, it decides, also if the body never ends.
          finish = (): void => {
            const retryAfter = response.headers['retry-after'];
            const bodyText = Buffer.concat(chunks).subarray(0, maxResponseBytes).toString('utf8').toWellFormed();
            resolve({ status: response.statusCode ?? 0, retryAfter, body: bodyText });
          };
          response.on('data', (chunk: Buffer) => {
            bytes += chunk.length;
            chunks.push(chunk);
            if (bytes < maxResponseBytes) return;
            // The status has decided; the rest of the response is not read.
            finish?.();
            request.destroy();
          });
          response.on('end', finish);
          response.on('error', finish);
        },
      );
      request.on('error', (error: NodeJS.ErrnoException) => {
        // The server has closed an idle connection just now: nothing was received on it.
        if (finish !== undefined) finish();
        else if (request.reusedSocket && error.code === 'ECONNRESET') {
          isRepeated = true;
          sendBefore(outgoing, signal).then(resolve, reject);
        } else fail(error);
      });
      // The only sign of a response by which the server changes to another protocol (101).
      request.on('close', () => {
        if (finish !== undefined) finish();
        else if (!isRepeated) fail(new SendingError('the connection was closed without a response'));
      });
      request.end(body);
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
              ? `the server has not confirmed within ${timeoutMs} ms that it has read the event, by closing the connection`
              : `no connection within ${timeoutMs} ms`,
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

  const send: Send = (request) =>
    (/^tls:/i.test(request.url) ? writeBefore : sendBefore)(request, AbortSignal.timeout(timeoutMs));
  return {
    send,
    close: (): void => {
      agents['http:'].destroy();
      agents['https:'].destroy();
    },
  };
}
export type HttpClient = ReturnType<typeof httpClient>;

/** Why a request failed, without what it contained. */
function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  return code === undefined || message.includes(code) ? message : `${message} (${code})`;
}
