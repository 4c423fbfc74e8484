import { Agent, request as httpRequest } from 'node:http';
import { bodyOf, type FuzzRequest, targetOf } from './requests.ts';

export interface FuzzResponse {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly text: string;
  readonly tookMs: number;
}

/** The body of a response, if it is JSON. */
export function jsonIn({ contentType, text }: FuzzResponse): unknown {
  return contentType?.startsWith('application/json') === true && text !== ''
    ? (JSON.parse(text) as unknown)
    : undefined;
}

/** The content type of responses with one JSON value per line. */
export const linesType = 'application/x-ndjson';

const responseTimeoutMs = 70_000;
const maxAttempts = 4;
/** The codes of errors of a connection that the server closed. */
const closedCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);
/** Content types of responses that may never end. */
const streamTypes = [linesType, 'text/event-stream'];
/** A stream is read for at most this time, and up to about this size. */
const maxStreamMs = 200;
const maxStreamBytes = 256 * 1024;

/**
 * Sends requests without normalising them, and reads a response that arrives before the request is sent completely.
 * @param signal ends the requests that are under way
 */
export function fuzzClient(url: string, connections: number, signal?: AbortSignal) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { hostname, port } = new URL(url);

  const sendOnce = (request: FuzzRequest): Promise<FuzzResponse> =>
    new Promise((resolve, reject) => {
      const startedAt = performance.now();
      const body = bodyOf(request);
      const headers = { ...request.headers, ...(body === undefined ? {} : { 'content-length': String(body.length) }) };
      const { method } = request.operation;
      const ended = signal === undefined ? {} : { signal };
      const target = { agent, hostname, port, method, path: targetOf(request), headers, ...ended };
      const outgoing = httpRequest(target, (response) => {
        const chunks: Buffer[] = [];
        const contentType = response.headers['content-type'];
        let size = 0;
        const finish = (text: string): void =>
          resolve({ status: response.statusCode ?? 0, contentType, text, tookMs: performance.now() - startedAt });
        const textSoFar = (): string => Buffer.concat(chunks).toString();
        /** Ends the response after its last complete line. */
        const cutOff = (): void => {
          const text = textSoFar();
          finish(text.slice(0, text.lastIndexOf('\n') + 1));
          response.destroy();
        };
        const isStream = streamTypes.some((type) => contentType?.startsWith(type) === true);
        const streamTimer = isStream ? setTimeout(cutOff, maxStreamMs) : undefined;
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          size += chunk.length;
          if (isStream && size > maxStreamBytes) cutOff();
        });
        response.once('error', reject);
        response.once('close', () => clearTimeout(streamTimer));
        response.once('end', () => finish(textSoFar()));
      });
      outgoing.setTimeout(responseTimeoutMs, () =>
        outgoing.destroy(new Error(`There was no response in ${responseTimeoutMs / 1_000} s.`)),
      );
      outgoing.on('error', reject);
      outgoing.end(body);
    });

  return {
    send: async (request: FuzzRequest): Promise<FuzzResponse> => {
      for (let attempts = 1; ; attempts++) {
        try {
          return await sendOnce(request);
        } catch (error) {
          // The server closed the reused connection, as it does after it refused a body: this request has not arrived.
          const { code = '' } = error as NodeJS.ErrnoException;
          if (!closedCodes.has(code) || attempts === maxAttempts) throw error;
        }
      }
    },
    close: (): void => agent.destroy(),
  };
}
export type FuzzClient = ReturnType<typeof fuzzClient>;

/** The request as a curl command for a shell, with `$TOKEN` in place of the key. Long headers and bodies are cut off. */
export function curlOf(url: string, request: FuzzRequest): string {
  const body = bodyOf(request);
  const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const headers = Object.entries(request.headers).map(([name, value]) => {
    const shownValue = name === 'authorization' && value !== '' ? '$TOKEN' : value.slice(0, 200);
    return name === 'authorization' ? `-H "authorization: ${shownValue}"` : `-H ${quoted(`${name}: ${shownValue}`)}`;
  });
  const command = [
    'curl -sS --path-as-is -g -X',
    request.operation.method,
    ...headers,
    quoted(`${url}${targetOf(request)}`),
  ].join(' ');
  if (body === undefined) return command;
  const text = body.length > 4_000 ? `${body.subarray(0, 4_000).toString()}…(${body.length} bytes)` : body.toString();
  if (/[^\t\n -~\u00a0-\ud7ff\ue000-\uffef]/.test(text)) {
    return `base64 -d <<<${body.subarray(0, 4_000).toString('base64')} | ${command} --data-binary @-`;
  }
  return `${command} --data-binary ${quoted(text)}`;
}
