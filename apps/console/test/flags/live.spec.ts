import { beforeAll, expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import type { Request } from 'playwright-core';
import {
  api,
  chooseFromMenu,
  closeChecked,
  describeInBrowser,
  expectAccessible,
  openPage,
  openSignedIn,
  signIn,
} from '../support/browser.ts';

const flags = '/api/admin/projects/lively/features';

function rollout(percentage: number) {
  return {
    name: 'flexibleRollout',
    parameters: { rollout: String(percentage), stickiness: 'userId', groupId: 'lively.edited' },
    constraints: [],
  };
}

describeInBrowser('what others do meanwhile', () => {
  let strategy: string;
  beforeAll(async () => {
    await api('POST', '/api/admin/projects', { id: 'lively', name: 'Lively' });
    const names = ['lively.edited', ...Array.from({ length: 60 }, (_, nth) => `lively.${100 + nth}`)];
    await Promise.all(names.map((name) => api('POST', flags, { name, type: 'release' })));
    const strategies = `${flags}/lively.edited/environments/production/strategies`;
    strategy = ((await api('POST', strategies, rollout(10))) as { readonly id: string }).id;
  });

  it('is seen in the list as it happens, and said of flags that were selected', async () => {
    const opened = await openSignedIn('/projects/lively/flags?q=%22lively.10%22');
    const { page } = opened;
    await page.getByText('10 flags', { exact: true }).waitFor();
    const toggle = page.getByRole('switch', { name: 'lively.100 in development' });
    expect(await toggle.isChecked()).toBe(false);
    await api('POST', `${flags}/lively.100/environments/development/on`);
    await eventually(async () => expect(await toggle.isChecked()).toBe(true));

    for (const name of ['lively.101', 'lively.102'])
      await page.getByRole('checkbox', { name: `Select ${name}` }).check();
    await api('DELETE', `${flags}/lively.101`);
    await page.getByRole('link', { name: 'lively.101' }).waitFor({ state: 'detached' });
    await chooseFromMenu(page.getByRole('button', { name: 'More actions', exact: true }), 'Archive…');
    const dialog = page.getByRole('dialog', { name: 'Archive' });
    await dialog.getByText('1 selected flag is no longer in this list', { exact: false }).waitFor();
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('is seen in the cleanup as it happens', async () => {
    await api('PATCH', `${flags}/lively.150`, [{ op: 'replace', path: '/stale', value: true }]);
    const opened = await openSignedIn('/projects/lively/cleanup?reason=stale');
    const { page } = opened;
    await page.getByRole('link', { name: 'lively.150' }).waitFor();
    await api('PATCH', `${flags}/lively.151`, [{ op: 'replace', path: '/stale', value: true }]);
    await page.getByRole('link', { name: 'lively.151' }).waitFor();
    await closeChecked(opened);
  });

  it('is said in the editor of a strategy, and merged with what one has entered', async () => {
    const at = `/projects/lively/features/lively.edited/environments/production/strategies/${strategy}`;
    const opened = await openSignedIn(at);
    const { page } = opened;
    await page.getByLabel('Title').fill('Mine');
    const stored = `${flags}/lively.edited/environments/production/strategies/${strategy}`;
    await api('PUT', stored, rollout(55));
    await page.getByText('55 % of users, by userId.', { exact: false }).first().waitFor();
    await page.getByRole('link', { name: 'Show what changed' }).waitFor();
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'Take it over' }).click();
    await eventually(async () =>
      expect(await page.getByRole('spinbutton', { name: 'Percent' }).inputValue()).toBe('55'),
    );
    expect(await page.getByLabel('Title').inputValue()).toBe('Mine');

    await page.getByRole('spinbutton', { name: 'Percent' }).fill('70');
    await page.getByRole('spinbutton', { name: 'Percent' }).press('Tab');
    await api('PUT', stored, rollout(60));
    await page.getByRole('button', { name: 'Take it over' }).click();
    const conflict = page.getByRole('dialog', { name: 'You both changed the same fields' });
    await conflict.getByText(/saved this .*, after you had opened it\./).waitFor();
    await conflict.getByText('Share of users', { exact: true }).waitFor();
    await expectAccessible(opened);
    await conflict.getByRole('button', { name: 'Use these values' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('The strategy is saved.').waitFor();
    expect(await api('GET', stored)).toMatchObject({ title: 'Mine', parameters: { rollout: '70' } });
    await closeChecked(opened);
  });

  it('is said in an editor also when it was saved while its page was being loaded', async () => {
    const strategies = `${flags}/lively.edited/environments/development/strategies`;
    const { id } = (await api('POST', strategies, rollout(10))) as { readonly id: string };
    const opened = await openPage(`/projects/lively/features/lively.edited/environments/development/strategies/${id}`);
    const { page } = opened;
    const held: (() => void)[] = [];
    // It is asked page by page, when other specs have caused many events meanwhile.
    let isHeld = true;
    await page.route('**/api/admin/search/events?*', async (route) => {
      if (isHeld) await new Promise<void>((resolve) => held.push(resolve));
      await route.continue();
    });
    await signIn(page);
    const percent = page.getByRole('spinbutton', { name: 'Percent' });
    await eventually(async () => expect(await percent.inputValue()).toBe('10'));
    await eventually(() => expect(held.length).toBe(1));
    await api('PUT', `${strategies}/${id}`, rollout(35));
    isHeld = false;
    for (const go of held) go();
    await page.getByText('If you take it over', { exact: false }).waitFor();
    await page.getByText('35 % of users, by userId.', { exact: false }).first().waitFor();
    expect(await percent.inputValue()).toBe('10');

    // What was read already is nothing new: the feed begins before it.
    await page.unroute('**/api/admin/search/events?*');
    await page.reload();
    await signIn(page);
    await eventually(async () => expect(await percent.inputValue()).toBe('35'));
    await api('PUT', `${strategies}/${id}`, { ...rollout(35), title: 'Later' });
    await page.getByRole('button', { name: 'Take it over' }).click();
    await eventually(async () => expect(await page.getByLabel('Title').inputValue()).toBe('Later'));
    await page.getByText('If you take it over', { exact: false }).waitFor({ state: 'detached' });
    await closeChecked(opened);
  });

  it('reaches a tab that was not seen meanwhile, which held no connection then', async () => {
    const opened = await openSignedIn('/projects/lively/flags?q=%22lively.11%22');
    const { page } = opened;
    const toggle = page.getByRole('switch', { name: 'lively.110 in development' });
    const isFeed = (request: Request): boolean => request.url().includes('/api/admin/events/feed');
    const show = (isHidden: boolean): Promise<void> =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
        document.dispatchEvent(new Event('visibilitychange'));
      }, isHidden);
    await toggle.waitFor();
    await api('POST', `${flags}/lively.110/environments/development/on`);
    await eventually(async () => expect(await toggle.isChecked()).toBe(true));

    const ended = page.waitForEvent('requestfailed', isFeed);
    await show(true);
    await ended;
    await api('POST', `${flags}/lively.110/environments/development/off`);
    await show(false);
    await eventually(async () => expect(await toggle.isChecked()).toBe(false));
    await closeChecked(opened);
  });

  it('leaves one at the row that one came from, after Back', async () => {
    const opened = await openSignedIn('/projects/lively/flags');
    const { page } = opened;
    const list = page.getByRole('table', { name: 'Flags of lively' });
    await list.waitFor();
    /** Where the list is scrolled to, after it was scrolled to `top` if that is given. */
    const offset = (top?: number) =>
      list.evaluate((table, wanted) => {
        let element: HTMLElement | null = table as HTMLElement;
        while (element !== null && element.scrollHeight <= element.clientHeight) element = element.parentElement;
        if (element !== null && wanted !== undefined) element.scrollTop = wanted;
        return element?.scrollTop ?? -1;
      }, top);
    await page.getByRole('link', { name: 'lively.100' }).waitFor();
    expect(await offset(700)).toBeGreaterThan(500);
    const link = page.getByRole('link', { name: /^lively\.1[2-3]\d$/ }).nth(3);
    // The list may still replace its rows.
    await eventually(() => link.scrollIntoViewIfNeeded({ timeout: 15_000 }));
    const before = await offset();
    expect(before).toBeGreaterThan(500);
    await link.click();
    await page.getByRole('heading', { name: /^lively\.1/, level: 1 }).waitFor();
    await page.goBack();
    await list.waitFor();
    await eventually(async () => expect(await offset()).toBe(before));
    await closeChecked(opened);
  });
});
