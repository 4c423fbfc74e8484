import { Agent, request as httpRequest } from 'node:http';
import { bodyOf, type FuzzRequest, targetOf } from './valid-requests.ts';

export interface FuzzResponse {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly text: string;
  readonly tookMs: number;
}

/** The body of a response, if it is JSON. */
export const jsonIn = ({ contentType, text }: FuzzResponse): unknown =>
  contentType?.startsWith('application/json') === true && text !== '' ? (JSON.parse(text) as unknown) : undefined;

export const linesType = 'application/x-ndjson';

const responseTimeoutMs = 70_000;
const attempts = 4;
const lost: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);
/** Content types of responses that may stay open. */
const openEnded = [linesType, 'text/event-stream'];
/** How long, and how much, is read of them. */
const linesMs = 200;
const linesBytes = 256 * 1024;

/** Sends requests byte for byte, and reads the response even before the request is sent completely. */
export const fuzzClient = (url: string, connections: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { hostname, port } = new URL(url);

  const attempt = (request: FuzzRequest): Promise<FuzzResponse> =>
    new Promise((resolve, reject) => {
      const startedAt = performance.now();
      const body = bodyOf(request);
      const headers = { ...request.headers, ...(body === undefined ? {} : { 'content-length': String(body.length) }) };
      const { method } = request.operation;
      const sent = httpRequest({ agent, hostname, port, method, path: targetOf(request), headers }, (response) => {
        const chunks: Buffer[] = [];
        const contentType = response.headers['content-type'];
        let size = 0;
        const finish = (text: string): void =>
          resolve({ status: response.statusCode ?? 0, contentType, text, tookMs: performance.now() - startedAt });
        const all = (): string => Buffer.concat(chunks).toString();
        const enough = (): void => {
          const text = all();
          finish(text.slice(0, text.lastIndexOf('\n') + 1));
          response.destroy();
        };
        const isLines = openEnded.some((type) => contentType?.startsWith(type) === true);
        const lineTimer = isLines ? setTimeout(enough, linesMs) : undefined;
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          size += chunk.length;
          if (isLines && size > linesBytes) enough();
        });
        response.once('error', reject);
        response.once('close', () => clearTimeout(lineTimer));
        response.once('end', () => finish(all()));
      });
      sent.setTimeout(responseTimeoutMs, () =>
        sent.destroy(new Error(`There was no response in ${responseTimeoutMs / 1_000} s.`)),
      );
      sent.on('error', reject);
      sent.end(body);
    });

  return {
    send: async (request: FuzzRequest): Promise<FuzzResponse> => {
      for (let tries = 1; ; tries++) {
        try {
          return await attempt(request);
        } catch (error) {
          // The server had just closed the connection, as it does after refusing a body: the request has not arrived.
          const { code = '' } = error as NodeJS.ErrnoException;
          if (!lost.has(code) || tries === attempts) throw error;
        }
      }
    },
    close: (): void => agent.destroy(),
  };
};
export type FuzzClient = ReturnType<typeof fuzzClient>;

/** The request as a line for a shell, with the key left out. */
export const curlOf = (url: string, request: FuzzRequest): string => {
  const body = bodyOf(request);
  const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const headers = Object.entries(request.headers).map(([name, value]) => {
    const shown = name === 'authorization' && value !== '' ? '$TOKEN' : value.slice(0, 200);
    return name === 'authorization' ? `-H "authorization: ${shown}"` : `-H ${quoted(`${name}: ${shown}`)}`;
  });
  const line = [
    'curl -sS --path-as-is -g -X',
    request.operation.method,
    ...headers,
    quoted(`${url}${targetOf(request)}`),
  ].join(' ');
  if (body === undefined) return line;
  const text = body.length > 4_000 ? `${body.subarray(0, 4_000).toString()}…(${body.length} bytes)` : body.toString();
  if (/[^\t\n -~\u00a0-\ud7ff\ue000-\uffef]/.test(text)) {
    return `base64 -d <<<${body.subarray(0, 4_000).toString('base64')} | ${line} --data-binary @-`;
  }
  return `${line} --data-binary ${quoted(text)}`;
};
