import { randomUUID } from 'node:crypto';
import { eventually } from '@bunting/testing';
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import {
  api,
  chooseFromMenu,
  closeChecked,
  describeInBrowser,
  openPage,
  openSignedIn,
  signIn,
} from '../support/browser.ts';

const unique = randomUUID().slice(0, 8);
/** a project that all see and members alone propose changes in, one that members alone see, and one that there is not */
const [guarded, vault, unknown] = [`guarded-${unique}`, `vault-${unique}`, `nowhere-${unique}`];
const secret = `Secret ${unique}`;

interface Identified {
  readonly id: number;
}

const rootRoles = { administrator: 1, owner: 3, member: 3, viewer: 3, outsider: 2 } as const;
type Role = keyof typeof rootRoles;
const projectRoles = { owner: 'Owner', member: 'Member', viewer: 'Reader' } as const;
const keys = {} as Record<Role, string>;
/** by project, what its pages are addressed by */
const things = {} as Record<string, { readonly request: number; readonly segment: number }>;

const tabs = ['flags', 'environments', 'access', 'tokens', 'applications', 'segments', 'actions', 'archive'];
const otherTabs = ['settings', 'cleanup', 'events'];

/** The pages of a project, each with another title than the one before it. */
function pagesOf(project: string): string[] {
  const base = `/projects/${project}`;
  const { request, segment } = things[project] ?? { request: 999_999, segment: 999_999 };
  return [
    base,
    ...[...tabs, ...otherTabs].map((tab) => `${base}/${tab}`),
    `${base}/features/${project}.one`,
    `${base}/features/${project}.one/environments/development/strategies/new`,
    `${base}/features/${project}.gone`,
    `${base}/change-requests/${request}`,
    `/admin/segments/${segment}`,
    `/admin/applications/${project}-app`,
    `/admin/access?project=${project}`,
  ];
}

const adminSections = [
  'environments',
  'segments',
  'segments/new',
  'context',
  'tags',
  'strategies',
  'types',
  'users',
  'groups',
  'roles',
  'access',
  'service-accounts',
  'api-tokens',
  'sign-in',
  'applications',
  'integrations',
  'signals',
  'transfer',
  'instance',
];
const sharedPages = [
  '/',
  '/flags',
  '/change-requests',
  '/projects',
  '/playground',
  '/events',
  '/cleanup',
  '/inbox',
  '/profile',
  '/admin',
  ...adminSections.map((section) => `/admin/${section}`),
];

/**
 * The pages of a project as a role sees them, half of them in each of the two projects: every role sees every page and both projects, and
 * every page is seen in both.
 */
function projectPagesFor(role: Role): readonly string[] {
  if (role === 'outsider') return pagesOf(guarded);
  const inVault = pagesOf(vault);
  const turn = Object.keys(rootRoles).indexOf(role);
  return pagesOf(guarded).map((page, nth) => ((nth + turn) % 2 === 0 ? page : (inVault[nth] ?? page)));
}

async function createProject(id: string, name: string, mode: string, people: Record<string, number>): Promise<void> {
  const base = `/api/admin/projects/${id}`;
  await api('POST', '/api/admin/projects', { id, name, mode });
  const { roles } = (await api('GET', '/api/admin/roles')) as { roles: { id: number; name: string }[] };
  for (const [person, role] of Object.entries(projectRoles)) {
    const roleId = roles.find((one) => one.name === role)?.id ?? 0;
    await api('POST', `${base}/access`, { users: [people[person]], groups: [], roles: [roleId] });
  }
  for (const flag of ['one', 'two', 'gone']) await api('POST', `${base}/features`, { name: `${id}.${flag}` });
  await api('DELETE', `${base}/features/${id}.gone`);
  await api('POST', `${base}/features/${id}.one/environments/production/on`);
  const segment = { name: `${id}-people`, project: id, constraints: [] };
  const { id: segmentId } = (await api('POST', '/api/admin/segments', segment)) as Identified;
  const protection = { changeRequestsEnabled: true, requiredApprovals: 1 };
  await api('PUT', `${base}/environments/production/change-requests/config`, protection);
  const change = { action: 'updateEnabled', feature: `${id}.one`, payload: { enabled: false } };
  const requests = `${base}/environments/production/change-requests`;
  const { id: request } = (await api('POST', requests, [change], keys.member)) as Identified;
  await api('PUT', `${base}/change-requests/${request}/state`, { state: 'In review' }, keys.member);
  const token = { tokenName: `${id}-backend`, type: 'client', environment: 'development', projects: [id] };
  const { secret: key } = (await api('POST', `${base}/api-tokens`, token)) as { secret: string };
  const started = new Date().toISOString();
  const instance = { appName: `${id}-app`, instanceId: id, strategies: [], started, interval: 10 };
  await api('POST', '/api/client/register', instance, key);
  things[id] = { request, segment: segmentId };
}

/** A user with a role of their own, in the projects or everywhere. Returns their key. */
async function keyOfClerk(
  name: string,
  type: 'custom' | 'root-custom',
  permissions: readonly string[],
): Promise<string> {
  const role = { name: `${name} ${unique}`, type, permissions: permissions.map((one) => ({ name: one })) };
  const { id: roleId } = (await api('POST', '/api/admin/roles', role)) as Identified;
  const user = { username: `${name}-${unique}`, rootRole: type === 'custom' ? rootRoles.viewer : roleId };
  const { id } = (await api('POST', '/api/admin/user-admin', user)) as Identified;
  const access = { users: [id], groups: [], roles: [roleId] };
  if (type === 'custom')
    for (const project of [guarded, vault]) await api('POST', `/api/admin/projects/${project}/access`, access);
  const made = await api('POST', `/api/admin/user-admin/${id}/token`, { description: 'roles' });
  return (made as { readonly secret: string }).secret;
}

/** Goes to another page without loading the console again, which would forget the key, and waits until all of it is there. */
async function goTo(page: Page, path: string): Promise<void> {
  const before = await page.title();
  await page.evaluate((to) => {
    history.pushState({}, '', to);
    dispatchEvent(new PopStateEvent('popstate'));
  }, path);
  await page.waitForFunction((title) => document.title !== title, before);
  await settled(page);
}

async function settled(page: Page): Promise<void> {
  const waiting = page.locator('[data-loading], [role=progressbar], [aria-busy="true"]:not(article)');
  await eventually(async () => expect(await waiting.count()).toBe(0));
}

async function openAs(role: Role) {
  const opened = await openSignedIn('/profile', { key: keys[role] });
  await settled(opened.page);
  return opened;
}

/** What the server says to who is refused, in contrast to what the console says beforehand of pages that are not for somebody. */
const refusal = /You don.t have the required permissions|You need the permission|only its members and administrators/;

describeInBrowser('the console, for people in five roles,', () => {
  beforeAll(async () => {
    const people: Record<string, number> = {};
    for (const role of Object.keys(rootRoles) as Role[]) {
      const user = { username: `${role}-${unique}`, name: `${role} ${unique}`, rootRole: rootRoles[role] };
      const { id } = (await api('POST', '/api/admin/user-admin', user)) as Identified;
      const made = await api('POST', `/api/admin/user-admin/${id}/token`, { description: 'roles' });
      keys[role] = (made as { readonly secret: string }).secret;
      people[role] = id;
    }
    await createProject(guarded, `Guarded ${unique}`, 'protected', people);
    await createProject(vault, secret, 'private', people);
  });

  it.each(Object.keys(rootRoles) as Role[])(
    'asks for nothing and shows nothing that is refused to the %s',
    async (role) => {
      const opened = await openAs(role);
      const { page } = opened;
      const refused: string[] = [];
      page.on('response', (response) => {
        if (response.status() === 403)
          refused.push(`${response.request().method()} ${new URL(response.url()).pathname}`);
      });
      const faults: string[] = [];
      for (const path of [...sharedPages, ...projectPagesFor(role)]) {
        await goTo(page, path);
        const text = await page.locator('body').innerText();
        if (refusal.test(text)) faults.push(`${path} shows a refusal`);
        if (role === 'outsider' && (text.includes(secret) || text.includes(vault)))
          faults.push(`${path} shows ${secret}`);
        faults.push(...refused.splice(0).map((request) => `${path} asked for what is refused: ${request}`));
      }
      expect(faults).toEqual([]);
      await closeChecked(opened);
    },
  );

  it('looks to an outsider in a private project as it does in one that does not exist', async () => {
    const opened = await openAs('outsider');
    const { page } = opened;
    /** What a page shows, with the names of its project left out. */
    const shown = async (project: string, path: string): Promise<string> => {
      // Their titles are the same.
      await goTo(page, '/inbox');
      await goTo(page, path);
      const { request, segment } = things[project] ?? { request: 999_999, segment: 999_999 };
      const text = await page.locator('body').innerText();
      expect(text).not.toContain(secret);
      return text.replaceAll(project, '…').replaceAll(new RegExp(`\\b(${request}|${segment})\\b`, 'g'), '…');
    };
    const differences: string[] = [];
    const absent = pagesOf(unknown);
    for (const [nth, path] of pagesOf(vault).entries()) {
      const [inVault, inUnknown] = [await shown(vault, path), await shown(unknown, absent[nth] ?? '')];
      if (inVault !== inUnknown) differences.push(`${path}: ${inVault} is not ${inUnknown}`);
    }
    expect(differences).toEqual([]);
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Search' });
    await palette.getByRole('combobox').fill(unique);
    await palette.getByRole('option', { name: `${guarded}.one` }).waitFor();
    expect(await palette.innerText()).not.toContain(vault);
    await closeChecked(opened);
  });

  it('offers switches, selections and new strategies where they can be made or proposed', async () => {
    const flag = `${guarded}.one`;
    const list = `/flags?q=${flag}`;
    const strategy = `/projects/${guarded}/features/${flag}/environments/production/strategies/new`;
    for (const [role, isDevelopment, isProduction] of [
      ['outsider', false, false],
      ['viewer', false, true],
      ['member', true, true],
    ] as const) {
      const opened = await openAs(role);
      const { page } = opened;
      await goTo(page, list);
      const isEnabled = (environment: string): Promise<boolean> =>
        page.getByRole('switch', { name: `${flag} in ${environment}` }).isEnabled();
      await eventually(async () => expect(await isEnabled('production')).toBe(isProduction));
      expect(await isEnabled('development')).toBe(isDevelopment);
      await goTo(page, `/projects/${guarded}/features/${flag}`);
      const main = page.getByRole('main');
      for (const [environment, may] of [
        ['development', isDevelopment],
        ['production', isProduction],
      ] as const)
        expect(await main.getByRole('switch', { name: `Enabled in ${environment}` }).isEnabled()).toBe(may);
      await goTo(page, strategy);
      await eventually(async () =>
        expect(await main.getByRole('button', { name: 'Propose', exact: true }).count()).toBe(isProduction ? 1 : 0),
      );
      expect(await main.getByText('but not save it', { exact: false }).count()).toBe(isProduction ? 0 : 1);
      await goTo(page, `/projects/${guarded}/flags`);
      await main.getByRole('link', { name: flag }).waitFor();
      expect(await main.getByRole('checkbox', { name: `Select ${flag}` }).count()).toBe(isProduction ? 1 : 0);
      await closeChecked(opened);
    }
  });

  it('leads an owner of one project to what is created there', async () => {
    const opened = await openAs('owner');
    const { page } = opened;
    await goTo(page, '/flags');
    await page.getByRole('button', { name: 'Create a flag' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create a flag' });
    await dialog.getByRole('combobox', { name: 'Project' }).waitFor();
    await page.keyboard.press('Escape');
    await goTo(page, '/admin/segments/new');
    await page.getByRole('button', { name: /Offered in/ }).click();
    const offered = page.getByRole('listbox').getByRole('option');
    await offered.first().waitFor();
    expect((await offered.allInnerTexts()).toSorted()).toEqual([`Guarded ${unique}`, secret]);
    await page.keyboard.press('Escape');
    await goTo(page, '/admin/transfer');
    await page.getByRole('button', { name: 'Check' }).waitFor();
    await goTo(page, `/admin/access?project=${guarded}`);
    await page.getByRole('row', { name: new RegExp(`member ${unique}.*Member`) }).waitFor();
    await closeChecked(opened);
  });

  it('offers a viewer no form that cannot be sent', async () => {
    const opened = await openAs('viewer');
    const { page } = opened;
    const main = page.getByRole('main');
    for (const [path, said] of [
      ['/admin/segments/new', 'You can look, but not change anything here'],
      ['/admin/transfer', 'You may not import flags'],
      [`/projects/${guarded}/settings`, 'You may not see this page'],
      [`/projects/${guarded}/access`, 'You may not see this page'],
    ] as const) {
      await goTo(page, path);
      await main.getByText(said, { exact: false }).waitFor();
      expect(await main.getByRole('button', { name: /^(Create|Save|Check|Give access)/ }).count()).toBe(0);
    }
    await closeChecked(opened);
  });

  it('offers the roles, the types of tokens and the deletions that the server accepts, and no others', async () => {
    const tokenRights = ['READ_PROJECT_API_TOKEN', 'DELETE_PROJECT_API_TOKEN'];
    const ofProject = await keyOfClerk('porter', 'custom', ['PROJECT_USER_ACCESS_WRITE', ...tokenRights]);
    const sdkTokens = ['READ_CLIENT_API_TOKEN', 'READ_FRONTEND_API_TOKEN', 'CREATE_FRONTEND_API_TOKEN'];
    const ofTokens = await keyOfClerk('minter', 'root-custom', [...sdkTokens, 'DELETE_FRONTEND_API_TOKEN']);
    const tokenOf = (tokenName: string, type: string, projects: readonly string[]) =>
      api('POST', '/api/admin/api-tokens', { tokenName, type, environment: 'development', projects });
    await tokenOf(`shared-${unique}`, 'client', [guarded, vault]);
    await tokenOf(`browser-${unique}`, 'frontend', [guarded]);

    const opened = await openSignedIn('/profile', { key: ofProject });
    const { page } = opened;
    await settled(page);
    await goTo(page, `/projects/${guarded}/access`);
    const offeredRoles = async (dialog: ReturnType<Page['getByRole']>): Promise<string[]> => {
      await dialog.getByRole('checkbox').first().waitFor();
      const labels = await dialog.getByRole('group', { name: 'Roles' }).locator('label').allInnerTexts();
      return labels
        .filter((label) => /^(Owner|Member|Reader|porter)/.test(label))
        .map((label) => label.split(' ')[0] ?? '');
    };
    await page.getByRole('button', { name: 'Give access' }).click();
    expect(await offeredRoles(page.getByRole('dialog', { name: 'Give access' }))).toEqual(['Reader', 'porter']);
    await page.keyboard.press('Escape');
    await chooseFromMenu(page.getByRole('button', { name: `Actions for member ${unique}` }), 'Change roles');
    const changed = page.getByRole('dialog', { name: `Roles of member ${unique}` });
    expect(await offeredRoles(changed)).toEqual(['Member', 'Reader', 'porter']);
    await changed.getByText('left out', { exact: false }).waitFor();
    await page.keyboard.press('Escape');
    await goTo(page, `/projects/${guarded}/tokens`);
    await page.getByRole('button', { name: `Actions for ${guarded}-backend` }).waitFor();
    await page.getByRole('row', { name: new RegExp(`shared-${unique}`) }).waitFor();
    expect(await page.getByRole('button', { name: `Actions for shared-${unique}` }).count()).toBe(0);
    await closeChecked(opened);

    const minting = await openSignedIn('/profile', { key: ofTokens });
    await settled(minting.page);
    await goTo(minting.page, '/admin/api-tokens');
    await minting.page.getByRole('row', { name: new RegExp(`${guarded}-backend`) }).waitFor();
    await minting.page.getByRole('button', { name: `Actions for browser-${unique}` }).waitFor();
    expect(await minting.page.getByRole('button', { name: `Actions for ${guarded}-backend` }).count()).toBe(0);
    await minting.page.getByRole('button', { name: 'Create an API token' }).click();
    const create = minting.page.getByRole('dialog', { name: 'Create an API token' });
    await create.getByRole('button', { name: /Type/ }).click();
    const types = minting.page.getByRole('listbox').getByRole('option');
    await types.first().waitFor();
    expect((await types.allInnerTexts()).map((text) => text.split(/\s/)[0])).toEqual(['Frontend']);
    await minting.page.keyboard.press('Escape');
    await closeChecked(minting);
  });

  it('offers no switch that would add a first strategy to who may switch, but not add strategies', async () => {
    const key = await keyOfClerk('switcher', 'custom', ['UPDATE_FEATURE_ENVIRONMENT']);
    const strategies = `/api/admin/projects/${guarded}/features/${guarded}.one/environments/development/strategies`;
    await api('POST', strategies, { name: 'default' });
    const opened = await openSignedIn('/profile', { key });
    const { page } = opened;
    await settled(page);
    for (const [flag, isOffered] of [
      [`${guarded}.one`, true],
      [`${guarded}.two`, false],
    ] as const) {
      await goTo(page, `/flags?q=${flag}`);
      const inList = page.getByRole('switch', { name: `${flag} in development` });
      await eventually(async () => expect(await inList.isEnabled()).toBe(isOffered));
      await goTo(page, `/projects/${guarded}/features/${flag}`);
      const onPage = page.getByRole('main').getByRole('switch', { name: 'Enabled in development' });
      await eventually(async () => expect(await onPage.isEnabled()).toBe(isOffered));
    }
    await closeChecked(opened);
  });

  it('offers of integrations what takes no administrator to those who are none', async () => {
    const rights = ['CREATE_ADDON', 'UPDATE_ADDON', 'CREATE_CONTEXT_FIELD'];
    const key = await keyOfClerk('messenger', 'root-custom', rights);
    const parameters = { url: 'https://hooks.example.org/' };
    for (const [name, events] of [
      ['everything', ['*']],
      ['flags', ['feature-created']],
    ] as const) {
      const addon = { provider: 'webhook', enabled: false, description: `${name} ${unique}`, parameters, events };
      await api('POST', '/api/admin/addons', addon);
    }
    const opened = await openSignedIn('/profile', { key });
    const { page } = opened;
    await settled(page);
    await goTo(page, '/admin/integrations');
    const actionsOf = (name: string) => page.getByRole('button', { name: `Actions for ${name} ${unique}` });
    await actionsOf('flags').waitFor();
    expect(await actionsOf('everything').count()).toBe(0);
    await page.getByRole('button', { name: 'Create an integration' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create an integration' });
    await dialog.getByLabel('Webhook URL').waitFor();
    expect(await dialog.getByText('leave *****', { exact: false }).count()).toBe(0);
    await dialog.getByRole('button', { name: /Kind/ }).click();
    await page.getByRole('option', { name: /^Slack app/i }).click();
    await dialog.getByLabel('Access token').waitFor();
    expect(await dialog.getByLabel('Signing secret').count()).toBe(0);
    await page.keyboard.press('Escape');
    await goTo(page, '/admin/context');
    await page.getByRole('button', { name: 'Create a context field' }).waitFor();
    expect(await page.getByText('You can look', { exact: false }).count()).toBe(0);
    await closeChecked(opened);
  });

  it('shows a service account its tokens, and asks for nothing that is for people', async () => {
    const account = { username: `robot-${unique}`, rootRole: rootRoles.viewer };
    const { id } = (await api('POST', '/api/admin/service-account', account)) as Identified;
    const made = await api('POST', `/api/admin/service-account/${id}/token`, { description: 'nightly' });
    const opened = await openPage('/flags');
    const { page } = opened;
    const refused: string[] = [];
    page.on('response', (response) => {
      if (response.status() === 403) refused.push(new URL(response.url()).pathname);
    });
    await signIn(page, (made as { readonly secret: string }).secret);
    await settled(page);
    await goTo(page, '/profile');
    await page.getByRole('cell', { name: 'nightly' }).waitFor();
    expect(await page.getByRole('button', { name: 'Change the password' }).count()).toBe(0);
    expect(await page.getByRole('heading', { level: 2 }).allInnerTexts()).toEqual(['Personal access tokens']);
    expect(refused).toEqual([]);
    await closeChecked(opened);
  });
});
