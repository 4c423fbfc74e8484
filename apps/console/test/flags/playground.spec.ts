import { beforeAll, expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import { randomUUID } from 'node:crypto';
import { api, closeChecked, describeInBrowser, expectAccessible, openSignedIn } from '../support/browser.ts';

const project = `play-${randomUUID().slice(0, 8)}`;
const base = `/api/admin/projects/${project}`;
const field = `field${randomUUID().slice(0, 6)}`;
const [parent, child, quiet] = ['parent', 'child', 'quiet'].map((name) => `${name}-${randomUUID().slice(0, 8)}`) as [
  string,
  string,
  string,
];
const inNorway = { contextName: field, operator: 'IN', values: ['no'] };
function strategy(percentage: number, constraints: object[] = []) {
  return {
    name: 'flexibleRollout',
    parameters: { rollout: String(percentage), stickiness: 'userId', groupId: 'g' },
    constraints,
  };
}

describeInBrowser('the playground', () => {
  let changeRequest: number;
  beforeAll(async () => {
    await api('POST', '/api/admin/projects', { id: project, name: 'Played with' });
    await api('POST', '/api/admin/context', { name: field, legalValues: [{ value: 'no' }, { value: 'se' }] });
    for (const name of [parent, child, quiet]) await api('POST', `${base}/features`, { name });
    const inProduction = (name: string): string => `${base}/features/${name}/environments/production`;
    await api('POST', `${inProduction(parent)}/strategies`, strategy(100, [inNorway]));
    await api('POST', `${inProduction(parent)}/on`);
    await api('POST', `${inProduction(child)}/strategies`, strategy(100));
    await api('POST', `${inProduction(child)}/on`);
    await api('POST', `${base}/features/${child}/dependencies`, { feature: parent });
    await api('PUT', `${base}/environments/production/change-requests/config`, {
      changeRequestsEnabled: true,
      requiredApprovals: 1,
    });
    const { id } = (await api('POST', `${base}/environments/production/change-requests`, [
      { action: 'addStrategy', feature: parent, payload: strategy(100, [{ ...inNorway, values: ['se'] }]) },
    ])) as { readonly id: number };
    changeRequest = id;
  });

  it('evaluates by keyboard alone for contexts that are completed while typing, and says why', async () => {
    const opened = await openSignedIn(`/playground?projects=${project}&environments=production`);
    const { page } = opened;
    await page.getByRole('status').getByText('3 flags, 1 context').waitFor();
    // The table ends with its last flag.
    const grid = page.getByRole('grid', { name: 'Results' });
    await grid.getByRole('row').nth(3).waitFor();
    expect(await grid.evaluate((one) => (one.parentElement?.clientHeight ?? 0) - one.clientHeight)).toBeLessThan(2);
    await page.getByRole('combobox', { name: 'Context 1' }).focus();
    await page.keyboard.type(`${field.slice(0, 7)}`);
    await page.getByRole('option', { name: `${field}=` }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('option', { name: `${field}=no` }).waitFor();
    await page.keyboard.type('no,se userId=7');
    await page.getByRole('status').getByText('3 flags, 2 contexts').waitFor();
    await page.getByRole('button', { name: `${child} in production for ${field}=no userId=7: on` }).waitFor();
    const refused = page.getByRole('button', { name: `${child} in production for ${field}=se userId=7: off` });
    await refused.waitFor();
    await expectAccessible(opened);

    // Tab reaches the results as one stop; arrow keys move within.
    await page.getByRole('button', { name: `${child} in production for ${field}=no userId=7: on` }).focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => document.activeElement?.getAttribute('data-at') === '0 1');
    await page.keyboard.press('Enter');
    const reasons = page.getByRole('dialog', { name: `${child} in production` });
    await reasons.getByText('A flag that it depends on is not as it must be.').waitFor();
    await reasons.getByText(`${parent} must be on`).waitFor();
    await expectAccessible(opened);
    await page.keyboard.press('Escape');
    await reasons.waitFor({ state: 'detached' });
    await page.waitForFunction(() => document.activeElement?.getAttribute('data-at') === '0 1');
    await page.keyboard.press('ArrowDown');
    await page.waitForFunction(() => document.activeElement?.getAttribute('data-at') === '1 1');
    await page.keyboard.press('Enter');
    const ofParent = page.getByRole('dialog', { name: `${parent} in production` });
    await ofParent.getByText('No strategy is on for this context.').waitFor();
    await ofParent.getByText('(it is se)').waitFor();
    await ofParent.getByText(/^Bucket \d+ of 100 by userId: within the share of 100 %/).waitFor();
    await page.keyboard.press('Escape');

    // What was entered is in the address: another reader sees the same.
    const { pathname, search } = new URL(page.url());
    const shared = await openSignedIn(pathname + search);
    await shared.page.getByRole('button', { name: `${child} in production for ${field}=se userId=7: off` }).waitFor();
    await closeChecked(shared);
    await closeChecked(opened);
  });

  it('keeps letters in their order that are typed before a suggestion is drawn', async () => {
    const opened = await openSignedIn(`/playground?projects=${project}&environments=production`);
    const { page } = opened;
    const context = page.getByRole('combobox', { name: 'Context 1' });
    await context.focus();
    await page.keyboard.type(field.slice(0, 7));
    await page.getByRole('option', { name: `${field}=` }).waitFor();
    await page.keyboard.press('ArrowDown');
    await context.evaluate(async (input) => {
      input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
      for (const letter of 'no') {
        document.execCommand('insertText', false, letter);
        await new Promise(requestAnimationFrame);
      }
    });
    expect(await context.inputValue()).toBe(`${field}=no`);
    await closeChecked(opened);
  });

  it('marks what a change request would change, and is opened from it and from the page of a flag', async () => {
    const opened = await openSignedIn(`/projects/${project}/change-requests/${changeRequest}`);
    const { page } = opened;
    await page.getByRole('link', { name: 'Try it in the playground' }).click();
    await page.getByRole('combobox', { name: 'Context 1' }).fill(`${field}=se userId=7`);
    await page.getByRole('button', { name: `${child} in production for ${field}=se userId=7: off → on` }).waitFor();
    await page.getByRole('button', { name: `${parent} in production for ${field}=se userId=7: off → on` }).click();
    const reasons = page.getByRole('dialog');
    await reasons.getByRole('region', { name: 'Now' }).getByText('No strategy is on for this context.').waitFor();
    await reasons
      .getByRole('region', { name: `After change request ${changeRequest}` })
      .getByText('It is on.')
      .waitFor();
    await expectAccessible(opened);
    await page.keyboard.press('Escape');
    expect(await page.getByText(quiet).count()).toBe(0);
    await page.getByText('Only flags that it concerns').click();
    await page.getByRole('link', { name: quiet }).waitFor();

    await page.getByRole('link', { name: parent }).click();
    await page.getByRole('link', { name: 'Try it' }).click();
    await page.getByRole('status').getByText('1 flag, 1 context').waitFor();
    await page.getByRole('checkbox', { name: `Only ${parent}` }).waitFor();
    await closeChecked(opened);
  });

  it('says that results are outdated where flags change during an evaluation, and evaluates them again on request', async () => {
    const opened = await openSignedIn(`/playground?projects=${project}&environments=development`);
    const { page } = opened;
    await page.getByRole('status').getByText('3 flags, 1 context').waitFor();
    const held = Promise.withResolvers<undefined>();
    await page.route('**/playground/**', async (route) => {
      await held.promise;
      await route.continue();
    });
    const evaluation = page.waitForRequest((request) => request.url().includes('/playground/'));
    await page.getByRole('combobox', { name: 'Context 1' }).fill('userId=7');
    await evaluation;
    await api('POST', `${base}/features/${quiet}/environments/development/on`);
    const again = page.getByRole('button', { name: 'Evaluate again' });
    await again.waitFor();
    held.resolve(undefined);
    await page.getByRole('button', { name: `${quiet} in development for userId=7` }).waitFor();
    await expectAccessible(opened);
    // What other specs change meanwhile makes the results outdated again.
    await eventually(async () => {
      if (await again.isVisible()) await again.press('Enter', { timeout: 15_000 });
      await again.waitFor({ state: 'detached', timeout: 15_000 });
    });
    await page.getByRole('button', { name: `${quiet} in development for userId=7: on` }).waitFor();
    await closeChecked(opened);
  });

  it('says what is no context, takes contexts as text, and says why a change request can no longer be applied', async () => {
    const opened = await openSignedIn(`/playground?projects=${project}`, { width: 360, height: 740 });
    const { page } = opened;
    await page.getByRole('combobox', { name: 'Context 1' }).fill('ann');
    await page.getByText('write it as name=value').waitFor();
    await page.getByRole('button', { name: 'As text' }).click();
    await page.getByRole('textbox', { name: 'Contexts' }).fill('userId=1\nuserId=2\nuserId=3');
    await page.getByRole('status').getByText('3 flags, 3 contexts').waitFor();
    await page.getByRole('button', { name: 'As rows' }).click();
    await page.getByRole('combobox', { name: 'Context 3' }).waitFor();
    await expectAccessible(opened);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);

    await api('POST', `${base}/archive`, { features: [parent, child] });
    await page.getByRole('status').getByText('1 flag, 3 contexts').waitFor();
    await page.getByRole('button', { name: /Preview a change request/ }).click();
    await page.getByRole('option', { name: new RegExp(`^Change request #${changeRequest}\\b`) }).click();
    await page.getByRole('alert').filter({ hasText: 'The changes could not be applied' }).waitFor();
    await closeChecked(opened);
  });
});
