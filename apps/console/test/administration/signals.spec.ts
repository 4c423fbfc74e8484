import { eventually } from '@bunting/testing';
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import {
  api,
  chooseFromMenu,
  closeChecked,
  describeInBrowser,
  expectAccessible,
  openSignedIn,
  type OpenedPage,
  pressSwitch,
} from '../support/browser.ts';

describeInBrowser('signals', () => {
  const id = randomUUID().slice(0, 8);
  const endpoint = `alerts-${id}`;
  const flag = `alerted-${id}`;
  const account = `robot-${id}`;
  const set = `Switch off ${id}`;

  const choose = async ({ page }: OpenedPage, select: string, option: string): Promise<void> => {
    await page.getByRole('dialog').getByRole('button', { name: select }).press('Enter');
    await page.getByRole('option', { name: option, exact: true }).press('Enter');
  };

  /** Creates the endpoint and a token of it. @returns the token */
  const createEndpoint = async (): Promise<string> => {
    await api('POST', '/api/admin/projects/default/features', { name: flag });
    await api('POST', `/api/admin/projects/default/features/${flag}/environments/development/on`);
    await api('POST', '/api/admin/service-account', { username: account, rootRole: 2 });

    const opened = await openSignedIn('/admin/signals');
    const { page } = opened;
    await page.getByRole('button', { name: 'Create a signal endpoint' }).first().press('Enter');
    const create = page.getByRole('dialog', { name: 'Create a signal endpoint' });
    await create.getByLabel('Name').fill(endpoint);
    await expectAccessible(opened);
    await create.getByRole('button', { name: 'Create' }).press('Enter');
    await page.getByRole('link', { name: endpoint }).click();
    await page.getByRole('heading', { name: endpoint, level: 1 }).waitFor();

    await page.getByRole('button', { name: 'Create a token' }).press('Enter');
    await page.getByRole('dialog').getByLabel('Name').fill('prometheus');
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).press('Enter');
    const token = (await page.getByLabel('Token', { exact: true }).textContent()) ?? '';
    expect(await page.getByLabel('Call with the token').textContent()).toContain(`/api/signal-endpoint/${endpoint}`);
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'I have copied it' }).press('Enter');
    expect(await page.content()).not.toContain(token);
    await closeChecked(opened);
    return token;
  };

  it('are received at an endpoint, and cause the actions of a project, whose runs say what became of them', async () => {
    const token = await createEndpoint();
    const opened = await openSignedIn('/projects/default/actions');
    const { page } = opened;
    await page.getByRole('button', { name: 'Create actions' }).first().press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Create actions' });
    await dialog.getByLabel('Name').fill(set);
    await choose(opened, 'Signals of', endpoint);
    await dialog.getByRole('button', { name: 'Add a filter' }).press('Enter');
    await dialog.getByLabel('Path').fill('alerts[0].labels.flag');
    await choose(opened, 'Act as', account);
    await dialog.getByLabel('Flag', { exact: true }).fill('no-such-flag');
    await choose(opened, 'Environment', 'development');
    await dialog.getByRole('button', { name: 'Create', exact: true }).press('Enter');
    await dialog.getByText('Enter a value.', { exact: true }).waitFor();
    await dialog.getByLabel('Values').fill(flag);
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Create', exact: true }).press('Enter');
    await dialog.getByText('Action 1: ').waitFor();
    await dialog.getByLabel('Flag', { exact: true }).fill(flag);
    await dialog.getByRole('button', { name: 'Create', exact: true }).press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await page.getByText(`Switch ${flag} off in development`).waitFor();

    const signal = { status: 'firing', alerts: [{ labels: { flag } }] };
    await api('POST', `/api/signal-endpoint/${endpoint}`, signal, `Bearer ${token}`);
    await eventually(async () => {
      const path = `/api/admin/projects/default/features/${flag}/environments/development`;
      expect(await api('GET', path)).toMatchObject({ enabled: false });
    });
    await chooseFromMenu(page.getByRole('button', { name: `Actions for ${set}`, exact: true }), 'See its runs');
    const runs = page.getByRole('dialog', { name: `Runs of “${set}”` });
    await runs.getByText('Done').first().waitFor();
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('have actions whose edit keeps what another person has saved meanwhile', async () => {
    const path = '/api/admin/projects/default/actions';
    const { actions } = (await api('GET', path)) as { actions: { id: number; name: string }[] };
    const stored = actions.find(({ name }) => name === set);
    const opened = await openSignedIn('/projects/default/actions');
    const { page } = opened;
    await chooseFromMenu(page.getByRole('button', { name: `Actions for ${set}`, exact: true }), 'Edit');
    const edit = page.getByRole('dialog', { name: `Edit the actions “${set}”` });
    await pressSwitch(edit.getByRole('switch', { name: 'Act on signals' }));
    await edit.getByLabel('Description').fill('Mine');
    await api('PUT', `${path}/${stored?.id}`, { ...stored, description: 'Theirs' });
    await edit.getByRole('button', { name: 'Save' }).press('Enter');
    const conflict = page.getByRole('dialog', { name: 'You both changed the same fields' });
    await conflict.getByRole('button', { name: 'Use these values' }).press('Enter');
    await conflict.waitFor({ state: 'detached' });
    // It gives the focus back a frame later, which can come between the press and the release of a key.
    await eventually(async () => {
      if (await edit.isVisible()) await edit.getByRole('button', { name: 'Save' }).press('Enter', { timeout: 15_000 });
      await edit.waitFor({ state: 'detached', timeout: 15_000 });
    });
    expect(await api('GET', `${path}/${stored?.id}`)).toMatchObject({ enabled: false, description: 'Mine' });
    await closeChecked(opened);
  });

  it('are shown on narrow screens and in the dark', async () => {
    const { signalEndpoints } = (await api('GET', '/api/admin/signal-endpoints')) as {
      signalEndpoints: { id: number; name: string }[];
    };
    const found = signalEndpoints.find(({ name }) => name === endpoint);
    const opened = await openSignedIn(`/admin/signals/${found?.id}`, { width: 390, height: 844, dark: true });
    const { page } = opened;
    await page.getByText('prometheus').first().waitFor();
    await expectAccessible(opened);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await closeChecked(opened);
  });

  it('have actions that are edited on narrow screens and in the dark', async () => {
    const opened = await openSignedIn('/projects/default/actions', { width: 390, height: 844, dark: true });
    const { page } = opened;
    await chooseFromMenu(page.getByRole('button', { name: `Actions for ${set}`, exact: true }), 'Edit');
    await page.getByRole('dialog').getByLabel('Path').waitFor();
    await expectAccessible(opened);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await closeChecked(opened);
  });
});
