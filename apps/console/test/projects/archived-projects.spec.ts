import { beforeAll, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import {
  api,
  chooseFromMenu,
  closeChecked,
  describeInBrowser,
  expectAccessible,
  openSignedIn,
} from '../support/browser.ts';

const tail = randomUUID().slice(0, 8);
const [active, archived] = [`active-${tail}`, `archived-${tail}`];

describeInBrowser('the archived projects', () => {
  beforeAll(async () => {
    for (const id of [active, archived]) await api('POST', '/api/admin/projects', { id, name: id });
    await api('POST', `/api/admin/projects/archive/${archived}`);
  });

  it('are listed on a page of their own, and a revived one goes back to the others', async () => {
    const opened = await openSignedIn('/projects');
    const { page } = opened;
    await page.getByRole('row').filter({ hasText: active }).waitFor();
    expect(await page.getByRole('row').filter({ hasText: archived }).count()).toBe(0);
    await page.getByRole('link', { name: 'Archived projects' }).press('Enter');
    await page.getByRole('heading', { name: 'Archived projects', level: 1 }).waitFor();
    const row = page.getByRole('row').filter({ hasText: archived });
    await row.waitFor();
    expect(await page.getByRole('row').filter({ hasText: active }).count()).toBe(0);
    await expectAccessible(opened);

    await chooseFromMenu(row.getByRole('button', { name: `Actions for ${archived}` }), 'Revive it');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Revive it' }).press('Enter');
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    await row.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Projects', exact: true }).last().press('Enter');
    await page.getByRole('row').filter({ hasText: archived }).waitFor();
    await closeChecked(opened);
  });
});
