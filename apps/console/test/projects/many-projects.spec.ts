import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import {
  closeChecked,
  describeInBrowser,
  expectAccessible,
  openPage,
  signIn,
  untilFocused,
} from '../support/browser.ts';

/** Answers a list with copies of its first member, as many as this installation's limits do not allow. */
async function multiply(page: Page, url: RegExp, member: string, copyOf: (nth: number) => object, count: number) {
  await page.route(url, async (route) => {
    if (route.request().method() !== 'GET') return route.fallback();
    const answer = await route.fetch();
    const body = (await answer.json()) as Record<string, object[]>;
    const [first, ...others] = body[member] ?? [];
    const copies = Array.from({ length: count - others.length - 1 }, (_, nth) => ({ ...first, ...copyOf(nth) }));
    await route.fulfill({ response: answer, json: { ...body, [member]: [first, ...others, ...copies] } });
  });
}

describeInBrowser('3,000 projects and 50 environments', () => {
  it('are searched, and no list or choice draws more of them than can be read', async () => {
    const opened = await openPage('/projects');
    const { page } = opened;
    const project = (nth: number): object => ({ id: `many-${nth}`, name: `Project no. ${nth}`, description: '' });
    await multiply(page, /\/api\/admin\/projects(\?|$)/, 'projects', project, 3_000);
    await multiply(page, /\/api\/admin\/environments(\?|$)/, 'environments', (nth) => ({ name: `many-${nth}` }), 50);
    await signIn(page);
    await page.getByText('3,000 in all').waitFor();
    expect(await page.getByRole('row').count()).toBeLessThanOrEqual(201);
    await page.getByLabel('Search in projects').fill('no. 2900');
    await page.getByRole('rowheader', { name: 'Project no. 2900' }).waitFor();
    expect(await page.getByRole('row').count()).toBeLessThan(10);
    await expectAccessible(opened);

    const main = page.getByRole('navigation', { name: 'Main' });
    await main.getByRole('link', { name: 'Flags', exact: true }).click();
    await page.getByRole('button', { name: 'Create a flag' }).first().click();
    const box = page.getByRole('dialog').getByRole('combobox', { name: 'Project' });
    await box.click();
    await page.getByText('Type to find others of 3,0', { exact: false }).waitFor();
    expect(await page.getByRole('option').count()).toBeLessThanOrEqual(100);
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('no. 2900');
    await page.getByRole('option', { name: 'Project no. 2900' }).waitFor();
    await eventually(async () => expect(await page.getByRole('option').count()).toBeLessThan(10));
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();

    // One goes to a project from anywhere.
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Search' });
    await untilFocused(palette);
    await page.keyboard.type('no. 29');
    await palette.getByText('Projects', { exact: true }).first().waitFor();
    expect(await palette.getByRole('option', { name: /^Project no/ }).count()).toBeLessThan(10);
    await page.keyboard.type('00');
    await palette.getByRole('option', { name: 'Project no. 2900 many-2900', selected: true }).waitFor();
    await expectAccessible(opened);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Flags of Project no. 2900' }).waitFor();

    await main.getByRole('link', { name: 'Administration' }).click();
    await page.getByRole('heading', { name: 'Administration', level: 1 }).waitFor();
    await page
      .getByRole('main')
      .getByRole('link', { name: /^Environments/ })
      .first()
      .click();
    await page.getByText('50 in all').waitFor();
    await page.getByLabel('Search in environments').fill('many-20');
    await page.getByRole('rowheader', { name: 'many-20' }).waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await closeChecked(opened);
  });
});
