import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { eventually, startTcpProxy } from '@bunting/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { startChangingOrigin, token } from './changing-origin.ts';
import { flag, originData } from './simulated-origin.ts';
import { startEdge } from './started-edge.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** What an edge says of itself to its operators. */
async function healthOf({ url }: { readonly url: string }) {
  const response = await fetch(`${url}/internal-backstage/health`);
  return (await response.json()) as { readonly stale: number; readonly oldestMs: number };
}

type Features = ReadonlyMap<string, string>;
function statesOf(list: readonly object[]): Features {
  return new Map(
    list.map((feature) => {
      const { name, description } = feature as { readonly name: string; readonly description: string };
      return [name, description];
    }),
  );
}
function textOf(features: Features): string {
  return JSON.stringify([...features].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

async function startWorld() {
  const { origin, folder, had, change } = await startChangingOrigin(stops, (list) => textOf(statesOf(list)));

  const startEdgeBehind = (settings: Readonly<Record<string, string>> = {}) =>
    startEdge(stops, {
      UPSTREAM_URL: origin.url.href,
      TOKENS: token,
      BACKUP_FOLDER: folder,
      FEATURES_REFRESH_INTERVAL_SECONDS: '1',
      TOKEN_REVALIDATION_INTERVAL_SECONDS: '1',
      ...settings,
    });

  /** An SDK that asks for changes, and checks what it gets. It may move to another edge. */
  const startSdk = (initialUrl: string) => {
    const faults: unknown[] = [];
    const seen = {
      url: initialUrl,
      features: new Map() as Features,
      revision: undefined as string | undefined,
      status: 0,
      stale: '',
    };
    let isStopped = false;
    const ask = async (): Promise<void> => {
      const response = await fetch(`${seen.url}/api/client/delta`, {
        headers: {
          authorization: token,
          'unleash-client-spec': '5.2.0',
          ...(seen.revision === undefined ? {} : { 'if-none-match': seen.revision }),
        },
      });
      const body = await response.text();
      Object.assign(seen, { status: response.status, stale: response.headers.get('bunting-stale') ?? '' });
      if (response.status !== 200) return;
      const { events } = JSON.parse(body) as {
        readonly events: readonly {
          readonly type: string;
          readonly features: object[];
          readonly feature: object;
          readonly featureName: string;
        }[];
      };
      const features = new Map(seen.features);
      for (const event of events) {
        if (event.type === 'hydration') features.clear();
        if (event.type === 'feature-removed') features.delete(event.featureName);
        const changed =
          event.type === 'hydration' ? event.features : event.type === 'feature-updated' ? [event.feature] : [];
        for (const [name, description] of statesOf(changed)) features.set(name, description);
      }
      seen.features = features;
      seen.revision = response.headers.get('etag') ?? undefined;
      expect(had).toContain(textOf(features));
    };
    const asking = (async () => {
      while (!isStopped) {
        await ask().catch((error: unknown) => {
          if ((error as Error).name === 'AssertionError') faults.push(error);
        });
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    })();
    stops.push(async () => {
      isStopped = true;
      await asking;
    });
    return {
      seen,
      isEqual: async (): Promise<void> => {
        await eventually(() => expect(textOf(seen.features)).toBe(textOf(statesOf(origin.state.data.list()))));
        expect(faults).toEqual([]);
      },
    };
  };
  return { origin, folder, change, startEdge: startEdgeBehind, startSdk };
}

describe('an SDK behind an edge has a state that the origin had, and the newest once the origin is back', () => {
  it('while the origin is away, and the edge restarts from its snapshot', async () => {
    const { origin, change, startEdge, startSdk } = await startWorld();
    const edge = await startEdge();
    const sdk = startSdk(edge.url);
    await sdk.isEqual();
    await origin.goAway();
    await edge.stop();
    const restarted = await startEdge();
    const before = textOf(sdk.seen.features);
    Object.assign(sdk.seen, { url: restarted.url, revision: undefined, stale: '' });
    await eventually(() => expect(Number(sdk.seen.stale)).toBeGreaterThan(0));
    expect(textOf(sdk.seen.features)).toBe(before);
    change();
    await origin.comeBack();
    await sdk.isEqual();
    await eventually(() => expect(sdk.seen.stale).toBe(''));
  });

  it('after the origin was restored from a backup with older revisions, and has changed since', async () => {
    const { origin, change, startEdge, startSdk } = await startWorld();
    const edge = await startEdge();
    const sdk = startSdk(edge.url);
    await sdk.isEqual();
    const backup = origin.state.data.copy();
    for (let nth = 0; nth < 3; nth++) change();
    await sdk.isEqual();
    await origin.goAway();
    origin.state.data = backup;
    await origin.comeBack();
    await sdk.isEqual();
    for (let nth = 0; nth < 6; nth++) {
      change();
      await sdk.isEqual();
    }
  });

  it('behind a balancer to replicas of different ages', async () => {
    const { origin, change, startEdge, startSdk } = await startWorld();
    const edge = await startEdge();
    const sdk = startSdk(edge.url);
    const current = origin.state.data;
    const behind = current.copy();
    change();
    await sdk.isEqual();
    const { revision } = sdk.seen;
    let turns = 0;
    origin.state.lie = () => {
      origin.state.data = turns++ % 2 === 0 ? behind : current;
      return false;
    };
    await eventually(() => {
      origin.cut();
      expect(turns).toBeGreaterThan(12);
    });
    expect(sdk.seen.revision).toBe(revision);
    origin.state.lie = undefined;
    origin.state.data = current;
    change();
    await sdk.isEqual();
  });

  it.each<Readonly<Record<string, string>>>([
    {},
    { DELTA: 'false' },
    { STREAMING: 'false' },
    { STREAMING: 'false', DELTA: 'false' },
  ])('and says so while the origin of an edge that its edge follows is away, with %s', async (settings) => {
    const { origin, change, startEdge, startSdk } = await startWorld();
    const upper = await startEdge({ GATEWAY_STREAM_KEEP_ALIVE_SECONDS: '1' });
    await origin.goAway();
    await eventually(async () => expect((await healthOf(upper)).stale).toBe(1));
    const lower = await startEdge({ UPSTREAM_URL: upper.url, BACKUP_FOLDER: '', ...settings });
    const sdk = startSdk(lower.url);
    await sdk.isEqual();
    await eventually(async () => {
      const { oldestMs } = await healthOf(upper);
      expect(Number(sdk.seen.stale)).toBeGreaterThan(0);
      expect((await healthOf(lower)).oldestMs).toBeGreaterThanOrEqual(oldestMs);
    });
    const metrics = await (await fetch(`${lower.url}/internal-backstage/prometheus`)).text();
    const [, seconds] = /^bunting_edge_stale_seconds\{environment="development".*\} ([0-9.]+)$/m.exec(metrics) ?? [];
    expect(Number(seconds)).toBeGreaterThan(0);
    change();
    await origin.comeBack();
    await sdk.isEqual();
    await eventually(() => expect(sdk.seen.stale).toBe(''));
    if (settings['STREAMING'] !== 'false' && settings['DELTA'] === 'false') return;
    // Also where it was current when the edge began to follow it.
    await origin.goAway();
    await eventually(() => expect(Number(sdk.seen.stale)).toBeGreaterThan(0));
  });

  it('over connections that are dead without a sign', async () => {
    const { origin, change, startEdge, startSdk } = await startWorld();
    const proxy = await startTcpProxy(origin.port);
    stops.push(() => proxy.stop());
    const edge = await startEdge({ UPSTREAM_URL: `http://127.0.0.1:${proxy.port}` });
    const sdk = startSdk(edge.url);
    await sdk.isEqual();
    proxy.swallow();
    change();
    await eventually(() => expect(sdk.seen.stale).not.toBe(''));
    proxy.forwardNewConnections();
    await sdk.isEqual();
  });

  it('behind an edge that takes answers as long as its origin sends them, and not behind one that does not', async () => {
    const { origin, startEdge, startSdk } = await startWorld();
    const strict = await startEdge({ BACKUP_FOLDER: '', UPSTREAM_MAX_ANSWER_MIB: '1' });
    const sdk = startSdk(strict.url);
    await sdk.isEqual();
    origin.state.data.put(flag('large', 'x'.repeat(1_500_000)));
    origin.wakeStreams();
    await eventually(() => expect(sdk.seen.stale).not.toBe(''));
    const generous = await startEdge({ BACKUP_FOLDER: '', UPSTREAM_MAX_ANSWER_MIB: '2' });
    const namesAt = async (url: string): Promise<string> =>
      (await fetch(`${url}/api/client/features`, { headers: { authorization: token } })).text();
    expect(await namesAt(generous.url)).toContain('"large"');
    expect(await namesAt(strict.url)).not.toContain('"large"');
  });

  it('without a folder that can be written', async () => {
    const { change, folder, startEdge, startSdk } = await startWorld();
    const file = path.join(folder, 'a file');
    await writeFile(file, '');
    const edge = await startEdge({ BACKUP_FOLDER: file });
    const sdk = startSdk(edge.url);
    for (let nth = 0; nth < 6; nth++) {
      change();
      await sdk.isEqual();
    }
  });

  it('from either of two edges on one folder', async () => {
    const { change, startEdge, startSdk } = await startWorld();
    const edges = [await startEdge(), await startEdge()];
    const sdk = startSdk(edges[0]?.url ?? '');
    for (let nth = 0; nth < 10; nth++) {
      change();
      sdk.seen.url = edges[nth % 2]?.url ?? '';
      await sdk.isEqual();
    }
  });

  it('until its token is revoked', async () => {
    const { origin, startEdge, startSdk } = await startWorld();
    const edge = await startEdge();
    const sdk = startSdk(edge.url);
    await sdk.isEqual();
    origin.tokens.delete(token);
    origin.cut();
    await eventually(() => expect([401, 403]).toContain(sdk.seen.status));
  });

  it('of what its token is narrowed to, although that has lower revisions', async () => {
    const { origin, change, startEdge, startSdk } = await startWorld();
    for (let nth = 0; nth < 5; nth++) change();
    const { url } = await startEdge();
    const sdk = startSdk(url);
    await sdk.isEqual();
    const narrowed = originData('production');
    change(narrowed);
    origin.state.data = narrowed;
    origin.cut();
    await sdk.isEqual();
    const response = await fetch(`${url}/api/client/features`, { headers: { authorization: token } });
    const { features } = (await response.json()) as { readonly features: readonly object[] };
    expect(textOf(statesOf(features))).toBe(textOf(statesOf(narrowed.list())));
    for (let nth = 0; nth < 8; nth++) {
      change();
      await sdk.isEqual();
    }
  });
});
