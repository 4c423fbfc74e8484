import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { startChromium } from './chromium.ts';

export interface ConsoleFigures {
  /** milliseconds from the navigation to the first flags on the screen, with an empty cache: the median and the worst of some loads */
  readonly firstRowsMs: { readonly median: number; readonly worst: number };
  /** milliseconds from a key to the flags that match: the median, 95 % and the worst */
  readonly keyToRowsMs: { readonly median: number; readonly p95: number; readonly worst: number };
  /** frames a second while the list scrolls: the mean, and the worst half second */
  readonly framesPerSecond: { readonly mean: number; readonly worst: number };
  /** milliseconds of CPU of the page, which other processes do not change: a key in the filter, and a frame while the list scrolls */
  readonly cpuMs: { readonly aKey: number; readonly aFrame: number };
  /** milliseconds of CPU of the page for ten letters in a field of a strategy with 30 constraints of 250 values: the field that takes most */
  readonly tenLettersCpuMs: { readonly field: string; readonly ms: number };
  /** megabytes of the heap of scripts after garbage collection: of the first page, and after navigations and searches */
  readonly heapMb: { readonly first: number; readonly afterUse: number };
}

interface MeasureOptions {
  readonly url: string;
  readonly token: string;
  /** texts that match some flags each; they are typed key by key */
  readonly words: readonly string[];
  /** navigations and searches before the second figure of the heap */
  readonly uses: number;
}

const coldLoads = 7;
const scrollSeconds = 4;
const account = { username: 'bench', name: 'Bench', email: 'bench@example.org' };
const password = 'A long sentence of 9 words for the bench';

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
function rounded(value: number): number {
  return Number(value.toFixed(1));
}

/** An account that signs in by a cookie, so that a page shows flags as soon as it is loaded. */
async function createAccount(url: string, token: string): Promise<void> {
  const headers = { authorization: token, 'content-type': 'application/json' };
  const send = async (path: string, body?: object): Promise<unknown> => {
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, init);
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response.headers.get('content-type')?.includes('json') === true ? response.json() : undefined;
  };
  const { roles } = (await send('/api/admin/roles')) as { roles: { id: number; name: string }[] };
  const rootRole = roles.find(({ name }) => name === 'Admin')?.id;
  const body = { ...account, rootRole, sendEmail: false };
  const { id } = (await send('/api/admin/user-admin', body)) as { id: number };
  await send(`/api/admin/user-admin/${id}/change-password`, { password, confirmPassword: password });
}

/** A context with an empty cache that is signed in. */
async function signedIn(browser: Browser, url: string): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB' });
  const response = await context.request.post(`${url}/auth/simple/login`, {
    data: { username: account.username, password },
  });
  if (!response.ok()) throw new Error(`The sign-in answered ${response.status()}: ${await response.text()}`);
  return context;
}

const rowHeader = '[role="rowheader"] a';

async function firstRows(browser: Browser, url: string): Promise<number> {
  const context = await signedIn(browser, url);
  const page = await context.newPage();
  await page.addInitScript((selector) => {
    const observer = new MutationObserver(() => {
      if (document.querySelector(selector) === null) return;
      observer.disconnect();
      // The frame after the one that draws the rows has begun.
      requestAnimationFrame(() => requestAnimationFrame(() => performance.mark('first-rows')));
    });
    observer.observe(document, { childList: true, subtree: true });
  }, rowHeader);
  await page.goto(`${url}/flags`);
  await page.waitForFunction(() => performance.getEntriesByName('first-rows').length > 0);
  const ms = await page.evaluate(() => performance.getEntriesByName('first-rows')[0]?.startTime ?? Number.NaN);
  await context.close();
  return ms;
}

/** Types words key by key. Each key narrows the list: the number of flags that it says changes with the rows. */
async function keysToRows(page: Page, words: readonly string[]): Promise<number[]> {
  await page.evaluate((selector) => {
    const taken: number[] = [];
    let typedAt: number | undefined;
    let before = '';
    const shown = (): string =>
      `${document.querySelector('main [role="table"]')?.getAttribute('aria-rowcount')} ${document.querySelector(selector)?.textContent}`;
    document.addEventListener('beforeinput', ({ timeStamp }) => {
      typedAt = timeStamp;
      before = shown();
    });
    new MutationObserver(() => {
      if (typedAt === undefined || shown() === before) return;
      const since = typedAt;
      typedAt = undefined;
      requestAnimationFrame(() => taken.push(performance.now() - since));
    }).observe(document.body, { childList: true, subtree: true, characterData: true, attributes: true });
    Object.assign(globalThis, { keyTimes: taken });
  }, rowHeader);
  const bar = page.getByRole('combobox', { name: 'Filter flags' });
  for (const word of words) {
    await bar.fill('');
    await page.waitForTimeout(300);
    for (const key of word) {
      await page.keyboard.type(key);
      await page.waitForTimeout(250);
    }
  }
  const times = await page.evaluate(() => (globalThis as unknown as { keyTimes: number[] }).keyTimes);
  await bar.fill('');
  return times.toSorted((one, other) => one - other);
}

/** Scrolls the list by a screen in some frames, and counts the frames of each half second. */
function scrolled(page: Page, seconds: number): Promise<number[]> {
  return page.evaluate(
    (lasts) =>
      new Promise<number[]>((resolve) => {
        const list = document.querySelector('main [role="region"]') as HTMLElement;
        const frames: number[] = [];
        const startedAt = performance.now();
        const step = (now: number): void => {
          const half = Math.floor((now - startedAt) / 500);
          if (half >= lasts * 2) return resolve(frames.slice(0, lasts * 2));
          frames[Math.max(0, half)] = (frames[Math.max(0, half)] ?? 0) + 1;
          list.scrollTop += 120;
          requestAnimationFrame(step);
        };
        requestAnimationFrame(step);
      }),
    seconds,
  );
}

async function heapMb(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  for (let nth = 0; nth < 3; nth++) await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize / 1_000_000;
}

/** Milliseconds of CPU that the thread of a page has used so far. */
async function cpuMeter(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1_000;
  };
}

/** The largest strategy that there can be, of a new flag. @returns the path of its page */
async function createLargeStrategy(url: string, token: string): Promise<string> {
  const post = async (path: string, body: object): Promise<{ readonly id: string }> => {
    const headers = { authorization: token, 'content-type': 'application/json' };
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as { readonly id: string };
  };
  const [features, name] = ['/api/admin/projects/default/features', 'bench.large-strategy'];
  await post(features, { name });
  const constraints = Array.from({ length: 30 }, (_one, nth) => ({
    contextName: 'userId',
    operator: 'IN',
    values: Array.from({ length: 250 }, (_value, at) => `customer-${nth}-${at}`),
  }));
  const parameters = { rollout: '25', stickiness: 'default', groupId: name };
  const strategies = `${features}/${name}/environments/development/strategies`;
  const { id } = await post(strategies, { name: 'flexibleRollout', parameters, constraints });
  return `/projects/default/features/${name}/environments/development/strategies/${id}`;
}

/** Types ten letters into each kind of field of a strategy. */
async function lettersInStrategy(page: Page, address: string): Promise<ConsoleFigures['tenLettersCpuMs']> {
  await page.goto(address);
  const figures: { field: string; ms: number }[] = [];
  const cpuMs = await cpuMeter(page);
  for (const field of ['Title', 'Percent', 'Group', 'Values']) {
    await page.getByLabel(field, { exact: true }).first().click();
    await page.waitForTimeout(1_000);
    const before = await cpuMs();
    for (const key of '1234567890') {
      await page.keyboard.type(key);
      await page.waitForTimeout(60);
    }
    await page.waitForTimeout(1_000);
    figures.push({ field, ms: rounded((await cpuMs()) - before) });
  }
  return figures.toSorted((one, other) => other.ms - one.ms)[0] as ConsoleFigures['tenLettersCpuMs'];
}

/** What a user does all day: searches, opens flags, goes back, looks at requests and events. */
async function use(page: Page, words: readonly string[], uses: number): Promise<void> {
  const main = page.getByRole('navigation', { name: 'Main' });
  for (let nth = 0; nth < uses; nth++) {
    const word = words[nth % words.length] ?? '';
    await main.getByRole('link', { name: 'Flags' }).click();
    await page.locator(rowHeader).first().waitFor();
    await page.getByRole('combobox', { name: 'Filter flags' }).fill(word.slice(0, 2 + (nth % 5)));
    await page.locator(rowHeader).first().waitFor();
    if (nth % 3 === 0) {
      await page.locator(rowHeader).first().click();
      await page.getByRole('heading', { name: 'Environments' }).waitFor();
    } else if (nth % 3 === 1) {
      await main.getByRole('link', { name: 'Event log' }).click();
      await page.getByRole('feed').waitFor();
    } else {
      await main.getByRole('link', { name: 'Change requests' }).click();
      await page.getByRole('heading', { name: 'Change requests', level: 1 }).waitFor();
    }
  }
  await main.getByRole('link', { name: 'Flags' }).click();
  await page.locator(rowHeader).first().waitFor();
}

/** Measures the console of a running Bunting in Chromium. It creates an account for that. @throws Error when no Chromium starts */
export async function measureConsole({ url, token, words, uses }: MeasureOptions): Promise<ConsoleFigures> {
  await createAccount(url, token);
  const server = await startChromium();
  const browser = await chromium.connect(server.wsEndpoint());
  try {
    const loads: number[] = [];
    for (let nth = 0; nth < coldLoads; nth++) loads.push(await firstRows(browser, url));
    loads.sort((one, other) => one - other);
    const page = await (await signedIn(browser, url)).newPage();
    await page.goto(`${url}/flags`);
    await page.locator(rowHeader).first().waitFor();
    const first = await heapMb(page);
    const cpuMs = await cpuMeter(page);
    const beforeKeys = await cpuMs();
    const keys = await keysToRows(page, words);
    const cpuOfKeys = (await cpuMs()) - beforeKeys;
    await page.locator(rowHeader).first().waitFor();
    const beforeFrames = await cpuMs();
    const halves = await scrolled(page, scrollSeconds);
    const cpuOfFrames = (await cpuMs()) - beforeFrames;
    const frames = halves.reduce((sum, half) => sum + half, 0);
    await use(page, words, uses);
    const afterUse = await heapMb(page);
    const tenLettersCpuMs = await lettersInStrategy(page, `${url}${await createLargeStrategy(url, token)}`);
    return {
      firstRowsMs: { median: rounded(at(loads, 0.5)), worst: rounded(at(loads, 1)) },
      keyToRowsMs: { median: rounded(at(keys, 0.5)), p95: rounded(at(keys, 0.95)), worst: rounded(at(keys, 1)) },
      framesPerSecond: {
        mean: rounded(frames / scrollSeconds),
        worst: Math.min(...halves) * 2,
      },
      cpuMs: { aKey: rounded(cpuOfKeys / words.join('').length), aFrame: rounded(cpuOfFrames / frames) },
      tenLettersCpuMs,
      heapMb: { first: rounded(first), afterUse: rounded(afterUse) },
    };
  } finally {
    await browser.close();
    await server.close();
  }
}
