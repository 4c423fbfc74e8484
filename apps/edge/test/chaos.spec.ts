import { readdir, readFile, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { eventually, recordingLog, startTcpProxy } from '@bunting/testing';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { OriginFeature } from '../src/origin-feature.ts';
import type { OriginState } from '../src/origin-state.ts';
import { readFeature } from '../src/upstream/contents.ts';
import type { Files } from '../src/snapshots/checked-files.ts';
import { openSnapshots } from '../src/snapshots/snapshots.ts';
import { followOrigin } from '../src/upstream/follow-origin.ts';
import { defaultUpstreamSettings, originClient } from '../src/upstream/origin-client.ts';
import { upstreamMetrics } from '../src/upstream/upstream-metrics.ts';
import { fastFollowing, startChangingOrigin, token } from './changing-origin.ts';
import { listsOfTest } from './lists-of-test.ts';
import { failingFiles } from './failing-files.ts';
import { originData } from './simulated-origin.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** What an edge keeps of features, whether they are those of the origin or of the edge. */
function textOf(features: readonly object[]): string {
  const kept = features.map((one) => (one instanceof OriginFeature ? one : new OriginFeature(readFeature(one))));
  return JSON.stringify(kept.toSorted((one, other) => (one.name < other.name ? -1 : 1)));
}

/** An origin whose states are recorded, and what edges behind it serve. */
async function startWorld() {
  const { origin, folder, had, change } = await startChangingOrigin(stops, textOf);
  had.add(textOf([]));

  /** Starts an edge: what it serves begins with the snapshots of its folder. */
  const startEdge = async ({ url = origin.url, files }: { readonly url?: URL; readonly files?: Files } = {}) => {
    const { log, warnings } = recordingLog();
    const metrics = new Registry();
    const settings = { ...defaultUpstreamSettings, hedgeAfterMs: 50, headTimeoutMs: 2_000, maxBytes: 1_000_000 };
    const client = originClient({ origin: url, tokenHeader: 'authorization', settings });
    const lists = listsOfTest();
    const snapshots = openSnapshots({
      folder,
      lists,
      log,
      metrics,
      minIntervalMs: 0,
      ...(files === undefined ? {} : { files }),
    });
    const served: (OriginState | undefined)[] = [];
    const serve = (state: OriginState | undefined): void => {
      const before = served.at(-1);
      served.push(state);
      if (state === undefined) return;
      // The two promises that hold whatever happens.
      expect(had).toContain(textOf(state.features));
      if (before !== undefined && state.historyFrom === before.historyFrom)
        expect(state.revision).toBeGreaterThanOrEqual(before.revision);
    };
    const faults: unknown[] = [];
    const checked = (state: OriginState | undefined): void => {
      try {
        serve(state);
      } catch (error) {
        faults.push(error);
      }
    };
    const held = (await snapshots.read()).find((state) => state.token === token);
    if (held !== undefined) checked(held);
    const following = followOrigin({
      client,
      token,
      held,
      appName: 'edge',
      instanceId: 'edge-1',
      settings: fastFollowing,
      lists: lists.claim(),
      onState: (state) => {
        checked(state);
        void snapshots.write(state);
      },
      onRefused: () => {
        checked(undefined);
        void snapshots.remove(token);
      },
      log,
      metrics: upstreamMetrics(new Registry()),
    });
    let isStopped = false;
    const stop = async (): Promise<void> => {
      if (isStopped) return;
      isStopped = true;
      await following.close();
      await snapshots.close();
      await client.close();
    };
    stops.push(stop);
    return {
      warnings,
      stop,
      following,
      served: () => served.at(-1),
      /** Waits until the edge serves what the origin has. */
      isEqual: async (): Promise<void> => {
        await eventually(() => expect(textOf(served.at(-1)?.features ?? [])).toBe(textOf(origin.state.data.list())));
        expect(faults).toEqual([]);
      },
    };
  };
  return { origin, folder, change, startEdge };
}
type World = Awaited<ReturnType<typeof startWorld>>;
type Edge = Awaited<ReturnType<World['startEdge']>>;

async function snapshotFile({ folder }: World): Promise<string> {
  const [name] = await eventually(async () => {
    const names = (await readdir(folder)).filter((file) => !file.startsWith('.'));
    expect(names.length).toBe(1);
    return names;
  });
  return path.join(folder, name as string);
}
/** Lets the origin lie in turn to everything but questions about tokens, until each lie was told. */
async function lying({ origin, change }: World, lies: readonly ((response: ServerResponse) => void)[]) {
  let told = 0;
  origin.state.lie = ({ url }, response) => {
    if (url === '/edge/validate') return false;
    lies[told++ % lies.length]?.(response);
    return true;
  };
  change();
  await eventually(() => {
    origin.cut();
    expect(told).toBeGreaterThanOrEqual(2 * lies.length);
  });
  origin.state.lie = undefined;
}
const json = { 'content-type': 'application/json' };
const events = { 'content-type': 'text/event-stream' };
const isFailing = (edge: Edge) => eventually(() => expect(edge.following.status().failure).toBeDefined());

/** What happens to an edge that serves the state of its origin. Afterwards the origin is back, and changes once more. */
const cases: Record<string, (world: World, edge: Edge) => Promise<Edge | void>> = {
  'the origin is away and changes meanwhile': async ({ origin, change }, edge) => {
    await origin.goAway();
    await isFailing(edge);
    for (let nth = 0; nth < 5; nth++) change();
    await origin.comeBack();
  },
  'the origin comes and goes': async ({ origin, change }) => {
    for (let nth = 0; nth < 5; nth++) {
      await origin.goAway();
      change();
      await origin.comeBack();
      change();
    }
  },
  'the edge restarts while the origin is away': async ({ origin, change, startEdge }, edge) => {
    await edge.stop();
    await origin.goAway();
    const restarted = await startEdge();
    expect(restarted.served()?.revision).toBe(edge.served()?.revision);
    change();
    await origin.comeBack();
    return restarted;
  },
  'connections are half-open': async ({ origin, change, startEdge }, edge) => {
    await edge.stop();
    const proxy = await startTcpProxy(origin.port);
    stops.push(() => proxy.stop());
    const behind = await startEdge({ url: new URL(`http://127.0.0.1:${proxy.port}`) });
    await behind.isEqual();
    proxy.swallow();
    change();
    await isFailing(behind);
    proxy.forwardNewConnections();
    return behind;
  },
  'the origin answers byte by byte': async ({ origin, change }) => {
    let slow = 0;
    origin.state.lie = (_, response) => {
      slow++;
      const end = response.end.bind(response);
      response.end = ((text?: string) => {
        const bytes = [...Buffer.from(text ?? '')];
        const next = (): void => {
          const byte = bytes.shift();
          if (byte === undefined) return void end();
          response.write(Buffer.from([byte]));
          setImmediate(next);
        };
        next();
        return response;
      }) as never;
      return false;
    };
    change();
    await eventually(() => {
      origin.cut();
      expect(slow).toBeGreaterThan(5);
    });
    origin.state.lie = undefined;
  },
  'something answers pages for the origin': (world) =>
    lying(world, [
      (r) => r.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      (r) => r.writeHead(403, { 'content-type': 'text/html' }).end('<html>Sign in'),
      (r) => r.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      (r) => r.writeHead(502).end(),
    ]),
  'the origin fails': (world) =>
    lying(world, [
      (r) => r.writeHead(500, json).end('{}'),
      (r) => r.writeHead(503, { ...json, 'retry-after': '0' }).end('{}'),
      (r) => r.writeHead(429, { ...json, 'retry-after': '0' }).end('{}'),
      (r) => void r.destroy(),
    ]),
  'answers are half': (world) =>
    lying(world, [
      (r) => r.writeHead(200, json).end('{"version":2,"features":[{"name":"flag-1"'),
      (r) => r.writeHead(200, events).end('event: unleash-connected\ndata: {"events":[{"type":"hydr'),
      (r) => {
        r.writeHead(200, { ...json, 'content-length': '5000' }).write('{"features":[');
        setImmediate(() => r.destroy());
      },
    ]),
  'answers are bombs': (world) => {
    const bomb = gzipSync(Buffer.alloc(20_000_000, 32));
    return lying(world, [
      (r) => r.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(bomb),
      (r) => r.writeHead(200, { ...events, 'content-encoding': 'gzip' }).end(bomb),
      (r) => r.writeHead(200, json).end('['.repeat(500_000)),
    ]);
  },
  'changes are of unknown kinds': async ({ origin, change }) => {
    change();
    for (const stream of origin.streams())
      stream.write('event: unleash-updated\nid: 900\ndata: {"events":[{"type":"feature-moved","eventId":900}]}\n\n');
  },
  'replicas of the origin are of different ages': async ({ origin, change }, edge) => {
    const current = origin.state.data;
    const behind = current.copy();
    change();
    await edge.isEqual();
    let turns = 0;
    origin.state.lie = () => {
      origin.state.data = turns++ % 2 === 0 ? behind : current;
      return false;
    };
    await eventually(() => {
      origin.cut();
      expect(turns).toBeGreaterThan(40);
    });
    origin.state.lie = undefined;
    origin.state.data = current;
  },
  'the origin is restored from a backup': async ({ origin, change }, edge) => {
    const backup = origin.state.data.copy();
    for (let nth = 0; nth < 3; nth++) change();
    await edge.isEqual();
    await origin.goAway();
    origin.state.data = backup;
    await origin.comeBack();
    await edge.isEqual();
  },
  'the origin is restored, and has changed as often again before it is back': async ({ origin, change }, edge) => {
    const backup = origin.state.data.copy();
    for (let nth = 0; nth < 3; nth++) change();
    await edge.isEqual();
    await origin.goAway();
    await isFailing(edge);
    for (let nth = 0; nth < 4; nth++) change(backup);
    origin.state.data = backup;
    await origin.comeBack();
  },
  'the origin is restored while the edge is down': async ({ origin, change, startEdge }, edge) => {
    const backup = origin.state.data.copy();
    for (let nth = 0; nth < 3; nth++) change();
    await edge.isEqual();
    await edge.stop();
    origin.state.data = backup;
    return startEdge();
  },
  'the token is revoked, and valid again': async ({ origin, change }, edge) => {
    origin.tokens.delete(token);
    origin.cut();
    change();
    await eventually(() => expect(edge.served()).toBeUndefined());
    origin.tokens.add(token);
  },
  'the token is revoked while the origin is away': async ({ origin, startEdge }, edge) => {
    await origin.goAway();
    origin.tokens.delete(token);
    await isFailing(edge);
    expect(edge.served()).toBeDefined();
    await origin.comeBack();
    await eventually(() => expect(edge.served()).toBeUndefined());
    await edge.stop();
    const restarted = await startEdge();
    expect(restarted.served()).toBeUndefined();
    origin.tokens.add(token);
    return restarted;
  },
  'the token is narrowed': async ({ origin }, edge) => {
    origin.state.data = originData('production');
    origin.cut();
    await eventually(() => expect(edge.served()).toMatchObject({ environment: 'production', features: [] }));
  },
  'the token is narrowed, and the stream stays open': async ({ origin }, edge) => {
    origin.state.data = originData('production');
    await eventually(() => expect(edge.served()).toMatchObject({ environment: 'production', features: [] }));
  },
  'the snapshot is corrupt': async (world, edge) => {
    await edge.stop();
    const file = await snapshotFile(world);
    const content = await readFile(file);
    content[content.length - 20] = (content[content.length - 20] as number) ^ 4;
    await writeFile(file, content);
    return world.startEdge();
  },
  'the snapshot is truncated, and the origin away': async (world, edge) => {
    await edge.stop();
    const file = await snapshotFile(world);
    await writeFile(file, (await readFile(file)).subarray(0, 300));
    await world.origin.goAway();
    const restarted = await world.startEdge();
    expect(restarted.served()).toBeUndefined();
    await world.origin.comeBack();
    return restarted;
  },
  'the clock jumps by a year, forwards and back': async ({ change }, edge) => {
    const yearMs = 365 * 24 * 3_600_000;
    for (const jump of [yearMs, -yearMs]) {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + jump });
      change();
      await edge.isEqual();
      vi.useRealTimers();
    }
  },
  'two edges share a folder': async ({ change, startEdge }, edge) => {
    const other = await startEdge();
    for (let nth = 0; nth < 20; nth++) change();
    await Promise.all([edge.isEqual(), other.isEqual()]);
    await Promise.all([edge.stop(), other.stop()]);
    const restarted = await startEdge();
    expect(restarted.warnings).toEqual([]);
    expect(restarted.served()?.revision).toBe(edge.served()?.revision);
    return restarted;
  },
};

describe('what SDKs see is a state that the origin had, none is older than one before, and it is the newest once the origin is back', () => {
  it.each(Object.entries(cases))('%s', async (_, happens) => {
    const world = await startWorld();
    const edge = await world.startEdge();
    await edge.isEqual();
    await snapshotFile(world);
    const last = (await happens(world, edge)) ?? edge;
    await last.isEqual();
    world.change();
    await last.isEqual();
  });

  it.each(['ENOSPC', 'EROFS'])('the disk refuses with %s, at the start and later', async (code) => {
    const world = await startWorld();
    const { files, state } = failingFiles(code);
    state.failing = 0;
    const edge = await world.startEdge({ files });
    for (let nth = 0; nth < 5; nth++) world.change();
    await edge.isEqual();
    expect(edge.warnings.filter((line) => line.includes('The edge goes on'))).toHaveLength(1);
    state.failing = Number.POSITIVE_INFINITY;
    await snapshotFile(world);
    await edge.stop();
    const restarted = await world.startEdge();
    expect(restarted.served()?.revision).toBe(edge.served()?.revision);
  });

  it('the edge is killed at any write', async () => {
    const world = await startWorld();
    for (let last = 1; last < 16; last++) {
      const { files, state } = failingFiles('EIO');
      const edge = await world.startEdge({ files });
      await edge.isEqual();
      state.failing = state.operations + last;
      world.change();
      await edge.isEqual();
      await edge.stop();
      const restarted = await world.startEdge();
      expect(restarted.warnings).toEqual([]);
      await restarted.isEqual();
      await restarted.stop();
    }
  });
});
