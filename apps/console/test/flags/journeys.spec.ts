import { beforeAll, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import {
  api,
  closeChecked,
  countClicks,
  describeInBrowser,
  openPage,
  openSignedIn,
  signIn,
  untilFocused,
} from '../support/browser.ts';

interface Identified {
  readonly id: number;
}

const tail = randomUUID().slice(0, 8);
const project = `journeys-${tail}`;

async function keyOf(name: string, role: string): Promise<string> {
  const user = { username: `${name}-${tail}`, name: `${name} ${tail}`, rootRole: 3 };
  const { id } = (await api('POST', '/api/admin/user-admin', user)) as Identified;
  const { roles } = (await api('GET', '/api/admin/roles')) as { roles: (Identified & { readonly name: string })[] };
  const found = roles.find((one) => one.name === role)?.id;
  await api('PUT', `/api/admin/projects/${project}/users/${id}/roles`, { roles: [found] });
  const token = await api('POST', `/api/admin/user-admin/${id}/token`, { description: 'console' });
  return (token as { readonly secret: string }).secret;
}

function isOn(flag: string, environment: string) {
  const address = `/api/admin/projects/${project}/features/${flag}/environments/${environment}`;
  return api('GET', address).then((found) => (found as { readonly enabled: boolean }).enabled);
}

describeInBrowser('the journey', () => {
  beforeAll(async () => {
    await api('POST', '/api/admin/projects', { id: project, name: 'Journeys' });
    await api('POST', `/api/admin/projects/${project}/features`, { name: `guarded-${tail}` });
  });

  /** Creates a flag from the list by clicks and keys, as everybody does. */
  async function createFlag(name: string) {
    const opened = await openSignedIn(`/projects/${project}/flags`);
    const { page } = opened;
    const create = page.getByRole('button', { name: 'Create a flag' }).first();
    await create.waitFor();
    const clicks = await countClicks(page);
    await create.click();
    await untilFocused(page.getByRole('dialog', { name: 'Create a flag' }));
    await page.keyboard.type(name);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    return { opened, page, clicks };
  }

  it('to a first flag that is on in development takes at most four clicks', async () => {
    const name = `first-${tail}`;
    const { opened, page, clicks } = await createFlag(name);
    await page
      .locator('label')
      .filter({ has: page.getByRole('switch', { name: 'Enabled in development' }) })
      .click();
    await page.getByText(`on in development`, { exact: false }).first().waitFor();
    expect(await clicks()).toBeLessThanOrEqual(4);
    expect(await isOn(name, 'development')).toBe(true);
    await closeChecked(opened);
  });

  it('to a new flag that 10 % of production get takes at most six clicks', async () => {
    const name = `tenth-${tail}`;
    const { opened, page, clicks } = await createFlag(name);
    await page.getByRole('link', { name: 'Choose who gets it in production' }).click();
    await page.getByRole('button', { name: '10 %' }).click();
    await page.getByRole('button', { name: 'Save and turn on' }).click();
    await page.getByText('The strategy is saved, and the flag is on in production.').waitFor();
    expect(await clicks()).toBeLessThanOrEqual(6);
    expect(await isOn(name, 'production')).toBe(true);
    await closeChecked(opened);
  });

  it('to an SDK that waits for its first signal, with a token, takes at most three clicks', async () => {
    const opened = await openSignedIn(`/projects/${project}/features/guarded-${tail}`);
    const { page } = opened;
    const connect = page.getByRole('button', { name: 'Connect an SDK' }).first();
    await connect.waitFor();
    const clicks = await countClicks(page);
    await connect.click();
    await page.getByRole('button', { name: 'Create a token' }).click();
    await page.getByText('Waiting for the first signal from development').waitFor();
    expect(await clicks()).toBeLessThanOrEqual(3);
    await closeChecked(opened);
  });

  it('to an SDK says where the browser lets nothing be copied', async () => {
    const opened = await openSignedIn(`/projects/${project}/features/guarded-${tail}`);
    const { page } = opened;
    // None is granted, also not that to write to the clipboard, which a window has otherwise while it has the focus.
    await page.context().grantPermissions([]);
    await page.getByRole('button', { name: 'Connect an SDK' }).first().click();
    await page.getByRole('button', { name: 'Create a token' }).click();
    await page.getByText('Waiting for the first signal from development').waitFor();
    const copy = page.getByRole('button', { name: 'Copy Install' });
    await copy.click();
    await page.getByText('The browser does not let this page copy: copy by hand.').waitFor();
    expect(await copy.innerText()).toBe('Copy');
    await page.context().clearPermissions();
    await closeChecked(opened);
  });

  it('of a change of production takes three clicks of its author, and three of who approves and applies it', async () => {
    const flag = `guarded-${tail}`;
    await api('PUT', `/api/admin/projects/${project}/environments/production/change-requests/config`, {
      changeRequestsEnabled: true,
      requiredApprovals: 1,
    });
    const { id: role } = (await api('POST', '/api/admin/roles', {
      name: `Approver ${tail}`,
      description: '',
      type: 'custom',
      permissions: ['APPROVE_CHANGE_REQUEST', 'APPLY_CHANGE_REQUEST'].map((name) => ({
        name,
        environment: 'production',
      })),
    })) as Identified;
    expect(role).toBeGreaterThan(0);
    const author = await openPage(`/projects/${project}/features/${flag}`);
    await signIn(author.page, await keyOf('ada', 'Member'));
    const toggle = author.page.locator('label').filter({
      has: author.page.getByRole('switch', { name: 'Enabled in production' }),
    });
    await toggle.waitFor();
    const clicksOfAuthor = await countClicks(author.page);
    await toggle.click();
    await author.page.getByRole('status').getByRole('link', { name: 'Open' }).first().click();
    await author.page.getByRole('button', { name: 'Send to review' }).click();
    await author.page.getByText('It is in review.').waitFor();
    expect(await clicksOfAuthor()).toBeLessThanOrEqual(3);
    await closeChecked(author);

    const reviewer = await openPage('/');
    await signIn(reviewer.page, await keyOf('rut', `Approver ${tail}`));
    const waiting = reviewer.page
      .getByRole('region', { name: 'Waiting for you' })
      .getByRole('listitem')
      .filter({ hasText: 'Journeys' })
      .getByRole('link');
    await waiting.first().waitFor();
    const clicksOfReviewer = await countClicks(reviewer.page);
    await waiting.first().click();
    await reviewer.page.getByRole('button', { name: 'Approve', exact: true }).click();
    await reviewer.page.getByRole('dialog').getByRole('button', { name: 'Approve and apply' }).click();
    await reviewer.page.getByText('Applied.', { exact: true }).waitFor();
    expect(await clicksOfReviewer()).toBeLessThanOrEqual(3);
    expect(await isOn(flag, 'production')).toBe(true);
    await closeChecked(reviewer);
  });
});
