import { eventually } from '@bunting/testing';
import type { Cluster } from './cluster/cluster.ts';

/** Waits until every gateway responds without error or staleness. @returns milliseconds */
export const waitUntilRecovered = async ({ urls, token }: Cluster, timeoutMs: number): Promise<number> => {
  const startedAt = performance.now();
  const requireFresh = async (url: string, init: RequestInit = {}): Promise<void> => {
    const headers = { authorization: token, 'content-type': 'application/json' };
    const response = await fetch(url, { ...init, headers, signal: AbortSignal.timeout(15_000) });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${url} returned ${response.status}.`);
    const stale = response.headers.get('bunting-stale');
    if (stale !== null) throw new Error(`${url} is stale by ${stale} ms.`);
  };
  for (const url of urls) {
    await eventually(
      async () => {
        await requireFresh(`${url}/api/admin/projects/default/features`);
        await requireFresh(`${url}/api/admin/projects/default/change-requests`);
        await requireFresh(`${url}/api/admin/search/features?limit=1`);
        await requireFresh(`${url}/api/admin/events/search`, { method: 'POST', body: '{"limit":1}' });
      },
      { timeoutMs },
    );
  }
  return performance.now() - startedAt;
};
