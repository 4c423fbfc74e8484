import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import { api, closeChecked, describeInBrowser, expectAccessible, openSignedIn } from '../support/browser.ts';

const added = ['e03', 'e04', 'e05', 'e06', 'e07', 'e08', 'e09', 'e10', 'e11'].map(
  (name) => `region-environment-${name}`,
);
const last = 'live-shop';

/** How far the controls of a kind reach beyond the window, in pixels. */
function overflowOf(selector: string): number {
  const ends = [...document.querySelectorAll(selector)].map((one) => one.getBoundingClientRect().right);
  return Math.max(0, ...ends) - document.documentElement.clientWidth;
}

describeInBrowser('a project with twelve environments', () => {
  beforeAll(async () => {
    // A project takes all environments that are enabled when it is created.
    await api('POST', '/api/admin/projects', { id: 'dozen', name: 'Dozen' });
    await api('POST', '/api/admin/projects/dozen/features', { name: 'dozen.flag', type: 'release', description: '' });
    for (const name of [...added, last]) {
      await api('POST', '/api/admin/environments', { name, type: name === last ? 'production' : 'test' });
      await api('POST', '/api/admin/projects/dozen/environments', { environment: name });
    }
  });
  afterAll(async () => {
    for (const name of [...added, last]) await api('POST', `/api/admin/environments/${name}/off`);
  });

  it.each([1280, 1440, 390])(
    'shows all of them on the page of a flag, none beyond the edge of %i pixels',
    async (width) => {
      const opened = await openSignedIn('/projects/dozen/features/dozen.flag', { width });
      const { page } = opened;
      await page.getByRole('switch', { name: `Enabled in ${last}` }).waitFor();
      expect(await page.getByRole('switch', { name: /^Enabled in/ }).count()).toBe(12);
      expect(await page.evaluate(overflowOf, 'section[aria-label^="The flag in"]')).toBeLessThanOrEqual(0);
      await page
        .getByRole('region', { name: `The flag in ${last}` })
        .getByText('production', { exact: true })
        .waitFor();
      await expectAccessible(opened);
      await closeChecked(opened);
    },
  );

  it('lists five of them, production among them, and those that a person chooses, in their order', async () => {
    const opened = await openSignedIn('/projects/dozen/flags');
    const { page } = opened;
    await page.getByRole('link', { name: 'dozen.flag' }).waitFor();
    const headers = page.locator('[aria-sort] button[title]');
    await eventually(async () => expect(await headers.count()).toBe(5));
    const titles = () => headers.evaluateAll((all) => all.map((one) => one.getAttribute('title')));
    expect(await titles()).toContain('production');
    expect(await titles()).toContain(last);
    expect(await page.evaluate(overflowOf, '[role=switch]')).toBeLessThanOrEqual(0);
    await page.getByRole('button', { name: '5 of 12 environments' }).click();
    const dialog = page.getByRole('dialog', { name: 'Environments that you see' });
    await dialog.getByText('region-environment-e11').click();
    await dialog.getByText('development', { exact: true }).click();
    for (let times = 0; times < 11; times++) await dialog.getByRole('button', { name: `Move ${last} up` }).click();
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await eventually(async () => {
      const shown = await titles();
      expect(shown[0]).toBe(last);
      expect(shown).toContain('region-environment-e11');
      expect(shown).not.toContain('development');
    });
    // The page of a flag follows the same choice.
    await page.getByRole('link', { name: 'dozen.flag' }).click();
    await page.getByRole('region', { name: 'The flag in region-environment-e11' }).waitFor();
    expect(await page.getByRole('region', { name: 'The flag in development' }).count()).toBe(0);
    await closeChecked(opened);
  });

  it('keeps the names of flags in sight on a phone while environments scroll past them', async () => {
    const opened = await openSignedIn('/projects/dozen/flags', { width: 390, height: 844 });
    const { page } = opened;
    const name = page.getByRole('link', { name: 'dozen.flag' });
    await name.waitFor();
    const list = page.getByRole('region', { name: 'Flags of dozen' });
    await list.evaluate((one) => one.scrollTo({ left: one.scrollWidth }));
    await page.getByRole('switch').last().waitFor();
    expect(await page.evaluate(overflowOf, '[role=switch]')).toBeLessThanOrEqual(0);
    const box = await name.boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect(box?.x).toBeLessThan(390);
    await expectAccessible(opened);
    await closeChecked(opened);
  });
});
