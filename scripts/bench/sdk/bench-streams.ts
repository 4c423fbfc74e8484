import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { seedFlags } from '../http/seed-flags.ts';
import { startServerUnderTest, type ServerUnderTest } from '../http/server-under-test.ts';

interface StreamFigures {
  readonly idleStreams: number;
  /** MB of resident memory that the idle streams add */
  readonly idleMb: number;
  /** percent of one core that the process uses with the idle streams, and in `restCpuPercent` without them */
  readonly idleCpuPercent: number;
  readonly restCpuPercent: number;
  readonly readers: number;
  /** milliseconds from the request that changes a feature until the last reader has the change */
  readonly lastReaderP50Ms: number;
  readonly lastReaderP99Ms: number;
  /** bytes that all readers get when they reconnect with `Last-Event-ID` */
  readonly reconnectBytes: number;
  readonly reconnectHydrations: number;
}

const flags = 1_000;
const readers = 1_000;
const changes = 100;
const restSeconds = 20;
const maxConcurrentOpens = 100;
const environment = 'development';

/** A stream as the bytes that arrive on its socket. */
interface RawStream {
  readonly socket: Socket;
  bytes: number;
  updates: number;
  hydrations: number;
  isConnected: boolean;
  lastId: string;
}

/** Opens a stream, and resolves when its first event has arrived. */
const openRawStream = (url: string, token: string, onUpdate: () => void, lastId?: string): Promise<RawStream> =>
  new Promise((resolve, reject) => {
    const { hostname, port, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    const stream: RawStream = { socket, bytes: 0, updates: 0, hydrations: 0, isConnected: false, lastId: lastId ?? '' };
    const lastIdHeader = lastId === undefined ? '' : `last-event-id: ${lastId}\r\n`;
    let tail = '';
    socket.once('error', reject);
    socket.on('data', (chunk) => {
      stream.bytes += chunk.length;
      // Only the beginning of a chunk is searched: the events of changes are shorter, and of the first event the beginning suffices.
      const text = tail + chunk.toString('latin1', 0, Math.min(chunk.length, 4_096));
      tail = '';
      if (text.includes('"type":"hydration"')) stream.hydrations++;
      const id = /\nid: (\d+)\n/.exec(text)?.[1];
      if (id !== undefined) stream.lastId = id;
      if (!stream.isConnected && text.includes('event: unleash-connected')) {
        stream.isConnected = true;
        resolve(stream);
      }
      if (!text.includes('event: unleash-updated')) return void (tail = text.slice(-64));
      stream.updates++;
      onUpdate();
    });
    socket.write(
      `GET /api/client/streaming HTTP/1.1\r\nhost: ${host}\r\nauthorization: ${token}\r\naccept: text/event-stream\r\n${lastIdHeader}\r\n`,
    );
  });

const openMany = async (count: number, open: (nth: number) => Promise<RawStream>): Promise<RawStream[]> => {
  const streams: RawStream[] = [];
  while (streams.length < count) {
    const batch = Math.min(maxConcurrentOpens, count - streams.length);
    streams.push(...(await Promise.all(Array.from({ length: batch }, (_, nth) => open(streams.length + nth)))));
  }
  return streams;
};

const closeAll = async (streams: readonly RawStream[]): Promise<void> => {
  for (const { socket } of streams) socket.destroy();
  await sleep(1_000);
};

const callAdminApi = async (
  { url, token }: ServerUnderTest,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> => {
  const response = await fetch(`${url}/api/admin/${path}`, {
    method,
    headers: { authorization: token, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as unknown;
};

const cpuPercent = async (target: ServerUnderTest): Promise<number> => {
  const before = target.cpuSeconds() ?? 0;
  await sleep(restSeconds * 1_000);
  return Number(((((target.cpuSeconds() ?? 0) - before) / restSeconds) * 100).toFixed(1));
};

const percentile = (durations: readonly number[], share: number): number => {
  const sorted = durations.toSorted((one, other) => one - other);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0);
};

/** Measures idle streams, the time until a change reaches many streams, and the cost of their reconnection. */
export const benchStreams = async (idleStreams: number): Promise<StreamFigures> => {
  const limit = String(2 * idleStreams);
  const target = await startServerUnderTest({
    GATEWAY_MAX_SDK_STREAMS: limit,
    GATEWAY_MAX_SDK_STREAMS_PER_CLIENT: limit,
  });
  try {
    await seedFlags(target, { count: flags, how: 'import' });
    const { secret } = (await callAdminApi(target, 'POST', 'api-tokens', {
      tokenName: 'bench',
      type: 'client',
      environment,
      projects: ['*'],
    })) as { readonly secret: string };
    const open = (onUpdate: () => void) => () => openRawStream(target.url, secret, onUpdate);

    // The first streams warm the process up, so that the memory of compiled code and of caches is not measured.
    await closeAll(
      await openMany(
        200,
        open(() => undefined),
      ),
    );
    await sleep(5_000);
    const restCpuPercent = await cpuPercent(target);
    const restMb = target.residentMb() ?? 0;
    const idle = await openMany(
      idleStreams,
      open(() => undefined),
    );
    await sleep(5_000);
    const idleCpuPercent = await cpuPercent(target);
    const idleMb = (target.residentMb() ?? 0) - restMb;
    console.log(
      `${idleStreams} idle streams: ${idleMb} MB more, ${idleCpuPercent} % of a core (${restCpuPercent} % without)`,
    );
    await closeAll(idle);

    let readersLeft = 0;
    let onAllReached: () => void = () => undefined;
    const streams = await openMany(
      readers,
      open(() => void (--readersLeft === 0 && onAllReached())),
    );
    const [flag] = (
      (await callAdminApi(target, 'GET', 'projects/default/features')) as { features: { name: string }[] }
    ).features;
    const durations: number[] = [];
    for (let nth = 0; nth < changes; nth++) {
      readersLeft = readers;
      const allReached = new Promise<void>((resolve) => (onAllReached = resolve));
      const startedAt = performance.now();
      await callAdminApi(target, 'PATCH', `projects/default/features/${flag?.name}`, [
        { op: 'replace', path: '/description', value: `change ${nth}` },
      ]);
      await allReached;
      durations.push(performance.now() - startedAt);
    }
    const [lastReaderP50Ms, lastReaderP99Ms] = [percentile(durations, 0.5), percentile(durations, 0.99)];
    console.log(
      `a change reaches the last of ${readers} streams: p50 ${lastReaderP50Ms} ms, p99 ${lastReaderP99Ms} ms`,
    );
    const ids = streams.map(({ lastId }) => lastId);
    await closeAll(streams);
    const reconnectedStreams = await openMany(readers, (nth) =>
      openRawStream(target.url, secret, () => undefined, ids[nth]),
    );
    await sleep(1_000);
    const reconnectBytes = reconnectedStreams.reduce((sum, { bytes }) => sum + bytes, 0);
    const reconnectHydrations = reconnectedStreams.reduce((sum, { hydrations }) => sum + hydrations, 0);
    console.log(
      `${readers} reconnects with Last-Event-ID: ${reconnectBytes} bytes, ${reconnectHydrations} full bodies`,
    );
    await closeAll(reconnectedStreams);
    return {
      idleStreams,
      idleMb,
      idleCpuPercent,
      restCpuPercent,
      readers,
      lastReaderP50Ms,
      lastReaderP99Ms,
      reconnectBytes,
      reconnectHydrations,
    };
  } finally {
    await target.stop();
  }
};
