// Own code instead of autocannon, which takes about as much CPU for a request as the server that it measures here: it sends the same bytes
// repeatedly, and parses no more than the length of each response.
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

/** Sends one request after the other on each connection for a while. */
const drive = async ({
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
  const taken: number[] = [];
  let bytes = 0;
  const startedAt = performance.now();
  const endsAt = startedAt + milliseconds;

  const poll = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket: Socket = connect(port, '127.0.0.1').setNoDelay(true);
      let [sentAt, missing, head] = [0, 0, Buffer.alloc(0)];
      const send = (): void => {
        sentAt = performance.now();
        if (sentAt < endsAt) return void socket.write(request);
        socket.destroy();
        resolve();
      };
      const done = (): void => {
        taken.push(performance.now() - sentAt);
        send();
      };
      socket.once('error', reject).once('connect', send);
      socket.once('close', () => reject(new Error(`The server ended the connection after ${taken.length} responses`)));
      socket.on('data', (chunk) => {
        bytes += chunk.length;
        if (missing > 0) {
          missing -= chunk.length;
          return missing === 0 ? done() : undefined;
        }
        head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
        const end = head.indexOf(headEnd);
        if (end < 0) return;
        const text = head.toString('latin1', 0, end);
        const status = Number(text.slice(9, 12));
        statuses[status] = (statuses[status] ?? 0) + 1;
        missing = status === 304 ? 0 : Number(lengthPattern.exec(text)?.[1] ?? 0) - (head.length - end - 4);
        head = Buffer.alloc(0);
        if (missing === 0) done();
      });
    });
  await Promise.all(Array.from({ length: connections }, poll));
  const passed = performance.now() - startedAt;
  taken.sort((one, other) => one - other);
  const percentile = (share: number): number => taken[Math.floor(taken.length * share)] ?? 0;
  const requests = taken.length;
  return { requests, milliseconds: passed, bytes, statuses, p50Ms: percentile(0.5), p99Ms: percentile(0.99) };
};

parentPort?.postMessage(await drive(workerData as RequestLoad));
