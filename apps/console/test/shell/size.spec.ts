import { describe, expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { api, closeChecked, describeInBrowser, openPage, openSignedIn, type OpenedPage } from '../support/browser.ts';

const web = path.join(import.meta.dirname, '..', '..', 'dist', 'web');

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
  readonly isEntry?: true;
  readonly isDynamicEntry?: true;
}

const manifest = JSON.parse(readFileSync(path.join(web, 'manifest.json'), 'utf8')) as Record<string, Chunk>;

/** A chunk with everything that it imports, which the browser loads together. */
function closure(key: string, into = new Set<string>()): Set<string> {
  const chunk = manifest[key];
  if (chunk === undefined || into.has(key)) return into;
  into.add(key);
  for (const one of chunk.imports ?? []) closure(one, into);
  return into;
}

function kilobytes(keys: Iterable<string>): number {
  const files = new Set([...keys].map((key) => manifest[key]?.file ?? '').filter((file) => file.endsWith('.js')));
  return [...files].reduce((sum, file) => sum + statSync(path.join(web, `${file}.br`)).size / 1000, 0);
}

const entry = Object.keys(manifest).find((key) => manifest[key]?.isEntry === true) ?? '';
/** What who is signed in has on each page: what the entry asks for. */
const first = new Set([entry, ...(manifest[entry]?.dynamicImports ?? [])].flatMap((key) => [...closure(key)]));

describe('the JavaScript of the console', () => {
  it('is at most 60 kB of brotli more for each page, dialog and editor', () => {
    const parts = Object.keys(manifest).filter((key) => manifest[key]?.isDynamicEntry === true);
    expect(parts.length).toBeGreaterThan(20);
    const large = parts
      .map((key) => ({ key, size: kilobytes([...closure(key)].filter((one) => !first.has(one))) }))
      .filter(({ size }) => size > 60)
      .map(({ key, size }) => `${key}: ${size.toFixed(0)} kB`);
    expect(large).toEqual([]);
  });
});

/** The scripts that a page has loaded, by their names. */
async function scriptsOf({ page }: OpenedPage): Promise<readonly string[]> {
  await page.waitForLoadState('networkidle');
  const addresses = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
  const paths = new Set(addresses.map((address) => new URL(address).pathname));
  return [...paths].filter((name) => name.endsWith('.js'));
}

/** Keeps a page from following the feed, with which it would never become idle, once its other calls are answered: intercepted, they may never be. */
async function stopFeed({ page, calls }: OpenedPage): Promise<void> {
  await eventually(() => {
    const open = [...calls].filter(
      ([request, outcome]) => outcome === 'not answered' && !request.url().includes('/feed?'),
    );
    expect(open.map(([request]) => request.url())).toEqual([]);
  });
  await page.route('**/api/admin/events/feed?*', (route) => route.abort());
}

function kilobytesOf(scripts: readonly string[]): number {
  return scripts.reduce((sum, name) => sum + statSync(path.join(web, `${name}.br`)).size / 1000, 0);
}

describeInBrowser('the first load of the console', () => {
  it('is at most 82 kB of brotli until a visitor can sign in', async () => {
    const opened = await openPage('/');
    await opened.page.getByRole('group', { name: 'Sign in' }).waitFor();
    const scripts = await scriptsOf(opened);
    expect(scripts.length).toBeGreaterThan(0);
    expect(kilobytesOf(scripts)).toBeLessThanOrEqual(82);
    await closeChecked(opened);
  });

  it('has no file that fails when it is loaded', async () => {
    const opened = await openSignedIn('/');
    const files = new Set(Object.values(manifest).map(({ file }) => file));
    const scripts = [...files]
      .filter((file) => file.endsWith('.js'))
      .map((file) => new URL(file, opened.page.url()).href);
    expect(scripts.length).toBeGreaterThan(50);
    const failed = await opened.page.evaluate(async (addresses) => {
      const loads = addresses.map((address) =>
        import(address).then(
          () => '',
          (error: unknown) => `${address}: ${String(error)}`,
        ),
      );
      return (await Promise.all(loads)).filter((fault) => fault !== '');
    }, scripts);
    expect(failed).toEqual([]);
    await closeChecked(opened);
  });

  it.each(['/', '/flags'])(
    'is at most 173 kB of brotli in at most thirty files for who is signed in, at %s',
    async (address) => {
      const opened = await openSignedIn(address);
      await stopFeed(opened);
      // Where a pointer rests, nothing more is loaded.
      await opened.page.mouse.move(0, 0);
      await opened.page.reload();
      await opened.page.getByRole('heading', { level: 1 }).waitFor();
      const scripts = await scriptsOf(opened);
      expect(kilobytesOf(scripts)).toBeGreaterThan(100);
      expect(kilobytesOf(scripts)).toBeLessThanOrEqual(173);
      expect(scripts.length).toBeLessThanOrEqual(30);
      await closeChecked(opened);
    },
  );

  // Those that load most. What they show at once in parts of their own counts as well.
  it('is at most 60 kB of brotli more for a flag, a strategy, a change request, a segment, the settings and the log', async () => {
    const [flag, base] = [`size.${randomUUID()}`, '/api/admin/projects/default'];
    await api('POST', `${base}/features`, { name: flag });
    const change = { action: 'updateEnabled', feature: flag, payload: { enabled: true } };
    const { id } = (await api('POST', `${base}/environments/development/change-requests`, [change])) as { id: number };
    const opened = await openSignedIn('/');
    const { page } = opened;
    await stopFeed(opened);
    const loadedFirst = new Set([...first].map((key) => `/${manifest[key]?.file}`));
    const large: string[] = [];
    for (const address of [
      `/projects/default/features/${flag}`,
      `/projects/default/features/${flag}/environments/development/strategies/new`,
      `/projects/default/change-requests/${id}`,
      '/projects/default/settings',
      '/admin/segments/new',
      '/admin/sign-in',
      '/admin/users',
      '/admin/instance',
      '/playground',
      '/events',
    ]) {
      await page.goto(new URL(address, page.url()).href);
      await page.getByRole('heading', { level: 1 }).waitFor();
      const own = (await scriptsOf(opened)).filter((name) => !loadedFirst.has(name));
      expect(own.length).toBeGreaterThan(0);
      if (kilobytesOf(own) > 60) large.push(`${address}: ${kilobytesOf(own).toFixed(1)} kB`);
    }
    expect(large).toEqual([]);
    await closeChecked(opened);
  });
});
