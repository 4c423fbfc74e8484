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

  it.each([
    ['archived', '', (id: string) => api('POST', `/api/admin/projects/archive/${id}`)],
    ['archived', '/features/typed', (id: string) => api('DELETE', `/api/admin/projects/${id}/features/typed`)],
    ['deleted', '/flags', (id: string) => api('DELETE', `/api/admin/projects/${id}`)],
    ['archived', '/settings', (id: string) => api('POST', `/api/admin/projects/archive/${id}`)],
  ])('keep what is typed into a form while they are %s: %s', async (_, path, remove) => {
    const id = `typed-${randomUUID().slice(0, 8)}`;
    await api('POST', '/api/admin/projects', { id, name: id });
    if (path.startsWith('/features/')) await api('POST', `/api/admin/projects/${id}/features`, { name: 'typed' });
    const opened = await openSignedIn(`/projects/${id}${path}`);
    const { page } = opened;
    if (path.startsWith('/features/')) await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
    else if (path !== '/settings') await page.getByRole('button', { name: 'Create a flag' }).first().click();
    const form = path === '/settings' ? page.locator('main form').first() : page.getByRole('dialog');
    const description = form.getByRole('textbox', { name: 'Description', exact: true });
    await description.fill('A long thought');
    if (path === '' || path === '/flags') await form.getByRole('textbox', { name: 'Name' }).fill(`flag.${id}`);
    await remove(id);
    // What is refused is read again; a flag is by its event, and its details can be saved in the archive.
    if (!path.startsWith('/features/')) await form.getByRole('button', { name: /^(Create|Save)$/ }).click();
    await form.getByText('copy what you still need', { exact: false }).waitFor();
    expect(await description.inputValue()).toBe('A long thought');
    await expectAccessible(opened);
    if (path === '/settings') await description.fill('');
    else await form.getByRole('button', { name: 'Cancel' }).click();
    await page
      .getByText(/is archived|There is no/)
      .first()
      .waitFor();
    await closeChecked(opened);
  });
});
