import { beforeAll, expect, it } from 'vitest';
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

describeInBrowser('the console', () => {
  beforeAll(async () => {
    await api('POST', '/api/admin/projects/default/features', { name: 'shell.first', type: 'release' });
  });

  it('asks to sign in, says so when a key is wrong, and shows the page after a right one', async () => {
    const opened = await openPage('/flags?q=shell');
    const { page } = opened;
    const form = page.getByRole('group', { name: 'Sign in' });
    await form.waitFor();
    await expectAccessible(opened);
    await form.getByRole('button', { name: 'Use an API key instead' }).click();
    await form.getByLabel('API key').fill('*:*.wrong-0123456789abcdef0123456789abcdef');
    await page.keyboard.press('Enter');
    await form.getByText('This key is not accepted.').waitFor();
    await signIn(page);
    await page.getByRole('heading', { name: 'Flags', level: 1 }).waitFor();
    await page.getByText('shell.first').waitFor();
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('finds flags and pages in the palette while the user types, by keyboard alone', async () => {
    const opened = await openSignedIn('/flags?q=shell');
    const { page } = opened;
    await page.getByRole('table', { name: 'Flags' }).waitFor();
    await page.keyboard.press('Control+k');
    await untilFocused(page.getByRole('dialog', { name: 'Search' }));
    await page.keyboard.type('shell.fi');
    await page.getByRole('option', { name: /shell\.first/ }).waitFor();
    await expectAccessible(opened);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('shows flags that resemble a misspelt text, never those of an earlier text whose answer is late', async () => {
    const opened = await openSignedIn('/flags');
    const { page } = opened;
    await page.getByRole('table', { name: 'Flags' }).waitFor();
    const held = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    await page.route(/search\/suggest\?.*query=shell$/, async (route) => {
      await held.promise;
      await route.continue().catch(() => undefined);
      answered.resolve();
    });
    await page.keyboard.press('Control+k');
    const box = page.getByRole('combobox', { name: 'Search' });
    const asked = page.waitForRequest(/search\/suggest\?.*query=shell$/);
    await box.fill('shell');
    await asked;
    await box.fill('shlel fisrt');
    const found = page.getByRole('option', { name: /shell\.first/ });
    await found.waitFor();
    await page.getByText('Similar flags').waitFor();
    expect(await found.locator('mark').allTextContents()).toEqual(['shell', 'first']);
    held.resolve();
    await answered.promise;
    expect(await page.getByText('Similar flags').count()).toBe(1);
    await expectAccessible(opened);
    const heldAgain = Promise.withResolvers<void>();
    await page.route(/search\/suggest\?.*query=shell(%20|\+)second/, async (route) => {
      await heldAgain.promise;
      await route.continue();
    });
    const askedAgain = page.waitForRequest(/search\/suggest\?.*query=shell(%20|\+)second/);
    await box.fill('shell second');
    expect(await found.count()).toBe(0);
    await askedAgain;
    expect(await found.count()).toBe(0);
    expect(await page.getByText('Nothing matches').count()).toBe(0);
    await page.keyboard.press('Enter');
    expect(new URL(page.url()).pathname).toBe('/flags');
    heldAgain.resolve();
    await page.getByText('Nothing matches').waitFor();
    await closeChecked(opened);
  });

  it('says what an address without a page is, and leads back', async () => {
    const opened = await openSignedIn('/no/such/page');
    await opened.page.getByRole('heading', { name: 'There is no such page', level: 1 }).waitFor();
    await opened.page.getByRole('link', { name: 'Go to Home' }).click();
    await opened.page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    expect(new URL(opened.page.url()).pathname).toBe('/');
    await closeChecked(opened);
  });
});
