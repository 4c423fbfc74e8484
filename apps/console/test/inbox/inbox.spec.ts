import { expect, it } from 'vitest';
import { createHmac, hkdfSync, randomUUID } from 'node:crypto';
import { eventually } from '@bunting/testing';
import {
  api,
  closeChecked,
  describeInBrowser,
  expectAccessible,
  openPage,
  openSignedIn,
  signIn,
} from '../support/browser.ts';

/** A new person, who may do everything where no role is named. */
async function aPerson(rootRole: 'Admin' | 'Viewer' = 'Admin') {
  const username = `inbox-${randomUUID().slice(0, 8)}`;
  const person = { username, name: 'Ana', email: `${username}@example.org`, rootRole };
  const { id } = (await api('POST', '/api/admin/user-admin', person)) as { readonly id: number };
  const token = await api('POST', `/api/admin/user-admin/${id}/token`, { description: 'inbox' });
  return { id, email: person.email, key: (token as { readonly secret: string }).secret };
}

/** What a person has mailed, by kind. */
async function mailedTo(key: string): Promise<ReadonlyMap<string, string>> {
  const { kinds } = (await api('GET', '/api/admin/inbox/preferences', undefined, key)) as {
    readonly kinds: readonly { readonly kind: string; readonly mail: string }[];
  };
  return new Map(kinds.map(({ kind, mail }) => [kind, mail]));
}

const unreadOf = async (key: string): Promise<number> =>
  ((await api('GET', '/api/admin/inbox/unread', undefined, key)) as { readonly unread: number }).unread;

/** A person with a flag of their own, which somebody else has switched on in production. */
async function aPersonWithNews() {
  const { id, key } = await aPerson('Viewer');
  // Change requests of other specs wait for everybody who may approve them.
  await api('PUT', '/api/admin/inbox/preferences/review-requested', { inbox: false }, key);
  await api('PUT', `/api/admin/user-admin/${id}`, { rootRole: 'Admin' });
  const flag = `inbox.${randomUUID().slice(0, 8)}`;
  const features = '/api/admin/projects/default/features';
  await api('POST', features, { name: flag, type: 'release' }, key);
  await api('POST', `${features}/${flag}/environments/production/on`);
  await eventually(async () => expect(await unreadOf(key)).toBe(1));
  return { key, flag };
}

describeInBrowser('the inbox', () => {
  it('says to those who are asked for a review that it is they who are asked', async () => {
    const { id, key } = await aPerson();
    const project = `inbox-${randomUUID().slice(0, 8)}`;
    const base = `/api/admin/projects/${project}`;
    await api('POST', '/api/admin/projects', { id: project, name: 'Asking' });
    await api('POST', `${base}/features`, { name: `${project}.flag` });
    const change = { action: 'updateEnabled', feature: `${project}.flag`, payload: { enabled: true } };
    const requests = `${base}/environments/production/change-requests`;
    await api('PUT', `${requests}/config`, { changeRequestsEnabled: true, requiredApprovals: 1 });
    const request = (await api('POST', requests, change)) as { readonly id: number };
    await api('PUT', `${base}/change-requests/${request.id}/state`, { state: 'In review' });
    await api('PUT', `${base}/change-requests/${request.id}/approvers`, { reviewers: [id] });
    await eventually(async () => expect(await unreadOf(key)).toBeGreaterThan(0));
    const opened = await openPage('/inbox?kind=review-requested');
    await signIn(opened.page, key);
    await opened.page.getByText(`asks you to review change request #${request.id}`).waitFor();
    await closeChecked(opened);
  });

  it('is behind the bell, which says how much is unread, and marks what is opened as read', async () => {
    const { key, flag } = await aPersonWithNews();
    const opened = await openPage('/profile');
    await signIn(opened.page, key);
    const bell = opened.page.getByRole('link', { name: 'Inbox, 1 unread notification' });
    await bell.focus();
    await opened.page.keyboard.press('Enter');
    const list = opened.page.getByRole('list', { name: 'Notifications' });
    await list.getByText('enabled').waitFor();
    // The project by its name, and not once more in the sentence.
    await list.getByText('Default', { exact: true }).waitFor();
    expect(await list.getByText('in project').count()).toBe(0);
    await expectAccessible(opened);
    await list.getByRole('link', { name: flag }).click();
    await opened.page.getByRole('heading', { name: flag, level: 1 }).waitFor();
    await opened.page.getByRole('link', { name: 'Inbox', exact: true }).waitFor();
    expect(await unreadOf(key)).toBe(0);
    await closeChecked(opened);
  });

  it('marks what it shows as read, shows what is unread or of a kind, and fits a phone', async () => {
    const { key, flag } = await aPersonWithNews();
    await api('POST', '/api/admin/projects/default/stale', { features: [flag], stale: true });
    await eventually(async () => expect(await unreadOf(key)).toBe(2));
    const opened = await openPage('/inbox?kind=flag-changed', { width: 390, dark: true });
    const { page } = opened;
    await signIn(page, key);
    const list = page.getByRole('list', { name: 'Notifications' });
    await list.getByRole('link', { name: flag }).waitFor();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(390);
    await page.getByRole('button', { name: 'Mark these as read' }).click();
    await list.getByRole('button', { name: 'Mark as unread' }).waitFor();
    await page.getByText('Unread only').click();
    await page.getByText('Nothing matches').waitFor();
    expect(await unreadOf(key)).toBe(1);
    await page.getByRole('link', { name: 'Inbox, 1 unread notification' }).click();
    await page.getByRole('button', { name: 'Mark all as read' }).click();
    await page.getByRole('link', { name: 'Inbox', exact: true }).waitFor();
    expect(await unreadOf(key)).toBe(0);
    await closeChecked(opened);
  });

  it('leaves out what the reader has turned off in the profile', async () => {
    const { key, flag } = await aPersonWithNews();
    const opened = await openPage('/profile');
    const { page } = opened;
    await signIn(page, key);
    await page.getByRole('checkbox', { name: 'My flag was changed in production' }).press('Space');
    await eventually(async () => {
      const { kinds } = (await api('GET', '/api/admin/inbox/preferences', undefined, key)) as {
        readonly kinds: readonly { readonly kind: string; readonly inbox: boolean }[];
      };
      expect(kinds.filter(({ inbox }) => !inbox).map(({ kind }) => kind)).toEqual(['review-requested', 'flag-changed']);
    });
    await expectAccessible(opened);
    await api('POST', `/api/admin/projects/default/features/${flag}/environments/production/off`);
    await api('POST', '/api/admin/projects/default/stale', { features: [flag], stale: true });
    await eventually(async () => expect(await unreadOf(key)).toBe(2));
    const { notifications } = (await api('GET', '/api/admin/inbox', undefined, key)) as {
      readonly notifications: readonly { readonly kind: string; readonly summary: string }[];
    };
    expect(notifications.map(({ kind }) => kind)).toEqual(['flag-stale', 'flag-changed']);
    await closeChecked(opened);
  });

  it('can be mailed at once or once a day, to the address of the account', async () => {
    const { key, email } = await aPerson();
    const opened = await openPage('/profile', { width: 390 });
    const { page } = opened;
    await signIn(page, key);
    await page.getByText(`Mail goes to ${email}, that of the day at 7:00 UTC.`).waitFor();
    await page.getByRole('button', { name: 'By mail: My flag was changed in production' }).click();
    await page.getByRole('option', { name: 'Once a day' }).click();
    await eventually(async () => expect((await mailedTo(key)).get('flag-changed')).toBe('daily'));
    expect((await mailedTo(key)).get('review-requested')).toBe('at-once');
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('is mailed no more after the link in a mail is opened and confirmed, without signing in', async () => {
    const { id, key } = await aPerson();
    // As the mail has it, under the key of these tests.
    const secret = hkdfSync('sha256', 'the key of the integrations of the tests', '', 'bunting unsubscribe links', 32);
    const what = `${id}.review-requested`;
    const signature = createHmac('sha256', Buffer.from(secret)).update(what).digest('base64url');
    const opened = await openPage(`/unsubscribe?token=${what}.${signature}`);
    const stop = opened.page.getByRole('button', { name: 'Stop these mails' });
    await stop.waitFor();
    expect((await mailedTo(key)).get('review-requested')).toBe('at-once');
    await expectAccessible(opened);
    await stop.click();
    await opened.page.getByText('You get no more of them.').waitFor();
    expect((await mailedTo(key)).get('review-requested')).toBe('never');
    // The button of mail programs (RFC 8058, 3.2).
    await api('PUT', '/api/admin/inbox/preferences/review-requested', { mail: 'daily' }, key);
    const form = { 'List-Unsubscribe': 'One-Click' };
    const pressed = await opened.page.request.post(opened.page.url(), { form });
    expect(pressed.status()).toBe(204);
    expect((await mailedTo(key)).get('review-requested')).toBe('never');
    await closeChecked(opened);
  });

  it('is not offered to a key that belongs to nobody', async () => {
    const opened = await openSignedIn('/flags');
    await opened.page.getByRole('button', { name: 'Account' }).waitFor();
    expect(await opened.page.getByRole('link', { name: /^Inbox/ }).count()).toBe(0);
    await closeChecked(opened);
  });
});
