import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import type { Locator } from 'playwright-core';
import {
  api,
  chooseFromMenu,
  closeChecked,
  cutOffIn,
  describeInBrowser,
  expectAccessible,
  goTo,
  openSignedIn,
} from '../support/browser.ts';

const added = ['e03', 'e04', 'e05', 'e06', 'e07', 'e08', 'e09', 'e10', 'e11'].map(
  (name) => `region-environment-${name}`,
);
const last = 'live-shop';

/** How far the controls of a kind reach beyond the window, in pixels. */
function overflowOf(selector: string): number {
  const ends = [...document.querySelectorAll(selector)].map((one) => one.getBoundingClientRect().right);
  return Math.max(0, ...ends) - document.documentElement.clientWidth;
}

function linesOf(text: Locator): Promise<number> {
  return text.evaluate((one) => {
    const range = document.createRange();
    range.selectNodeContents(one);
    return new Set([...range.getClientRects()].map(({ top }) => top)).size;
  });
}

const counts = { trio: 3, quintet: 5, dozen: 12 };
const requestIds = new Map<string, number>();

describeInBrowser('a project with twelve environments', () => {
  beforeAll(async () => {
    // Without a list a project takes all environments that are enabled when it is created, which other specs may have added.
    await api('POST', '/api/admin/projects', {
      id: 'dozen',
      name: 'Dozen',
      environments: ['development', 'production'],
    });
    await api('POST', '/api/admin/projects/dozen/features', { name: 'dozen.flag', type: 'release', description: '' });
    for (const name of [...added, last]) {
      await api('POST', '/api/admin/environments', { name, type: name === last ? 'production' : 'test' });
      await api('POST', '/api/admin/projects/dozen/environments', { environment: name });
    }
    for (const [id, count] of Object.entries(counts)) {
      if (id !== 'dozen') {
        const environments = ['production', ...added, last].slice(0, count);
        await api('POST', '/api/admin/projects', { id, name: id, environments });
        await api('POST', `/api/admin/projects/${id}/features`, { name: `${id}.flag`, type: 'release' });
      }
      await api('POST', `/api/admin/projects/${id}/stale`, { features: [`${id}.flag`], stale: true });
      const change = { action: 'updateEnabled', feature: `${id}.flag`, payload: { enabled: true } };
      const requests = `/api/admin/projects/${id}/environments/production/change-requests`;
      requestIds.set(id, ((await api('POST', requests, [change])) as { readonly id: number }).id);
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
      // Other specs may have added environments of their own to all projects.
      for (const name of ['development', 'production', ...added])
        await page.getByRole('switch', { name: `Enabled in ${name}`, exact: true }).waitFor();
      const heading = page.getByRole('region', { name: `The flag in ${last}` }).getByRole('heading');
      // Once the environments are known, which the switches do not wait for.
      await eventually(async () => {
        expect(await page.evaluate(overflowOf, 'section[aria-label^="The flag in"]')).toBeLessThanOrEqual(0);
        for (const word of [last, 'production'])
          expect(await linesOf(heading.getByText(word, { exact: true }))).toBe(1);
      });
      await expectAccessible(opened);
      await closeChecked(opened);
    },
  );

  it.each([1280, 1440, 390])(
    'has its list, flag, cleanup and review within the edges of %i pixels, with three and five environments as well',
    async (width) => {
      const opened = await openSignedIn('/', { width });
      const faults: string[] = [];
      for (const id of Object.keys(counts))
        for (const part of ['flags', `features/${id}.flag`, 'cleanup', `change-requests/${requestIds.get(id)}`]) {
          await goTo(opened.page, `/projects/${id}/${part}`);
          faults.push(...(await cutOffIn(opened.page)).map((fault) => `${id}, ${part}: ${fault}`));
        }
      expect(faults).toEqual([]);
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
    // Names that begin alike are read to their end.
    const cut = await headers.evaluateAll(
      (all) =>
        all.flatMap((one) => [...one.querySelectorAll('*')]).filter((one) => one.scrollWidth > one.clientWidth + 1)
          .length,
    );
    expect(cut).toBe(0);
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

  it('opens one of them on the page of a flag, and those that a person pins, and says of the others what the flag does there', async () => {
    const path = '/api/admin/projects/dozen/features/dozen.flag/environments';
    const strategy = { name: 'flexibleRollout', parameters: { rollout: '25', stickiness: 'default', groupId: 'g' } };
    await api('POST', `${path}/${added[0]}/strategies`, strategy);
    await api('POST', `${path}/${added[1]}/strategies`, strategy);
    await api('POST', `${path}/${added[1]}/on`);
    const opened = await openSignedIn(`/projects/dozen/features/dozen.flag#${added[0]}`);
    const { page } = opened;
    const column = (name: string) => page.getByRole('region', { name: `The flag in ${name}`, exact: true });
    const opener = (name: string) => column(name).getByRole('heading').getByRole('button');
    const isOpen = async (name: string) => (await opener(name).getAttribute('aria-expanded')) === 'true';
    const openOnes = () =>
      page.locator('section:not([data-folded]) > * h3 [aria-expanded=true]').evaluateAll((all) => all.length);
    // The address names one, which has the next key.
    await eventually(async () => expect(await isOpen(added[0] as string)).toBe(true));
    await eventually(async () =>
      expect(await opener(added[0] as string).evaluate((one) => one === document.activeElement)).toBe(true),
    );
    await column(added[0] as string)
      .getByRole('link', { name: '25 % of users.' })
      .waitFor();
    expect(await openOnes()).toBe(1);
    await column(added[1] as string)
      .getByText('25 % of users', { exact: true })
      .waitFor();
    await column('development').getByText('Off', { exact: true }).waitFor();
    // The request of the beginning is a draft of the administrator, who sees that it waits.
    await column('production').getByRole('img', { name: 'a change waits' }).waitFor();
    await expectAccessible(opened);

    // By keyboard, with the whole line beside it as well; the address follows.
    await opener(added[1] as string).press('Enter');
    await eventually(async () => expect(await openOnes()).toBe(1));
    expect(await isOpen(added[1] as string)).toBe(true);
    await page.waitForURL((url) => url.hash === `#${added[1]}`);
    // The press reaches the button, which covers the line.
    await column('development').getByText('Off', { exact: true }).click({ force: true });
    await eventually(async () => expect(await isOpen('development')).toBe(true));
    expect(await openOnes()).toBe(1);
    await column('development').getByRole('button', { name: 'Keep development open' }).press('Enter');
    await opener(last).press('Enter');
    await eventually(async () => expect(await isOpen(last)).toBe(true));
    expect(await isOpen('development')).toBe(true);
    expect(await openOnes()).toBe(2);
    // They stay so on the page of another flag, without an address that says it.
    await goTo(page, '/projects');
    await goTo(page, '/projects/dozen/features/dozen.flag');
    await eventually(async () => expect(await openOnes()).toBe(2));
    expect(await isOpen(last)).toBe(true);
    await opener(last).press('Enter');
    await eventually(async () => expect(await openOnes()).toBe(1));
    // Each line has the switch, and production's has its key.
    await page.keyboard.press('p');
    const production = column('production').getByRole('switch', { name: 'Enabled in production' });
    await eventually(async () => expect(await production.evaluate((one) => one === document.activeElement)).toBe(true));
    await column('development').getByRole('button', { name: 'Fold development up with the others' }).click();
    await eventually(async () => expect(await openOnes()).toBe(0));
    // Whoever comes back from an editor sees the environment that it was about.
    await goTo(page, `/projects/dozen/features/dozen.flag/environments/${added[1]}/strategies/new`);
    await page.getByRole('link', { name: 'Cancel' }).click();
    await eventually(async () => expect(await isOpen(added[1] as string)).toBe(true));
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

  it('marks an environment everywhere by the colour that an administrator chose, and production by its shape as well', async () => {
    const coloured = added[1] as string;
    const opened = await openSignedIn('/admin/environments');
    const { page } = opened;
    await chooseFromMenu(page.getByRole('button', { name: `Actions for ${coloured}` }), 'Edit');
    const edit = page.getByRole('dialog', { name: `Edit the environment “${coloured}”` });
    await edit.getByRole('button', { name: /Colour/ }).press('Enter');
    await page.getByRole('option', { name: 'Teal' }).click();
    await expectAccessible(opened);
    await edit.getByRole('button', { name: 'Save' }).press('Enter');
    await page.getByText(`The environment ${coloured} is saved.`).waitFor();
    await page.locator('[data-environment-color=teal]').getByText(coloured).waitFor();
    expect(await api('GET', `/api/admin/environments/${coloured}`)).toMatchObject({ color: 'teal', type: 'test' });
    // In a list of all projects the row may move while it is pressed: other specs create flags.
    await goTo(page, '/projects/dozen/flags');
    await page.getByRole('link', { name: 'dozen.flag' }).click();
    const column = page.getByRole('region', { name: `The flag in ${coloured}` });
    await column.waitFor();
    expect(await column.getAttribute('data-environment-color')).toBe('teal');
    const shapeOf = (name: string) =>
      page
        .getByRole('region', { name: `The flag in ${name}` })
        .locator('h2 [data-environment-color], h3 [data-environment-color]')
        .first()
        .evaluate((mark) => getComputedStyle(mark, '::before').borderRadius);
    expect(await shapeOf(last)).not.toBe(await shapeOf(coloured));
    await page.emulateMedia({ forcedColors: 'active' });
    const drawn = await column
      .locator('[data-environment-color]')
      .first()
      .evaluate((mark) => {
        const { backgroundColor } = getComputedStyle(mark, '::before');
        return backgroundColor !== getComputedStyle(document.body).backgroundColor;
      });
    expect(drawn).toBe(true);
    await closeChecked(opened);
  });
});
