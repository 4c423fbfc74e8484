import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, openPage, signIn } from '../support/browser.ts';
import { startBunting } from '../support/started-bunting.ts';

describeInBrowser('the console below the path of the public URL', () => {
  const basePath = '/tools/bunting';
  let bunting: Awaited<ReturnType<typeof startBunting>>;
  beforeAll(async () => {
    bunting = await startBunting(basePath);
  });
  afterAll(() => bunting.stop());

  it('signs in, opens pages and their links, and asks nothing outside of that path', async () => {
    const root = `${bunting.url}${basePath}`;
    const opened = await openPage(`${root}/projects/default`);
    const { page } = opened;
    await signIn(page, bunting.token);
    await page.getByRole('heading', { level: 1, name: 'Default' }).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Playground' }).click();
    await page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor();
    expect(page.url()).toBe(`${root}/playground`);
    const links = await page
      .locator('a[href]')
      .evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href));
    expect(links.length).toBeGreaterThan(5);
    // What the helper calls foreign is all that this Bunting was asked for.
    const addresses = [...links, ...opened.foreign];
    expect(addresses.some((address) => address.startsWith(`${root}/api/admin/`))).toBe(true);
    expect(addresses.filter((address) => !address.startsWith(`${root}/`))).toEqual([]);
    expect([opened.violations, opened.faults]).toEqual([[], []]);
    await opened.close();
  });

  it('shows pages for visitors', async () => {
    const opened = await openPage(`${bunting.url}${basePath}/forgotten-password`);
    await opened.page.getByRole('heading', { name: 'Forgotten password' }).waitFor();
    await opened.close();
  });
});
