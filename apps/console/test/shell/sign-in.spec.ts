import { beforeAll, expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import {
  api,
  chooseFromMenu,
  closeChecked,
  describeInBrowser,
  expectAccessible,
  openPage,
  openSignedIn,
} from '../support/browser.ts';

const { CONSOLE_TEST_URL: url = '' } = process.env;

const password = 'A long sentence of 8 words, nobody guesses';

async function signInAs(page: Page, username: string, secret = password): Promise<void> {
  const dialog = page.getByRole('group', { name: 'Sign in' });
  await dialog.getByLabel('Email or username').fill(username);
  await dialog.getByLabel('Password', { exact: true }).fill(secret);
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Ends the sessions of a user when the page asks for a new token: before any other call learns of it and asks for a sign-in. */
async function endSessionsAtNewToken(page: Page, userId: number): Promise<void> {
  let areEnded = false;
  await page.route('**/api/admin/user/tokens', async (route) => {
    if (!areEnded && route.request().method() === 'POST') {
      areEnded = true;
      await api('DELETE', `/api/admin/user-admin/${userId}/sessions`);
    }
    await route.continue();
  });
}

describeInBrowser('signing in to the console', () => {
  /** Creates an administrator with the password. */
  const aPerson = async (username: string, name: string): Promise<{ readonly id: number }> => {
    const roles = (await api('GET', '/api/admin/roles')) as { roles: { id: number; name: string }[] };
    const rootRole = roles.roles.find((role) => role.name === 'Admin')?.id;
    const body = { username, name, email: `${username}@example.org`, rootRole, sendEmail: false };
    const person = (await api('POST', '/api/admin/user-admin', body)) as { id: number };
    await api('POST', `/api/admin/user-admin/${person.id}/change-password`, { password, confirmPassword: password });
    return person;
  };
  let id: number;
  beforeAll(async () => {
    ({ id } = await aPerson('ada', 'Ada'));
  });

  it('takes a password, shows the profile, and goes on where the user was when the session ends', async () => {
    const opened = await openPage('/profile');
    const { page } = opened;
    const dialog = page.getByRole('group', { name: 'Sign in' });
    await dialog.getByLabel('Email or username').waitFor();
    await expectAccessible(opened);
    await signInAs(page, 'ada', 'not the password');
    await dialog.getByText('These credentials are not right.').waitFor();
    await signInAs(page, 'ada');
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('ada@example.org', { exact: true }).waitFor();
    await page.getByText('this browser').waitFor();
    await expectAccessible(opened);

    await page.getByRole('button', { name: 'Create a token' }).click();
    await page.getByLabel('Used for').fill('the nightly job');
    await endSessionsAtNewToken(page, id);
    await page.keyboard.press('Enter');
    await dialog.getByText('Your session has ended.').waitFor();
    await signInAs(page, 'ada');
    // What was typed is sent after the sign-in, without typing it again.
    await page.getByText('The token is created').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('cell', { name: 'the nightly job' }).waitFor();
    await chooseFromMenu(page.getByRole('button', { name: 'Account' }), 'Sign out');
    await dialog.waitFor();
    await closeChecked(opened);
  });

  it('ends the other sessions of a user, and leaves the keys on the page although the button goes with them', async () => {
    await aPerson('eva', 'Eva');
    const [opened, elsewhere] = [await openPage('/profile'), await openPage('/profile')];
    for (const { page } of [elsewhere, opened]) await signInAs(page, 'eva');
    const { page } = opened;
    await elsewhere.page.getByText('this browser').waitFor();
    await page.getByRole('button', { name: 'Sign out all others' }).press('Enter');
    await page.getByText('All other browsers are signed out.').waitFor();
    await page.getByRole('button', { name: 'Sign out all others' }).waitFor({ state: 'detached' });
    await eventually(async () => expect(await page.locator('main :focus').count()).toBe(1));
    await closeChecked(elsewhere);
    await closeChecked(opened);
  });

  it('begins anew in the other tabs of a browser when another user signs in there', async () => {
    const roles = (await api('GET', '/api/admin/roles')) as { roles: { id: number; name: string }[] };
    const rootRole = roles.roles.find(({ name }) => name === 'Viewer')?.id;
    const body = { username: 'ben', name: 'Ben', email: 'ben@example.org', rootRole, sendEmail: false };
    const created = (await api('POST', '/api/admin/user-admin', body)) as { id: number };
    const chosen = { password, confirmPassword: password };
    await api('POST', `/api/admin/user-admin/${created.id}/change-password`, chosen);
    const opened = await openPage('/profile');
    const { page } = opened;
    await signInAs(page, 'ada');
    await page.getByText('ada@example.org', { exact: true }).waitFor();
    const other = await page.context().newPage();
    await other.goto(`${url}/profile`);
    await other.getByText('ada@example.org', { exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/profile');
    await chooseFromMenu(other.getByRole('button', { name: 'Account' }), 'Sign out');
    await signInAs(other, 'ben');
    await page.waitForURL((address) => address.pathname === '/');
    await page.getByRole('button', { name: 'Account' }).waitFor();
    await page.goto(`${url}/profile`);
    await page.getByText('ben@example.org', { exact: true }).waitFor();

    // Whoever stays because of unsaved input writes nothing in the name of the other user.
    await page.evaluate(() => addEventListener('beforeunload', (event) => event.preventDefault()));
    const asked = page.waitForEvent('dialog');
    await page.getByRole('button', { name: 'Create a token' }).click();
    await page.getByLabel('Used for').fill('a script');
    await other.goto(`${url}/profile`);
    await chooseFromMenu(other.getByRole('button', { name: 'Account' }), 'Sign out');
    await signInAs(other, 'ada');
    await (await asked).dismiss();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('Another user has signed in in this browser.').waitFor();
    page.once('dialog', (dialog) => void dialog.accept());
    await other.close();
    await page.goto(`${url}/profile`);
    await page.getByText('ada@example.org', { exact: true }).waitFor();
    await closeChecked(opened);
  });

  it('lets a user choose a password by a link, once', async () => {
    await aPerson('katherine', 'Katherine');
    const { resetPasswordUrl } = (await api('POST', '/api/admin/user-admin/reset-password', {
      id: 'katherine@example.org',
    })) as { resetPasswordUrl: string };
    const { pathname, search } = new URL(resetPasswordUrl, 'http://localhost');
    const opened = await openPage(`${pathname}${search}`);
    const { page } = opened;
    await page.getByText('The password of Katherine:').waitFor();
    await expectAccessible(opened);
    await page.getByLabel('New password', { exact: true }).fill('short');
    await page.getByLabel('The new password again').fill('shorter');
    await page.getByLabel('The new password again').press('Enter');
    await page.getByText('The two passwords differ.').waitFor();
    await page.getByLabel('New password', { exact: true }).fill(`${password}!`);
    await page.getByLabel('The new password again').fill(`${password}!`);
    await page.getByLabel('The new password again').press('Enter');
    await page.getByText('Your password is set.').waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await signInAs(page, 'katherine', `${password}!`);
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    await page.goto(new URL(`${pathname}${search}`, page.url()).href);
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Back to sign in' }).click();
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
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

  it('changes the own password in the profile, and says which entry is wrong', async () => {
    const user = { username: 'linus', name: 'Linus', rootRole: 1, sendEmail: false };
    const { id: own } = (await api('POST', '/api/admin/user-admin', user)) as { id: number };
    await api('POST', `/api/admin/user-admin/${own}/change-password`, { password, confirmPassword: password });
    const opened = await openPage('/profile');
    const { page } = opened;
    await signInAs(page, 'linus');
    await page.getByRole('button', { name: 'Change the password' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change the password' });
    await expectAccessible(opened);
    await dialog.getByLabel('Present password').fill(password);
    await dialog.getByLabel('New password', { exact: true }).fill(`${password}?`);
    await dialog.getByLabel('The new password again').fill('another');
    await page.keyboard.press('Enter');
    await dialog.getByText('The two passwords differ.').waitFor();
    await dialog.getByLabel('The new password again').fill(`${password}?`);
    await page.keyboard.press('Enter');
    await page.getByText('Your password is changed.').waitFor();
    await closeChecked(opened);
  });

  it('creates a personal access token in the profile, and removes it after a question that names it', async () => {
    const user = { username: 'penny', name: 'Penny', rootRole: 1, sendEmail: false };
    const { id: own } = (await api('POST', '/api/admin/user-admin', user)) as { id: number };
    await api('POST', `/api/admin/user-admin/${own}/change-password`, { password, confirmPassword: password });
    const opened = await openPage('/profile');
    const { page } = opened;
    await signInAs(page, 'penny');
    await page.getByRole('button', { name: 'Create a token' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create a token' });
    await dialog.getByLabel('Used for').fill('nightly-report');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'I have copied it' }).press('Enter');
    const row = page.getByRole('row').filter({ hasText: 'nightly-report' });
    await row.getByRole('button', { name: 'Remove' }).press('Enter');
    const question = page.getByRole('alertdialog', { name: 'Remove the token “nightly-report”?' });
    await question.waitFor();
    await expectAccessible(opened);
    await question.getByRole('button', { name: 'Remove' }).press('Enter');
    await page.getByText('The token is removed.').waitFor();
    await row.waitFor({ state: 'detached' });
    await closeChecked(opened);
  });

  it('says to a visitor of a new installation how the first account is created', async () => {
    const opened = await openPage('/forgotten-password');
    const { page } = opened;
    // This installation has accounts.
    await page.route('**/api/admin/user', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...((await response.json()) as object), hasUsers: false } });
    });
    await page.goto(new URL('/', page.url()).href);
    await page.getByRole('heading', { name: 'Sign in to Bunting' }).waitFor();
    await page.getByText('Nobody has an account yet.', { exact: false }).waitFor();
    await expectAccessible(opened);
    await page.unroute('**/api/admin/user');
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in to Bunting' }).waitFor();
    expect(await page.getByText('Nobody has an account yet.', { exact: false }).count()).toBe(0);
    await closeChecked(opened);
  });

  it('says that the link for the first administrator is used up, and sends links to people who forgot their password', async () => {
    const opened = await openPage('/first?token=used-up');
    const { page } = opened;
    await page.getByRole('heading', { name: 'Create the first administrator' }).waitFor();
    await expectAccessible(opened);
    await page.getByLabel('Username').fill('eve');
    await page.getByLabel('New password', { exact: true }).fill(password);
    await page.getByLabel('The new password again').fill(password);
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await expectAccessible(opened);

    await page.goto(new URL('/flags', page.url()).href);
    await page.getByRole('link', { name: 'Forgotten password?' }).click();
    await page.getByRole('heading', { name: 'Forgotten password' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('Enter an email address.').waitFor();
    await expectAccessible(opened);
    await page.getByLabel('Email').fill('no.such.person@example.org');
    await page.keyboard.press('Enter');
    // It does not say whether there is such an account.
    await page.getByText('If an account has this address, a link is on its way.').waitFor();
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('has single sign-on tried before it is turned on, and shows the token of SCIM once', async () => {
    const provider = createServer((request, response) => {
      const issuer = `http://${request.headers.host ?? ''}`;
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          issuer,
          authorization_endpoint: `${issuer}/auth`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/keys`,
          id_token_signing_alg_values_supported: ['ES256'],
          code_challenge_methods_supported: ['S256'],
        }),
      );
    });
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    const issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    const opened = await openSignedIn('/admin/sign-in');
    const { page } = opened;
    await page.getByLabel('Redirect address').waitFor();
    expect(await page.getByLabel('Redirect address').innerText()).toMatch(/\/auth\/oidc\/callback$/);
    await expectAccessible(opened);
    const address = page.getByLabel('Address of the provider');
    const test = page.getByRole('button', { name: 'Test the provider' });
    await address.fill('http://127.0.0.1:1');
    await test.press('Enter');
    await page.getByText('The provider cannot be reached', { exact: false }).waitFor();
    await address.fill(issuer);
    await test.press('Enter');
    await page.getByText(`${issuer} answers.`).waitFor();
    await page.getByText('The provider does not name RS256', { exact: false }).waitFor();
    await expectAccessible(opened);
    // One that many have takes four fields, and the rest is filled in: the address, and what is shown once groups are wanted.
    const chosen = page.getByRole('button', { name: 'Identity provider' });
    await chosen.press('Enter');
    await page.getByRole('option', { name: 'Okta' }).press('Enter');
    await page.getByLabel('Okta domain').fill('https://example.okta.com/');
    await page.getByText('Its address is https://example.okta.com', { exact: true }).waitFor();
    expect(await page.getByRole('region', { name: 'The provider' }).getByRole('textbox').count()).toBe(3);
    expect(await page.getByLabel('Further scopes').isVisible()).toBe(false);
    expect(await page.getByLabel('Claim with the groups').count()).toBe(0);
    await page.getByRole('switch', { name: 'Bring groups in line at each sign-in' }).press('Space');
    expect(await page.getByLabel('Claim with the groups').inputValue()).toBe('groups');
    expect(await page.getByRole('switch', { name: 'Request the scope groups' }).isChecked()).toBe(true);
    await page.locator('summary', { hasText: 'Advanced' }).press('Enter');
    await page.getByLabel('Further scopes').waitFor();
    await expectAccessible(opened);
    await chosen.press('Enter');
    await page.getByRole('option', { name: 'Another one' }).press('Enter');
    await address.fill(issuer);
    await page.getByLabel('Client id').fill('bunting');
    await page.getByRole('button', { name: 'Save' }).press('Enter');
    await page.getByText('The settings of single sign-on are saved.').waitFor();
    expect(await api('GET', '/api/admin/auth/oidc/settings')).toMatchObject({ discoverUrl: issuer, enabled: false });

    await page.getByRole('button', { name: 'Turn SCIM on' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Turn SCIM on' }).click();
    const made = page.getByRole('alertdialog', { name: 'SCIM is on' });
    const token = await made.getByLabel('Token of SCIM').innerText();
    expect(token.length).toBeGreaterThan(20);
    await made.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByText('SCIM is on.').waitFor();
    expect(await page.content()).not.toContain(token);
    const users = await fetch(`${url}/scim/v2/Users`, { headers: { authorization: `Bearer ${token}` } });
    expect(users.status).toBe(200);
    await page.getByRole('button', { name: 'Turn SCIM off' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Turn SCIM off' }).click();
    await page.getByText('SCIM is off.', { exact: true }).first().waitFor();
    // There is no other way to sign in: the server would refuse it.
    await page.getByText('They can be turned off once people can sign in through a provider.').waitFor();
    expect(await page.getByRole('button', { name: 'Turn passwords off' }).count()).toBe(0);
    await expectAccessible(opened);
    await closeChecked(opened);
    provider.close();
  });

  it('leads to the identity provider where single sign-on is set up', async () => {
    const provider = createServer(({ url: path = '' }, response) => {
      response.setHeader('content-type', path.startsWith('/.well-known') ? 'application/json' : 'text/plain');
      response.end(path.startsWith('/.well-known') ? JSON.stringify(discovery) : 'The provider');
    }).listen(0, '127.0.0.1');
    await once(provider, 'listening');
    const issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    const discovery = {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    };
    const settings = { enabled: true, discoverUrl: issuer, clientId: 'bunting', secret: 'a secret of the client' };
    await api('POST', '/api/admin/auth/oidc/settings', settings);
    try {
      // A gateway remembers for two seconds how one can sign in.
      await eventually(async () => {
        const form = (await (await fetch(`${url}/api/admin/user`)).json()) as { options: unknown[] };
        expect(form.options).toHaveLength(1);
      });
      const opened = await openPage('/flags?q=checkout');
      const { page, violations, faults } = opened;
      const link = page
        .getByRole('group', { name: 'Sign in' })
        .getByRole('link', { name: 'Sign in with OpenID Connect' });
      await link.waitFor();
      await expectAccessible(opened);
      // What was asked for is shown after the sign-in.
      expect(await link.getAttribute('href')).toBe('/auth/oidc/login?redirect=%2Fflags%3Fq%3Dcheckout');
      await link.click();
      await page.getByText('The provider').waitFor();
      expect(page.url()).toContain(`${issuer}/authorize?`);

      await page.goto(`${url}/profile`);
      await signInAs(page, 'ada');
      await page.getByRole('button', { name: 'Create a token' }).click();
      await page.getByLabel('Used for').fill('kept beside the provider');
      await endSessionsAtNewToken(page, id);
      await page.keyboard.press('Enter');
      const [other] = await Promise.all([page.waitForEvent('popup'), link.click()]);
      await other.getByText('The provider').waitFor();
      // The provider of this test signs nobody in: the password begins the session in the other tab.
      await other.goto(url);
      await signInAs(other, 'ada');
      await page.getByText('The token is created').waitFor();
      await page.unrouteAll({ behavior: 'wait' });
      await opened.close();
      expect({ violations, faults }).toEqual({ violations: [], faults: [] });
    } finally {
      await api('POST', '/api/admin/auth/oidc/settings', { enabled: false });
      provider.close();
    }
  });
});
