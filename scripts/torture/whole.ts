import { eventually } from '@bunting/testing';
import type { World } from './world.ts';

/** Milliseconds until every gateway answers everything, and nothing that it answers is stale. */
export const untilWhole = async ({ urls, token }: World, timeoutMs: number): Promise<number> => {
  const startedAt = performance.now();
  const requireWhole = async (url: string, init: RequestInit = {}): Promise<void> => {
    const headers = { authorization: token, 'content-type': 'application/json' };
    const response = await fetch(url, { ...init, headers, signal: AbortSignal.timeout(15_000) });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${url} is answered ${response.status}.`);
    const stale = response.headers.get('bunting-stale');
    if (stale !== null) throw new Error(`${url} is answered as it was ${stale} ms ago.`);
  };
  for (const url of urls) {
    await eventually(
      async () => {
        await requireWhole(`${url}/api/admin/projects/default/features`);
        await requireWhole(`${url}/api/admin/projects/default/change-requests`);
        await requireWhole(`${url}/api/admin/search/features?limit=1`);
        await requireWhole(`${url}/api/admin/events/search`, { method: 'POST', body: '{"limit":1}' });
      },
      { timeoutMs },
    );
  }
  return performance.now() - startedAt;
};
