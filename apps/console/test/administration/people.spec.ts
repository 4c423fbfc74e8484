import { beforeAll, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import {
  api,
  chooseFromMenu,
  closeChecked,
  describeInBrowser,
  expectAccessible,
  openPage,
  openSignedIn,
  signIn,
  untilFocused,
} from '../support/browser.ts';

async function chooseFor(page: Page, row: string, entry: string): Promise<void> {
  await chooseFromMenu(page.getByRole('button', { name: `Actions for ${row}` }), entry);
}

describeInBrowser('the users in the console', () => {
  beforeAll(async () => {
    for (const [username, name] of [
      ['mary', 'Mary Jackson'],
      ['dorothy', 'Dorothy Vaughan'],
      ['rtl', 'عادة الإشارات'],
    ]) {
      await api('POST', '/api/admin/user-admin', { username, name, email: `${username}@nasa.example`, rootRole: 3 });
    }
  });

  it('are created by keyboard alone, with a link that is shown once and is gone from the page afterwards', async () => {
    const opened = await openSignedIn('/admin/users');
    const { page } = opened;
    await page.getByRole('rowheader', { name: 'Mary Jackson' }).waitFor();
    await expectAccessible(opened);
    await page.keyboard.press('c');
    await untilFocused(page.getByRole('dialog', { name: 'Create a user' }));
    await page.keyboard.type('Katherine Johnson');
    await page.keyboard.press('Enter');
    await page
      .getByText(/username|email/i)
      .first()
      .waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.type('katherine@nasa.example');
    await expectAccessible(opened);
    await page.keyboard.press('Enter');
    const made = page.getByRole('alertdialog', { name: 'Katherine Johnson is created' });
    const link = await made.getByLabel('Link', { exact: true }).innerText();
    expect(link).toMatch(/^https?:\/\/\S+token=/);
    await expectAccessible(opened);
    await page.keyboard.press('Escape');
    await made.waitFor({ state: 'detached' });
    await page.getByRole('rowheader', { name: 'Katherine Johnson' }).waitFor();
    expect(await page.content()).not.toContain(link);
    await closeChecked(opened);
  });

  it('are found by name, edited, signed out, deactivated and deleted, each after a question that names them', async () => {
    const opened = await openSignedIn('/admin/users?q=mary');
    const { page } = opened;
    await page.getByRole('rowheader', { name: 'Mary Jackson' }).waitFor();
    expect(await page.getByRole('table', { name: 'Users' }).getByRole('rowheader').count()).toBe(1);

    await chooseFor(page, 'Mary Jackson', 'Edit');
    const edit = page.getByRole('dialog', { name: 'Edit “Mary Jackson”' });
    await edit.getByLabel('Name').fill('Mary W. Jackson');
    await edit.getByRole('button', { name: /Root role/ }).click();
    await page.getByRole('option', { name: /Editor/ }).click();
    await edit.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /Mary W\. Jackson.*Editor/ }).waitFor();

    await chooseFor(page, 'Mary W. Jackson', 'Signed-in browsers');
    const sessions = page.getByRole('alertdialog', { name: 'Browsers in which Mary W. Jackson is signed in' });
    await sessions.getByText('In none at the moment.').waitFor();
    await page.keyboard.press('Escape');

    await chooseFor(page, 'Mary W. Jackson', 'Slack accounts');
    await page
      .getByRole('dialog', { name: 'Slack accounts that act as Mary W. Jackson' })
      .getByText('None at the moment.')
      .waitFor();
    await page.keyboard.press('Escape');

    await chooseFor(page, 'Mary W. Jackson', 'Link to choose a password');
    await page.getByRole('dialog', { name: /A link for “Mary W\. Jackson”/ }).waitFor();
    await page.getByRole('button', { name: 'Create the link' }).click();
    expect(await page.getByLabel('Link', { exact: true }).innerText()).toContain('/reset-password?token=');
    await page.getByRole('button', { name: 'I have copied it' }).click();

    await chooseFor(page, 'Mary W. Jackson', 'Deactivate');
    const question = page.getByRole('alertdialog', { name: 'Deactivate “Mary W. Jackson”?' });
    await question.getByText('The user has no tokens.').waitFor();
    await expectAccessible(opened);
    await question.getByRole('button', { name: 'Deactivate' }).click();
    await page.getByRole('row', { name: /Mary W\. Jackson.*Deactivated/ }).waitFor();

    await chooseFor(page, 'Mary W. Jackson', 'Delete');
    await page.getByRole('alertdialog', { name: 'Delete “Mary W. Jackson”?' }).waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('heading', { name: 'Nothing matches the search' }).waitFor();
    await closeChecked(opened);
  });

  it('are saved with what another administrator has saved meanwhile', async () => {
    const body = { username: 'annie', name: 'Annie Easley', email: 'annie@nasa.example', rootRole: 3 };
    const { id } = (await api('POST', '/api/admin/user-admin', body)) as { id: number };
    const opened = await openSignedIn('/admin/users?q=annie');
    const { page } = opened;
    await chooseFor(page, 'Annie Easley', 'Edit');
    const edit = page.getByRole('dialog', { name: 'Edit “Annie Easley”' });
    await edit.getByLabel('Name').fill('Annie J. Easley');
    await api('PUT', `/api/admin/user-admin/${id}`, { email: 'easley@nasa.example' });
    await edit.getByRole('button', { name: 'Save' }).click();
    await edit.getByText('Both edits are combined here', { exact: false }).waitFor();
    await edit.getByRole('button', { name: 'Save' }).click();
    await edit.waitFor({ state: 'detached' });
    expect(await api('GET', `/api/admin/user-admin/${id}`)).toMatchObject({
      name: 'Annie J. Easley',
      email: 'easley@nasa.example',
    });
    await closeChecked(opened);
  });

  it('are invited by a link, which gives a role, projects and groups, and which an administrator turns off', async () => {
    await api('POST', '/api/admin/projects', { id: 'computing-for-all', name: 'Computing for all' });
    await api('POST', '/api/admin/projects', { id: 'computing-for-few', name: 'Computing for few' });
    await api('POST', '/api/admin/groups', { name: 'Computing guests', users: [] });
    const opened = await openSignedIn('/admin/users');
    const { page } = opened;
    await page.getByRole('button', { name: 'Create an invitation link' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Computing group');
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /Root role/ })
      .press('Enter');
    expect(await page.getByRole('option', { name: 'Admin', exact: false }).count()).toBe(0);
    await page.getByRole('option', { name: 'Editor' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Projects' }).fill('Computing for all');
    await page.getByRole('option', { name: 'Computing for all' }).click();
    const roleIn = (project: string) => dialog.getByRole('button', { name: new RegExp(`Role in .*${project}`) });
    await roleIn('Computing for all').waitFor();
    await dialog.getByRole('combobox', { name: 'Projects' }).fill('Computing for few');
    await page.getByRole('option', { name: 'Computing for few' }).click();
    await roleIn('Computing for few').press('Enter');
    await page.getByRole('option', { name: 'Owner' }).click();
    await dialog.getByRole('combobox', { name: 'Groups' }).fill('Computing guests');
    await page.getByRole('option', { name: 'Computing guests' }).click();
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Create', exact: true }).press('Enter');
    await page.getByRole('alertdialog', { name: 'The invitation “Computing group”' }).waitFor();
    expect(await page.getByLabel('Link', { exact: true }).innerText()).toContain('/new-user?invite=');
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page
      .getByRole('row', {
        name: /Computing group.*Editor, Member of .*Computing for all.*, Owner of .*Computing for few.*, group .*Computing guests.*Works/,
      })
      .waitFor();
    await chooseFor(page, 'Computing group', 'Turn off');
    await page.getByRole('button', { name: 'Turn off' }).click();
    await page.getByRole('row', { name: /Computing group.*Off/ }).waitFor();
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('are put into groups, which have roles and groups of an identity provider', async () => {
    const opened = await openSignedIn('/admin/groups');
    const { page } = opened;
    // The key works as soon as the permissions are loaded, as the button does.
    await page.getByRole('button', { name: 'Create a group' }).waitFor();
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: 'Create a group' });
    await untilFocused(dialog);
    await page.keyboard.type('West computers');
    await dialog.getByRole('combobox', { name: 'Add a member' }).fill('dorothy');
    // Not by keys: the list is drawn again when the people arrive, which may be between two of them.
    await page.getByRole('option', { name: /Dorothy Vaughan/ }).click();
    await dialog.getByRole('button', { name: 'Remove Dorothy Vaughan' }).waitFor();
    await dialog.getByRole('button', { name: /Root role/ }).click();
    await page.getByRole('option', { name: /Editor/ }).click();
    await dialog.getByLabel('Groups of the identity provider').fill('nasa/west\nnasa/computers\n');
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('row', { name: /West computers.*1.*Editor.*nasa\/west, nasa\/computers/ }).waitFor();
    await expectAccessible(opened);
    await chooseFor(page, 'West computers', 'Delete');
    const question = page.getByRole('alertdialog', { name: 'Delete the group “West computers”?' });
    await question.getByText('Dorothy Vaughan').waitFor();
    await question.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('West computers is deleted.').waitFor();
    await closeChecked(opened);
  });

  it('see the groups without what they may not do with them', async () => {
    await api('POST', '/api/admin/groups', { name: 'East computers', users: [] });
    const user = (await api('POST', '/api/admin/user-admin', { username: 'reader', rootRole: 3 })) as { id: number };
    const { secret } = (await api('POST', `/api/admin/user-admin/${user.id}/token`, { description: 'console' })) as {
      secret: string;
    };
    const opened = await openPage('/admin/groups');
    const { page } = opened;
    await signIn(page, secret);
    await page.getByText('that takes the role Admin', { exact: false }).waitFor();
    expect(await page.getByRole('button', { name: /^Create|^Actions for/ }).count()).toBe(0);
    await page.keyboard.press('c');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await closeChecked(opened);
  });
});
