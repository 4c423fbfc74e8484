import { randomUUID } from 'node:crypto';
import { eventually } from '@bunting/testing';
import { expect, it } from 'vitest';
import { api, closeChecked, describeInBrowser, openPage, openSignedIn, signIn } from '../support/browser.ts';

const hourMs = 3_600_000;

/** What a date input takes for an instant, in UTC. */
function minuteOf(instant: number): string {
  return new Date(instant).toISOString().slice(0, 16);
}

/** A change request that can be scheduled, in a project of its own. */
async function approvedRequest() {
  const project = `clock-${randomUUID().slice(0, 8)}`;
  const flag = `${project}.flag`;
  const base = `/api/admin/projects/${project}`;
  await api('POST', '/api/admin/projects', { id: project, name: project });
  await api('POST', `${base}/features`, { name: flag });
  const protection = { changeRequestsEnabled: true, requiredApprovals: 1 };
  await api('PUT', `${base}/environments/production/change-requests/config`, protection);
  const change = { action: 'updateEnabled', feature: flag, payload: { enabled: true } };
  const { id } = (await api('POST', `${base}/environments/production/change-requests`, [change])) as {
    readonly id: number;
  };
  for (const state of ['In review', 'Approved']) await api('PUT', `${base}/change-requests/${id}/state`, { state });
  return { project, flag, id };
}

describeInBrowser('a browser whose clock is an hour', () => {
  it.each([
    { what: 'ahead', byMs: hourMs },
    { what: 'behind', byMs: -hourMs },
  ])('$what shows and judges times as the server counts them', async ({ byMs }) => {
    const { project, flag, id } = await approvedRequest();
    const token = { tokenName: project, type: 'client', environment: 'development', projects: [project] };
    await api('POST', '/api/admin/api-tokens', { ...token, expiresAt: new Date(Date.now() + 1_830_000).toISOString() });
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
    await row.getByText(/^in (2\d|3[01]) min\.$/).waitFor();
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
    await page.getByText('It will be applied on', { exact: false }).waitFor();
    await closeChecked(opened);
  });
});

describeInBrowser('a schedule in a night when clocks change', () => {
  it('says at which instant it is applied: some local times do not exist, and some exist twice', async () => {
    const { project, id } = await approvedRequest();
    const opened = await openSignedIn(`/projects/${project}/change-requests/${id}`, { timeZone: 'Europe/Oslo' });
    const { page } = opened;
    await page.getByRole('button', { name: 'Schedule', exact: true }).click();
    const dialog = page.getByRole('dialog');
    const time = dialog.getByLabel('Apply at');
    const year = new Date().getUTCFullYear() + 1;
    // The last Sundays of March and October.
    const lastSunday = (month: number): string => {
      const last = new Date(Date.UTC(year, month, 0));
      return new Date(last.getTime() - last.getUTCDay() * 24 * hourMs).toISOString().slice(0, 10);
    };
    await time.fill(`${lastSunday(3)}T02:30`);
    await dialog.getByText(/Europe\/Oslo: .*\b0?3:30\b.* GMT\+2\.$/).waitFor();
    await time.fill(`${lastSunday(10)}T02:30`);
    await dialog.getByText(/Europe\/Oslo: .*\b0?2:30\b.* GMT\+2\.$/).waitFor();
    await time.fill(`${lastSunday(10)}T03:30`);
    await dialog.getByText(/Europe\/Oslo: .*\b0?3:30\b.* GMT\+1\.$/).waitFor();
    await closeChecked(opened);
  });
});
