import { beforeAll, expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import type { Page } from 'playwright-core';
import {
  api,
  chooseFromMenu,
  closeChecked,
  describeInBrowser,
  expectAccessible,
  openSignedIn,
} from '../support/browser.ts';

const project = 'bulk';
const flags = `/api/admin/projects/${project}/features`;

interface Found {
  readonly name: string;
  readonly tags?: readonly { readonly value: string }[] | null;
  readonly environments: readonly { readonly name: string; readonly enabled: boolean }[];
}

async function find(query: string): Promise<readonly Found[]> {
  return (
    (await api('GET', `/api/admin/search/features?project=IS:${project}&${query}`)) as { features: readonly Found[] }
  ).features;
}
function enabledIn(found: readonly Found[], environment: string): number {
  return found.filter(({ environments }) => environments.some((one) => one.name === environment && one.enabled)).length;
}

/** Selects all flags of the list, and chooses an action of the menu by keyboard. */
async function choose(page: Page, menu: string, item: string): Promise<void> {
  const all = page.getByRole('checkbox', { name: 'Select all that match' });
  if (!(await all.isChecked())) await all.click();
  await eventually(async () => expect(await all.isChecked()).toBe(true));
  await chooseFromMenu(page.getByRole('button', { name: menu, exact: true }), item);
}

async function readResults(page: Page, ...lines: readonly string[]): Promise<void> {
  const results = page.getByRole('dialog', { name: 'Result' });
  for (const line of lines) await results.getByText(line).waitFor();
  await results.getByRole('button', { name: 'Close' }).last().press('Enter');
  await results.waitFor({ state: 'detached' });
}

describeInBrowser('changing many flags', () => {
  beforeAll(async () => {
    await api('POST', '/api/admin/projects', { id: project, name: 'Bulk' });
    for (const n of [1, 2, 3, 4]) await api('POST', flags, { name: `bulk.${n}`, type: 'release' });
    await api('POST', `${flags}/bulk.2/dependencies`, { feature: 'bulk.1' });
    const config = { changeRequestsEnabled: true, requiredApprovals: 1 };
    await api('PUT', `/api/admin/projects/${project}/environments/production/change-requests/config`, config);
    await eventually(async () => expect(await find('query=bulk.')).toHaveLength(4));
  });

  it('turns them on and off, and proposes one change request where the environment is protected', async () => {
    const opened = await openSignedIn(`/projects/${project}/flags`);
    const { page } = opened;
    await page.getByText('4 flags', { exact: true }).waitFor();
    await choose(page, 'Turn on', 'in development');
    const on = page.getByRole('dialog', { name: 'Turn on in development' });
    await on.getByText('4 flags in 1 project will change:').waitFor();
    await expectAccessible(opened);
    await on.getByRole('button', { name: 'Change 4 flags' }).click();
    await readResults(page, '4 flags changed.');
    await eventually(async () => expect(enabledIn(await find('query=bulk.'), 'development')).toBe(4));

    await choose(page, 'Turn on', 'in production');
    const proposed = page.getByRole('dialog', { name: 'Turn on in production' });
    await proposed.getByText('The environment is protected for 4 flags').waitFor();
    await proposed.getByRole('button', { name: 'Propose for 4 flags' }).click();
    await readResults(page, '4 flags proposed in a change request.');
    expect(enabledIn(await find('query=bulk.'), 'production')).toBe(0);

    await choose(page, 'Turn off', 'in development');
    await page.getByRole('button', { name: 'Change 4 flags' }).click();
    await readResults(page, '4 flags changed.');
    await eventually(async () => expect(enabledIn(await find('query=bulk.'), 'development')).toBe(0));
    await closeChecked(opened);
  });

  it('has all actions within the edges of a phone', async () => {
    const opened = await openSignedIn(`/projects/${project}/flags`, { width: 390, height: 844 });
    const { page } = opened;
    await page.getByRole('checkbox', { name: 'Select all that match' }).click();
    for (const name of ['Turn on', 'Turn off', 'More actions']) {
      const box = await page.getByRole('button', { name, exact: true }).boundingBox();
      expect(box && box.x + box.width).toBeLessThanOrEqual(390);
    }
    await closeChecked(opened);
  });

  it('adds and removes a tag, and says which tags are none', async () => {
    const opened = await openSignedIn(`/projects/${project}/flags`);
    const { page } = opened;
    await page.getByText('4 flags', { exact: true }).waitFor();
    await choose(page, 'More actions', 'Add a tag…');
    const dialog = page.getByRole('dialog', { name: 'Add a tag' });
    await dialog.getByLabel('Tag').fill('web');
    await dialog.getByText('Write type:value').waitFor();
    await expectAccessible(opened);
    await dialog.getByLabel('Tag').fill('simple:bulk-tag');
    await dialog.getByText('4 flags in 1 project will change:').waitFor();
    await page.keyboard.press('Enter');
    await readResults(page, '4 flags changed.');
    await eventually(async () => expect(await find('tag=INCLUDE:simple:bulk-tag')).toHaveLength(4));

    await choose(page, 'More actions', 'Remove a tag…');
    const removing = page.getByRole('dialog', { name: 'Remove a tag' });
    await removing.getByLabel('Tag').fill('simple:bulk-tag');
    await removing.getByText('4 flags in 1 project will change:').waitFor();
    await page.keyboard.press('Enter');
    await readResults(page, '4 flags changed.');
    await eventually(async () => expect(await find('tag=INCLUDE:simple:bulk-tag')).toHaveLength(0));
    await closeChecked(opened);
  });

  it('archives them, but not a flag on which others depend', async () => {
    const other = '/api/admin/projects/bulk-archive/features';
    await api('POST', '/api/admin/projects', { id: 'bulk-archive', name: 'Bulk archive' });
    for (const name of ['archive.parent', 'archive.free']) await api('POST', other, { name, type: 'release' });
    await api('POST', '/api/admin/projects/bulk-archive/features', { name: 'child.of-parent', type: 'release' });
    await api('POST', `${other}/child.of-parent/dependencies`, { feature: 'archive.parent' });
    const opened = await openSignedIn('/projects/bulk-archive/flags?q=archive.');
    const { page } = opened;
    await page.getByText('2 flags', { exact: true }).waitFor();
    await choose(page, 'More actions', 'Archive…');
    const dialog = page.getByRole('dialog', { name: 'Archive' });
    await dialog.getByText('1 flag in 1 project will change:').waitFor();
    await dialog.getByText('1 flag cannot be archived: other flags depend on them').waitFor();
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Archive 1 flag' }).press('Enter');
    await readResults(page, '1 flag changed.');
    await eventually(async () => {
      const { features } = (await api('GET', `${other}`)) as { features: readonly { readonly name: string }[] };
      expect(features.map(({ name }) => name).toSorted()).toEqual(['archive.parent', 'child.of-parent']);
    });
    await closeChecked(opened);
  });
});
