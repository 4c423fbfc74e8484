import { beforeAll, expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import { randomUUID } from 'node:crypto';
import {
  api,
  closeChecked,
  describeInBrowser,
  expectAccessible,
  openPage,
  openSignedIn,
  signIn,
} from '../support/browser.ts';

const tail = randomUUID().slice(0, 8);
const [open, guarded] = [`open-${tail}`, `guarded-${tail}`];
const [old, older, parent, child] = [`old-${tail}`, `older-${tail}`, `parent-${tail}`, `child-${tail}`];
const unknown = `unknown-${tail}`;

interface ApiToken {
  readonly secret: string;
}

interface Listed {
  readonly name: string;
  readonly environments: readonly { readonly lastSeenAt: string | null }[];
}

describeInBrowser('the cleanup', () => {
  beforeAll(async () => {
    for (const id of [open, guarded]) await api('POST', '/api/admin/projects', { id, name: id });
    const names = { [open]: [old, parent, child], [guarded]: [older] };
    for (const [project, features] of Object.entries(names)) {
      for (const name of features) await api('POST', `/api/admin/projects/${project}/features`, { name });
      await api('POST', `/api/admin/projects/${project}/stale`, { features, stale: true });
    }
    await api('POST', `/api/admin/projects/${open}/features/${child}/dependencies`, { feature: parent });
    await api('POST', `/api/admin/projects/${open}/stale`, { features: [child], stale: false });
    await api('PUT', `/api/admin/projects/${guarded}/environments/production/change-requests/config`, {
      changeRequestsEnabled: true,
      requiredApprovals: 1,
    });
    const { secret } = (await api('POST', '/api/admin/api-tokens', {
      tokenName: tail,
      type: 'client',
      environment: 'production',
      projects: ['*'],
    })) as ApiToken;
    const stop = new Date().toISOString();
    const toggles = { [old]: { yes: 3, no: 1 }, [unknown]: { yes: 0, no: 1 } };
    await eventually(async () => {
      const response = await fetch(`${process.env['CONSOLE_TEST_URL']}/api/client/metrics`, {
        method: 'POST',
        headers: { authorization: secret, 'content-type': 'application/json' },
        body: JSON.stringify({ appName: `shop-${tail}`, bucket: { start: stop, stop, toggles } }),
      });
      if (!response.ok) throw new Error(`The report was answered ${response.status}.`);
    });
    await eventually(async () => {
      const seen = (await listed()).flatMap(({ environments }) => environments.map(({ lastSeenAt }) => lastSeenAt));
      expect(seen.filter((at) => at !== null)).toHaveLength(1);
    });
  });

  /** What is listed of the flags of this file. */
  const listed = async (more = ''): Promise<readonly Listed[]> =>
    ((await api('GET', `/api/admin/cleanup/features?query=${tail}${more}`)) as { readonly features: Listed[] })
      .features;

  it('lists stale flags with their last use and what needs them, and gives text for the owners of the code', async () => {
    const opened = await openSignedIn(`/cleanup?q=${tail}`);
    const { page } = opened;
    await page.getByRole('status').getByText('3 flags', { exact: true }).waitFor();
    const row = page.getByRole('row').filter({ hasText: parent });
    await row.getByText(child).waitFor();
    await page.getByRole('link', { name: /^Stale/ }).click();
    await page.getByText('they can be removed from the code').waitFor();
    expect(new URL(page.url()).searchParams.get('reason')).toBe('stale');
    await page.getByRole('row').filter({ hasText: old }).locator('time').nth(1).waitFor();
    expect(await page.getByRole('row').filter({ hasText: parent }).locator('time').count()).toBe(1);
    await expectAccessible(opened);

    await page.getByRole('checkbox', { name: `Select ${old}` }).check();
    await page.getByRole('button', { name: 'Text for the code’s owners' }).click();
    const dialog = page.getByRole('dialog', { name: 'Text for the owners of the code' });
    const given = await dialog.getByRole('textbox').inputValue();
    expect(given).toContain('1 feature flag can be removed from the code:');
    expect(given).toMatch(new RegExp(`- ${old} \\(${open}\\): stale; last used in production on \\d{4}-\\d\\d-\\d\\d`));
    expect(given).toContain(`/projects/${open}/features/${old}`);
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('lists flags while it still counts them by reason, and says so', async () => {
    const opened = await openSignedIn('/projects');
    const { page } = opened;
    let release = (): void => undefined;
    const counted = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/api/admin/cleanup/counts**', async (route) => {
      await counted;
      await route.continue();
    });
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Cleanup' }).press('Enter');
    await page.getByRole('row').nth(1).waitFor();
    const counting = page.getByRole('status').getByText('Counting the flags of each reason…');
    await counting.waitFor();
    await expectAccessible(opened);
    release();
    await counting.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: /^Stale \d/ }).waitFor();
    await closeChecked(opened);
  });

  it.each([
    ['an owner', 4, [old, older], []],
    ['who may only propose', undefined, [older], [old]],
  ] as const)(
    'offers %s to archive or propose what that is allowed for, and nothing else',
    async (who, role, may, not) => {
      const username = `${who.replaceAll(' ', '-')}-${tail}`;
      const user = (await api('POST', '/api/admin/user-admin', { username, rootRole: 3 })) as { readonly id: number };
      if (role !== undefined) await api('PUT', `/api/admin/projects/${open}/users/${user.id}/roles`, { roles: [role] });
      const { secret } = (await api('POST', `/api/admin/user-admin/${user.id}/token`, {
        description: 'console',
      })) as ApiToken;
      const opened = await openPage(`/cleanup?q=${tail}`);
      const { page } = opened;
      await signIn(page, secret);
      const archive = page.getByRole('button', { name: 'Archive', exact: true });
      for (const name of may) await page.getByRole('checkbox', { name: `Select ${name}` }).press('Space');
      await archive.click();
      const dialog = page.getByRole('dialog', { name: 'Archive' });
      await dialog
        .getByRole('button', { name: role === undefined ? 'Propose for 1 flag' : 'Archive 2 flags' })
        .waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('checkbox', { name: 'Select all' }).press('Space');
      await page.getByRole('checkbox', { name: 'Select all' }).press('Space');
      for (const name of not) {
        await page.getByRole('checkbox', { name: `Select ${name}` }).press('Space');
        await page.getByText('1 flag selected').waitFor();
        expect(await archive.count()).toBe(0);
      }
      await closeChecked(opened);
    },
  );

  it('archives by keyboard what it may, proposes the rest in a change request, and leaves what others need', async () => {
    const opened = await openSignedIn(`/cleanup?q=${tail}&reason=stale`);
    const { page } = opened;
    await page.getByRole('checkbox', { name: 'Select all' }).focus();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Archive', exact: true }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Archive' });
    await dialog.getByText('2 flags in 2 projects will change:').waitFor();
    await dialog.getByText('1 flag cannot be archived').waitFor();
    await dialog.getByText('1 flag is in a project with a protected environment').waitFor();
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Archive 2 flags' }).focus();
    await page.keyboard.press('Enter');
    const results = page.getByRole('dialog', { name: 'Result' });
    await results.getByText('1 flag changed.').waitFor();
    await results.getByText('1 flag proposed in a change request.').waitFor();
    await results.getByRole('link', { name: new RegExp(`^Open change request \\d+ of ${guarded}$`) }).click();
    await page.getByText('Archive the flag, in every environment', { exact: true }).waitFor();
    await closeChecked(opened);
    expect((await listed('&reason=stale')).map(({ name }) => name)).toEqual([older, parent]);
  });

  it('shows flags that applications ask for and that do not exist, and fits a narrow screen', async () => {
    const opened = await openSignedIn(`/projects/${guarded}/cleanup?reason=unknown&q=${tail}`, {
      width: 360,
      height: 740,
    });
    const { page } = opened;
    await page.getByRole('cell', { name: unknown, exact: true }).waitFor();
    await page.getByRole('cell', { name: `shop-${tail} (production)` }).waitFor();
    await expectAccessible(opened);
    // What is listed is chosen in one place, above the advice.
    const advice = await page.getByText('It was archived too early', { exact: false }).boundingBox();
    const environment = await page.getByRole('button', { name: /Environment$/ }).boundingBox();
    expect(environment?.y).toBeLessThan(advice?.y ?? 0);
    await page.getByRole('button', { name: `Create ${unknown}` }).press('Enter');
    const create = page.getByRole('dialog', { name: 'Create a flag' });
    expect(await create.getByRole('textbox', { name: 'Name' }).inputValue()).toBe(unknown);
    await page.keyboard.press('Escape');
    const chosen = page.getByRole('button', { name: /Application$/ });
    await chosen.press('Enter');
    await page.getByRole('option', { name: `shop-${tail}` }).press('Enter');
    await page.getByRole('cell', { name: unknown, exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.get('app')).toBe(`shop-${tail}`);
    await page.getByRole('link', { name: /^All( \d|$)/ }).click();
    await page.getByRole('row').filter({ hasText: older }).waitFor();
    await expectAccessible(opened);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    const list = page.getByRole('region', { name: /^Cleanup/ }).last();
    expect(await list.evaluate((one) => one.scrollWidth - one.clientWidth)).toBeLessThanOrEqual(0);
    // What is done with selected flags lies above the list, not below it.
    await page.getByRole('checkbox', { name: `Select ${older}` }).click();
    await page.getByRole('button', { name: 'Text for the code’s owners' }).click();
    await page.getByRole('dialog', { name: 'Text for the owners of the code' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    const archive = page.getByRole('dialog', { name: 'Archive' });
    await archive.getByRole('button', { name: 'Propose for 1 flag' }).waitFor();
    await archive.getByRole('button', { name: 'Cancel' }).click();
    await closeChecked(opened);
  });
});
