// A load generator that takes less CPU than autocannon, which needs about as much for a request as the server that is measured here. It
// sends prepared bytes, and parses no more than status and length of each response.
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

export interface Load {
  readonly port: number;
  /** the requests, which are sent in turn */
  readonly requests: readonly Uint8Array[];
  /** the number of the first request that is sent */
  readonly first: number;
  readonly connections: number;
  readonly milliseconds: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly milliseconds: number;
  readonly bytes: number;
  /** responses by status; 0 counts connections that the server has ended */
  readonly statuses: Readonly<Record<number, number>>;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** until a connection that the server has ended is replaced */
const reconnectMs = 10;
const headEnd = Buffer.from('\r\n\r\n');
const lastChunk = Buffer.from('0\r\n\r\n');
const lengthPattern = /\r\ncontent-length: (\d+)/i;

parentPort?.postMessage(await generateLoad(workerData as Load));

/** Sends one request after the other on each connection for the given time. */
async function generateLoad({ port, requests, first, connections, milliseconds }: Load): Promise<LoadResult> {
  const statuses: Record<number, number> = {};
  const durations: number[] = [];
  let next = first;
  let bytes = 0;
  const startedAt = performance.now();
  const endsAt = startedAt + milliseconds;

  const sendAll = (): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1').setNoDelay(true);
      let sentAt = 0;
      /** bytes of the body that are still to come; undefined while the head is incomplete, 'chunks' up to the last chunk */
      let missing: number | 'chunks' | undefined;
      let received = Buffer.alloc(0);
      const send = (): void => {
        sentAt = performance.now();
        if (sentAt < endsAt) return void socket.write(requests[next++ % requests.length] as Uint8Array);
        socket.destroy();
      };
      const readHead = (): void => {
        const end = received.indexOf(headEnd);
        if (end < 0) return;
        const head = received.toString('latin1', 0, end);
        const status = Number(head.slice(9, 12));
        statuses[status] = (statuses[status] ?? 0) + 1;
        received = received.subarray(end + 4);
        const length = lengthPattern.exec(head)?.[1];
        const hasBody = status !== 304 && status !== 204;
        missing = hasBody && length === undefined && /\r\ntransfer-encoding: chunked/i.test(head) ? 'chunks' : 0;
        if (hasBody && length !== undefined) missing = Number(length);
      };
      // The connection ends with an error as well.
      socket.once('error', () => undefined).once('connect', send);
      socket.once('close', () => {
        if (performance.now() >= endsAt) return void resolve();
        statuses[0] = (statuses[0] ?? 0) + 1;
        setTimeout(() => void sendAll().then(resolve), reconnectMs);
      });
      socket.on('data', (chunk) => {
        bytes += chunk.length;
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
        if (missing === undefined) readHead();
        if (missing === undefined) return;
        if (missing === 'chunks') {
          const isLast = received.subarray(-lastChunk.length).equals(lastChunk);
          received = received.subarray(-lastChunk.length);
          if (!isLast) return;
        } else {
          missing -= received.length;
          received = Buffer.alloc(0);
          if (missing > 0) return;
        }
        missing = undefined;
        received = Buffer.alloc(0);
        durations.push(performance.now() - sentAt);
        send();
      });
    });
  await Promise.all(Array.from({ length: connections }, sendAll));
  const elapsedMs = performance.now() - startedAt;
  durations.sort((one, other) => one - other);
  const percentile = (share: number): number => durations[Math.floor(durations.length * share)] ?? 0;
  const sent = durations.length;
  return { requests: sent, milliseconds: elapsedMs, bytes, statuses, p50Ms: percentile(0.5), p99Ms: percentile(0.99) };
}
