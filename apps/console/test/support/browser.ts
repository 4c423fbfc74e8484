import type axe from 'axe-core';
import type { RunOnly, RunOptions } from 'axe-core';
import { afterEach, describe, expect } from 'vitest';
import { eventually } from '@bunting/testing';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, Locator, Page, Request } from 'playwright-core';
import { type Chromium, launchForTests } from './chromium.ts';

const { CONSOLE_TEST_BROWSER: found, CONSOLE_TEST_URL: url = '', CONSOLE_TEST_TOKEN: token = '' } = process.env;

/**
 * Describes rules of pages in Chromium; they are skipped where none can run, which global-setup.ts has said. The pages that are open when one
 * fails are written to the output as a screen reader would read them, with their last calls.
 */
export function describeInBrowser(title: string, rules: () => void): void {
  return void (found === undefined ? describe.skip : describe)(title, () => {
    afterEach(async ({ task }) => {
      if (task.result?.state === 'fail') for (const opened of openPages) console.error(await contentOf(opened));
    });
    rules();
  });
}

const openPages = new Set<OpenedPage>();

/** How many of the last calls of a page are written to the output when a rule fails. */
const maxCallsShown = 30;

async function contentOf({ page, faults, calls }: OpenedPage): Promise<string> {
  const content = await page
    .locator('body')
    .ariaSnapshot({ timeout: 5_000 })
    .catch((error: unknown) => String(error));
  const lastCalls = [...calls].slice(-maxCallsShown).map(([request, outcome]) => {
    const { pathname, search } = new URL(request.url());
    return `${request.method()} ${pathname}${search}: ${outcome}`;
  });
  return [page.url(), ...faults, content.slice(0, 20_000), ...lastCalls].join('\n');
}

/** It ends with the process that runs spec files. */
let launched: Promise<Browser> | undefined;
function launch(): Promise<Browser> {
  return (launched ??= launchForTests(JSON.parse(found ?? '{}') as Chromium));
}

export interface OpenedPage {
  readonly page: Page;
  /** what the content security policy has refused */
  readonly violations: string[];
  /** requests to other hosts than Bunting */
  readonly foreign: string[];
  /** errors of scripts */
  readonly faults: string[];
  /** notices that are written for machines: with a JSON pointer, or a value that is no text */
  readonly notices: string[];
  /** the calls of the API, in their order, each with the status of its response or why there is none */
  readonly calls: ReadonlyMap<Request, string>;
  close(): Promise<void>;
}

interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  readonly timeZone?: string | undefined;
  readonly locale?: string | undefined;
  readonly javaScript?: boolean | undefined;
  /** the key that each request has from the first one on, as that of somebody who has a session has its cookie */
  readonly key?: string;
}

/** Calls the API, as an administrator without another key. @throws Error with the answer when it is no success */
export async function api(method: string, path: string, body?: unknown, key = token): Promise<unknown> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? undefined : (JSON.parse(text) as unknown);
}

/** So long that only a defect exceeds it, however busy the machine. */
const actionTimeoutMs = 60_000;

const defaultSize = { width: 1280, height: 800 };

type ContextOptions = Pick<PageOptions, 'timeZone' | 'locale' | 'javaScript' | 'key'>;

async function newContext({ timeZone, locale = 'en-GB', javaScript = true, key }: ContextOptions) {
  const browser = await launch();
  const context = await browser.newContext({
    viewport: defaultSize,
    reducedMotion: 'reduce',
    locale,
    javaScriptEnabled: javaScript,
    ...(timeZone === undefined ? {} : { timezoneId: timeZone }),
    ...(key === undefined ? {} : { extraHTTPHeaders: { authorization: key } }),
  });
  context.setDefaultTimeout(actionTimeoutMs);
  return context;
}

const machineNotice = 'Notice for machines: ';

/** Reports each notice that is written for machines, at the time it is shown, in the log of the page. */
function watchNotices(prefix: string): void {
  const reported = new Set<string>();
  new MutationObserver(() => {
    for (const { textContent: text } of document.querySelectorAll('[role=alert], [role=status]')) {
      if (!/`\/|\/(body|query|payload|params)\/|\bundefined\b|\[object/.test(text) || reported.has(text)) continue;
      reported.add(text);
      console.warn(prefix + text);
    }
  }).observe(document, { childList: true, subtree: true, characterData: true });
}

async function openIn(page: Page, path: string, close: () => Promise<void>): Promise<OpenedPage> {
  const [violations, foreign, faults, notices]: [string[], string[], string[], string[]] = [[], [], [], []];
  const calls = new Map<Request, string>();
  page.on('console', (message) => {
    if (/Content Security Policy/i.test(message.text())) violations.push(message.text());
    if (message.text().startsWith(machineNotice)) notices.push(message.text().slice(machineNotice.length));
  });
  await page.addInitScript(watchNotices, machineNotice);
  page.on('pageerror', (error) => void faults.push(error.message));
  page.on('request', (request) => {
    if (request.url().startsWith(`${url}/api/`)) calls.set(request, 'not answered');
    if (!request.url().startsWith(url) && !/^(data|blob):/.test(request.url())) foreign.push(request.url());
  });
  page.on('response', (response) => {
    if (calls.has(response.request())) calls.set(response.request(), String(response.status()));
  });
  page.on('requestfailed', (request) => {
    if (calls.get(request) === 'not answered') calls.set(request, request.failure()?.errorText ?? 'failed');
  });
  await page.goto(new URL(path, url).href);
  const opened: OpenedPage = { page, violations, foreign, faults, notices, calls, close };
  openPages.add(opened);
  page.on('close', () => openPages.delete(opened));
  return opened;
}

/** A context, with an empty page of the console that stays open until the context ends. */
interface KeptContext {
  readonly context: BrowserContext;
  readonly kept: Page;
}

/**
 * Creates a context that keeps an empty page open: Chromium runs the pages of a context in one process (`--process-per-site`), which then
 * outlives each of them with what it has compiled.
 */
async function newKeptContext(options: ContextOptions): Promise<KeptContext> {
  const context = await newContext(options);
  const kept = await context.newPage();
  await kept.goto(`${url}/health`);
  return { context, kept };
}

/** Contexts without a page in use, and without anything that one has stored, by their options. Their cache has the scripts of the console. */
const freeContexts = new Map<string, KeptContext[]>();

/**
 * Opens an empty page as a window of the page that stays open: in its process. One that Playwright opens starts a process, which ends when
 * the page goes to the console, in the process that is there for it.
 */
async function newWindowOf(kept: Page): Promise<Page> {
  const [page] = await Promise.all([kept.waitForEvent('popup'), kept.evaluate(() => void window.open('about:blank'))]);
  return page;
}

async function newPageIn(
  { context, kept }: KeptContext,
  { width = defaultSize.width, height = defaultSize.height, dark = false, javaScript = true }: PageOptions,
): Promise<Page> {
  const page = javaScript ? await newWindowOf(kept) : await context.newPage();
  if (width !== defaultSize.width || height !== defaultSize.height) await page.setViewportSize({ width, height });
  if (dark) await page.emulateMedia({ colorScheme: 'dark' });
  return page;
}

/** Opens a page, or the URL of one, in a browser context of its own, without signing in unless a key is given. */
export async function openPage(path: string, options: PageOptions = {}): Promise<OpenedPage> {
  const { timeZone, locale, javaScript, key } = options;
  const name = JSON.stringify([timeZone, locale, javaScript]);
  const free = freeContexts.get(name) ?? [];
  freeContexts.set(name, free);
  const own = free.pop() ?? (await newKeptContext({ timeZone, locale, javaScript }));
  const page = await newPageIn(own, options);
  if (key !== undefined) await page.setExtraHTTPHeaders({ authorization: key });
  return openIn(page, path, async () => {
    for (const one of own.context.pages()) if (one !== own.kept) await one.close();
    await own.context.clearCookies();
    // A clock that the spec has installed stays with the context.
    const hasOwnClock = await own.kept.evaluate(() => {
      localStorage.clear();
      return !Date.now.toString().includes('[native code]');
    });
    if (hasOwnClock) await own.context.close();
    else if (!free.includes(own)) free.push(own);
  });
}

/** The contexts of pages of the administrator, by their options. */
const contextsOfAdministrator = new Map<string, Promise<KeptContext>>();

/** Opens a page for an administrator, or for the owner of another key, who is signed in already: without the form. */
export async function openSignedIn(path: string, { key, ...options }: PageOptions = {}): Promise<OpenedPage> {
  const opened =
    key === undefined ? await openForAdministrator(path, options) : await openPage(path, { ...options, key });
  await opened.page.getByRole('banner').waitFor();
  return opened;
}

/** Pages of the administrator that are open at the same time are tabs of one browser. */
async function openForAdministrator(path: string, options: PageOptions): Promise<OpenedPage> {
  const { timeZone, locale, javaScript } = options;
  const name = JSON.stringify([timeZone, locale, javaScript]);
  const created = contextsOfAdministrator.get(name) ?? newKeptContext({ timeZone, locale, javaScript, key: token });
  contextsOfAdministrator.set(name, created);
  const page = await newPageIn(await created, options);
  return openIn(page, path, async () => {
    await page.evaluate(() => localStorage.clear());
    await page.close();
  });
}

/** Signs in with an API key, which only the memory of the page has: the admin token when none is given. */
export async function signIn(page: Page, key = token): Promise<void> {
  const form = page.getByRole('group', { name: 'Sign in' });
  await form.waitFor();
  const switcher = form.getByRole('button', { name: 'Use an API key instead' });
  if (await switcher.isVisible()) await switcher.click();
  await form.getByLabel('API key').fill(key);
  await form.getByRole('button', { name: 'Sign in', exact: true }).click();
  await form.waitFor({ state: 'detached' });
}

/** Waits until an input within an element has the focus, so that it gets the keys that are pressed next. */
export async function untilFocused(element: Locator): Promise<void> {
  await element.waitFor();
  await eventually(async () => {
    const hasFocus = await element.evaluate((one) => {
      const focused = document.activeElement;
      return focused !== null && one.contains(focused) && focused.matches('input, textarea');
    });
    if (!hasFocus) throw new Error('None of its inputs has the focus.');
  });
}

/** Presses a switch by keyboard once it can be: until it is known whether it may, and while an edit is under way, the key would be lost. */
export async function pressSwitch(toggle: Locator): Promise<void> {
  await eventually(async () => expect(await toggle.isEnabled()).toBe(true));
  await toggle.press('Space');
}

/** Types into a combo box and chooses an option. Where the page scrolls to the field, which closes its list, the list is opened again. */
export async function chooseTyped(box: Locator, text: string, option: Locator): Promise<void> {
  await box.fill(text);
  await eventually(async () => {
    if (!(await option.isVisible())) await box.press('ArrowDown');
    await option.click({ timeout: 5_000 });
  });
}

/**
 * Opens a menu by keyboard until it shows an entry. A dialog that has just closed gives the focus back a frame later, which can come
 * between the press and the release of a key: the button is then pressed again, as a person would do.
 */
export async function openMenu(button: Locator, entry: string): Promise<Locator> {
  const item = button.page().getByRole('menuitem', { name: entry, exact: true });
  await eventually(async () => {
    if ((await button.getAttribute('aria-expanded')) !== 'true') await button.press('Enter');
    await item.waitFor({ timeout: 15_000 });
  });
  return item;
}

/** Chooses an entry of a menu by keyboard. It is pressed again where the focus was given back to what was closed before meanwhile. */
export async function chooseFromMenu(button: Locator, entry: string): Promise<void> {
  const item = await openMenu(button, entry);
  await eventually(async () => {
    if (await item.isVisible()) await item.press('Enter', { timeout: 15_000 });
    await item.waitFor({ state: 'detached', timeout: 15_000 });
  });
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The rules of WCAG 2.2 AA, and those of them that judge colours, which are all that the dark scheme changes. */
const wcag = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] } satisfies RunOnly;
const colours = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } satisfies RunOnly;

/** Loads axe into a page that does not have it yet: as a script, which is compiled once per process, unlike what `page.evaluate` takes. */
async function loadAxe(page: Page): Promise<void> {
  if (await page.evaluate(() => 'axe' in window)) return;
  const session = await page.context().newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: axeSource });
  await session.detach();
}

/**
 * Checks a page in light by the rules of WCAG 2.2 AA, and in dark by those about colours. It first waits for newer data where a list is
 * dimmed because it is outdated.
 */
export async function expectAccessible({ page }: OpenedPage): Promise<void> {
  for (const [colorScheme, runOnly] of [
    ['light', wcag],
    ['dark', colours],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await untilUpToDate(page);
    const faults = await accessibilityFaults(page, runOnly);
    if (faults.length === 0) continue;
    // A list may have become outdated meanwhile, which is shown in weaker colours: what is at fault stays so.
    await untilUpToDate(page);
    expect([colorScheme, await accessibilityFaults(page, runOnly)]).toEqual([colorScheme, []]);
  }
}

async function untilUpToDate(page: Page): Promise<void> {
  const outdated = page.locator('[aria-busy="true"]:not(article)');
  await eventually(async () => expect(await outdated.count()).toBe(0));
}

/** What axe finds in a page as it is now, by some of its rules. */
export async function accessibilityFaults(page: Page, runOnly: RunOnly = wcag): Promise<string[]> {
  await loadAxe(page);
  const { violations } = await page.evaluate(
    (options) => (window as unknown as { readonly axe: typeof axe }).axe.run(document, options),
    // What it would load before concerns experimental rules alone.
    { runOnly, resultTypes: ['violations'], preload: false } satisfies RunOptions,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary ?? ''}`),
  );
}

/** Closes a page and checks what must never be: a policy report, a foreign request, an error of a script, a notice written for machines. */
export async function closeChecked({ violations, foreign, faults, notices, close }: OpenedPage): Promise<void> {
  await close();
  expect({ violations, foreign, faults, notices }).toEqual({ violations: [], foreign: [], faults: [], notices: [] });
}

/** Goes to another page without loading the console again, which would forget the key. */
export async function goTo(page: Page, path: string): Promise<void> {
  const before = await page.title();
  await page.evaluate((to) => {
    history.pushState({}, '', to);
    dispatchEvent(new PopStateEvent('popstate'));
  }, path);
  await page.waitForFunction((title) => document.title !== title, before);
  await eventually(async () =>
    expect(await page.locator('[data-loading], [role=progressbar], [aria-busy="true"]:not(article)').count()).toBe(0),
  );
}

/** What reaches beyond the window, or is cut off within it without a sign that there is more. */
function cutOff(): readonly string[] {
  const width = document.documentElement.clientWidth;
  const found: string[] = [];
  if (document.documentElement.scrollWidth > width) found.push('the page scrolls sideways');
  for (const one of document.querySelectorAll<HTMLElement>('main *, header *')) {
    const box = one.getBoundingClientRect();
    const { overflowX, textOverflow, visibility } = getComputedStyle(one);
    if (box.width === 0 || box.height === 0 || visibility === 'hidden') continue;
    const name = `${one.tagName} ${one.className} ${(one.textContent ?? '').slice(0, 30)}`;
    const content = document.createRange();
    content.selectNodeContents(one);
    // A blank at the end of a line can hang over, which nobody sees.
    const hidesMore =
      one.scrollWidth > one.clientWidth + 4 &&
      one.clientWidth > 4 &&
      [...content.getClientRects()].some(({ left, right }) => left < box.left - 4 || right > box.right + 4);
    // What is typed into a field scrolls with the cursor.
    if (hidesMore && one.tagName !== 'INPUT' && /hidden|clip/.test(overflowX) && textOverflow !== 'ellipsis')
      found.push(`cut: ${name}`);
    if (box.right <= width + 1 && box.left >= -1) continue;
    let around = one.parentElement;
    while (around !== null && getComputedStyle(around).overflowX === 'visible') around = around.parentElement;
    if (around === null) found.push(`beyond the edge: ${name}`);
  }
  return found;
}

/** What is cut off once the page has come to rest. */
export async function cutOffIn(page: Page): Promise<readonly string[]> {
  let found: readonly string[] = [];
  await eventually(
    async () => {
      found = await page.evaluate(cutOff);
      if (found.length > 0) throw new Error(found.join('\n'));
    },
    { timeoutMs: 10_000 },
  ).catch(() => undefined);
  return found;
}

/** Counts the presses of a pointer on a page from now on, while its document stays. @returns a function that says how many there were */
export async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const counter = { clicks: 0 };
    Object.assign(globalThis, { counter });
    document.addEventListener('pointerdown', () => (counter.clicks += 1), { capture: true });
  });
  return () => page.evaluate(() => (globalThis as unknown as { counter: { clicks: number } }).counter.clicks);
}
