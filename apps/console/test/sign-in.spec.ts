import { beforeAll, expect, it } from '@jest/globals';
import { eventually } from '@bunting/testing';
import type { Page } from 'playwright-core';
import { api, closeChecked, describeInBrowser, expectAccessible, openPage } from './browser.ts';

const password = 'A long sentence of 8 words, nobody guesses';

const signInAs = async (page: Page, username: string, secret = password): Promise<void> => {
  const dialog = page.getByRole('dialog', { name: 'Sign in' });
  await dialog.getByLabel('Email or username').fill(username);
  await dialog.getByLabel('Password', { exact: true }).fill(secret);
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
};

describeInBrowser('signing in to the console', () => {
  let id: number;
  beforeAll(async () => {
    const roles = (await api('GET', '/api/admin/roles')) as { roles: { id: number; name: string }[] };
    const rootRole = roles.roles.find(({ name }) => name === 'Admin')?.id;
    const body = { username: 'ada', name: 'Ada', email: 'ada@example.org', rootRole, sendEmail: false };
    ({ id } = (await api('POST', '/api/admin/user-admin', body)) as { id: number });
    await api('POST', `/api/admin/user-admin/${id}/change-password`, { password, confirmPassword: password });
  });

  it('takes a password, shows the profile, and goes on where the user was when the session ends', async () => {
    const opened = await openPage('/profile');
    const { page } = opened;
    const dialog = page.getByRole('dialog', { name: 'Sign in' });
    await dialog.getByLabel('Email or username').waitFor();
    await expectAccessible(opened);
    await signInAs(page, 'ada', 'not the password');
    await dialog.getByText('These credentials are not right.').waitFor();
    await signInAs(page, 'ada');
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('ada@example.org').waitFor();
    await page.getByText('this browser').waitFor();
    await expectAccessible(opened);

    await page.getByRole('button', { name: 'Create a token' }).click();
    await page.getByLabel('Used for').fill('the nightly job');
    await api('DELETE', `/api/admin/user-admin/${id}/sessions`);
    await page.keyboard.press('Enter');
    await dialog.getByText('Your session has ended.').waitFor();
    await signInAs(page, 'ada');
    // What was typed is sent after the sign-in, without typing it again.
    await page.getByText('The token is created').waitFor();
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('cell', { name: 'the nightly job' }).waitFor();
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await dialog.waitFor();
    await closeChecked(opened);
  });

  it('lets a user choose a password by a link, once', async () => {
    const { resetPasswordUrl } = (await api('POST', '/api/admin/user-admin/reset-password', {
      id: 'ada@example.org',
    })) as { resetPasswordUrl: string };
    const { pathname, search } = new URL(resetPasswordUrl, 'http://localhost');
    const opened = await openPage(`${pathname}${search}`);
    const { page } = opened;
    await page.getByText('The password of Ada:').waitFor();
    await expectAccessible(opened);
    await page.getByLabel('New password', { exact: true }).fill('short');
    await page.getByLabel('The new password again').fill('shorter');
    await page.keyboard.press('Enter');
    await page.getByText('The two passwords differ.').waitFor();
    await page.getByLabel('New password', { exact: true }).fill(`${password}!`);
    await page.getByLabel('The new password again').fill(`${password}!`);
    await page.keyboard.press('Enter');
    await page.getByText('Your password is set.').waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await signInAs(page, 'ada', `${password}!`);
    await page.getByRole('heading', { name: 'Flags', level: 1 }).waitFor();
    await page.goto(new URL(`${pathname}${search}`, page.url()).href);
    await page.getByRole('alert').waitFor();
    await closeChecked(opened);
  });

  it('lets people create accounts by an invitation link, and says when a link is incomplete', async () => {
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    const invite = (await api('POST', '/api/admin/invite-link/tokens', { name: 'team', expiresAt })) as { url: string };
    const { pathname, search } = new URL(invite.url, 'http://localhost');
    const opened = await openPage(`${pathname}${search}`);
    const { page } = opened;
    await page.getByLabel('Username').fill('grace');
    await page.getByLabel('Email').fill('grace@example.org');
    await page.getByLabel('New password', { exact: true }).fill(password);
    await page.getByLabel('The new password again').fill(password);
    await expectAccessible(opened);
    await page.keyboard.press('Enter');
    await page.getByText('Your account is created.').waitFor();
    await eventually(async () => {
      const { users } = (await api('GET', '/api/admin/user-admin')) as { users: { username?: string }[] };
      expect(users.some(({ username }) => username === 'grace')).toBe(true);
    });
    await page.goto(new URL('/new-user', page.url()).href);
    await page.getByText('This link is incomplete.').waitFor();
    await closeChecked(opened);
  });
});
