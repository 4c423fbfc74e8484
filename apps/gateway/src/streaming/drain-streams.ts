import { endStream, type StreamConnection } from '../delivery/streams/stream-connection.ts';

/** Draining ends streams in batches over at least this time. */
const minDrainMs = 1_000;
const batchIntervalMs = 50;

/** Ends all streams in even batches over `drainMs`, but at least `minDrainMs`, so that their clients do not reconnect concurrently. */
export const drainStreams = (connections: ReadonlySet<StreamConnection>, drainMs: number): void => {
  const deadline = performance.now() + Math.max(drainMs, minDrainMs);
  const endBatch = (): void => {
    const batchesLeft = Math.max(1, Math.floor((deadline - performance.now()) / batchIntervalMs));
    const open = [...connections].filter(({ ending }) => ending === undefined);
    for (const connection of open.slice(0, Math.ceil(open.length / batchesLeft))) endStream(connection, 'drain');
    if (connections.size > 0) setTimeout(endBatch, batchIntervalMs).unref();
  };
  endBatch();
};
