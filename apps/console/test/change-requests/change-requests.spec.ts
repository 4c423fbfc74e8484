import { eventually } from '@bunting/testing';
import { beforeAll, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import {
  api,
  closeChecked,
  cutOffIn,
  describeInBrowser,
  expectAccessible,
  openMenu,
  openPage,
  openSignedIn,
  pressSwitch,
  signIn,
  goTo,
} from '../support/browser.ts';

const project = `p-${randomUUID().slice(0, 8)}`;
const feature = `flag-${randomUUID().slice(0, 8)}`;
const base = `/api/admin/projects/${project}`;
function rollout(percentage: number) {
  return {
    name: 'flexibleRollout',
    parameters: { rollout: String(percentage), stickiness: 'default', groupId: feature },
    constraints: [],
  };
}

interface Identified {
  readonly id: number;
}

describeInBrowser('a change request', () => {
  let strategy: string;
  beforeAll(async () => {
    await api('POST', '/api/admin/projects', { id: project, name: 'Reviewed' });
    await api('POST', `${base}/features`, { name: feature });
    const added = await api('POST', `${base}/features/${feature}/environments/production/strategies`, rollout(10));
    strategy = (added as { readonly id: string }).id;
    await api('POST', `${base}/features/${feature}/environments/production/on`);
    await protect(true);
  });
  /** Whether changes in production need a change request. */
  const protect = (changeRequestsEnabled: boolean): Promise<unknown> =>
    api('PUT', `${base}/environments/production/change-requests/config`, {
      changeRequestsEnabled,
      requiredApprovals: 1,
    });
  const propose = async (percentage: number): Promise<number> => {
    const { id } = (await api('POST', `${base}/environments/production/change-requests`, [
      { action: 'updateStrategy', feature, payload: { id: strategy, ...rollout(percentage) } },
    ])) as Identified;
    return id;
  };

  it('says in words what it changes and for whom, is commented on, and goes from draft to review', async () => {
    const id = await propose(60);
    const opened = await openSignedIn(`/projects/${project}/change-requests/${id}`);
    const { page } = opened;
    const changes = page.getByRole('region', { name: feature, exact: true }).first();
    await changes.getByText('10 % of users.').waitFor();
    await changes.getByText('60 % of users.').waitFor();
    await page.getByText(/% gain it/).waitFor();
    // The words that differ are marked on both sides.
    expect(await changes.locator('del').allInnerTexts()).toEqual(['10']);
    expect(await changes.locator('ins').allInnerTexts()).toEqual(['60']);
    await expectAccessible(opened);

    await page.getByRole('textbox', { name: 'Comment' }).fill('Please look <b>closely</b>');
    await page.getByRole('button', { name: 'Comment' }).click();
    await page.getByText('Please look <b>closely</b>').waitFor();

    await page.getByRole('button', { name: 'Send to review' }).click();
    await page.getByText('It is in review.').waitFor();
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await closeChecked(opened);
  });

  it('is listed with production first among the environments that it affects, and says what it does to users there', async () => {
    const wide = `w-${randomUUID().slice(0, 8)}`;
    const flag = `flag-${randomUUID().slice(0, 8)}`;
    const places = `/api/admin/projects/${wide}/environments`;
    await api('POST', '/api/admin/projects', { id: wide, name: 'Wide' });
    await api('POST', `/api/admin/projects/${wide}/features`, { name: flag });
    const inProduction = `/api/admin/projects/${wide}/features/${flag}/environments/production`;
    await api('POST', `${inProduction}/strategies`, rollout(100));
    await api('POST', `${inProduction}/on`);
    for (const environment of ['development', 'production']) {
      const body = { changeRequestsEnabled: true, requiredApprovals: 1 };
      await api('PUT', `${places}/${environment}/change-requests/config`, body);
    }
    await api('POST', `${places}/development/change-requests`, [{ action: 'archiveFeature', feature: flag }]);
    const opened = await openSignedIn(`/projects/${wide}/change-requests`);
    const { page } = opened;
    const cell = page.getByRole('cell', { name: 'production and 1 more' });
    await cell.waitFor();
    expect(await cell.locator('[data-production]').allInnerTexts()).toEqual(['production']);
    await cell.getByRole('button', { name: 'and 1 more' }).press('Enter');
    await cell.getByRole('listitem').getByText('development').waitFor();
    await expectAccessible(opened);
    await page.keyboard.press('Escape');
    await cell.getByRole('listitem').waitFor({ state: 'hidden' });
    await page.getByRole('row').filter({ has: cell }).getByRole('link').first().click();
    const impact = page.getByRole('region', { name: 'What it does for users in production' });
    await impact.getByText('100 % lose it').waitFor();
    // A change of development alone does nothing in production, whatever else the request does there.
    const other = `${flag}.other`;
    await api('POST', `/api/admin/projects/${wide}/features`, { name: other });
    await api('POST', `${places}/development/change-requests`, [
      { action: 'updateEnabled', feature: other, payload: { enabled: true } },
    ]);
    const inDevelopment = page.getByRole('region', { name: 'What it does for users in development' });
    await inDevelopment.getByRole('heading', { name: other }).waitFor();
    expect(await impact.getByRole('heading', { name: other }).count()).toBe(0);
    await impact.getByText('100 % lose it').waitFor();
    await goTo(page, `/projects/${wide}`);
    const open = page.getByRole('region', { name: 'Open change requests' });
    await open.getByText(/wants to change\s*production and 1 other environment · 2 flags/).waitFor();
    await closeChecked(opened);
  });

  it('is listed with all columns in sight, however long the names are', async () => {
    const vast = `vast-${randomUUID().slice(0, 8)}`;
    const flag = `${vast}.${'m'.repeat(85)}`;
    const base = `/api/admin/projects/${vast}`;
    await api('POST', '/api/admin/projects', { id: vast, name: `${vast}${'w'.repeat(80)}` });
    await api('POST', `${base}/features`, { name: flag });
    const change = { action: 'updateEnabled', feature: flag, payload: { enabled: true } };
    const { id } = (await api('POST', `${base}/environments/production/change-requests`, [change])) as Identified;
    await api('PUT', `${base}/change-requests/${id}/title`, { title: `${vast}${'W'.repeat(85)}` });
    const opened = await openSignedIn('/change-requests');
    const { page } = opened;
    const list = page.getByRole('region', { name: 'Change requests' });
    await list.getByRole('link', { name: vast, exact: false }).first().waitFor();
    const [all, seen] = await list.evaluate(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth]);
    expect(all).toBeLessThanOrEqual(seen ?? 0);
    await closeChecked(opened);
  });

  it('says of a flag that is off that this is why nothing changes for users, and nothing of it once it turns on', async () => {
    const quiet = `p-${randomUUID().slice(0, 8)}`;
    const flag = `flag-${randomUUID().slice(0, 8)}`;
    const requests = `/api/admin/projects/${quiet}/environments/production/change-requests`;
    await api('POST', '/api/admin/projects', { id: quiet, name: 'Quiet' });
    await api('POST', `/api/admin/projects/${quiet}/features`, { name: flag });
    await api('PUT', `${requests}/config`, { changeRequestsEnabled: true, requiredApprovals: 1 });
    const add = { action: 'addStrategy', feature: flag, payload: rollout(60) };
    const { id } = (await api('POST', requests, add)) as Identified;
    const opened = await openSignedIn(`/projects/${quiet}/change-requests/${id}`);
    const impact = opened.page.getByRole('region', { name: 'What it does for users' });
    const reason = impact.getByText('Nothing changes for any user: the flag is off in production.');
    await reason.waitFor();
    await api('POST', requests, { action: 'updateEnabled', feature: flag, payload: { enabled: true } });
    await opened.page.reload();
    await impact.getByText('60 % gain it').waitFor();
    expect(await reason.count()).toBe(0);
    await closeChecked(opened);
  });

  it('keeps whom an effect is about whole beside a long effect, and when something was done beside a long line', async () => {
    const varied = `v-${randomUUID().slice(0, 8)}`;
    const flag = `flag-${randomUUID().slice(0, 8)}`;
    const inProduction = `/api/admin/projects/${varied}/features/${flag}/environments/production`;
    const requests = `/api/admin/projects/${varied}/environments/production/change-requests`;
    await api('POST', '/api/admin/projects', { id: varied, name: 'Varied' });
    await api('POST', `/api/admin/projects/${varied}/features`, { name: flag });
    const constraints = [{ contextName: 'appName', operator: 'IN', values: ['shop'] }];
    const before = { ...rollout(50), constraints };
    const stored = (await api('POST', `${inProduction}/strategies`, before)) as { readonly id: string };
    await api('POST', `${inProduction}/on`);
    await api('PUT', `${requests}/config`, { changeRequestsEnabled: true, requiredApprovals: 1 });
    const variants = ['blue', 'red'].map((name) => ({
      name,
      weight: 500,
      weightType: 'variable',
      stickiness: 'default',
    }));
    const payload = { ...before, id: stored.id, variants };
    const { id } = (await api('POST', requests, { action: 'updateStrategy', feature: flag, payload })) as Identified;
    const opened = await openSignedIn(`/projects/${varied}/change-requests/${id}`, { width: 1280, height: 800 });
    const { page } = opened;
    const impact = page.getByRole('region', { name: 'What it does for users' });
    await impact.getByText('50 % get another variant').waitFor();
    const users = await impact.getByRole('cell', { name: 'appName = shop' }).boundingBox();
    expect(users?.width).toBeGreaterThan(80);
    const lines = page.getByRole('region', { name: 'Timeline' }).getByRole('listitem');
    const [entry, time] = await Promise.all([
      lines.first().boundingBox(),
      lines.first().getByRole('time').boundingBox(),
    ]);
    expect((time?.y ?? Infinity) - (entry?.y ?? 0)).toBeLessThan(10);
    await closeChecked(opened);
  });

  it('is commented on at a change, and keeps what was said and written when the change is discarded', async () => {
    const id = await propose(80);
    await api('POST', `${base}/environments/production/change-requests`, [
      { action: 'updateEnabled', feature, payload: { enabled: false } },
    ]);
    const opened = await openSignedIn(`/projects/${project}/change-requests/${id}`);
    const { page } = opened;
    const change = page.getByRole('listitem').filter({ hasText: 'Change a strategy' }).first();
    await change.getByText('Comment on it').click();
    const field = change.getByRole('textbox', { name: 'Comment on “Change a strategy”' });
    await field.fill('Why 80 %?');
    await change.getByRole('button', { name: 'Comment', exact: true }).click();
    await change.getByRole('list', { name: 'Comments on “Change a strategy”' }).getByText('Why 80 %?').waitFor();
    await change.getByText('1 comment', { exact: true }).waitFor();
    await eventually(async () => expect(await field.inputValue()).toBe(''));
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByText('Why 80 %?').waitFor();
    await timeline.getByRole('link', { name: '“Change a strategy”' }).click();
    expect(new URL(page.url()).hash).toMatch(/^#change-\d+$/);
    await expectAccessible(opened);

    await field.fill('Is half of it enough?');
    await change.getByRole('button', { name: 'Discard the change “Change a strategy”' }).press('Enter');
    await timeline.getByText(`on “change a strategy” of ${feature}, which was discarded`).waitFor();
    // The button has gone with the change.
    await eventually(async () => expect(await page.locator('main :focus').count()).toBe(1));
    await timeline.getByText('Why 80 %?').waitFor();
    const rest = timeline.getByRole('textbox', { name: 'Comment' });
    expect(await rest.inputValue()).toBe('Is half of it enough?');
    await timeline.getByText('The change that you commented on was discarded meanwhile.').waitFor();
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('is found in the list of open ones, and not among those that wait for its author', async () => {
    const opened = await openSignedIn('/change-requests');
    const { page } = opened;
    const ofFlag = page.getByRole('cell', { name: feature, exact: true }).first();
    await ofFlag.waitFor();
    await expectAccessible(opened);
    await page.getByRole('link', { name: 'Waits for me' }).click();
    await ofFlag.waitFor({ state: 'detached' });
    expect(new URL(page.url()).searchParams.get('view')).toBe('inbox');
    await closeChecked(opened);
  });

  it('is found in the list of its project, and not in that of another, which says where protection is chosen', async () => {
    const other = `p-${randomUUID().slice(0, 8)}`;
    await api('POST', '/api/admin/projects', { id: other, name: 'Not reviewed' });
    await propose(35);
    const opened = await openSignedIn(`/projects/${project}/change-requests`);
    const { page } = opened;
    const bar = page.getByRole('navigation', { name: 'The project' });
    await page.getByRole('cell', { name: feature, exact: true }).first().waitFor();
    expect(await bar.locator('[aria-current=page]').innerText()).toBe('Change requests');
    expect(await cutOffIn(page)).toEqual([]);
    await expectAccessible(opened);
    await page.getByRole('link', { name: 'Closed', exact: true }).click();
    await page.getByRole('cell', { name: feature, exact: true }).first().waitFor({ state: 'detached' });
    expect(new URL(page.url()).pathname).toBe(`/projects/${project}/change-requests`);

    await goTo(page, `/projects/${other}/change-requests`);
    await page.getByText('No change request is open').waitFor();
    await page.getByRole('link', { name: 'Choose where changes need approval' }).click();
    await page.getByRole('heading', { name: 'Environments of Not reviewed' }).waitFor();
    await closeChecked(opened);
  });

  it('says which newer edit it would overwrite', async () => {
    const id = await propose(70);
    await protect(false);
    await api('PUT', `${base}/features/${feature}/environments/production/strategies/${strategy}`, rollout(20));
    await protect(true);
    const opened = await openSignedIn(`/projects/${project}/change-requests/${id}`);
    const { page } = opened;
    await page
      .getByText(/was .*\b10\b.* when this was proposed and is .*\b20\b.* now; applying makes it .*\b70\b/)
      .first()
      .waitFor();
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('that does not exist is a page that says so', async () => {
    const opened = await openSignedIn(`/projects/${project}/change-requests/99999999`);
    const { page } = opened;
    await page.getByRole('heading', { name: 'There is no such change request', level: 1 }).waitFor();
    await expectAccessible(opened);
    // What no id can be is as little there.
    for (const [path, what] of [
      ['/admin/integrations/new', 'integration'],
      [`/projects/${project}/change-requests/abc`, 'change request'],
      ['/admin/segments/abc', 'segment'],
    ] as const) {
      await goTo(page, path);
      await page.getByRole('heading', { name: `There is no such ${what}`, level: 1 }).waitFor();
      expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
    }
    await closeChecked(opened);
  });

  it('that is discarded while someone looks at it is a page that says so', async () => {
    const body = [{ action: 'archiveFeature', feature }];
    const { id } = (await api('POST', `${base}/environments/development/change-requests`, body)) as Identified;
    const opened = await openSignedIn(`/projects/${project}/change-requests/${id}`);
    await opened.page.getByText('It also affects production.').waitFor();
    await api('DELETE', `${base}/change-requests/${id}`);
    await opened.page.getByRole('heading', { name: 'This change request is gone', level: 1 }).waitFor();
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('says which other environments it affects, and needs their approvals', async () => {
    const body = [{ action: 'archiveFeature', feature }];
    const proposed = await api('POST', `${base}/environments/development/change-requests`, body);
    const { id } = proposed as Identified;
    const opened = await openSignedIn(`/projects/${project}/change-requests/${id}`);
    await opened.page.getByText('It also affects production.').waitFor();
    await closeChecked(opened);
    await api('DELETE', `${base}/change-requests/${id}`);
  });
});

interface Person {
  readonly id: number;
  readonly key: string;
}

describeInBrowser('the review of a change request', () => {
  const tail = randomUUID().slice(0, 8);
  const shop = `shop-${tail}`;
  const flag = `checkout-${tail}`;
  const names = { dev: `Dev ${tail}`, ron: `Ron ${tail}`, mel: `Mel ${tail}` };
  let dev: Person;
  let ron: Person;
  let mel: Person;
  const person = async (name: keyof typeof names, projectRole?: number): Promise<Person> => {
    const user = { username: `${name}-${tail}`, name: names[name], rootRole: 3 };
    const { id } = (await api('POST', '/api/admin/user-admin', user)) as Identified;
    if (projectRole !== undefined)
      await api('PUT', `/api/admin/projects/${shop}/users/${id}/roles`, { roles: [projectRole] });
    const { secret } = (await api('POST', `/api/admin/user-admin/${id}/token`, { description: 'console' })) as {
      readonly secret: string;
    };
    return { id, key: secret };
  };
  const propose = async (enabled: boolean, by: Person): Promise<number> => {
    const body = [{ action: 'updateEnabled', feature: flag, payload: { enabled } }];
    const address = `/api/admin/projects/${shop}/environments/production/change-requests`;
    return ((await api('POST', address, body, by.key)) as Identified).id;
  };
  const move = (id: number, state: string, by: Person): Promise<unknown> =>
    api('PUT', `/api/admin/projects/${shop}/change-requests/${id}/state`, { state }, by.key);
  /** Opens a page as a person, on a narrow screen in the dark where that is asked for. */
  const openAs = async ({ key }: Person, path: string, options: Parameters<typeof openPage>[1] = {}) => {
    const opened = await openPage(path, options);
    await signIn(opened.page, key);
    return opened;
  };
  beforeAll(async () => {
    await api('POST', '/api/admin/projects', { id: shop, name: 'The shop' });
    await api('POST', `/api/admin/projects/${shop}/features`, { name: flag });
    await api('PUT', `/api/admin/projects/${shop}/environments/production/change-requests/config`, {
      changeRequestsEnabled: true,
      requiredApprovals: 1,
    });
    const { id: reviewer } = (await api('POST', '/api/admin/roles', {
      name: `Reviewer ${tail}`,
      description: '',
      type: 'custom',
      permissions: ['APPROVE_CHANGE_REQUEST', 'APPLY_CHANGE_REQUEST'].map((name) => ({
        name,
        environment: 'production',
      })),
    })) as Identified;
    const { roles } = (await api('GET', '/api/admin/roles')) as {
      readonly roles: readonly { readonly id: number; readonly name: string }[];
    };
    dev = await person('dev', roles.find(({ name }) => name === 'Member')?.id);
    ron = await person('ron', reviewer);
    mel = await person('mel');
  });

  it('offers each person what is next for them, and nothing that would be refused', async () => {
    const id = await propose(true, dev);
    await move(id, 'In review', dev);
    const path = `/projects/${shop}/change-requests/${id}`;
    const author = await openAs(dev, path);
    const main = author.page.getByRole('main');
    await main.getByText(`${names.dev} wants to change production of The shop`).waitFor();
    await main.getByText('1 flag', { exact: false }).waitFor();
    await main.getByText(/It waits for 1 approval\./).waitFor();
    const primary = main.getByRole('button', { name: 'Request reviewers' });
    await primary.waitFor();
    for (const name of ['Approve', 'Reject', 'Cancel the request'])
      expect(await main.getByRole('button', { name, exact: true }).count()).toBe(0);
    await expectAccessible(author);
    await primary.click();
    const dialog = author.page.getByRole('dialog', { name: 'Request reviewers' });
    await dialog.getByRole('combobox', { name: 'People and groups' }).fill(names.ron);
    await author.page.getByRole('option', { name: names.ron }).click();
    await expectAccessible(author);
    await dialog.getByRole('button', { name: 'Request', exact: true }).press('Enter');
    await main.getByRole('list', { name: 'Reviewers' }).getByText(names.ron).waitFor();
    await main.getByText('Asked', { exact: true }).waitFor();
    const timeline = main.getByRole('region', { name: 'Timeline' });
    await timeline.getByText(`${names.dev} asked for a review by ${names.ron}`).waitFor();
    const approvers = `/api/admin/projects/${shop}/change-requests/${id}/approvers`;
    await api('PUT', approvers, { reviewers: [] }, dev.key);
    await timeline.getByText(`${names.dev} no longer asks for a review by ${names.ron}`).waitFor();
    await timeline.getByText(`Sent to review by ${names.dev}`).waitFor();
    await expectAccessible(author);
    await author.page.emulateMedia({ media: 'print' });
    const printed = main.locator(
      'button:visible, form:visible, input:visible, textarea:visible, [role="menu"]:visible, details:not([open]):visible',
    );
    expect(await printed.count()).toBe(0);
    await timeline.getByText(`Sent to review by ${names.dev}`).waitFor();
    await author.page.emulateMedia({ media: 'screen' });
    expect(await printed.count()).toBeGreaterThan(3);
    await openMenu(main.getByRole('button', { name: 'More actions' }), 'Cancel the request');
    const entries = author.page.getByRole('menuitem');
    expect(await entries.allInnerTexts()).toEqual(['Edit the title', 'Cancel the request']);
    // What takes something away is not where one presses for something else.
    const [title, cancel] = [await entries.first().boundingBox(), await entries.last().boundingBox()];
    expect((cancel?.y ?? 0) - (title?.y ?? 0) - (title?.height ?? 0)).toBeGreaterThan(4);
    await expectAccessible(author);
    await closeChecked(author);

    const onlooker = await openAs(mel, path);
    await onlooker.page
      .getByRole('main')
      .getByText(/It waits for 1 approval\./)
      .waitFor();
    const buttons = await onlooker.page.getByRole('main').getByRole('button').allInnerTexts();
    expect(buttons.filter((name) => /Approve|Reject|Cancel|Request reviewers|Apply/.test(name))).toEqual([]);
    await onlooker.page.getByRole('link', { name: 'Change requests', exact: true }).first().waitFor();
    await closeChecked(onlooker);
  });

  it('waits for those who may approve, with its number in the navigation, until it is approved and applied', async () => {
    const opened = await openAs(ron, '/change-requests?view=inbox', { width: 390, height: 844, dark: true });
    const { page } = opened;
    const row = page.getByRole('row').filter({ hasText: flag });
    await row.getByText('The shop', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Menu' }).click();
    await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: /Change requests 1 to review/ })
      .waitFor();
    await page.getByRole('button', { name: 'Menu' }).click();
    await expectAccessible(opened);
    await row.getByRole('link').click();
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Reject', exact: true }).waitFor();
    await page.getByText(/^It waits for 1 approval\. You.* may approve it\.$/).waitFor();
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'Approve', exact: true }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).press('Enter');
    await page.getByText('Approved.', { exact: true }).waitFor();
    await page.getByText('It has the approvals that it needs, and can be applied.').waitFor();
    expect(await page.getByRole('main').getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Apply', exact: true }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Apply', exact: true }).press('Enter');
    await page.getByText('Applied.', { exact: true }).waitFor();
    await page.getByText(`${names.dev} changed production of The shop`).waitFor();
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByText(`Approved by ${names.ron}`).waitFor();
    await timeline.getByText(`Applied by ${names.ron}`).waitFor();
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('navigation', { name: 'Main' }).getByText('to review').waitFor({ state: 'detached' });
    expect(await api('GET', `/api/admin/projects/${shop}/features/${flag}`)).toMatchObject({
      environments: expect.arrayContaining([expect.objectContaining({ name: 'production', enabled: true })]) as unknown,
    });
    await closeChecked(opened);
  });

  it('is not added to by a further proposal before its author has said so', async () => {
    const id = await propose(false, dev);
    await move(id, 'In review', dev);
    await move(id, 'Approved', ron);
    const approvals = async (): Promise<number> => {
      const request = await api('GET', `/api/admin/projects/${shop}/change-requests/${id}`);
      return (request as { readonly approvals: readonly object[] }).approvals.length;
    };
    const opened = await openAs(dev, `/projects/${shop}/features/${flag}`);
    const { page } = opened;
    const toggle = page.getByRole('switch', { name: 'Enabled in production' });
    const question = page.getByRole('alertdialog', { name: 'Add to the request in review?' });
    await pressSwitch(toggle);
    await question.getByText(`“Change request #${id}” is approved and has 1 approval.`, { exact: false }).waitFor();
    await question.getByText('its approvals lapse', { exact: false }).waitFor();
    await expectAccessible(opened);
    await question.getByRole('button', { name: 'Cancel' }).press('Enter');
    await page.getByText('Nothing was proposed.').waitFor();
    await pressSwitch(toggle);
    await question.getByRole('button', { name: 'Start a new request' }).press('Enter');
    await page.getByText('Added to a new draft for production.', { exact: false }).waitFor();
    expect(await approvals()).toBe(1);
    await page.getByRole('status').getByRole('link', { name: 'Open' }).first().press('Enter');
    await page.getByRole('button', { name: 'Send to review' }).waitFor();
    const draft = Number(new URL(page.url()).pathname.split('/').at(-1));
    await api('DELETE', `/api/admin/projects/${shop}/change-requests/${draft}`, undefined, dev.key);

    await page.goto(new URL(`/projects/${shop}/features/${flag}`, page.url()).href);
    await signIn(page, dev.key);
    await pressSwitch(toggle);
    await question.getByRole('button', { name: 'Add to it' }).press('Enter');
    await page.getByText('which is in review and needs its approvals again', { exact: false }).waitFor();
    expect(await approvals()).toBe(0);
    await closeChecked(opened);
  });
});
