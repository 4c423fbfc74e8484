import { randomUUID } from 'node:crypto';
import { eventually } from '@bunting/testing';
import { expect, it } from 'vitest';
import { api, closeChecked, describeInBrowser, openPage, signIn } from '../support/browser.ts';

const hourMs = 3_600_000;

/** What a date input takes for an instant, in UTC. */
function minuteOf(instant: number): string {
  return new Date(instant).toISOString().slice(0, 16);
}

describeInBrowser('a browser whose clock is an hour', () => {
  it.each([
    { what: 'ahead', byMs: hourMs },
    { what: 'behind', byMs: -hourMs },
  ])('$what shows and judges times as the server counts them', async ({ byMs }) => {
    const project = `clock-${randomUUID().slice(0, 8)}`;
    const flag = `${project}.flag`;
    const base = `/api/admin/projects/${project}`;
    await api('POST', '/api/admin/projects', { id: project, name: project });
    await api('POST', `${base}/features`, { name: flag });
    const inMinutes = (count: number): string => new Date(Date.now() + count * 60_000 + 30_000).toISOString();
    const token = { tokenName: project, type: 'client', environment: 'development', projects: [project] };
    await api('POST', '/api/admin/api-tokens', { ...token, expiresAt: inMinutes(30) });
    const protection = { changeRequestsEnabled: true, requiredApprovals: 1 };
    await api('PUT', `${base}/environments/production/change-requests/config`, protection);
    const change = { action: 'updateEnabled', feature: flag, payload: { enabled: true } };
    const requests = `${base}/environments/production/change-requests`;
    const { id } = (await api('POST', requests, [change])) as { readonly id: number };
    for (const state of ['In review', 'Approved']) await api('PUT', `${base}/change-requests/${id}/state`, { state });

    const opened = await openPage('/', { timeZone: 'UTC' });
    const { page } = opened;
    await page.clock.install({ time: Date.now() + byMs });
    const go = async (path: string): Promise<void> => {
      await page.goto(new URL(path, page.url()).href);
      await signIn(page);
    };
    await go(`/projects/${project}/features/${flag}`);
    const history = page.getByRole('region', { name: 'History' });
    await history.getByText('created it', { exact: false }).waitFor();
    await eventually(async () => expect(await history.innerText()).toMatch(/just now|[1-9] min\. ago/));

    await go(`/admin/api-tokens?q=${project}`);
    const row = page.getByRole('row', { name: new RegExp(project) });
    await row.getByText(/^in (2\d|30) min\.$/).waitFor();
    expect(await row.getByText('Expired', { exact: false }).count()).toBe(0);

    await go(`/projects/${project}/change-requests/${id}`);
    await page.getByRole('button', { name: 'Schedule', exact: true }).click();
    const dialog = page.getByRole('dialog');
    const time = dialog.getByLabel('Apply at');
    await time.fill(minuteOf(Date.now() - 5 * 60_000));
    await dialog.getByText('Choose a time in the future.').waitFor();
    await time.fill(minuteOf(Date.now() + 30 * 60_000));
    await dialog.getByText('Choose a time in the future.').waitFor({ state: 'detached' });
    await dialog.getByRole('button', { name: 'Schedule' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('It is applied at', { exact: false }).waitFor();
    await closeChecked(opened);
  });
});
