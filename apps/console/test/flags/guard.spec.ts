import { beforeAll, expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import { randomUUID } from 'node:crypto';
import {
  api,
  chooseFromMenu,
  closeChecked,
  describeInBrowser,
  expectAccessible,
  openPage,
  type OpenedPage,
  openSignedIn,
  signIn,
} from '../support/browser.ts';

const flags = '/api/admin/projects/guard/features';

/** Opens a page as somebody who has done nothing else: a message is about one act only where there is no other at the same time. */
async function openAsSomebody(path: string): Promise<OpenedPage> {
  const person = { username: `guard-${randomUUID().slice(0, 8)}`, name: 'Somebody', rootRole: 1 };
  const { id } = (await api('POST', '/api/admin/user-admin', person)) as { readonly id: number };
  const token = await api('POST', `/api/admin/user-admin/${id}/token`, { description: 'console' });
  const opened = await openPage(path);
  await signIn(opened.page, (token as { readonly secret: string }).secret);
  return opened;
}

async function isOn(flag: string, environment: string, path = `${flags}/${flag}`): Promise<boolean | undefined> {
  const { environments } = (await api('GET', path)) as {
    environments: readonly { readonly name: string; readonly enabled: boolean }[];
  };
  return environments.find(({ name }) => name === environment)?.enabled;
}

describeInBrowser('what is hard to take back', () => {
  beforeAll(async () => {
    await api('POST', '/api/admin/projects', { id: 'guard', name: 'Guard' });
    for (const name of ['guard.live', 'guard.used']) await api('POST', flags, { name, type: 'release' });
    await api('POST', `${flags}/guard.live/environments/production/strategies`, {
      name: 'flexibleRollout',
      parameters: { rollout: '25', stickiness: 'userId', groupId: 'guard.live' },
    });
    const now = Date.now();
    await api('POST', '/api/client/metrics', {
      appName: 'guard-till',
      environment: 'production',
      bucket: { start: now - 60_000, stop: now, toggles: { 'guard.used': { yes: 3, no: 1 } } },
    });
    await eventually(async () => {
      const found = JSON.stringify(await api('GET', '/api/admin/search/features?query=guard.used'));
      expect(found).toMatch(/"lastSeenAt":"/);
    });
  });

  it('is asked about before production is turned on from a list, with what it will do, and can be undone', async () => {
    const opened = await openAsSomebody('/flags?q=guard.live');
    const { page } = opened;
    const toggle = page.getByRole('switch', { name: 'guard.live in production' });
    await toggle.click();
    const question = page.getByRole('alertdialog', { name: 'Turn on in production?' });
    await question.getByText('25 % of users, by userId.').waitFor();
    await question.getByText('No application has asked for it there in the last hour.').waitFor();
    await expectAccessible(opened);
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await isOn('guard.live', 'production')).toBe(false);

    await toggle.click();
    await question.getByRole('button', { name: 'Turn on in production' }).click();
    const notices = page.getByRole('status', { name: 'Notifications' });
    await notices.getByText('guard.live is on in production.').waitFor();
    expect(await isOn('guard.live', 'production')).toBe(true);
    // The focus keeps the message.
    await notices.getByRole('link', { name: 'Open' }).focus();
    await expectAccessible(opened);
    await notices.getByRole('button', { name: 'Undo' }).click();
    const undo = page.getByRole('dialog', { name: 'Undo this event' });
    await undo.getByText('This will happen').waitFor();
    await undo.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('The event is undone.').waitFor();
    expect(await isOn('guard.live', 'production')).toBe(false);
    await closeChecked(opened);
  });

  it('is not asked about in development, where the message leads to the flag', async () => {
    const opened = await openAsSomebody('/flags?q=guard.live');
    const { page } = opened;
    await page.getByRole('switch', { name: 'guard.live in development' }).click();
    await page.getByRole('status', { name: 'Notifications' }).getByRole('link', { name: 'Open' }).click();
    await page.getByRole('heading', { name: 'guard.live', level: 1 }).waitFor();
    await closeChecked(opened);
  });

  it('can be undone act by act where one message has said two: the flag is on, and its strategy is saved', async () => {
    const flag = '/api/admin/projects/default/features/guard.both';
    await api('POST', '/api/admin/projects/default/features', { name: 'guard.both', type: 'release' });
    const opened = await openAsSomebody('/projects/default/features/guard.both');
    const { page } = opened;
    const steps = page.getByRole('region', { name: 'Next steps' });
    await steps.getByRole('link', { name: 'Choose who gets it in production' }).click();
    await page.getByRole('button', { name: '10 %' }).click();
    await page.getByRole('button', { name: 'Save and turn on' }).click();
    const notices = page.getByRole('status', { name: 'Notifications' });
    await notices.getByText('The strategy is saved, and the flag is on in production.').waitFor();
    await notices.getByRole('button', { name: 'Undo' }).click();
    const undo = page.getByRole('dialog', { name: 'Undo this event' });
    await undo.getByText('Turn off in production.').waitFor();
    await expectAccessible(opened);
    await undo.getByRole('button', { name: 'Undo' }).click();
    await undo.getByText(/^Remove .* in production/).waitFor();
    expect(await isOn('guard.both', 'production', flag)).toBe(false);
    await undo.getByRole('button', { name: 'Undo' }).click();
    await undo.waitFor({ state: 'detached' });
    const { environments } = (await api('GET', flag)) as {
      environments: readonly { readonly name: string; readonly strategies: readonly object[] }[];
    };
    expect(environments.find(({ name }) => name === 'production')?.strategies).toEqual([]);
    await closeChecked(opened);
  });

  it('can be undone after a tag was added, which a message says', async () => {
    const opened = await openAsSomebody('/projects/guard/features/guard.live');
    const { page } = opened;
    await page.getByRole('button', { name: 'Add a tag' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a tag' });
    await dialog.getByRole('textbox', { name: 'Tag' }).fill('guarded');
    await dialog.getByRole('button', { name: 'Add', exact: true }).press('Enter');
    const notices = page.getByRole('status', { name: 'Notifications' });
    await notices.getByText('The tag simple:guarded is added.').waitFor();
    await notices.getByRole('button', { name: 'Undo' }).click();
    const undo = page.getByRole('dialog', { name: 'Undo this event' });
    await undo.getByText('Remove the tag simple:guarded.').waitFor();
    await undo.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('The event is undone.').waitFor();
    await page.getByText('No tags.').waitFor();
    await closeChecked(opened);
  });

  it('says who asked for a flag last, and when, before it is archived', async () => {
    const opened = await openSignedIn('/projects/guard/features/guard.used');
    const { page } = opened;
    await chooseFromMenu(page.getByRole('button', { name: 'Actions', exact: true }), 'Archive');
    const archive = page.getByRole('alertdialog', { name: 'Archive guard.used?' });
    await archive.getByText('Applications ask for it:').waitFor();
    await archive.getByText(/production: .*, by guard-till/).waitFor();
    await expectAccessible(opened);
    await archive.getByRole('button', { name: 'Cancel' }).click();
    await closeChecked(opened);
  });

  it('names flags that applications still ask for before many are archived', async () => {
    const opened = await openSignedIn('/projects/guard/flags');
    const { page } = opened;
    await page.getByText('2 flags', { exact: true }).waitFor();
    await page.getByRole('checkbox', { name: 'Select all that match' }).check();
    await chooseFromMenu(page.getByRole('button', { name: 'More actions', exact: true }), 'Archive…');
    const dialog = page.getByRole('dialog', { name: 'Archive' });
    await dialog.getByText('Applications asked for 1 flag of these in the last 7 days:').waitFor();
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Archive 2 flags' }).press('Enter');
    await page.getByRole('dialog', { name: 'Result' }).getByText('2 flags changed.').waitFor();
    await closeChecked(opened);
  });
});
