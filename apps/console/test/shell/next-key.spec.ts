import { eventually } from '@bunting/testing';
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { api, closeChecked, describeInBrowser, openSignedIn } from '../support/browser.ts';

/**
 * Holds what pages do in the next frame: a key that is pressed meanwhile finds only what was done at once, as that of a person does who is
 * faster than the screen.
 */
async function holdFrames(page: Page): Promise<void> {
  await page.evaluate(() => Object.assign(globalThis, { requestAnimationFrame: () => 0 }));
}

function focusedName(page: Page): Promise<string | null | undefined> {
  return page.evaluate(
    () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent?.trim(),
  );
}

async function press(page: Page, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

describeInBrowser('the key after the one that closes something', () => {
  beforeAll(async () => {
    await api('POST', '/api/admin/projects/default/features', { name: 'keys.first', type: 'release' });
    await api('POST', '/api/admin/projects/default/api-tokens', {
      tokenName: 'keys-deleted',
      type: 'client',
      environment: 'development',
      projects: ['default'],
    });
  });

  it('reaches the button that opened a dialog, a menu or the palette', async () => {
    const opened = await openSignedIn('/projects');
    const { page } = opened;
    for (const [button, role, name] of [
      ['Keyboard shortcuts', 'dialog', 'Keyboard shortcuts'],
      ['Account', 'menu', 'Account'],
    ] as const) {
      const shown = page.getByRole(role, { name });
      await page.getByRole('banner').getByRole('button', { name: button }).press('Enter');
      await shown.waitFor();
      await holdFrames(page);
      await press(page, 'Escape', 'Enter');
      await shown.waitFor();
      await press(page, 'Escape');
      await shown.waitFor({ state: 'detached' });
      expect(await focusedName(page)).toBe(button);
    }
    await press(page, 'Control+k');
    await page.getByRole('dialog', { name: 'Search' }).waitFor();
    await press(page, 'Escape', 'Enter');
    await page.getByRole('menu', { name: 'Account' }).waitFor();
    await closeChecked(opened);
  });

  it('reaches the menu from which a question was asked, and the title where the thing is deleted', async () => {
    const opened = await openSignedIn('/projects/default/tokens');
    const { page } = opened;
    const actions = page.getByRole('button', { name: 'Actions for keys-deleted' });
    const question = page.getByRole('alertdialog', { name: 'Delete the API token “keys-deleted”' });
    const ask = async () => {
      await page.getByRole('menuitem', { name: 'Delete the token' }).press('Enter');
      await question.waitFor();
    };
    await actions.press('Enter');
    await ask();
    await holdFrames(page);
    await press(page, 'Escape', 'Enter');
    await ask();
    // The list is read again only after the question has closed.
    let release = (): void => undefined;
    const closed = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/projects/default/api-tokens', async (route) => {
      await closed;
      await route.continue();
    });
    await question.getByRole('button', { name: 'Delete the token' }).press('Enter');
    await question.waitFor({ state: 'detached' });
    release();
    await actions.waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
    await closeChecked(opened);
  });

  it('reaches the select whose option was chosen, within the dialog that has it', async () => {
    const opened = await openSignedIn('/projects/default/features/keys.first');
    const { page } = opened;
    await page.getByRole('button', { name: 'Add a tag' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Add a tag' });
    const type = dialog.getByRole('button', { name: /Type$/ });
    await type.press('ArrowDown');
    await page.getByRole('option', { name: /^simple/ }).waitFor();
    await holdFrames(page);
    await press(page, 'Enter', 'ArrowDown');
    await page.getByRole('option', { name: /^simple/, selected: true }).waitFor();
    await press(page, 'Escape', 'Tab');
    await page.getByRole('listbox').waitFor({ state: 'detached' });
    expect(await dialog.evaluate((element) => element.contains(document.activeElement))).toBe(true);
    await press(page, 'Escape', 'Enter');
    await dialog.waitFor();
    await closeChecked(opened);
  });

  it('starts at the title of the page that it led to, which shows that it has the focus', async () => {
    const opened = await openSignedIn('/change-requests?view=mine');
    const { page } = opened;
    await page.getByRole('heading', { name: 'Change requests', level: 1 }).waitFor();
    await press(page, 'Control+k');
    await page.getByRole('dialog', { name: 'Search' }).waitFor();
    await page.keyboard.type('keys.first');
    await page
      .getByRole('option', { name: /keys\.first/ })
      .first()
      .waitFor();
    await press(page, 'Enter');
    const title = page.getByRole('heading', { name: 'keys.first', level: 1 });
    await title.waitFor();
    await eventually(async () => expect(await focusedName(page)).toBe('keys.first'));
    expect(await title.evaluate((heading) => getComputedStyle(heading).outlineStyle)).toBe('solid');
    await closeChecked(opened);
  });

  it.each([
    { path: '/flags?q=keys.first', name: 'keys.first in development', role: 'switch' },
    { path: '/projects/default', name: 'Overview', role: 'link' },
  ] as const)('goes to $name, whose focus ring nothing cuts off', async ({ path, name, role }) => {
    const opened = await openSignedIn(path);
    const { page } = opened;
    const control = page.getByRole(role, { name, exact: true }).first();
    await control.waitFor();
    await press(page, 'Tab');
    await control.focus();
    const cut = await control.evaluate((element) => {
      const { outlineStyle, outlineOffset, outlineWidth } = getComputedStyle(element);
      const reach = Number.parseFloat(outlineOffset) + Number.parseFloat(outlineWidth);
      const ring = element.getBoundingClientRect();
      let around = element.parentElement;
      while (around !== null && getComputedStyle(around).overflowX === 'visible') around = around.parentElement;
      const edge = (around ?? document.documentElement).getBoundingClientRect();
      const room = [ring.left - edge.left, edge.right - ring.right, ring.top - edge.top, edge.bottom - ring.bottom];
      return { outlineStyle, missing: room.filter((pixels) => pixels < reach - 0.5) };
    });
    expect(cut).toEqual({ outlineStyle: 'solid', missing: [] });
    await closeChecked(opened);
  });

  it('adds no tag without words', async () => {
    const opened = await openSignedIn('/projects/default/features/keys.first');
    const { page } = opened;
    await page.getByRole('button', { name: 'Add a tag' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Add a tag' });
    await dialog.getByRole('textbox', { name: 'Tag' }).press('Enter');
    await dialog.getByText('Write the tag.').waitFor();
    expect([...opened.calls.keys()].filter((request) => request.method() === 'PUT')).toEqual([]);
    await closeChecked(opened);
  });

  it('is typed behind a suggestion that was taken', async () => {
    const opened = await openSignedIn('/flags');
    const { page } = opened;
    const filter = page.getByRole('combobox', { name: 'Filter flags' });
    await filter.fill('stat zz');
    // The address follows what is typed, and never the other way round.
    const takenBack = await filter.evaluateHandle((input) => {
      const setByReact = Object.getOwnPropertyDescriptor(input, 'value');
      const values: string[] = [];
      Object.defineProperty(input, 'value', {
        ...setByReact,
        set(value: string) {
          values.push(value);
          setByReact?.set?.call(input, value);
        },
      });
      return values;
    });
    await page.waitForURL(/q=stat/);
    expect(await takenBack.jsonValue()).toEqual([]);
    await press(page, 'Home', ...Array.from({ length: 'stat'.length }, () => 'ArrowRight'));
    await page.getByRole('option', { name: /^state:/ }).waitFor();
    await holdFrames(page);
    await press(page, 'ArrowDown', 'Enter', 'a', 'b', 'c');
    await page.waitForFunction(() => (document.activeElement as HTMLInputElement | null)?.value.includes('abc'));
    expect(await filter.inputValue()).toBe('state:abc zz');
    await page.getByRole('button', { name: 'Clear the filter' }).first().press('Enter');
    await press(page, 'x');
    expect(await filter.inputValue()).toBe('x');
    await closeChecked(opened);
  });
});
