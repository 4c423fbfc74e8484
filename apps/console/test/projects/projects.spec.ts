import { eventually } from '@bunting/testing';
import { expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import {
  api,
  chooseFromMenu,
  closeChecked,
  cutOffIn,
  describeInBrowser,
  expectAccessible,
  goTo,
  openPage,
  openMenu,
  openSignedIn,
  signIn,
  untilFocused,
} from '../support/browser.ts';

function anId(): string {
  return `project-${randomUUID().slice(0, 8)}`;
}
async function aProject(more: object = {}): Promise<string> {
  const id = anId();
  await api('POST', '/api/admin/projects', { id, name: `Name of ${id}`, ...more });
  return id;
}

/** Opens the menu of a row by keyboard, and chooses an entry of it. */
async function chooseFor(page: Page, name: string, entry: string): Promise<void> {
  await chooseFromMenu(page.getByRole('button', { name: `Actions for ${name}`, exact: true }), entry);
}

/** Presses the button of a question that names the thing. */
async function confirm(page: Page, title: string, button: string): Promise<void> {
  const question = page.getByRole('alertdialog', { name: title });
  await question.waitFor();
  // A dialog takes the focus a frame after it has come, and with it a key that is pressed then.
  await eventually(async () => {
    const hasFocus = await question.evaluate((one) => one.contains(document.activeElement));
    if (!hasFocus) throw new Error('The question does not have the focus.');
  });
  return question.getByRole('button', { name: button }).press('Enter');
}

describeInBrowser('the pages of projects', () => {
  it('says on each page of a project which does not exist that there is none', async () => {
    const id = anId();
    for (const tab of ['flags', 'cleanup', 'events']) {
      const opened = await openSignedIn(`/projects/${id}/${tab}`);
      await opened.page.getByText(`There is no project “${id}”`, { exact: false }).waitFor();
      await expectAccessible(opened);
      await closeChecked(opened);
    }
    await api('POST', '/api/admin/projects', { id, name: 'Made meanwhile' });
    const opened = await openSignedIn(`/projects/${id}/flags`);
    await opened.page.getByRole('navigation', { name: 'The project' }).waitFor();
    await closeChecked(opened);
  });

  it('lists projects by name, where 2 comes before 10', async () => {
    const unique = randomUUID().slice(0, 8);
    for (const n of [10, 2, 1]) await aProject({ name: `Shop ${unique} ${n}` });
    const opened = await openSignedIn(`/projects?q=${unique}`);
    const names = opened.page.getByRole('rowheader').getByRole('link');
    await eventually(async () =>
      expect(await names.allTextContents()).toEqual([1, 2, 10].map((n) => `Shop ${unique} ${n}`)),
    );
    await closeChecked(opened);
  });

  it('lists them with their live and stale flags and open change requests, sorted by what one presses, and those alone that one asks for', async () => {
    const unique = randomUUID().slice(0, 8);
    const [calm, busy] = [await aProject({ name: `Calm ${unique}` }), await aProject({ name: `Busy ${unique}` })];
    for (const name of ['live', 'old', 'new'])
      await api('POST', `/api/admin/projects/${busy}/features`, { name: `${name}-${unique}` });
    await api('POST', `/api/admin/projects/${busy}/features/live-${unique}/environments/production/on`);
    await api('POST', `/api/admin/projects/${busy}/stale`, { features: [`old-${unique}`], stale: true });
    const change = { action: 'updateEnabled', feature: `new-${unique}`, payload: { enabled: true } };
    await api('POST', `/api/admin/projects/${busy}/environments/production/change-requests`, change);
    await api('POST', `/api/admin/projects/${calm}/features`, { name: `calm-${unique}` });
    const opened = await openSignedIn(`/projects?q=${unique}`);
    const { page } = opened;
    const row = page.getByRole('row', { name: `Busy ${unique}` });
    const cell = (title: string) => row.locator(`[data-title="${title}"]`);
    const figures = { Flags: '3', 'On in production': '1', Stale: '1', 'Open requests': '1' };
    for (const [title, text] of Object.entries(figures))
      await eventually(async () => expect(await cell(title).innerText()).toBe(text));
    await expectAccessible(opened);
    const names = () => page.getByRole('rowheader').getByRole('link').allTextContents();
    const [first, second] = [`Busy ${unique}`, `Calm ${unique}`];
    const byHealth = page.getByRole('button', { name: 'Health' });
    await byHealth.press('Enter');
    await eventually(async () => expect(await names()).toEqual([second, first]));
    await byHealth.press('Enter');
    await eventually(async () => expect(await names()).toEqual([first, second]));
    await page.locator('th[aria-sort=ascending]', { hasText: 'Health' }).waitFor();
    await page.waitForURL((url) => url.searchParams.get('sort') === 'Health reversed');
    await page.getByRole('button', { name: /Show$/ }).press('Enter');
    await page.getByRole('option', { name: 'With open change requests' }).click();
    await eventually(async () => expect(await names()).toEqual([first]));
    await cell('Stale').getByRole('link').press('Enter');
    await page.getByRole('heading', { name: 'Cleanup', exact: false }).first().waitFor();
    await closeChecked(opened);
  });

  it('creates a project and changes its rules by keyboard alone, merging what another person saves meanwhile', async () => {
    const id = anId();
    const opened = await openSignedIn('/projects');
    const { page } = opened;
    await page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor();
    await expectAccessible(opened);
    await page.keyboard.press('c');
    const create = page.getByRole('dialog', { name: 'Create a project' });
    await untilFocused(create);
    await page.keyboard.type('The shop <b>مرحبا</b>');
    await page.keyboard.press('Tab');
    await page.keyboard.type(id);
    await expectAccessible(opened);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'The shop <b>مرحبا</b>', level: 1 }).waitFor();
    await page.getByRole('heading', { name: 'Connect an application' }).waitFor();
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'Create a flag' }).press('Enter');
    await untilFocused(page.getByRole('dialog', { name: 'Create a flag' }));
    await page.keyboard.type(`shop-${id}`);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `shop-${id}`, level: 1 }).waitFor();
    const crumbs = page.getByRole('navigation', { name: 'Where this page belongs' });
    await crumbs.getByRole('link', { name: 'The shop' }).press('Enter');
    await page.getByRole('heading', { name: /^Flags of .The shop/, level: 1 }).waitFor();
    await page.getByRole('table', { name: 'Flags of The shop' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill(`shop-${id}`);
    await page.getByRole('option', { name: `shop-${id} The shop` }).waitFor();
    await page.keyboard.press('Escape');

    await page.getByRole('link', { name: 'Settings' }).press('Enter');
    await page.getByRole('spinbutton', { name: 'Limit of active flags' }).fill('7');
    await page.getByRole('textbox', { name: 'Pattern of names of flags' }).fill('shop-[a-z]+');
    await api('PUT', `/api/admin/projects/${id}/settings`, { mode: 'protected' });
    await page.keyboard.press('Enter');
    await page.getByText('Both edits are combined here', { exact: false }).waitFor();
    expect(await page.getByRole('radio', { name: 'Protected' }).isChecked()).toBe(true);
    await expectAccessible(opened);
    await page.getByRole('spinbutton', { name: 'Limit of active flags' }).press('Enter');
    await page.getByText('The settings are saved.').waitFor();
    expect(await api('GET', `/api/admin/projects/${id}/overview`)).toMatchObject({
      mode: 'protected',
      featureLimit: 7,
      featureNaming: { pattern: 'shop-[a-z]+' },
    });

    await closeChecked(opened);
  });

  it('keep names that are written from the right in their own order, in titles, crumbs, lists and sentences', async () => {
    const id = await aProject({ name: 'דוח מכירות 2.0 (beta)' });
    await api('POST', `/api/admin/projects/${id}/features`, { name: `${id}.flag` });
    const opened = await openSignedIn(`/projects/${id}`, { locale: 'ar-EG' });
    const { page } = opened;
    /** Where a part of the name is seen: in a name that is read from the right, what follows lies further left. */
    const isInOrder = (name: Locator) =>
      name.evaluate((element) => {
        const leftOf = (text: string): number => {
          const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
          for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
            const start = (node.nodeValue ?? '').indexOf(text);
            if (start < 0) continue;
            const range = document.createRange();
            range.setStart(node, start);
            range.setEnd(node, start + text.length);
            return range.getBoundingClientRect().left;
          }
          return Number.NaN;
        };
        return leftOf('דוח') > leftOf('2.0') && leftOf('2.0') > leftOf('beta');
      });
    const heading = page.getByRole('heading', { level: 1 });
    await page.getByRole('region', { name: 'At a glance' }).waitFor();
    expect(await isInOrder(heading)).toBe(true);
    /** Whether the words of a block stand at the side of the page where they would be otherwise. */
    const isAtStart = (block: Locator) =>
      block.evaluate((element) => {
        const words = document.createRange();
        words.selectNodeContents(element);
        return words.getBoundingClientRect().left - element.getBoundingClientRect().left < 2;
      });
    // Digits are those of the console's language.
    await page.getByRole('region', { name: 'Last 30 days' }).getByText('before: 0').first().waitFor();

    await goTo(page, `/projects/${id}/change-requests`);
    await page.getByRole('heading', { name: /^Change requests of/ }).waitFor();
    expect(await isInOrder(heading)).toBe(true);
    await heading.evaluate((element) => Object.assign(element.style, { width: '100%' }));
    expect(await isAtStart(heading)).toBe(true);
    const crumb = page.getByRole('navigation', { name: 'Where this page belongs' }).getByRole('link').last();
    expect(await isInOrder(crumb)).toBe(true);

    await goTo(page, `/projects/${id}/settings`);
    await page.getByRole('button', { name: 'Archive the project' }).press('Enter');
    const title = page.getByRole('alertdialog').getByRole('heading').first();
    await title.waitFor();
    expect(await isInOrder(title)).toBe(true);
    await page.keyboard.press('Escape');

    await page.keyboard.press('Control+k');
    await untilFocused(page.getByRole('dialog', { name: 'Search' }));
    await page.keyboard.type(id);
    const option = page.getByRole('option').filter({ hasText: 'מכירות' }).last();
    await option.waitFor();
    expect(await isInOrder(option)).toBe(true);
    await closeChecked(opened);
  });

  it('without flags leads to what comes first, and with one says how it is', async () => {
    const id = await aProject();
    const opened = await openSignedIn(`/projects/${id}`);
    const { page } = opened;
    const main = page.getByRole('main');
    await main.getByRole('heading', { name: 'Connect an application' }).waitFor();
    await main.getByRole('link', { name: 'Choose people' }).waitFor();
    expect(await main.getByRole('region', { name: /^(At a glance|Lifecycle|Last 30 days)$/ }).count()).toBe(0);
    await expectAccessible(opened);
    await main.getByRole('button', { name: 'Create a flag' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Create a flag' });
    await dialog.getByRole('textbox', { name: 'Name' }).fill(`${id}-first`);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `${id}-first`, level: 1 }).waitFor();
    await goTo(page, `/projects/${id}`);
    await main.getByRole('region', { name: 'At a glance' }).waitFor();
    expect(await main.getByRole('heading', { name: 'Connect an application' }).count()).toBe(0);
    await closeChecked(opened);
  });

  it('shows first what waits in it and what has changed in production, as it happens', async () => {
    const id = await aProject();
    const [base, flag] = [`/api/admin/projects/${id}`, `${id}-live`];
    await api('POST', `${base}/features`, { name: flag, type: 'experiment' });
    await api('POST', `${base}/features/${flag}/environments/development/on`);
    const opened = await openSignedIn(`/projects/${id}`);
    const { page } = opened;
    const open = page.getByRole('region', { name: 'Open change requests' });
    await open.getByText('No change waits for a review, or to be applied.').waitFor();
    const changed = page.getByRole('region', { name: 'Last changed in production' });
    await changed.getByText('Nothing has changed in production yet.').waitFor();

    await api('POST', `${base}/features/${flag}/environments/production/on`);
    await changed.getByRole('link', { name: flag }).first().waitFor();
    await changed.getByText('enabled it', { exact: false }).waitFor();
    await changed.getByRole('button', { name: 'Undo' }).first().waitFor();
    const protection = { changeRequestsEnabled: true, requiredApprovals: 1 };
    await api('PUT', `${base}/environments/production/change-requests/config`, protection);
    const off = { action: 'updateEnabled', feature: flag, payload: { enabled: false } };
    const { id: request } = (await api('POST', `${base}/environments/production/change-requests`, [off])) as {
      readonly id: number;
    };
    await api('PUT', `${base}/change-requests/${request}/title`, { title: 'Off again' });
    await api('PUT', `${base}/change-requests/${request}/state`, { state: 'In review' });
    await open.getByRole('listitem').filter({ hasText: 'Off again' }).getByText('In review').waitFor();
    await api('POST', `${base}/stale`, { features: [flag], stale: true });
    await page.getByRole('region', { name: 'At a glance' }).getByText('may be removed').waitFor();
    // Each bar has its number, also for who does not see it.
    const weeks = page.getByRole('region', { name: 'Changes in the last 12 weeks' });
    const count = await weeks.locator('li[title] > span').last().innerText();
    expect(Number(count)).toBeGreaterThan(2);
    await weeks.getByRole('cell', { name: `${count} changes`, exact: true }).waitFor();
    expect(await weeks.getByRole('row').count()).toBe(13);
    expect(await cutOffIn(page)).toEqual([]);
    await expectAccessible(opened);

    await page.getByRole('link', { name: '1 experiment' }).click();
    await page.getByRole('heading', { name: /^Flags/, level: 1 }).waitFor();
    expect(new URL(page.url()).searchParams.get('q')).toBe('type:experiment');
    await goTo(page, `/projects/${id}`);
    await page.getByRole('region', { name: 'Lifecycle' }).getByRole('link', { name: '1', exact: true }).click();
    await page.getByRole('link', { name: flag, exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.get('q')).toBe('stage:initial');
    await closeChecked(opened);
  });

  it('leads a reader from its overview to nothing that the reader may not open', async () => {
    const id = await aProject();
    const username = `reader-${randomUUID().slice(0, 8)}`;
    const user = (await api('POST', '/api/admin/user-admin', { username, rootRole: 3 })) as { readonly id: number };
    const token = await api('POST', `/api/admin/user-admin/${user.id}/token`, { description: 'console' });
    const opened = await openPage(`/projects/${id}`);
    const { page } = opened;
    await signIn(page, (token as { readonly secret: string }).secret);
    const main = page.getByRole('main');
    await main.getByRole('link', { name: '0 segments' }).waitFor();
    await main.getByText('0 API tokens', { exact: true }).waitFor();
    expect(await main.getByRole('link', { name: /API token|member/ }).count()).toBe(0);
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('archives a project after a question that names it, revives it, and deletes it for good', async () => {
    const id = await aProject({ name: 'The old shop' });
    const opened = await openSignedIn(`/projects/${id}/settings`);
    const { page } = opened;
    await page.getByRole('button', { name: 'Archive the project' }).press('Enter');
    const archive = page.getByRole('alertdialog', { name: 'Archive the project “The old shop”' });
    await archive.getByText('It has 0 archived flags, 0 API tokens', { exact: false }).waitFor();
    await archive.getByRole('button', { name: 'Archive the project' }).press('Enter');
    await page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor();

    await closeChecked(opened);

    const again = await openSignedIn(`/projects/${id}`);
    await again.page.getByText(`The project “${id}” is archived`).waitFor();
    await expectAccessible(again);
    await again.page.getByRole('button', { name: 'Revive it' }).press('Enter');
    await again.page.getByRole('alertdialog').getByRole('button', { name: 'Revive it' }).press('Enter');
    await again.page.getByRole('link', { name: 'Settings' }).press('Enter');
    await again.page.getByRole('button', { name: 'Delete the project' }).press('Enter');
    await again.page.getByRole('textbox', { name: `Type “${id}” to confirm` }).fill(id);
    await again.page.keyboard.press('Enter');
    await again.page.getByText('is deleted.', { exact: false }).waitFor();
    await closeChecked(again);
  });

  it('keeps a project with active flags, and says how many there are', async () => {
    const id = await aProject();
    await api('POST', `/api/admin/projects/${id}/features`, { name: `flag-of-${id}` });
    const opened = await openSignedIn(`/projects/${id}/settings`);
    const { page } = opened;
    await page.getByRole('button', { name: 'Delete the project' }).click();
    const question = page.getByRole('alertdialog');
    await question.getByText('1 flag of it is active: archive or move it first.').waitFor();
    expect(await question.getByRole('button', { name: 'Delete the project' }).count()).toBe(0);
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('sets which environments a project uses, their default strategies, and the approvals that changes need', async () => {
    const id = await aProject();
    const opened = await openSignedIn(`/projects/${id}/environments`);
    const { page } = opened;
    await page.getByRole('button', { name: /no approval.*set approvals for production/ }).press('Enter');
    const approvals = page.getByRole('dialog', { name: 'Approvals for changes in production' });
    await approvals.getByText('No change request is open there.').waitFor();
    await approvals.getByRole('switch').press('Space');
    await approvals.getByRole('spinbutton').fill('3');
    await expectAccessible(opened);
    await page.keyboard.press('Enter');
    await page.getByText('3 approvals').waitFor();

    await chooseFor(page, 'development', 'Edit the default strategy');
    await page.getByRole('spinbutton', { name: 'Percent' }).fill('40');
    await page.getByRole('button', { name: 'Add a constraint' }).press('Enter');
    await page.getByRole('button', { name: 'Save' }).press('Enter');
    await page.getByText('Enter a value.', { exact: true }).waitFor();
    await expectAccessible(opened);
    await page.getByRole('textbox', { name: 'Values' }).fill('ann');
    await page.getByRole('button', { name: 'Save' }).press('Enter');
    await page.getByText('40 % of users').waitFor();

    await page.getByRole('switch', { name: 'Use development in this project' }).press('Space');
    const question = page.getByRole('alertdialog', { name: `Remove development from “Name of ${id}”` });
    await question.getByRole('textbox').fill('development');
    await page.keyboard.press('Enter');
    await page.getByText('The project does not use development any more.').waitFor();
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('gives access to a user and a group, changes their roles, and takes access away', async () => {
    const id = await aProject();
    const name = `Ann ${randomUUID().slice(0, 8)}`;
    await api('POST', '/api/admin/user-admin', { name, username: name.replace(' ', '.'), rootRole: 3 });
    const opened = await openSignedIn(`/projects/${id}/access`);
    const { page } = opened;
    await page.getByRole('button', { name: 'Give access' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Give access' });
    await dialog.getByRole('combobox', { name: 'Who' }).waitFor();
    await page.waitForLoadState('networkidle');
    await dialog.getByRole('combobox', { name: 'Who' }).pressSequentially(name);
    await page.getByRole('option', { name }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: `Remove ${name}` }).waitFor();
    await dialog.getByRole('checkbox', { name: 'Owner' }).press('Space');
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Give access' }).press('Enter');
    await page.getByText('Access is given.').waitFor();
    const row = page.getByRole('row', { name });
    await row.getByText('Owner').waitFor();
    await row.getByText('Member').waitFor();
    await expectAccessible(opened);

    await chooseFor(page, name, 'Change roles');
    const roles = page.getByRole('dialog', { name: `Roles of ${name}` });
    await roles.getByRole('checkbox', { name: 'Member' }).press('Space');
    await roles.getByRole('button', { name: 'Save' }).press('Enter');
    await row.getByText('Member').waitFor({ state: 'detached' });

    await chooseFor(page, name, 'Remove access');
    await confirm(page, `Remove the access of ${name}`, 'Remove access');
    await page.getByRole('alertdialog').getByText('A project must have at least one owner').waitFor();
    await expectAccessible(opened);
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).press('Enter');
    const other = (await api('POST', '/api/admin/groups', { name: `Group of ${id}`, users: [] })) as { id: number };
    await api('POST', `/api/admin/projects/${id}/access`, { roles: [4], users: [], groups: [other.id] });
    await chooseFor(page, name, 'Remove access');
    await confirm(page, `Remove the access of ${name}`, 'Remove access');
    await row.waitFor({ state: 'detached' });
    await page
      .getByRole('row', { name: `Group of ${id}` })
      .getByText('Owner')
      .waitFor();
    await closeChecked(opened);
  });

  it('of one letter can be hit, and show each tab that has the focus on a narrow screen', async () => {
    const id = await aProject({ name: 'i' });
    await api('POST', `/api/admin/projects/${id}/features`, { name: `flag-of-${id}` });
    for (const path of ['/projects', `/projects/${id}/features/flag-of-${id}`]) {
      const opened = await openSignedIn(path);
      await opened.page.getByRole('link', { name: 'i', exact: true }).first().waitFor();
      await expectAccessible(opened);
      await closeChecked(opened);
    }
    const opened = await openSignedIn(`/projects/${id}`, { width: 390, height: 844 });
    const { page } = opened;
    const tabs = page.getByRole('navigation', { name: 'The project' });
    await tabs.getByRole('link', { name: 'Events' }).waitFor();
    const count = await tabs.getByRole('link').count();
    expect(count).toBeGreaterThan(8);
    await tabs.getByRole('link').last().focus();
    for (let nth = count - 1; nth > 0; nth--) {
      await page.keyboard.press('Shift+Tab');
      await eventually(async () => {
        const [bar, tab] = await Promise.all([tabs.boundingBox(), page.locator(':focus').boundingBox()]);
        expect(tab?.x ?? -1).toBeGreaterThanOrEqual(bar?.x ?? 0);
        expect((tab?.x ?? 0) + (tab?.width ?? 0)).toBeLessThanOrEqual((bar?.x ?? 0) + (bar?.width ?? 0));
      });
    }
    await closeChecked(opened);
  });

  it('shows the secret of a new API token once, and deletes the token after a question that names it', async () => {
    const id = await aProject();
    const opened = await openSignedIn(`/projects/${id}/tokens`, { width: 390, height: 844 });
    const { page } = opened;
    await page.getByRole('button', { name: 'Create a token' }).press('Enter');
    await page.getByRole('textbox', { name: 'Name' }).fill('checkout-service');
    await expectAccessible(opened);
    await page.keyboard.press('Enter');
    const made = page.getByRole('alertdialog', { name: 'The token is created' });
    await made.getByText(new RegExp(`^${id}:`)).waitFor();
    await expectAccessible(opened);
    await made.getByRole('button', { name: 'I have copied it' }).press('Enter');
    await page.getByRole('rowheader', { name: 'checkout-service' }).waitFor();
    expect(await page.getByText(new RegExp(`^${id}:`)).count()).toBe(0);
    await expectAccessible(opened);
    await chooseFor(page, 'checkout-service', 'Delete the token');
    await confirm(page, 'Delete the API token “checkout-service”', 'Delete the token');
    await page.getByText('No API tokens yet').waitFor();
    await closeChecked(opened);
  });

  it('revives all archived flags that the search finds, however many they are, and no others', async () => {
    const id = await aProject();
    const flags = Array.from({ length: 103 }, (_none, nth) => `${id}.${nth === 0 ? 'kept' : `flag-${nth}`}`);
    for (let at = 0; at < flags.length; at += 10) {
      await Promise.all(
        flags.slice(at, at + 10).map((name) => api('POST', `/api/admin/projects/${id}/features`, { name })),
      );
    }
    await api('POST', `/api/admin/projects/${id}/archive`, { features: flags });
    const opened = await openSignedIn(`/projects/${id}/archive?q=flag-`);
    const { page } = opened;
    const sizes: number[] = [];
    page.on('request', (request) => {
      const { features } = (request.postDataJSON() ?? {}) as { readonly features?: readonly string[] };
      if (new URL(request.url()).pathname.endsWith('/revive')) sizes.push(features?.length ?? 0);
    });
    await page.getByRole('button', { name: 'Revive all' }).click();
    await confirm(page, 'Revive 102 flags', 'Revive');
    await page.getByText('102 flags are back.').waitFor();
    expect(sizes).toEqual([100, 2]);
    const { features } = (await api('GET', `/api/admin/archive/features/${id}`)) as {
      readonly features: readonly { readonly name: string }[];
    };
    expect(features.map(({ name }) => name)).toEqual([`${id}.kept`]);
    await closeChecked(opened);
  });

  it('revives an archived flag of a project, and deletes another for good', async () => {
    const id = await aProject();
    for (const flag of [`${id}.one`, `${id}.two`]) {
      await api('POST', `/api/admin/projects/${id}/features`, { name: flag });
      await api('DELETE', `/api/admin/projects/${id}/features/${flag}`);
    }
    const opened = await openSignedIn(`/projects/${id}/archive`);
    const { page } = opened;
    await chooseFor(page, `${id}.one`, 'Revive');
    await confirm(page, `Revive the flag “${id}.one”`, 'Revive');
    await page.getByText(`The flag ${id}.one is back.`).waitFor();
    await expectAccessible(opened);
    await chooseFor(page, `${id}.two`, 'Delete for good');
    await page.getByRole('textbox', { name: `Type “${id}.two” to confirm` }).fill(`${id}.two`);
    await page.keyboard.press('Enter');
    await page.getByText('The archive is empty').waitFor();
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('deletes an archived flag for good on its page, and goes on to the flags of its project', async () => {
    const id = await aProject();
    await api('POST', `/api/admin/projects/${id}/features`, { name: `${id}.old` });
    await api('DELETE', `/api/admin/projects/${id}/features/${id}.old`);
    const opened = await openSignedIn(`/projects/${id}/features/${id}.old`);
    const { page } = opened;
    const actions = page.getByRole('button', { name: 'Actions', exact: true });
    await openMenu(actions, 'Delete for good');
    await page.getByRole('dialog', { name: 'Actions' }).waitFor();
    await chooseFromMenu(actions, 'Delete for good');
    const question = page.getByRole('alertdialog', { name: `Delete the flag “${id}.old” for good` });
    await question.waitFor();
    // An event that may concern the flag, after which the page reads it again, leaves the question open.
    const readAgain = page.waitForResponse((response) => response.url().endsWith(`/features/${id}.old`));
    await api('POST', '/api/admin/segments', { name: `Seen in ${id}`, constraints: [] });
    await readAgain;
    expect(await question.getByRole('button', { name: 'Delete for good' }).isDisabled()).toBe(true);
    await question.getByLabel(`Type “${id}.old” to confirm`).fill(`${id}.old`);
    await confirm(page, `Delete the flag “${id}.old” for good`, 'Delete for good');
    await page.getByText(`The flag ${id}.old is deleted.`).waitFor();
    await page.getByRole('heading', { name: `Flags of Name of ${id}` }).waitFor();
    await closeChecked(opened);
  });
});
