// A load generator that takes less CPU than autocannon, which needs about as much for a request as the server that is measured here. It
// sends the same bytes repeatedly, and parses no more than status and length of each response.
import { connect, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

export interface RequestLoad {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON that is posted; undefined for GET */
  readonly body?: string | undefined;
  readonly connections: number;
  readonly milliseconds: number;
}

export interface RequestLoadResult {
  readonly requests: number;
  readonly milliseconds: number;
  readonly bytes: number;
  /** responses by status */
  readonly statuses: Readonly<Record<number, number>>;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const headEnd = Buffer.from('\r\n\r\n');
const lengthPattern = /\r\ncontent-length: (\d+)/i;

/** Sends one request after the other on each connection for the given time. */
const generateLoad = async ({
  port,
  path,
  headers,
  body,
  connections,
  milliseconds,
}: RequestLoad): Promise<RequestLoadResult> => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  if (body !== undefined)
    lines.push(`content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`);
  const method = body === undefined ? 'GET' : 'POST';
  const request = Buffer.from(
    `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${lines.join('')}\r\n${body ?? ''}`,
  );
  const statuses: Record<number, number> = {};
  const durations: number[] = [];
  let bytes = 0;
  const startedAt = performance.now();
  const endsAt = startedAt + milliseconds;

  const poll = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket: Socket = connect(port, '127.0.0.1').setNoDelay(true);
      let [sentAt, missingBytes, head] = [0, 0, Buffer.alloc(0)];
      const send = (): void => {
        sentAt = performance.now();
        if (sentAt < endsAt) return void socket.write(request);
        socket.destroy();
        resolve();
      };
      const finishResponse = (): void => {
        durations.push(performance.now() - sentAt);
        send();
      };
      socket.once('error', reject).once('connect', send);
      socket.once('close', () =>
        reject(new Error(`The server ended the connection after ${durations.length} responses`)),
      );
      socket.on('data', (chunk) => {
        bytes += chunk.length;
        if (missingBytes > 0) {
          missingBytes -= chunk.length;
          return missingBytes === 0 ? finishResponse() : undefined;
        }
        head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
        const end = head.indexOf(headEnd);
        if (end < 0) return;
        const text = head.toString('latin1', 0, end);
        const status = Number(text.slice(9, 12));
        statuses[status] = (statuses[status] ?? 0) + 1;
        missingBytes = status === 304 ? 0 : Number(lengthPattern.exec(text)?.[1] ?? 0) - (head.length - end - 4);
        head = Buffer.alloc(0);
        if (missingBytes === 0) finishResponse();
      });
    });
  await Promise.all(Array.from({ length: connections }, poll));
  const elapsedMs = performance.now() - startedAt;
  durations.sort((one, other) => one - other);
  const percentile = (share: number): number => durations[Math.floor(durations.length * share)] ?? 0;
  const requests = durations.length;
  return { requests, milliseconds: elapsedMs, bytes, statuses, p50Ms: percentile(0.5), p99Ms: percentile(0.99) };
};

parentPort?.postMessage(await generateLoad(workerData as RequestLoad));
