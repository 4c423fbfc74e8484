import { beforeAll, expect, it } from 'vitest';
import {
  api,
  chooseFromMenu,
  chooseTyped,
  closeChecked,
  describeInBrowser,
  expectAccessible,
  openSignedIn,
  untilFocused,
} from '../support/browser.ts';

describeInBrowser('permissions in the console', () => {
  beforeAll(async () => {
    const user = (await api('POST', '/api/admin/user-admin', {
      username: 'hedy',
      name: 'Hedy Lamarr',
      rootRole: 3,
    })) as {
      id: number;
    };
    const group = (await api('POST', '/api/admin/groups', {
      name: 'Frequency',
      users: [{ user: { id: user.id } }],
    })) as {
      id: number;
    };
    await api('PUT', `/api/admin/projects/default/groups/${group.id}/roles`, { roles: [8] });
  });

  it('are a matrix of roles, in which a role is made, changed, and deleted by its name', async () => {
    const opened = await openSignedIn('/admin/roles?kind=project');
    const { page } = opened;
    const matrix = page.getByRole('table', { name: 'What roles give' });
    await matrix.getByRole('columnheader', { name: 'Owner' }).waitFor();
    await expectAccessible(opened);
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: 'Create a project role' });
    await untilFocused(dialog);
    await page.keyboard.type('Deployer');
    await dialog
      .getByRole('checkbox', { name: 'Create feature toggles' })
      .or(dialog.getByRole('checkbox').first())
      .first()
      .press('Space');
    await dialog
      .getByRole('checkbox', { name: /toggles? in development|in development$/ })
      .first()
      .press('Space');
    await expectAccessible(opened);
    // The list of permissions is longer than the window: it scrolls, and the buttons stay in the dialog.
    const [frame, button] = await Promise.all([
      dialog.boundingBox(),
      dialog.getByRole('button', { name: 'Create', exact: true }).boundingBox(),
    ]);
    expect((button?.y ?? 0) + (button?.height ?? 0)).toBeLessThanOrEqual((frame?.y ?? 0) + (frame?.height ?? 0));
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await matrix.getByRole('columnheader', { name: /Deployer/ }).waitFor();
    await matrix.getByText('in development').first().waitFor();
    await chooseFromMenu(page.getByRole('button', { name: 'Actions for the role Deployer' }), 'Edit');
    const edit = page.getByRole('dialog', { name: 'Edit the role “Deployer”' });
    await edit.getByLabel('Description').fill('Turns flags on in development');
    await edit.getByRole('button', { name: 'Save' }).click();
    await edit.waitFor({ state: 'detached' });
    const { roles } = (await api('GET', '/api/admin/roles')) as {
      roles: { id: number; name: string; description: string; type: string }[];
    };
    const deployer = roles.find(({ name }) => name === 'Deployer');
    expect(deployer).toMatchObject({ description: 'Turns flags on in development', type: 'custom' });
    // What another administrator revokes while the dialog is open stays revoked.
    await chooseFromMenu(page.getByRole('button', { name: 'Actions for the role Deployer' }), 'Edit');
    await edit.getByLabel('Description').fill('Moves flags');
    const address = `/api/admin/roles/${deployer?.id}`;
    const permissions = [{ name: 'MOVE_FEATURE_TOGGLE' }];
    await api('PUT', address, { name: 'Deployer', description: 'Theirs', permissions });
    await edit.getByRole('button', { name: 'Save' }).click();
    await edit.waitFor({ state: 'detached' });
    expect(await api('GET', address)).toMatchObject({ description: 'Moves flags', permissions });
    await chooseFromMenu(page.getByRole('button', { name: 'Actions for the role Deployer' }), 'Delete');
    await page
      .getByRole('alertdialog', { name: 'Delete the role “Deployer”?' })
      .getByRole('button', { name: 'Delete' })
      .click();
    await page.getByText('The role Deployer is deleted.').waitFor();
    await matrix.getByRole('columnheader', { name: /Deployer/ }).waitFor({ state: 'detached' });
    await closeChecked(opened);
  });

  it('are shown for a project with the role and the group through which people have them', async () => {
    const opened = await openSignedIn('/admin/access?project=default&permission=APPLY_CHANGE_REQUEST');
    const { page } = opened;
    await page.getByRole('row', { name: /Hedy Lamarr.*Change releaser, by the group Frequency/ }).waitFor();
    await expectAccessible(opened);
    await page
      .getByRole('row', { name: /Hedy Lamarr/ })
      .getByRole('button', { name: '2 permissions' })
      .click();
    const details = page.getByRole('dialog', { name: 'What Hedy Lamarr may do' });
    await details
      .getByRole('row', { name: /Change releaser, by the group Frequency/ })
      .first()
      .waitFor();
    await expectAccessible(opened);
    await page.keyboard.press('Escape');
    await details.waitFor({ state: 'detached' });
    // Everywhere, the role in the project gives nothing.
    const where = page.getByRole('combobox', { name: 'Where' });
    await chooseTyped(where, 'Everywhere', page.getByRole('option', { name: /Everywhere/ }));
    await page.getByRole('row', { name: /Hedy Lamarr/ }).waitFor({ state: 'detached' });
    await closeChecked(opened);
  });

  it('are shown for everywhere without the environment that a project was looked at in', async () => {
    const { id: rootRole } = (await api('POST', '/api/admin/roles', {
      name: 'Switcher',
      description: '',
      type: 'root-custom',
      permissions: [{ name: 'UPDATE_FEATURE_ENVIRONMENT', environment: 'development' }],
    })) as { id: number };
    await api('POST', '/api/admin/user-admin', { username: 'ada.lovelace', name: 'Ada Lovelace', rootRole });
    const opened = await openSignedIn('/admin/access?environment=production&permission=UPDATE_FEATURE_ENVIRONMENT');
    await opened.page.getByRole('row', { name: /Ada Lovelace/ }).waitFor();
    await closeChecked(opened);
  });

  it('are given to applications by API tokens, whose secrets are shown once', async () => {
    const opened = await openSignedIn('/admin/api-tokens');
    const { page } = opened;
    await page.getByRole('button', { name: 'Create an API token' }).waitFor();
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: 'Create an API token' });
    await untilFocused(dialog);
    await page.keyboard.type('checkout service');
    await dialog.getByRole('combobox', { name: 'Add a project' }).fill('Def');
    await page.getByRole('option', { name: /Default/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    const made = page.getByRole('alertdialog', { name: 'The token “checkout service” is created' });
    const secret = await made.getByLabel('Token').innerText();
    expect(secret).toMatch(/^default:development\./);
    await expectAccessible(opened);
    await made.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('row', { name: /checkout service/ }).waitFor();
    expect(await page.content()).not.toContain(secret);
    const client = await fetch(new URL('/api/client/features', page.url()), { headers: { authorization: secret } });
    expect(client.status).toBe(200);
    await expectAccessible(opened);
    await chooseFromMenu(page.getByRole('button', { name: 'Actions for checkout service' }), 'Change when it expires');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /checkout service.* in \d/ }).waitFor();
    await chooseFromMenu(page.getByRole('button', { name: 'Actions for checkout service' }), 'Delete');
    const question = page.getByRole('alertdialog', { name: 'Delete the token “checkout service”?' });
    await expectAccessible(opened);
    await question.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('checkout service is deleted.').waitFor();
    await closeChecked(opened);
  });

  it('are given to machines by service accounts with tokens', async () => {
    const opened = await openSignedIn('/admin/service-accounts');
    const { page } = opened;
    await page.getByRole('button', { name: 'Create a service account', disabled: false }).first().waitFor();
    await page.keyboard.press('c');
    await untilFocused(page.getByRole('dialog', { name: 'Create a service account' }));
    await page.keyboard.type('pipeline');
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: /pipeline.*Viewer/ }).waitFor();
    await chooseFromMenu(page.getByRole('button', { name: 'Actions for pipeline' }), 'Tokens…');
    await page
      .getByRole('dialog', { name: 'Tokens of pipeline' })
      .getByRole('button', { name: 'Create a token' })
      .click();
    await page.getByLabel('Used for').fill('deployments');
    await page.keyboard.press('Enter');
    const made = page.getByRole('alertdialog', { name: 'The token is created' });
    const secret = await made.getByLabel('Token').innerText();
    await made.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('cell', { name: 'deployments' }).waitFor();
    await expectAccessible(opened);
    const me = await fetch(new URL('/api/admin/user', page.url()), { headers: { authorization: secret } });
    expect(((await me.json()) as { user: { username: string } }).user.username).toBe('pipeline');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page
      .getByRole('alertdialog', { name: 'Delete the token “deployments”?' })
      .getByRole('button', { name: 'Delete' })
      .click();
    await page.getByText('No tokens yet').waitFor();
    await page.keyboard.press('Escape');
    // An account that another administrator deactivates while the dialog is open stays deactivated.
    await chooseFromMenu(page.getByRole('button', { name: 'Actions for pipeline' }), 'Edit');
    const edit = page.getByRole('dialog', { name: 'Edit “pipeline”' });
    await edit.getByLabel('Name').fill('Pipeline of the shop');
    const account = async () => {
      const { serviceAccounts } = (await api('GET', '/api/admin/service-account')) as {
        serviceAccounts: { id: number; username: string; name: string; active: boolean }[];
      };
      return serviceAccounts.find(({ username }) => username === 'pipeline');
    };
    await api('PUT', `/api/admin/service-account/${(await account())?.id}`, { active: false });
    await edit.getByRole('button', { name: 'Save' }).click();
    await edit.getByText('Both edits are combined here', { exact: false }).waitFor();
    await edit.getByRole('button', { name: 'Save' }).click();
    await edit.waitFor({ state: 'detached' });
    expect(await account()).toMatchObject({ name: 'Pipeline of the shop', active: false });
    await closeChecked(opened);
  });
});
