import { eventually } from '@bunting/testing';
import { randomUUID } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import {
  accessibilityFaults,
  api,
  closeChecked,
  cutOffIn,
  describeInBrowser,
  goTo,
  openSignedIn,
} from '../support/browser.ts';

const unique = randomUUID().slice(0, 8);
/** As long as a name may be, and without a blank at which a line could break. */
const long = `${unique}-${'WMwm'.repeat(30)}`.slice(0, 100);
const short = `${unique}-web`;
const rightToLeft = `مشروع الدفع والشراء ${unique}`;
const project = `every-${unique}`;
const base = `/api/admin/projects/${project}`;

interface Identified {
  readonly id: number;
}

/** Each with a table or a list in which the long names stand. Neighbours have different titles. */
const pages: string[] = [
  '/change-requests',
  '/',
  `/projects?q=${unique}`,
  `/projects/${project}`,
  '/inbox',
  '/profile',
  `/events?q=project:${project}`,
  `/cleanup?q=${unique}`,
  `/flags?q=${unique}`,
  `/playground?flag=${long}&projects=${project}`,
  ...['flags', 'environments', 'access', 'tokens', 'applications', 'segments', 'actions', 'archive', 'settings'].map(
    (tab) => `/projects/${project}/${tab}`,
  ),
  // One in which there is nothing yet
  ...['', '/flags', '/access', '/tokens', '/segments', '/actions'].map((tab) => `/projects/${project}-rtl${tab}`),
  `/projects/${project}/features/${long}`,
  `/projects/${project}/features/${long}/environments/development/strategies/new`,
  ...[
    `segments?q=${unique}`,
    `context?q=${unique}`,
    'environments',
    'tags',
    'strategies',
    'types',
    `users?q=${unique}`,
    `groups?q=${unique}`,
    'roles',
    `access?q=${unique}`,
    `service-accounts?q=${unique}`,
    `api-tokens?q=${unique}`,
    'sign-in',
    'applications',
    'integrations',
    'signals',
    'transfer',
    'instance',
  ].map((section) => `/admin/${section}`),
];

const phone = { width: 390, height: 844 };
const wide = { width: 1280, height: 800 };

/** The sizes of letters: those of the tokens `--size…`. */
const typeScale = ['12px', '13px', '14px', '16px', '20px'];

/** Until the frame after the next one has begun, in which what follows the width of the window by script has been drawn as well. */
function untilDrawn(): Promise<unknown> {
  return new Promise((resolve) => void requestAnimationFrame(() => requestAnimationFrame(resolve)));
}

/** What on a page has letters of another size than those of the scale. */
function sizesOutOfScale(page: Page): Promise<readonly string[]> {
  return page.evaluate((scale) => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = new Set<string>();
    while (texts.nextNode()) {
      const parent = texts.currentNode.parentElement;
      if (parent === null || texts.currentNode.textContent?.trim() === '' || parent.closest('script, style')) continue;
      const size = getComputedStyle(parent).fontSize;
      if (!scale.includes(size)) found.add(`${parent.tagName} “${parent.textContent.slice(0, 20)}” in ${size}`);
    }
    return [...found];
  }, typeScale);
}

/** What a page must not have: several things that one should do next, a link upwards that says that one is there, numbers out of line. */
function disorderIn(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const textOf = (element: Element): string => element.textContent.trim();
    const primary = [...document.querySelectorAll('main [class*=_primary_]:not([data-disabled])')].filter((button) =>
      button.checkVisibility({ visibilityProperty: true }),
    );
    const current = [...document.querySelectorAll('nav[aria-label="Where this page belongs"] [aria-current]')];
    const unaligned = [...document.querySelectorAll<HTMLTableElement>('main table')].flatMap((table) => {
      const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
      return [...(table.tHead?.rows[0]?.cells ?? [])].flatMap((head, column) => {
        const cells = rows.flatMap((row) => row.cells[column] ?? []);
        const texts = cells.map(textOf).filter((text) => text !== '' && text !== '–');
        const areNumbers = column > 0 && texts.length > 0 && texts.every((text) => /^[\d,.]+$/.test(text));
        return areNumbers && cells.some((cell) => getComputedStyle(cell).textAlign !== 'end')
          ? [`numbers of “${textOf(head)}” are not aligned at their end`]
          : [];
      });
    });
    return [
      ...(primary.length > 1 ? [`${primary.length} primary buttons: ${primary.map(textOf).join(', ')}`] : []),
      ...current.map((link) => `${textOf(link)} is above the page, and not the page`),
      ...unaligned,
    ];
  });
}

/** Boxes that are not checked, and show a mark. Forced colours show what is transparent otherwise. */
function marksOfUncheckedIn(page: Page): Promise<readonly string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLInputElement>('label input[type=checkbox]')]
      .filter((box) => !box.checked && !box.indeterminate)
      .map((box) => box.closest('label'))
      .filter((label) => {
        const mark = label?.querySelector('svg');
        return mark != null && getComputedStyle(mark).visibility !== 'hidden';
      })
      .map((label) => `“${label?.textContent}” shows a mark, and is not checked`),
  );
}

describeInBrowser('every page', () => {
  beforeAll(async () => {
    await api('POST', '/api/admin/projects', { id: project, name: long });
    await api('POST', '/api/admin/projects', { id: `${project}-rtl`, name: rightToLeft });
    await api('POST', `${base}/features`, { name: long, description: rightToLeft });
    await api('POST', `${base}/features`, { name: `archived-${long}`.slice(0, 100) });
    await api('DELETE', `${base}/features/${`archived-${long}`.slice(0, 100)}`);
    await api('POST', `${base}/features/${long}/environments/development/strategies`, {
      name: 'flexibleRollout',
      title: rightToLeft,
      parameters: { rollout: '25', stickiness: 'default', groupId: long },
      constraints: [{ contextName: 'userId', operator: 'IN', values: [long, rightToLeft] }],
    });
    await api('POST', `${base}/features/${long}/environments/development/on`);
    await api('POST', `/api/admin/segments`, { name: long, description: rightToLeft, project, constraints: [] });
    await api('POST', '/api/admin/context', { name: long.slice(0, 90), legalValues: [{ value: long }] });
    await api('POST', '/api/admin/tag-types', { name: `t${unique}WMWMWMWMWMWMWMWMWMWMWMWM`, description: rightToLeft });
    const people: number[] = [];
    for (const [username, name] of [
      [long.slice(0, 90), long],
      [`rtl-${unique}`, rightToLeft],
    ] as const) {
      const body = { username, name, email: `${username.slice(0, 40)}@example.org`, rootRole: 1, sendEmail: false };
      people.push(((await api('POST', '/api/admin/user-admin', body)) as Identified).id);
    }
    const users = people.map((id) => ({ user: { id } }));
    const group = (await api('POST', '/api/admin/groups', {
      name: long,
      description: rightToLeft,
      users,
    })) as Identified;
    const { roles } = (await api('GET', '/api/admin/roles')) as { roles: { id: number; name: string }[] };
    const owner = roles.find(({ name }) => name === 'Owner')?.id ?? 0;
    await api('POST', `${base}/access`, { users: people, groups: [group.id], roles: [owner] });
    for (const nth of ['1', '2', '3', '4']) {
      const permissions = [{ name: 'CREATE_PROJECT' }];
      await api('POST', '/api/admin/roles', { name: `${nth}${long.slice(1)}`, type: 'root-custom', permissions });
    }
    await api('POST', '/api/admin/service-account', { name: long, username: `sa-${long}`.slice(0, 90), rootRole: 1 });
    await api('POST', '/api/admin/signal-endpoints', { name: `s${unique}${'m'.repeat(80)}`, enabled: true });
    const token = { tokenName: long, type: 'client', environment: 'development', projects: [project] };
    const { secret } = (await api('POST', '/api/admin/api-tokens', token)) as { secret: string };
    const instance = {
      appName: long,
      instanceId: long,
      strategies: [],
      started: new Date().toISOString(),
      interval: 1,
    };
    await api('POST', '/api/client/register', { ...instance, sdkVersion: 'unleash-node@6.6.0' }, secret);
    await api(
      'POST',
      '/api/client/register',
      { ...instance, appName: short, sdkVersion: 'unleash-node@6.6.0' },
      secret,
    );
    const [start, stop] = [Date.now() - 60_000, Date.now()].map((at) => new Date(at).toISOString());
    const toggles = { [long]: { yes: 3, no: 1 }, [`unknown-${long}`.slice(0, 100)]: { yes: 0, no: 2 } };
    const metrics = { appName: long, instanceId: long, bucket: { start, stop, toggles } };
    await api('POST', '/api/client/metrics', metrics, secret);
    const change = { action: 'updateEnabled', feature: long, payload: { enabled: true } };
    const { id } = (await api('POST', `${base}/environments/production/change-requests`, [change])) as Identified;
    await api('PUT', `${base}/change-requests/${id}/title`, { title: long });
    await api('PUT', `${base}/change-requests/${id}/state`, { state: 'In review' });
    pages.push(`/projects/${project}/change-requests/${id}`);
  });

  it.each([
    // Each page is loaded once, on the phone.
    { what: 'a phone and a window of 1280 pixels', sizes: [phone, wide] },
    {
      what: 'a window of 1280 pixels at 200 %, in forced colours, from right to left',
      sizes: [{ width: 640, height: 400 }],
      isForced: true,
    },
  ])('has long and right-to-left names within $what, in one scale', async ({ sizes, isForced = false }) => {
    const opened = await openSignedIn('/', sizes[0]);
    const { page } = opened;
    if (isForced) await page.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' });
    // As where an extension or a translation of the browser turns the page round.
    if (isForced) await page.evaluate(() => (document.documentElement.dir = 'rtl'));
    const faults: string[] = [];
    for (const path of pages) {
      await page.setViewportSize(sizes[0] ?? phone);
      await goTo(page, path);
      for (const size of sizes) {
        await page.setViewportSize(size);
        await page.evaluate(untilDrawn);
        const ofPage = [
          ...(await cutOffIn(page)),
          ...(await sizesOutOfScale(page)),
          ...(isForced ? [...(await accessibilityFaults(page)), ...(await marksOfUncheckedIn(page))] : []),
          ...(size === wide ? await disorderIn(page) : []),
        ];
        faults.push(...ofPage.slice(0, 3).map((fault) => `${path} at ${size.width} pixels: ${fault}`));
      }
    }
    expect(faults).toEqual([]);
    await closeChecked(opened);
  });

  it('has on a phone what it is about between its title and its buttons', async () => {
    const opened = await openSignedIn('/admin/environments', { width: 390, height: 844 });
    const { page } = opened;
    const title = page.getByRole('heading', { name: 'Environments', level: 1 });
    const about = page.getByText('Where flags are on or off', { exact: false });
    const create = page.getByRole('button', { name: 'Create an environment' });
    await create.waitFor();
    const tops = await Promise.all([title, about, create].map(async (part) => (await part.boundingBox())?.y ?? 0));
    expect(tops).toEqual(tops.toSorted((one, other) => one - other));
    await closeChecked(opened);
  });

  it('has buttons that answer the pointer and a press, unless they are disabled', async () => {
    const opened = await openSignedIn('/flags', { width: 1280, height: 800 });
    const { page } = opened;
    const looksOf = async (name: string): Promise<readonly string[]> => {
      const button = page.getByRole('button', { name, exact: true }).first();
      const look = (): Promise<string> => button.evaluate((one) => getComputedStyle(one).backgroundColor);
      const { x, y } = (await button.boundingBox()) ?? { x: 0, y: 0 };
      const looks = [await look()];
      await page.mouse.move(x + 8, y + 8);
      looks.push(await look());
      await page.mouse.down();
      looks.push(await look());
      await page.mouse.move(0, 0);
      await page.mouse.up();
      return looks;
    };
    for (const name of ['Create a flag', 'Keyboard shortcuts']) expect(new Set(await looksOf(name)).size).toBe(3);
    await goTo(page, '/admin/environments');
    expect(new Set(await looksOf('Change the order')).size).toBe(3);
    await goTo(page, `/projects/${project}-rtl/settings`);
    await page.getByRole('button', { name: 'Save', disabled: true }).first().waitFor();
    expect(new Set(await looksOf('Save')).size).toBe(1);
    await closeChecked(opened);
  });

  it('has buttons beside fields at the height of the fields, and short names whole', async () => {
    const opened = await openSignedIn('/admin/segments/new', { width: 1280, height: 800 });
    const { page } = opened;
    const middleOf = async (part: Locator): Promise<number> => {
      const { y, height } = (await part.boundingBox()) ?? { y: 0, height: 0 };
      return y + height / 2;
    };
    await page.getByRole('button', { name: 'Add a constraint' }).click();
    const remove = page.getByRole('button', { name: 'Remove the constraint', exact: false });
    await remove.waitFor();
    const field = page.getByRole('button', { name: 'Comparison', exact: false });
    expect(Math.abs((await middleOf(remove)) - (await middleOf(field)))).toBeLessThan(2);
    await goTo(page, '/admin/applications');
    const name = page.getByRole('rowheader', { name: short, exact: true });
    await name.waitFor();
    expect(await name.evaluate((cell) => cell.querySelector('bdi')?.getClientRects().length)).toBe(1);
    await closeChecked(opened);
  });

  it('is printed in whole, dark on white, and without what leads elsewhere', async () => {
    const opened = await openSignedIn('/admin/instance', { width: 1280, height: 800 });
    const { page } = opened;
    await page.getByRole('row', { name: 'Active flags', exact: false }).waitFor();
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    const printed = await page.evaluate(() => {
      const last = [...document.querySelectorAll('main table tr')].at(-1);
      return {
        // What is below the window is part of the document, and not of something that scrolls within it.
        isWhole: document.documentElement.scrollHeight >= (last?.getBoundingClientRect().bottom ?? Infinity),
        links: [...document.querySelectorAll('nav a')].filter((link) => link.checkVisibility()).length,
        color: getComputedStyle(document.body).backgroundColor,
      };
    });
    expect(printed).toEqual({ isWhole: true, links: 1, color: 'rgb(255, 255, 255)' });
    await closeChecked(opened);
  });

  it('has the tabs of a project at one height', async () => {
    const opened = await openSignedIn('/', { width: 1280, height: 800 });
    const { page } = opened;
    const heights: (number | undefined)[] = [];
    for (const tab of ['', '/flags', '/cleanup', '/archive', '/access', '/events', '/settings']) {
      await goTo(page, `/projects/${project}-rtl${tab}`);
      heights.push((await page.getByRole('navigation', { name: 'The project' }).boundingBox())?.y);
    }
    expect(new Set(heights).size).toBe(1);
    await closeChecked(opened);
  });

  it('has its tabs whole and some rows of its list in a low window, as at a zoom of 200 %', async () => {
    const opened = await openSignedIn('/', { width: 640, height: 400 });
    const { page } = opened;
    const heightOf = async (locator: Locator) => (await locator.boundingBox())?.height ?? 0;
    const tabs = page.getByRole('navigation', { name: 'The project' });
    let height = 0;
    for (const tab of ['/archive', '/flags', '/cleanup', '/events']) {
      await goTo(page, `/projects/${project}${tab}`);
      // Rows and numbers come after the page.
      await eventually(async () => {
        if (tab === '/flags' || tab === '/events')
          expect(await heightOf(page.locator('main [class*=scroller]')), tab).toBeGreaterThan(250);
        const now = await heightOf(tabs);
        expect(now, tab).toBeGreaterThan(0);
        expect(now, tab).toBe(tab === '/archive' ? now : height);
        height = now;
      });
    }
    await closeChecked(opened);
  });

  it('has dialogs, menus and lists that axe finds no fault with in forced colours', async () => {
    const opened = await openSignedIn('/', { width: 1280, height: 800 });
    const { page } = opened;
    await page.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' });
    const faults: string[] = [];
    for (const [path, button] of [
      ['/flags', 'Create a flag'],
      ['/flags', 'Account'],
      ['/flags', 'Keyboard shortcuts'],
      [`/projects/${project}/features/${long}`, 'Connect an SDK'],
      [`/projects/${project}/features/${long}`, 'Actions'],
      ['/admin/environments', 'Change the order'],
      [pages.at(-1) ?? '', 'Approve'],
      [`/projects/${project}/access`, 'Give access'],
      [`/projects/${project}/settings`, 'Delete the project'],
    ] as const) {
      if (new URL(page.url()).pathname !== path) await goTo(page, path);
      await page.getByRole('button', { name: button, exact: true }).first().press('Enter');
      const shown = page.locator('[role=dialog], [role=alertdialog], [role=menu]').first();
      await shown.waitFor();
      faults.push(...(await accessibilityFaults(page)).map((fault) => `${path}, ${button}: ${fault}`));
      await page.keyboard.press('Escape');
      await shown.waitFor({ state: 'detached' });
    }
    expect(faults).toEqual([]);
    await closeChecked(opened);
  });
});
