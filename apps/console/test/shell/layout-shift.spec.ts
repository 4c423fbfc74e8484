import { eventually } from '@bunting/testing';
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { api, closeChecked, describeInBrowser, openSignedIn } from '../support/browser.ts';

const project = `shift-${randomUUID().slice(0, 8)}`;
const base = `/api/admin/projects/${project}`;
const flags = ['first', 'second', 'third'].map((name) => `${project}.${name}`);
const answerDelayMs = 300;
const paths = { home: '/', flags: '/flags', project: `/projects/${project}`, flag: '', request: '' };

interface Shift {
  readonly value: number;
  readonly moved: readonly string[];
}

interface WatchedWindow {
  readonly layoutShift: { readonly shifts: Shift[]; last: number };
}

/** Notes in the page what has moved by itself, and how far, as browsers measure it. */
function watchLayoutShift(): void {
  interface LayoutShift extends PerformanceEntry {
    readonly value: number;
    readonly sources: readonly {
      readonly node: Node | null;
      readonly previousRect: DOMRect;
      readonly currentRect: DOMRect;
    }[];
  }
  const layoutShift: WatchedWindow['layoutShift'] = { shifts: [], last: performance.now() };
  Object.assign(window, { layoutShift });
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries() as LayoutShift[]) {
      const moved = sources.map(
        ({ node, previousRect, currentRect }) =>
          `${node?.nodeName} ${node?.textContent?.slice(0, 40)}: ${previousRect.y}+${previousRect.height} → ${currentRect.y}+${currentRect.height}`,
      );
      layoutShift.shifts.push({ value, moved });
      layoutShift.last = performance.now();
    }
  }).observe({ type: 'layout-shift', buffered: true });
}

/** Lets what waits for another part wait for as long as that takes, however slow the machine is: people wait for a second at most. */
function waitWithoutEnd(): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('* { animation-delay: 600s !important }');
  document.adoptedStyleSheets.push(sheet);
}

/** What moves on a page whose answers are slow, until they have all come. */
async function layoutShiftsOf(page: Page, path: string): Promise<readonly Shift[]> {
  const open = new Set<object>();
  await page.addInitScript(watchLayoutShift);
  await page.addInitScript(waitWithoutEnd);
  await page.route('**/api/**', async (route) => {
    if (route.request().url().includes('/feed?')) return route.abort();
    open.add(route);
    await new Promise((resolve) => setTimeout(resolve, answerDelayMs));
    await route.continue().catch(() => undefined);
    open.delete(route);
  });
  await page.goto(new URL(path, page.url()).href);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await eventually(async () => {
    expect(open.size).toBe(0);
    expect(await page.locator('[data-loading], [data-loading-name]').count()).toBe(0);
    const quietMs = await page.evaluate(
      () => performance.now() - (window as unknown as WatchedWindow).layoutShift.last,
    );
    expect(quietMs).toBeGreaterThan(2 * answerDelayMs);
  });
  return page.evaluate(() => (window as unknown as WatchedWindow).layoutShift.shifts);
}

describeInBrowser('a page whose answers are slow', () => {
  beforeAll(async () => {
    await api('POST', '/api/admin/projects', { id: project, name: 'A project whose pages stay where they are' });
    for (const name of flags) {
      const feature = `${base}/features/${name}`;
      await api('POST', `${base}/features`, { name });
      for (const environment of ['development', 'production'])
        await api('POST', `${feature}/environments/${environment}/strategies`, {
          name: 'flexibleRollout',
          parameters: { rollout: '25', stickiness: 'default', groupId: name },
        });
      await api('POST', `${feature}/environments/production/on`);
    }
    const protection = { changeRequestsEnabled: true, requiredApprovals: 1 };
    await api('PUT', `${base}/environments/production/change-requests/config`, protection);
    const changes = flags.map((feature) => ({ action: 'updateEnabled', feature, payload: { enabled: false } }));
    const { id } = (await api('POST', `${base}/environments/production/change-requests`, changes)) as {
      readonly id: number;
    };
    await api('PUT', `${base}/change-requests/${id}/state`, { state: 'In review' });
    paths.flag = `${paths.project}/features/${flags[0]}`;
    paths.request = `${paths.project}/change-requests/${id}`;
  });

  it.each(
    [1280, 390].flatMap((width) =>
      (Object.keys(paths) as (keyof typeof paths)[]).map((name) => [name, width] as const),
    ),
  )('does not move under the pointer: %s at %d px', async (name, width) => {
    const opened = await openSignedIn('/profile', { width, height: width < 500 ? 844 : 800 });
    const shifts = await layoutShiftsOf(opened.page, paths[name]);
    const sum = shifts.reduce((all, { value }) => all + value, 0);
    expect(sum, JSON.stringify(shifts, undefined, 1)).toBeLessThanOrEqual(0.05);
    await closeChecked(opened);
  });
});
