import { beforeAll, expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import { randomUUID } from 'node:crypto';
import {
  api,
  closeChecked,
  describeInBrowser,
  expectAccessible,
  type OpenedPage,
  openPage,
  openSignedIn,
  signIn,
} from '../support/browser.ts';

const base = '/api/admin/projects/home';

/** The key of a new person. */
async function aPerson(rootRole: number): Promise<string> {
  const person = { username: `home-${randomUUID().slice(0, 8)}`, name: 'Ana', rootRole };
  const { id } = (await api('POST', '/api/admin/user-admin', person)) as { readonly id: number };
  const token = await api('POST', `/api/admin/user-admin/${id}/token`, { description: 'home' });
  return (token as { readonly secret: string }).secret;
}

/**
 * Opens Home as if the installation had only the project `home`: each part shows the first six of the whole installation, in which other
 * spec files make events, requests and flags as well.
 */
async function openHome(key: string, options: Parameters<typeof openPage>[1] = {}): Promise<OpenedPage> {
  const opened = await openPage('/', options);
  const { page } = opened;
  await page.route(/\/api\/admin\/(search\/events|cleanup\/features)\?/, (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set('project', url.pathname.includes('/search/') ? 'IS:home' : 'home');
    return route.continue({ url: url.href });
  });
  await page.route(/\/api\/admin\/search\/change-requests\?/, async (route) => {
    const { pathname, searchParams } = new URL(route.request().url());
    searchParams.set('limit', '1000');
    const found = (await api('GET', `${pathname}?${searchParams}`, undefined, key)) as {
      readonly changeRequests: readonly { readonly project: string }[];
    };
    const changeRequests = found.changeRequests.filter(({ project }) => project === 'home');
    await route.fulfill({ json: { ...found, changeRequests } });
  });
  await page.route('**/api/admin/metrics/unknown-flags', async (route) => {
    const found = (await api('GET', '/api/admin/metrics/unknown-flags', undefined, key)) as {
      readonly unknownFlags: readonly { readonly name: string }[];
    };
    const unknownFlags = found.unknownFlags.filter(({ name }) => name.startsWith('home.'));
    await route.fulfill({ json: { ...found, unknownFlags } });
  });
  await signIn(page, key);
  return opened;
}

describeInBrowser('the home page', () => {
  let ana: string;
  beforeAll(async () => {
    ana = await aPerson(1);
    const author = await aPerson(1);
    await api('POST', '/api/admin/projects', { id: 'home', name: 'Home' });
    await api('POST', `${base}/features`, { name: 'home.live', type: 'release' });
    await api('POST', `${base}/features`, { name: 'home.own', type: 'release' }, ana);
    await api('POST', `${base}/features/home.live/environments/production/on`);
    await api('POST', `${base}/features/home.live/favorites`, undefined, ana);
    const config = { changeRequestsEnabled: true, requiredApprovals: 1 };
    await api('PUT', `${base}/environments/production/change-requests/config`, config);
    const proposed = (await api(
      'POST',
      `${base}/environments/production/change-requests`,
      [{ action: 'updateEnabled', feature: 'home.own', payload: { enabled: true } }],
      author,
    )) as { readonly id: number };
    const request = `${base}/change-requests/${proposed.id}`;
    await api('PUT', `${request}/title`, { title: 'Own goes live' }, author);
    await api('PUT', `${request}/state`, { state: 'In review' }, author);
    const now = Date.now();
    await api('POST', '/api/client/metrics', {
      appName: 'kiosk',
      environment: 'production',
      bucket: { start: now - 60_000, stop: now, toggles: { 'home.unheard-of': { yes: 0, no: 2 } } },
    });
  });

  it.each([{ width: 1280 }, { width: 390, height: 844, dark: true }])(
    'shows what waits for a person, what changed, and the person’s flags, at %j',
    async (options) => {
      const opened = await openHome(ana, options);
      const { page } = opened;
      const section = (name: string) => page.getByRole('region', { name });
      await section('Waiting for you').getByRole('link', { name: 'Own goes live' }).waitFor();
      await section('Changed in production today').getByRole('link', { name: 'home.live' }).first().waitFor();
      await section('Your flags').getByText('home · on in production').waitFor();
      await section('Your flags').getByRole('link', { name: 'home.own' }).waitFor();
      await section('Gone quiet').getByText('No flag has gone quiet in the last 30 days.').waitFor();
      await section('Asked for, but unknown').getByText('home.unheard-of').waitFor();
      await section('Scheduled').getByText('No change is scheduled.').waitFor();
      await expectAccessible(opened);
      await closeChecked(opened);
    },
  );

  it('undoes what changed in production, and keeps up with what happens', async () => {
    const opened = await openHome(ana);
    const { page } = opened;
    const changed = page.getByRole('region', { name: 'Changed in production today' });
    await changed
      .getByRole('listitem')
      .filter({ hasText: 'home.live' })
      .first()
      .getByRole('button', { name: 'Undo' })
      .click();
    await page.getByRole('dialog', { name: 'Undo this event' }).getByText('This will happen').waitFor();
    await expectAccessible(opened);
    await page.keyboard.press('Escape');
    await api('POST', `${base}/features`, { name: 'home.later', type: 'release' }, ana);
    await page.getByRole('region', { name: 'Your flags' }).getByRole('link', { name: 'home.later' }).waitFor();
    await closeChecked(opened);
  });

  it('leads on to a connection where there are flags, until an application has reported', async () => {
    await api('POST', '/api/admin/projects/default/features', { name: `home.first-${randomUUID()}` });
    const opened = await openPage('/');
    const { page } = opened;
    await page.route('**/api/admin/metrics/applications?limit=1', (route) =>
      route.fulfill({ json: { applications: [], total: 0 } }),
    );
    await signIn(page);
    await page.getByRole('heading', { name: 'Create a flag (done)' }).waitFor();
    await page.getByRole('heading', { name: 'Connect an application', exact: true }).waitFor();
    await page.getByRole('heading', { name: 'Waiting for you' }).waitFor();
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('leads into an installation without flags: create one, connect, invite', async () => {
    const opened = await openPage('/');
    const { page } = opened;
    await page.route('**/api/admin/search/features?limit=1', (route) =>
      route.fulfill({ json: { features: [], total: 0 } }),
    );
    await signIn(page);
    await page.getByRole('heading', { name: 'Connect an application' }).waitFor();
    await page.getByRole('button', { name: 'Connect an SDK' }).waitFor();
    await expectAccessible(opened);
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    const held = Promise.withResolvers<void>();
    await page.route('**/api/admin/user-admin', async (route) => {
      await held.promise;
      await route.continue();
    });
    // Who comes from Unleash has flags already.
    expect(await page.getByRole('link', { name: 'Import from Unleash' }).getAttribute('href')).toBe('/admin/transfer');
    await page.getByRole('link', { name: 'Invite people' }).click();
    await page.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
    // The list would push away what is below it: that is not shown for a moment, and then in any case.
    const below = page.locator('section[aria-labelledby=invitations]');
    const animation = () => below.evaluate((one) => getComputedStyle(one).animationName);
    expect(await animation()).toBe('wait-for-above');
    await below.getByRole('heading', { name: 'Invitation links', exact: true }).waitFor();
    held.resolve();
    await eventually(async () => expect(await animation()).toBe('none'));
    await page.goBack();
    await page.getByRole('button', { name: 'Create a flag' }).click();
    await page.getByRole('dialog', { name: 'Create a flag' }).waitFor();
    await closeChecked(opened);
  });

  it('is where the name of the product leads', async () => {
    const opened = await openSignedIn('/flags');
    await opened.page.getByRole('link', { name: 'Bunting' }).first().click();
    await opened.page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    expect(new URL(opened.page.url()).pathname).toBe('/');
    await closeChecked(opened);
  });
});
