import { expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import type { Locator } from 'playwright-core';
import {
  api,
  closeChecked,
  describeInBrowser,
  expectAccessible,
  openPage,
  openSignedIn,
  signIn,
} from '../support/browser.ts';

describeInBrowser('a select', () => {
  it('takes what is typed on it, the one before and after by arrows, and opens by the others, by Enter and by a press', async () => {
    const opened = await openSignedIn('/inbox');
    const { page } = opened;
    const select = page
      .getByRole('button', { name: 'Show', exact: false })
      .and(page.locator('[aria-haspopup=listbox]'));
    const shows = async (text: string): Promise<void> =>
      eventually(async () => expect(await select.textContent()).toBe(text));
    await select.focus();
    await page.keyboard.type('my TOKEN');
    await shows('My token is about to end');
    await page.keyboard.press('ArrowLeft');
    await shows('My flag became stale');
    await page.keyboard.press('ArrowRight');
    await shows('My token is about to end');
    expect(await page.getByRole('listbox').count()).toBe(0);

    await page.keyboard.press('ArrowDown');
    const list = page.getByRole('listbox', { name: 'Show' });
    await list.getByRole('option', { name: 'My token is about to end', selected: true }).waitFor();
    await eventually(async () =>
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('My token is about to end'),
    );
    await expectAccessible(opened);
    // In the list, too, letters find an option. The chosen one is left without a change.
    await page.keyboard.type('comm');
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'detached' });
    await shows('My token is about to end');
    await eventually(async () => expect(await select.evaluate((one) => one === document.activeElement)).toBe(true));

    await page.keyboard.press('Enter');
    await list.waitFor();
    await page.keyboard.type('comm');
    await page.keyboard.press('Enter');
    await shows('Comments on my change requests and reviews');
    await list.waitFor({ state: 'detached' });

    await select.click();
    await page.getByRole('option', { name: 'My flag became stale' }).click();
    await shows('My flag became stale');
    // The one that is chosen already closes the list.
    await select.click();
    await page.getByRole('option', { name: 'My flag became stale' }).click();
    await list.waitFor({ state: 'detached' });
    await shows('My flag became stale');
    await closeChecked(opened);
  });
});

describeInBrowser('the list of a select', () => {
  it.each([1280, 390])(
    'is as wide as its field, or wider where that is narrow, in a window of %d px',
    async (width) => {
      const opened = await openSignedIn('/inbox', { width });
      const { page } = opened;
      const widthOfList = async (select: Locator): Promise<readonly [field: number, list: number]> => {
        await select.click();
        const list = page.getByRole('listbox');
        await list.waitFor();
        const popover = await list.locator('xpath=..').boundingBox();
        expect(popover?.x).toBeGreaterThanOrEqual(0);
        expect((popover?.x ?? 0) + (popover?.width ?? 0)).toBeLessThanOrEqual(width);
        const field = await select.boundingBox();
        await page.keyboard.press('Escape');
        await list.waitFor({ state: 'detached' });
        return [field?.width ?? 0, popover?.width ?? 0];
      };
      const [narrow, ofNarrow] = await widthOfList(
        page.getByRole('button', { name: 'Show', exact: false }).and(page.locator('[aria-haspopup=listbox]')),
      );
      expect(narrow).toBeLessThan(320);
      expect(ofNarrow).toBeGreaterThan(narrow);
      expect(ofNarrow).toBeLessThanOrEqual(320);
      await page.goto(new URL('/admin/sign-in', page.url()).href);
      const [wide, ofWide] = await widthOfList(page.locator('[aria-haspopup=listbox]').first());
      expect(wide).toBeGreaterThan(320);
      expect(Math.round(ofWide)).toBe(Math.round(wide));
      await closeChecked(opened);
    },
  );
});

describeInBrowser('a combo box', () => {
  it('keeps what is typed while its list is being loaded, and then searches for it', async () => {
    const opened = await openSignedIn('/admin/transfer');
    const { page } = opened;
    const held: (() => void)[] = [];
    await page.route('**/selects-implementation-*.js', async (route) => {
      await new Promise<void>((resolve) => held.push(resolve));
      await route.continue();
    });
    const box = page.getByRole('combobox', { name: 'Into the project' });
    // A project is chosen once they are known.
    await eventually(async () => expect(await box.inputValue()).toBe('Default'));
    await page.getByText('Into the project').click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('Defau');
    await eventually(() => expect(held.length).toBe(1));
    await page.keyboard.press('Enter');
    for (const go of held) go();
    await page.getByRole('option', { name: /Default/ }).waitFor();
    await page.keyboard.type('lt');
    expect(await box.inputValue()).toBe('Default');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('listbox').waitFor({ state: 'detached' });
    expect(await box.inputValue()).toBe('Default');
    await closeChecked(opened);
  });

  it('keeps what is typed when the page scrolls: its list follows it, and closes once it is out of sight', async () => {
    const opened = await openSignedIn('/admin/transfer', { height: 400 });
    const { page } = opened;
    const box = page.getByRole('combobox', { name: 'Into the project' });
    const list = page.getByRole('listbox');
    const distance = async () => {
      const [ofBox, ofList] = [await box.boundingBox(), await list.boundingBox()];
      return Math.abs((ofBox?.y ?? 0) - (ofList?.y ?? 0));
    };
    await eventually(async () => expect(await box.inputValue()).toBe('Default'));
    await page.locator('#main').evaluate((main) => {
      const space = document.createElement('div');
      space.style.height = '100vh';
      main.append(space);
    });
    await box.evaluate((element) => element.scrollIntoView({ block: 'center' }));
    await box.fill('Defau');
    await page.getByRole('option', { name: /Default/ }).waitFor();
    const before = { y: (await box.boundingBox())?.y, distance: await distance() };
    const scroll = (by: number) => page.locator('#main').evaluate((main, top) => main.scrollBy(0, top), by);
    await scroll((await page.locator('#main').evaluate((main) => main.scrollTop)) > 30 ? -30 : 30);
    await eventually(async () => {
      expect((await box.boundingBox())?.y).not.toBe(before.y);
      expect(Math.abs((await distance()) - before.distance)).toBeLessThan(2);
    });
    expect(await box.inputValue()).toBe('Defau');
    await scroll(10_000);
    await list.waitFor({ state: 'detached' });
    expect(await box.inputValue()).toBe('Defau');
    await page.keyboard.type('l');
    await page.getByRole('option', { name: /Default/ }).waitFor();
    await page.keyboard.press('Escape');
    expect(await box.inputValue()).toBe('Default');
    await closeChecked(opened);
  });

  it.each([
    { kind: 'one', path: '/admin/transfer', operation: '**/api/admin/projects', label: 'Into the project' },
    { kind: 'several', path: '/admin/groups', operation: '**/api/admin/user-admin', label: 'Add a member' },
  ])('keeps what is typed before its options come, and offers them then: of $kind', async (example) => {
    const { path, operation, label, kind } = example;
    const name = `${kind} comes late`;
    await api('POST', '/api/admin/user-admin', { username: `late-${kind}`, name, rootRole: 3, sendEmail: false });
    await api('POST', '/api/admin/projects', { id: `late-${kind}`, name });
    const opened = await openPage(path);
    const { page } = opened;
    const held: (() => void)[] = [];
    let isHeld = true;
    await page.route(operation, async (route) => {
      if (isHeld) await new Promise<void>((resolve) => held.push(resolve));
      await route.continue();
    });
    await signIn(page);
    if (kind === 'several') await page.getByRole('button', { name: 'Create a group' }).first().click();
    const box = page.getByRole('combobox', { name: label });
    await box.click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type(`${kind} comes`);
    await page.getByText('Nothing matches.').waitFor();
    expect(held.length).toBeGreaterThan(0);
    isHeld = false;
    for (const go of held) go();
    await page.getByRole('option', { name }).waitFor();
    await page.keyboard.type(' la');
    expect(await box.inputValue()).toBe(`${kind} comes la`);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('listbox').waitFor({ state: 'detached' });
    expect(await box.inputValue()).toBe(kind === 'several' ? '' : name);
    if (kind === 'several') await page.getByRole('button', { name: `Remove ${name}` }).waitFor();
    // The next choice, or the key that goes on to the next field, begins here.
    await eventually(async () => expect(await box.evaluate((one) => one === document.activeElement)).toBe(true));
    await closeChecked(opened);
  });
});
