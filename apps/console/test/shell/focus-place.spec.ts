import { eventually } from '@bunting/testing';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { api, closeChecked, describeInBrowser, goTo, openSignedIn } from '../support/browser.ts';

/** A button that takes something away at once, in an editor or a list of what was chosen. */
const removes = /^Remove /;

interface Editor {
  readonly title: string;
  readonly path: string;
  /** brings it to the screen with at least two things in it; without it, they are there */
  readonly fill?: (page: Page) => Promise<void>;
}

async function pressTwice(page: Page, name: string): Promise<void> {
  for (let times = 0; times < 2; times++) await page.getByRole('button', { name, exact: true }).last().press('Enter');
}

async function choose(page: Page, box: Locator, ...options: readonly string[]): Promise<void> {
  for (const option of options) {
    await box.fill(option);
    await page.getByRole('option', { name: option }).first().click();
  }
}

const strategy = '/projects/default/features/place.first/environments/development/strategies/new';
const editors: readonly Editor[] = [
  { title: 'constraints', path: strategy, fill: (page) => pressTwice(page, 'Add a constraint') },
  { title: 'variants', path: strategy, fill: (page) => pressTwice(page, 'Add a variant') },
  { title: 'the tags of a flag', path: '/projects/default/features/place.first' },
  { title: 'the contexts of the playground', path: '/playground', fill: (page) => pressTwice(page, 'Add a context') },
  {
    title: 'legal values',
    path: '/admin/context',
    fill: async (page) => {
      await page.getByRole('button', { name: 'Create a context field' }).first().press('Enter');
      await pressTwice(page, 'Add a value');
    },
  },
  {
    title: 'the parameters of a strategy type',
    path: '/admin/strategies',
    fill: async (page) => {
      await page.getByRole('button', { name: 'Create a strategy type' }).first().press('Enter');
      await pressTwice(page, 'Add a parameter');
    },
  },
  { title: 'the parts of a filter', path: '/flags?q=type:release+tag:simple:one' },
  {
    title: 'the projects of a token',
    path: '/admin/api-tokens',
    fill: async (page) => {
      await page.getByRole('button', { name: 'Create an API token' }).first().press('Enter');
      await choose(
        page,
        page.getByRole('dialog').getByRole('combobox', { name: 'Add a project' }),
        'Place one',
        'Place two',
      );
    },
  },
];

describeInBrowser('what removes itself', () => {
  beforeAll(async () => {
    await api('POST', '/api/admin/projects/default/features', { name: 'place.first', type: 'release' });
    for (const value of ['place-one', 'place-two'])
      await api('POST', '/api/admin/features/place.first/tags', { type: 'simple', value });
    for (const [id, name] of [
      ['place-one', 'Place one'],
      ['place-two', 'Place two'],
    ])
      await api('POST', '/api/admin/projects', { id, name });
  });

  it.each(editors)('leaves the focus near its place, to the last of $title', async ({ path, fill }) => {
    const opened = await openSignedIn('/inbox');
    const { page } = opened;
    await page.getByRole('heading', { level: 1 }).waitFor();
    await goTo(page, path);
    // The first key loads what keeps the focus.
    await page.keyboard.press('Tab');
    await page.waitForFunction(() =>
      performance.getEntriesByType('resource').some(({ name }) => name.includes('/focus-place')),
    );
    await fill?.(page);
    const inDialog = (await page.getByRole('dialog').count()) > 0;
    const place = inDialog ? page.getByRole('dialog') : page.getByRole('main');
    const buttons = place.getByRole('button', { name: removes });
    await eventually(async () => expect(await buttons.count()).toBeGreaterThanOrEqual(2));
    for (let left = await buttons.count(); left > 0; left = await buttons.count()) {
      await buttons.first().focus();
      await page.keyboard.press('Enter');
      await eventually(async () => expect(await buttons.count()).toBeLessThan(left));
      const isInPlace = await place.evaluate(
        (around) => around !== document.activeElement && around.contains(document.activeElement),
      );
      expect(isInPlace).toBe(true);
    }
    await closeChecked(opened);
  });
});
