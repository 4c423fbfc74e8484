import { eventually } from '@bunting/testing';
import { randomUUID } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import {
  api,
  closeChecked,
  describeInBrowser,
  expectAccessible,
  openPage,
  openSignedIn,
  signIn,
  untilFocused,
} from '../support/browser.ts';

/** Expects that nothing on the page is written for machines: no JSON pointer, and no value that is no text. */
async function expectWordsForPeople(page: Page): Promise<void> {
  const text = await page.evaluate(() => document.body.innerText);
  expect(text).not.toMatch(/`\/|\/(body|query|payload|params)\/|\bundefined\b|\[object/);
}

/** Whether something else lies over the middle of an element, or it is out of sight. A field stands for an input that is read out alone. */
function isCovered(element: Locator): Promise<boolean> {
  return element.evaluate((one) => {
    let seen: Element = one.closest('label') ?? one;
    while (seen.getBoundingClientRect().width <= 1 && seen.parentElement !== null) seen = seen.parentElement;
    const { left, top, width, height } = seen.getBoundingClientRect();
    const shown = document.elementFromPoint(left + width / 2, top + height / 2);
    return shown === null || !(seen.contains(shown) || shown.contains(seen));
  });
}

function hasFocus(element: Locator): Promise<boolean> {
  return element.evaluate((one) => document.activeElement === one);
}

async function aUser(rootRole: number): Promise<string> {
  const user = { username: `user-${randomUUID().slice(0, 8)}`, name: 'Somebody', rootRole };
  const { id } = (await api('POST', '/api/admin/user-admin', user)) as { readonly id: number };
  const token = await api('POST', `/api/admin/user-admin/${id}/token`, { description: 'console' });
  return (token as { readonly secret: string }).secret;
}

describeInBrowser('a console that was loaded before an update', () => {
  it('says that a part is gone which the new one does not have, and opens it after the page is loaded again', async () => {
    const opened = await openPage('/flags');
    const { page, violations, foreign, notices } = opened;
    let isGone = true;
    await page.route('**/console/create-flag-dialog-*.js', (route) =>
      isGone ? route.fulfill({ status: 404 }) : route.fallback(),
    );
    await signIn(page);
    const create = page.getByRole('button', { name: 'Create a flag' }).first();
    await create.click();
    await page.getByText('Bunting was updated since the page was loaded', { exact: false }).waitFor();
    await expectAccessible(opened);
    isGone = false;
    await page.getByRole('button', { name: 'Load the page again' }).click();
    await signIn(page);
    await create.click();
    await page.getByRole('dialog', { name: 'Create a flag' }).waitFor();
    await opened.close();
    expect({ violations, foreign, notices }).toEqual({ violations: [], foreign: [], notices: [] });
  });
});

describeInBrowser('what the server refuses', () => {
  it.each(['environments', 'context', 'tags'])('is said in the words of the form of %s', async (section) => {
    const opened = await openSignedIn(`/admin/${section}`);
    const { page } = opened;
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog');
    await untilFocused(dialog);
    await dialog.getByLabel('Name', { exact: true }).fill('a b/%');
    await page.keyboard.press('Enter');
    await eventually(async () =>
      expect(await dialog.locator('[data-invalid], [aria-invalid="true"], [role="alert"]').count()).toBeGreaterThan(0),
    );
    await expectWordsForPeople(page);
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('is not taken for saved when something else has answered, such as the sign-in of a network', async () => {
    const opened = await openSignedIn('/admin/tags');
    const { page } = opened;
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog');
    await untilFocused(dialog);
    const name = `network-${randomUUID().slice(0, 8)}`;
    await dialog.getByLabel('Name', { exact: true }).fill(name);
    await page.route('**/api/admin/tag-types', (route) =>
      route.fulfill({ contentType: 'text/html; charset=utf-8', body: '<h1>Welcome to the hotel</h1>' }),
    );
    await page.keyboard.press('Enter');
    await dialog.getByText('Something else has answered instead of Bunting', { exact: false }).waitFor();
    await page.unroute('**/api/admin/tag-types');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('row', { name: new RegExp(name) }).waitFor();
    await closeChecked(opened);
  });

  it('is said in words for a constraint, which is neither evaluated nor sent before it has a value', async () => {
    const name = `fault-${randomUUID().slice(0, 8)}`;
    await api('POST', '/api/admin/projects/default/features', { name });
    const opened = await openSignedIn(`/projects/default/features/${name}/environments/development/strategies/new`);
    const { page } = opened;
    await page.getByText('of each kind, by the server’s own rules', { exact: false }).waitFor();
    let [evaluations, writes] = [0, 0];
    page.on('request', (request) => {
      if (request.url().includes('/impact')) evaluations += 1;
      else if (request.method() !== 'GET') writes += 1;
    });
    await page.getByRole('button', { name: 'Add a constraint' }).click();
    await page.getByText('Enter a value in each constraint to see what this does.').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    const values = page.getByRole('textbox', { name: 'Values' });
    for (const action of ['Save', 'Save and turn on']) {
      await page.getByRole('button', { name: action, exact: true }).click();
      await page.getByText('Enter a value.', { exact: true }).waitFor();
      expect(await hasFocus(values)).toBe(true);
      expect(await isCovered(values)).toBe(false);
    }
    expect(await values.getAttribute('aria-invalid')).toBe('true');
    await expectAccessible(opened);
    expect([evaluations, writes]).toEqual([0, 0]);
    await values.fill('x'.repeat(101));
    await page.getByText('Enter a value.', { exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const fault = page
      .locator('form')
      .getByRole('alert')
      .filter({ hasText: / of constraint 1 must / });
    await fault.waitFor();
    await eventually(async () => expect(await isCovered(fault)).toBe(false));
    // Whatever gets the focus by keyboard is in sight, above the buttons that stay.
    await page.getByLabel('Title').focus();
    for (const last = page.locator('form a', { hasText: 'Cancel' }); !(await hasFocus(last));) {
      await page.keyboard.press('Tab');
      const focused = page.locator(':focus');
      await eventually(async () => expect(await isCovered(focused)).toBe(false));
    }
    await expectWordsForPeople(page);
    evaluations = 0;
    await values.fill('ann');
    await eventually(() => Promise.resolve(expect(evaluations).toBeGreaterThan(0)));
    await expectAccessible(opened);
    // The next page begins at its top, however far this one was scrolled.
    await page.getByRole('main').evaluate((main) => main.scrollTo({ top: main.scrollHeight }));
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const heading = page.getByRole('heading', { name, level: 1 });
    await heading.waitFor();
    await page.getByRole('heading', { name: 'History' }).waitFor();
    expect(await isCovered(heading)).toBe(false);
    expect(await page.getByRole('main').evaluate((main) => main.scrollTop)).toBe(0);
    await closeChecked(opened);
  });

  it('is no reason for a list to break: names of members of objects are no filter keys, and years no times', async () => {
    const opened = await openSignedIn(`/flags?q=${encodeURIComponent('__proto__:x')}`);
    const { page } = opened;
    const filters: readonly (readonly [string, RegExp])[] = [
      ['__proto__:x', /__proto__.* is not a filter key/],
      ['hasOwnProperty:x', /hasOwnProperty.* is not a filter key/],
      ['constructor:x', /constructor.* is not a filter key/],
      ['toString:x', /toString.* is not a filter key/],
      ['seen:<99999y', /write <7d/],
    ];
    for (const [filter, fault] of filters) {
      const bar = page.getByRole('combobox', { name: 'Filter flags' });
      if ((await bar.inputValue()) !== filter) await bar.fill(filter);
      await page.getByText(fault).waitFor();
      await page.getByRole('table', { name: 'Flags' }).waitFor();
      await expectWordsForPeople(page);
    }
    await closeChecked(opened);
  });

  it.each([
    ['/projects/default/change-requests/99999', 'There is no such change request'],
    ['/projects/default/features/no-such-flag/environments/development/strategies/new', 'There is no such flag'],
    ['/admin/segments/99999', 'There is no such segment'],
    ['/admin/integrations/99999', 'There is no such integration'],
    ['/admin/tags/no-such-type', 'There is no such tag type'],
  ])('at %s is a page with a heading, and links that lead on', async (path, heading) => {
    const opened = await openSignedIn(path);
    await opened.page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    const above = opened.page.getByRole('navigation', { name: 'Where this page belongs' });
    await above.getByRole('link').first().waitFor();
    await expectWordsForPeople(opened.page);
    await expectAccessible(opened);
    await closeChecked(opened);
  });
});

describeInBrowser('who may not', () => {
  it('sign in yet sees the sign-in page alone, with nothing of the console', async () => {
    const opened = await openPage('/flags', { width: 390, height: 844 });
    await opened.page.getByRole('group', { name: 'Sign in' }).waitFor();
    expect(await opened.page.getByRole('navigation', { includeHidden: true }).count()).toBe(0);
    expect(await opened.page.title()).toBe('Sign in · Bunting');
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('run JavaScript is told that the console needs it', async () => {
    const { page, close } = await openPage('/flags', { javaScript: false });
    const sentence = page.locator('noscript');
    await sentence.waitFor();
    expect(await sentence.textContent()).toContain('console needs JavaScript');
    await close();
  });

  it('keep the cookie of the session is told so, and not that the password is wrong', async () => {
    const opened = await openPage('/flags');
    const { page } = opened;
    await page.route('**/auth/simple/login', (route) =>
      route.fulfill({ status: 200, contentType: 'application/json', body: '{}' }),
    );
    const dialog = page.getByRole('group', { name: 'Sign in' });
    await dialog.getByLabel('Email or username').fill('somebody');
    await dialog.getByLabel('Password', { exact: true }).fill('the right one');
    await page.keyboard.press('Enter');
    await dialog.getByText('the browser did not keep the cookie', { exact: false }).waitFor();
    expect(await dialog.getByText('These credentials are not right.').count()).toBe(0);
    await closeChecked(opened);
  });

  it('administrate is not offered Administration, and is told in one sentence why a page of it is not shown', async () => {
    const opened = await openPage('/admin/users');
    const { page } = opened;
    const viewer = await aUser(3);
    await signIn(page, viewer);
    await page
      .getByText('You may not see this page: that takes the role Admin, which an administrator can give you.')
      .waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    const navigation = page.getByRole('navigation', { name: 'Main' });
    await navigation.getByRole('link', { name: 'Projects' }).waitFor();
    expect(await navigation.getByRole('link', { name: 'Administration' }).count()).toBe(0);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill('users');
    await page.getByText('Nothing matches.', { exact: false }).waitFor();
    await expectAccessible(opened);
    await page.keyboard.press('Escape');
    await navigation.getByRole('link', { name: 'Projects' }).click();
    await page.getByRole('link', { name: 'Default', exact: true }).click();
    const tabs = page.getByRole('navigation', { name: 'The project' });
    await tabs.getByRole('link', { name: 'Environments' }).waitFor();
    await eventually(async () => {
      const names = await tabs.getByRole('link').allTextContents();
      for (const name of ['Access', 'API tokens', 'Settings']) expect(names).not.toContain(name);
    });
    await closeChecked(opened);
    const followed = await openPage('/projects/default/tokens');
    const tokens = followed.page;
    await signIn(tokens, viewer);
    await tokens
      .getByText(
        /^You may not see this page: that takes the permission “Read API tokens of the project”, which an owner of the project/,
      )
      .waitFor();
    expect(await tokens.getByText('You can look', { exact: false }).count()).toBe(0);
    expect(await tokens.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await closeChecked(followed);
  });

  it('manage people, but what flags are made of, finds only that in Administration', async () => {
    const opened = await openPage('/admin');
    const { page } = opened;
    await signIn(page, await aUser(2));
    const main = page.getByRole('main');
    await main.getByRole('link', { name: /^Segments/ }).waitFor();
    for (const name of [/^Users/, /^Groups/, /^Service accounts/, /^Signing in/])
      expect(await main.getByRole('link', { name }).count()).toBe(0);
    await expectAccessible(opened);
    await closeChecked(opened);
  });
});
