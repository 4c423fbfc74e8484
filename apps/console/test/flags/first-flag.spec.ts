import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import type { Locator } from 'playwright-core';
import {
  api,
  closeChecked,
  describeInBrowser,
  expectAccessible,
  goTo,
  openSignedIn,
  untilFocused,
} from '../support/browser.ts';

const repository = path.join(import.meta.dirname, '..', '..', '..', '..');

interface FoundEnvironments {
  readonly environments: readonly {
    readonly name: string;
    readonly enabled: boolean;
    readonly strategies: readonly { readonly parameters: Readonly<Record<string, string>> }[];
  }[];
}

async function environmentOf(project: string, flag: string, name: string) {
  const { environments } = (await api('GET', `/api/admin/projects/${project}/features/${flag}`)) as FoundEnvironments;
  return environments.find((one) => one.name === name);
}

describeInBrowser('a first flag', () => {
  beforeAll(async () => {
    await api('POST', '/api/admin/projects', { id: 'first', name: 'First steps' });
  });

  it('is shown with its next steps after it was created, and is on for 10 % in production six presses later', async () => {
    const opened = await openSignedIn('/projects/first/flags');
    const { page } = opened;
    await page.getByRole('button', { name: 'Create a flag' }).first().click();
    await page.getByRole('dialog', { name: 'Create a flag' }).getByLabel('Name').fill('first.flag');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name: 'first.flag', level: 1 }).waitFor();
    const steps = page.getByRole('region', { name: 'Next steps' });
    await steps.waitFor();
    await expectAccessible(opened);
    await steps.getByRole('link', { name: 'Choose who gets it in production' }).click();
    await page.getByRole('heading', { name: 'New strategy in production' }).waitFor();
    // Nobody gets it before a share is chosen.
    expect(await page.getByRole('spinbutton', { name: 'Percent' }).inputValue()).toBe('0');
    await page.getByRole('button', { name: '10 %' }).click();
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'Save and turn on' }).click();
    await page.getByText('The strategy is saved, and the flag is on in production.').waitFor();
    expect(await environmentOf('first', 'first.flag', 'production')).toMatchObject({
      enabled: true,
      strategies: [{ parameters: { rollout: '10' } }],
    });
    // After a save one is at the title of the page, and not at the start of the document.
    await page.getByRole('heading', { name: 'first.flag', level: 1 }).waitFor();
    await eventually(async () => expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1'));
    await closeChecked(opened);
  });

  it('gets its first strategy within five tabs of its title, or by a key', async () => {
    await api('POST', '/api/admin/projects/first/features', { name: 'first.keys', type: 'release' });
    const opened = await openSignedIn('/projects/first/features/first.keys');
    const { page } = opened;
    const heading = page.getByRole('heading', { name: 'first.keys', level: 1 });
    await page.getByRole('navigation', { name: 'Shortcuts' }).waitFor({ state: 'attached' });
    await heading.focus();
    const reached = page.getByRole('link', { name: 'Add a strategy in production' });
    let tabs = 0;
    while (!(await reached.evaluate((link) => link === document.activeElement))) {
      expect(tabs).toBeLessThan(5);
      await page.keyboard.press('Tab');
      tabs += 1;
    }
    await expectAccessible(opened);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'New strategy in production' }).waitFor();
    await page.goBack();
    await page.getByRole('navigation', { name: 'Shortcuts' }).waitFor({ state: 'attached' });
    // The page has its key a moment after it is shown.
    const title = page.getByRole('heading', { name: 'New strategy in production' });
    await eventually(async () => {
      if (!(await title.isVisible())) await page.keyboard.press('s');
      expect(await title.isVisible()).toBe(true);
    });
    await closeChecked(opened);
  });

  it('comes by keys alone: from the page of its project to 10 % in production, proposed, approved and applied', async () => {
    const id = 'first-by-keys';
    await api('POST', '/api/admin/projects', { id, name: 'By keys', environments: ['development', 'production'] });
    const protection = { changeRequestsEnabled: true, requiredApprovals: 1 };
    await api('PUT', `/api/admin/projects/${id}/environments/production/change-requests/config`, protection);
    const opened = await openSignedIn(`/projects/${id}`);
    const { page } = opened;
    const heading = (name: string | RegExp) => page.getByRole('heading', { name, level: 1 });
    /** Presses a key of a page until it has done something: a page has its keys a moment after it is shown. */
    const pressUntil = (key: string, seen: Locator) =>
      eventually(async () => {
        if (!(await seen.isVisible())) await page.keyboard.press(key);
        await seen.waitFor({ timeout: 15_000 });
      });
    const focusIsNowhere = () => page.evaluate(() => document.activeElement === document.body);
    await page.getByRole('heading', { name: 'Connect an application' }).waitFor();
    const create = page.getByRole('dialog', { name: 'Create a flag' });
    await pressUntil('c', create);
    await untilFocused(create);
    await page.keyboard.type('by.keys');
    await page.keyboard.press('Enter');
    await heading('by.keys').waitFor();
    await eventually(async () => expect(await focusIsNowhere()).toBe(false));

    await pressUntil('s', heading('New strategy in production'));
    const percent = page.getByRole('spinbutton', { name: 'Percent' });
    await percent.focus();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('10');
    await page.keyboard.press('Control+Shift+Enter');
    await heading('by.keys').waitFor();
    await eventually(async () => expect(await focusIsNowhere()).toBe(false));
    const [request] = (await api('GET', `/api/admin/projects/${id}/change-requests`)) as { readonly id: number }[];
    await goTo(page, `/projects/${id}/change-requests/${request?.id}`);
    await page.getByRole('button', { name: 'Send to review' }).waitFor();
    await pressUntil('a', page.getByText('It is in review.'));
    // From any field Ctrl-Enter saves what is entered.
    await page.getByRole('textbox', { name: 'Comment' }).focus();
    await page.keyboard.type('Ten per cent first');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('list').getByText('Ten per cent first').waitFor();
    await page.keyboard.press('Shift+Tab');
    for (const step of ['Approve', 'Apply']) {
      const dialog = page.getByRole('dialog', { name: step });
      await page.getByRole('button', { name: step, exact: true }).waitFor();
      await pressUntil('a', dialog);
      const button = dialog.getByRole('button', { name: step, exact: true });
      await eventually(async () => expect(await button.evaluate((one) => one === document.activeElement)).toBe(true));
      await page.keyboard.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      await eventually(async () => expect(await focusIsNowhere()).toBe(false));
    }
    expect(await environmentOf(id, 'by.keys', 'production')).toMatchObject({
      enabled: true,
      strategies: [{ parameters: { rollout: '10' } }],
    });
    await closeChecked(opened);
  });

  it('is not said to be on when it could not be turned on with its strategy', async () => {
    await api('POST', '/api/admin/projects/first/features', { name: 'first.refused', type: 'release' });
    const strategies = '/projects/first/features/first.refused/environments/production/strategies/new';
    const opened = await openSignedIn(strategies);
    const { page } = opened;
    const refusal = { id: 'x', name: 'ConflictError', message: 'Somebody else was faster.', details: [] };
    await page.route('**/environments/production/on', (route) => route.fulfill({ status: 409, json: refusal }));
    await page.getByRole('button', { name: '25 %' }).click();
    await page.getByRole('button', { name: 'Save and turn on' }).click();
    await page.getByText('The strategy is saved.').waitFor();
    await page.getByRole('status', { name: 'Notifications' }).getByText('Somebody else was faster.').waitFor();
    expect(await page.getByText('the flag is on in').count()).toBe(0);
    expect(await environmentOf('first', 'first.refused', 'production')).toMatchObject({
      enabled: false,
      strategies: [{ parameters: { rollout: '25' } }],
    });
    await closeChecked(opened);
  });

  it('is proposed with its strategy in one change request where the environment is protected', async () => {
    const protectedProject = '/api/admin/projects/first-protected';
    await api('POST', '/api/admin/projects', { id: 'first-protected', name: 'Protected' });
    await api('POST', `${protectedProject}/features`, { name: 'first.proposed', type: 'release' });
    const config = { changeRequestsEnabled: true, requiredApprovals: 1 };
    await api('PUT', `${protectedProject}/environments/production/change-requests/config`, config);
    const opened = await openSignedIn(
      '/projects/first-protected/features/first.proposed/environments/production/strategies/new',
    );
    const { page } = opened;
    await page.getByRole('button', { name: '5 %', exact: true }).click();
    await page.getByRole('button', { name: 'Propose and turn on' }).click();
    await page.getByText(/Added to a new draft for production/).waitFor();
    const requests = (await api('GET', `${protectedProject}/change-requests`)) as {
      features: { changes: { action: string }[] }[];
    }[];
    const actions = requests.map(({ features }) =>
      features.flatMap(({ changes }) => changes.map(({ action }) => action)),
    );
    expect(actions).toEqual([['addStrategy', 'updateEnabled']]);
    await closeChecked(opened);
  });

  it('is asked for by the program that the console shows, whose first signal appears', async () => {
    await api('POST', '/api/admin/projects/first/features', { name: 'first.asked', type: 'release' });
    await api('POST', '/api/admin/projects/first/features/first.asked/environments/development/on');
    const opened = await openSignedIn('/projects/first/features/first.asked');
    const { page } = opened;
    await page.getByRole('button', { name: 'Connect an SDK' }).first().click();
    await page.getByRole('button', { name: 'Create a token' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Connect an SDK' });
    const waiting = dialog.getByText('Waiting for the first signal from development');
    await waiting.waitFor();
    // It is seen beside the longest program, without scrolling.
    await dialog.getByRole('button', { name: /Language/ }).press('Enter');
    await page.getByRole('option', { name: 'Java', exact: true }).click();
    await dialog.getByRole('button', { name: 'Create a token' }).or(dialog.getByLabel('Main.java')).first().waitFor();
    const isSeen = await waiting.evaluate((one) => {
      const { left, top, height } = one.getBoundingClientRect();
      const at = document.elementFromPoint(left + 2, top + height / 2);
      return at !== null && one.contains(at);
    });
    expect(isSeen).toBe(true);
    await dialog.getByRole('button', { name: /Language/ }).press('Enter');
    await page.getByRole('option', { name: 'Node.js', exact: true }).click();
    await expectAccessible(opened);
    const program = (await dialog.getByLabel('index.mjs', { exact: true }).textContent()) ?? '';
    // A poll of the SDK may come before the gateway has read the flag: a service asks again.
    const asking = `${program}\nwhile (!flags.isEnabled('first.asked')) await new Promise((next) => setTimeout(next, 50));
      console.log('it is on'); process.exit();`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', asking], {
      cwd: repository,
      timeout: 120_000,
    });
    expect(stdout).toMatch(/^first\.asked (true|false)\n(.*\n)*it is on\n$/);
    // It goes on, so that one sees the flag change.
    expect(program).toContain('setInterval(show');
    await dialog.getByText(/first-app is connected to development · unleash-node-sdk/).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    expect(await page.content()).not.toContain('first:development.');
    await closeChecked(opened);
  });
});
