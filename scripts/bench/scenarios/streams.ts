import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerUnderTest } from '../../server-under-test.ts';
import { type BenchOptions, environment, percentile, seedFlags, send, withServers } from '../run.ts';

const flags = 1_000;
const readers = 1_000;
const changes = 100;
const restSeconds = 20;
const maxConcurrentOpens = 100;

const accepted = Buffer.from('HTTP/1.1 200');

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
function openRawStream(url: string, token: string, onUpdate: () => void, lastId?: string): Promise<RawStream> {
  return new Promise((resolve, reject) => {
    const { hostname, port, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    const stream: RawStream = { socket, bytes: 0, updates: 0, hydrations: 0, isConnected: false, lastId: lastId ?? '' };
    const lastIdHeader = lastId === undefined ? '' : `last-event-id: ${lastId}\r\n`;
    let tail = '';
    socket.once('error', reject).once('close', () => reject(new Error('The server ended the stream.')));
    socket.on('data', (chunk) => {
      if (stream.bytes === 0 && !chunk.subarray(0, 12).equals(accepted))
        return void socket.destroy(new Error(`${url} answers ${chunk.toString('latin1', 9, 12)} to a stream.`));
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
}

async function openMany(count: number, open: (nth: number) => Promise<RawStream>): Promise<RawStream[]> {
  const streams: RawStream[] = [];
  while (streams.length < count) {
    const batch = Math.min(maxConcurrentOpens, count - streams.length);
    streams.push(...(await Promise.all(Array.from({ length: batch }, (_, nth) => open(streams.length + nth)))));
  }
  return streams;
}

export async function closeAll(streams: readonly RawStream[]): Promise<void> {
  for (const { socket } of streams) socket.destroy();
  await sleep(1_000);
}

async function cpuPercent(target: ServerUnderTest): Promise<number> {
  const before = target.cpuSeconds() ?? 0;
  await sleep(restSeconds * 1_000);
  return Number(((((target.cpuSeconds() ?? 0) - before) / restSeconds) * 100).toFixed(1));
}

/** Measures idle streams, the time until a change reaches many streams, and the cost of their reconnection. */
export function benchStreams(options: BenchOptions): Promise<unknown> {
  const idleStreams = options.streams ?? 10_000;
  const limit = String(2 * idleStreams);
  const settings = { GATEWAY_MAX_SDK_STREAMS: limit, GATEWAY_MAX_SDK_STREAMS_PER_CLIENT: limit };
  return withServers({ urls: [], token: '' }, (servers) => measureStreams(servers[0], idleStreams), settings);
}

async function measureStreams(target: ServerUnderTest, idleStreams: number) {
  await seedFlags(target, { count: flags });
  const { reply } = await send<{ secret: string }>(target, 'POST', '/api/admin/api-tokens', {
    tokenName: 'bench',
    type: 'client',
    environment,
    projects: ['*'],
  });
  const idle = await measureIdleStreams(target, reply.secret, idleStreams);
  const [flag] = (await send<{ features: { name: string }[] }>(target, 'GET', '/api/admin/projects/default/features'))
    .reply.features;
  const { streams, ...reach } = await measureReach(target, target, {
    token: reply.secret,
    flag: `/api/admin/projects/default/features/${flag?.name}`,
  });
  const ids = streams.map(({ lastId }) => lastId);
  await closeAll(streams);
  const reconnected = await openMany(readers, (nth) =>
    openRawStream(target.url, reply.secret, () => undefined, ids[nth]),
  );
  await sleep(1_000);
  const reconnectBytes = reconnected.reduce((sum, { bytes }) => sum + bytes, 0);
  const fullBodies = reconnected.reduce((sum, { hydrations }) => sum + hydrations, 0);
  console.log(`${readers} reconnects with Last-Event-ID: ${reconnectBytes} bytes, ${fullBodies} full bodies`);
  await closeAll(reconnected);
  return { ...idle, ...reach, reconnectBytes, fullBodies };
}

/** What idle streams cost a server. */
export async function measureIdleStreams(target: ServerUnderTest, token: string, idleStreams: number) {
  const open = () => openRawStream(target.url, token, () => undefined);
  // The first streams warm the process up, so that the memory of compiled code and of caches is not measured.
  await closeAll(await openMany(200, open));
  await sleep(5_000);
  const restCpuPercent = await cpuPercent(target);
  const restMb = target.residentMb() ?? 0;
  const idle = await openMany(idleStreams, open);
  await sleep(5_000);
  const idleCpuPercent = await cpuPercent(target);
  const idleMb = (target.residentMb() ?? 0) - restMb;
  console.log(
    `${idleStreams} idle streams: ${idleMb} MB more, ${idleCpuPercent} % of a core (${restCpuPercent} % without)`,
  );
  await closeAll(idle);
  return { idleStreams, idleMb, idleCpuPercent, restCpuPercent };
}

/**
 * The time from the request of a change at an origin until the last of many streams of a server has it. The streams stay open.
 * @param options.flag path of the flag that is changed
 */
export async function measureReach(
  origin: ServerUnderTest,
  target: ServerUnderTest,
  { token, flag }: { readonly token: string; readonly flag: string },
) {
  let readersLeft = 0;
  let onAllReached: () => void = () => undefined;
  const onUpdate = (): void => void (--readersLeft === 0 && onAllReached());
  const streams = await openMany(readers, () => openRawStream(target.url, token, onUpdate));
  const durations: number[] = [];
  for (let nth = 0; nth < changes; nth++) {
    readersLeft = readers;
    const allReached = new Promise<void>((resolve) => (onAllReached = resolve));
    const startedAt = performance.now();
    await send(origin, 'PATCH', flag, [{ op: 'replace', path: '/description', value: `change ${nth}` }]);
    await allReached;
    durations.push(performance.now() - startedAt);
  }
  const [p50, p99] = [percentile(durations, 0.5), percentile(durations, 0.99)];
  console.log(`a change reaches the last of ${readers} streams: p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`);
  return { streams, readers, p50, p99 };
}
