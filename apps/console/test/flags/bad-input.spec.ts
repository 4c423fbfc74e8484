import { expect, it } from 'vitest';
import { eventually, startTcpProxy } from '@bunting/testing';
import { randomUUID } from 'node:crypto';
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
} from '../support/browser.ts';

const features = '/api/admin/projects/default/features';

interface Identified {
  readonly id: string;
}

async function aFlag(more: object = {}): Promise<string> {
  const name = `bad-${randomUUID().slice(0, 8)}`;
  await api('POST', features, { name, ...more });
  return name;
}
function rollout(percentage: number, more: object = {}) {
  return {
    name: 'flexibleRollout',
    parameters: { rollout: String(percentage), stickiness: 'default', groupId: 'g' },
    ...more,
  };
}
function strategies(name: string): string {
  return `${features}/${name}/environments/development/strategies`;
}

interface Failure {
  readonly status: number;
  readonly name: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Lets writes of strategies fail in the network of the browser, as a real server cannot be brought to. */
function failWrites(page: Page, failure: Failure | 'no network' | 'a proxy') {
  return page.route('**/strategies/**', (route) => {
    if (route.request().method() === 'GET') return route.fallback();
    if (failure === 'no network') return route.abort('internetdisconnected');
    if (failure === 'a proxy')
      return route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' });
    const { status, name, message, headers } = failure;
    return route.fulfill({
      status,
      contentType: 'application/json',
      ...(headers === undefined ? {} : { headers: { ...headers, 'content-type': 'application/json' } }),
      body: JSON.stringify({ id: randomUUID(), name, message, details: [{ message }] }),
    });
  });
}

/** Goes to another page without loading the console again, which would forget the key. */
function goTo(page: Page, path: string): Promise<void> {
  return page.evaluate((to) => {
    history.pushState({}, '', to);
    dispatchEvent(new PopStateEvent('popstate'));
  }, path);
}

describeInBrowser('an edit', () => {
  it('is kept through every refusal and failure, says what to do, and is saved when it is sent again', async () => {
    const name = await aFlag();
    const { id } = (await api('POST', strategies(name), rollout(10))) as Identified;
    const opened = await openSignedIn(`/projects/default/features/${name}/environments/development/strategies/${id}`);
    const { page } = opened;
    const percent = page.getByRole('spinbutton', { name: 'Percent' });
    const title = page.getByRole('textbox', { name: 'Title' });
    await percent.fill('35');
    await title.fill('typed with care');
    const failures: readonly (readonly [Failure | 'no network' | 'a proxy', RegExp])[] = [
      [{ status: 403, name: 'NoAccessError', message: 'You may not.' }, /An administrator can give you access/],
      [{ status: 404, name: 'NotFoundError', message: 'Could not find strategy' }, /Could not find strategy/],
      [{ status: 409, name: 'ConflictError', message: 'Another write was faster.' }, /Another write was faster/],
      [{ status: 422, name: 'ValidationError', message: 'The rollout is odd.' }, /The rollout is odd/],
      [
        { status: 429, name: 'RateLimitError', message: 'Slow down.', headers: { 'retry-after': '7' } },
        /Too many requests\. Try again in 7 seconds/,
      ],
      [
        { status: 503, name: 'ServiceUnavailable', message: 'Not now.' },
        /Bunting cannot answer at the moment\. Try again in a moment/,
      ],
      ['a proxy', /Bunting cannot answer at the moment\. Try again in a moment/],
      ['no network', /There is no connection to Bunting.*nothing you entered is lost/],
    ];
    for (const [failure, shown] of failures) {
      await failWrites(page, failure);
      const write = page.waitForRequest(
        (request) => request.method() !== 'GET' && /\/strategies\//.test(request.url()),
      );
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await (await write).response();
      await page.getByRole('alert').filter({ hasText: shown }).waitFor();
      expect([await percent.inputValue(), await title.inputValue()]).toEqual(['35', 'typed with care']);
      await page.unroute('**/strategies/**');
    }
    await expectAccessible(opened);

    // The session ends in the middle: the form stays, and the same save goes through after signing in.
    let isOver = true;
    await page.route('**/strategies/**', (route) => {
      if (route.request().method() === 'GET' || !isOver) return route.fallback();
      isOver = false;
      return route.fulfill({
        status: 401,
        contentType: 'application/json',
        body: JSON.stringify({ id: randomUUID(), name: 'AuthenticationRequired', message: 'Sign in.', options: [] }),
      });
    });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await signIn(page);
    await page.getByRole('link', { name: '35 % of users.' }).waitFor();
    const [saved] = (await api('GET', strategies(name))) as readonly { title: string }[];
    expect(saved?.title).toBe('typed with care');
    await closeChecked(opened);
  });

  it('is kept while Bunting restarts, which is said in a sentence, and is saved when it is back', async () => {
    const name = await aFlag();
    const proxy = await startTcpProxy(Number(new URL(process.env['CONSOLE_TEST_URL'] ?? '').port));
    const opened = await openPage('/');
    const { page } = opened;
    await page.goto(`http://127.0.0.1:${proxy.port}/projects/default/features/${name}`);
    await signIn(page);
    await page.getByRole('region', { name: 'The flag in development' }).waitFor();
    await goTo(page, `/projects/default/features/${name}/environments/development/strategies/new`);
    await page.getByRole('textbox', { name: 'Title' }).fill('typed with care');
    await page.getByRole('spinbutton', { name: 'Percent' }).fill('35');
    await page.getByRole('spinbutton', { name: 'Percent' }).press('Tab');
    const save = page.getByRole('button', { name: 'Save', exact: true });

    proxy.disconnect();
    await save.click();
    // The preview of what the change does may say the same before the save has failed.
    await page
      .locator('form')
      .getByRole('alert')
      .filter({ hasText: /There is no connection to Bunting.*nothing you entered is lost/ })
      .waitFor();
    proxy.reconnect();
    await save.click();
    await page.getByRole('link', { name: '35 % of users.' }).waitFor();
    const stored = (await api('GET', strategies(name))) as readonly { title: string }[];
    expect(stored.map(({ title }) => title)).toEqual(['typed with care']);
    await proxy.stop();
    await opened.close();
    expect(opened.faults).toEqual([]);
  });

  it('is kept where a part of its page cannot be loaded, and can be saved', async () => {
    const name = await aFlag();
    const opened = await openPage('/');
    const { page } = opened;
    await signIn(page);
    await page.route('**/console/json-editor-*', (route) => route.abort());
    await goTo(page, `/projects/default/features/${name}/environments/development/strategies/new`);
    await page.getByRole('textbox', { name: 'Title' }).fill('typed with care');
    await page.getByRole('spinbutton', { name: 'Percent' }).fill('35');
    await page.getByRole('button', { name: 'Show JSON' }).click();
    await page.getByRole('alert').filter({ hasText: 'This part cannot be loaded' }).waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('link', { name: '35 % of users.' }).waitFor();
    const stored = (await api('GET', strategies(name))) as readonly { title: string }[];
    expect(stored.map(({ title }) => title)).toEqual(['typed with care']);
    await opened.close();
  });

  it('asks again when a strategy is saved after going back from a conflict, and overwrites nothing', async () => {
    const name = await aFlag();
    const { id } = (await api('POST', strategies(name), rollout(10))) as Identified;
    const opened = await openSignedIn(`/projects/default/features/${name}/environments/development/strategies/${id}`);
    const { page } = opened;
    await page.getByRole('spinbutton', { name: 'Percent' }).fill('35');
    await api('PUT', `${strategies(name)}/${id}`, rollout(70));
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const conflict = page.getByRole('dialog', { name: 'You both changed the same fields' });
    await conflict.getByRole('button', { name: 'Back to editing' }).click();
    await conflict.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await conflict.getByRole('radio', { name: /Theirs/ }).press('Space');
    const [stored] = (await api('GET', strategies(name))) as readonly { parameters: { rollout: string } }[];
    expect(stored?.parameters.rollout).toBe('70');
    await closeChecked(opened);
  });

  it('does not leave the page unasked, and a strategy that another person deletes meanwhile is not lost silently', async () => {
    const name = await aFlag();
    const { id } = (await api('POST', strategies(name), rollout(10))) as Identified;
    const opened = await openSignedIn(`/projects/default/features/${name}/environments/development/strategies/${id}`);
    const { page } = opened;
    await page.getByRole('spinbutton', { name: 'Percent' }).fill('35');
    await page.getByRole('link', { name: 'Flags', exact: true }).first().click();
    await page
      .getByRole('alertdialog', { name: 'Leave without saving?' })
      .getByRole('button', { name: 'Cancel' })
      .click();
    await api('DELETE', `${strategies(name)}/${id}`);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'Could not find strategy' }).waitFor();
    expect(await page.getByRole('spinbutton', { name: 'Percent' }).inputValue()).toBe('35');
    await closeChecked(opened);
  });
});

describeInBrowser('the page of a flag', () => {
  it('shows a flag with 500 strategies, fifty of an environment at first', async () => {
    const name = await aFlag();
    await api('POST', strategies(name), rollout(7));
    const opened = await openSignedIn('/change-requests');
    const { page } = opened;
    // The server has a limit of its own; another installation's may be higher.
    await page.route(`**/features/${name}`, async (route) => {
      const answer = await route.fetch();
      const feature = (await answer.json()) as { environments: { name: string; strategies: Identified[] }[] };
      for (const environment of feature.environments) {
        const [first] = environment.strategies;
        if (first === undefined) continue;
        environment.strategies = Array.from({ length: 500 }, (_, nth) => ({
          ...first,
          ...rollout(nth % 100),
          id: `${first.id}-${nth}`,
        }));
      }
      await route.fulfill({ response: answer, json: feature });
    });
    await goTo(page, `/projects/default/features/${name}`);
    const development = page.getByRole('region', { name: 'The flag in development' });
    await development.getByRole('button', { name: 'Show 450 more strategies' }).waitFor();
    expect(await development.getByRole('listitem').count()).toBe(50);
    await development.getByRole('button', { name: 'Show 450 more strategies' }).click();
    await eventually(async () => expect(await development.getByRole('listitem').count()).toBe(500));
    await closeChecked(opened);
  });

  it('shows hostile and right-to-left text as text, and links to addresses of the web only', async () => {
    const description = '<script>alert(1)</script> <a href="javascript:alert(1)">x</a> javascript:alert(2)\nשלום עולם';
    const name = await aFlag({ description });
    await api('POST', `${features}/${name}/link`, { url: 'https://example.com/ticket', title: '‮txet <b>desrever' });
    await api('POST', strategies(name), rollout(5, { title: 'مرحبا بالعالم <img src=x onerror=alert(1)>' }));
    const opened = await openSignedIn(`/projects/default/features/${name}`, { width: 390, height: 844 });
    const { page } = opened;
    const details = page.getByRole('complementary', { name: 'Details' });
    await details.getByText('<script>alert(1)</script>', { exact: false }).waitFor();
    const development = page.getByRole('region', { name: 'The flag in development' });
    await development.getByText('مرحبا بالعالم <img src=x onerror=alert(1)>').waitFor();
    const link = page.getByRole('link', { name: /desrever/ });
    expect(await link.getAttribute('href')).toBe('https://example.com/ticket');
    expect(await page.locator('a[href^="javascript:" i]').count()).toBe(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('shows its lifecycle, and marks it as completed and not after all', async () => {
    const name = await aFlag();
    const opened = await openSignedIn(`/projects/default/features/${name}`);
    const { page } = opened;
    const details = page.getByRole('complementary', { name: 'Details' });
    await details.getByText('Created', { exact: true }).first().waitFor();
    await chooseFromMenu(details.getByRole('button', { name: 'Complete the flag' }), 'Completed: the code keeps it');
    await details.getByText('kept', { exact: true }).waitFor();
    await chooseFromMenu(details.getByRole('button', { name: 'Complete the flag' }), 'Not completed after all');
    await details.getByText('kept', { exact: true }).waitFor({ state: 'detached' });
    await closeChecked(opened);
  });

  it('reads again where a connection has died without a sign', async () => {
    const name = await aFlag();
    const opened = await openPage('/');
    const { page } = opened;
    await page.clock.install();
    await page.goto(new URL('/change-requests', page.url()).href);
    await signIn(page);
    let isDead = true;
    await page.route(`**/features/${name}`, (route) => {
      if (!isDead) return route.fallback();
      isDead = false;
    });
    const asked = page.waitForRequest((request) => request.url().endsWith(`/features/${name}`));
    await goTo(page, `/projects/default/features/${name}`);
    await asked;
    await page.clock.fastForward(30_000);
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await closeChecked(opened);
  });

  it('reads again by itself after a short failure, and says with a retry what goes on for longer', async () => {
    const name = await aFlag();
    const opened = await openSignedIn('/change-requests');
    const { page } = opened;
    let failures = 2;
    await page.route(`**/features/${name}`, (route) => {
      failures -= 1;
      if (failures < 0) return route.fallback();
      return route.fulfill({
        status: failures === 1 ? 503 : 429,
        headers: { 'retry-after': '0', 'content-type': 'application/json' },
        body: JSON.stringify({ name: failures === 1 ? 'ServiceUnavailable' : 'RateLimitError', message: 'Later.' }),
      });
    });
    await goTo(page, `/projects/default/features/${name}`);
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await page.unroute(`**/features/${name}`);

    const other = await aFlag();
    await page.route(`**/features/${other}`, (route) =>
      route.fulfill({
        status: 403,
        contentType: 'application/json',
        body: JSON.stringify({ name: 'NoAccessError', message: 'Not for you.', permissions: ['UPDATE_FEATURE'] }),
      }),
    );
    await goTo(page, `/projects/default/features/${other}`);
    const refusal = page.getByRole('alert').filter({ hasText: 'It takes the permission “Update feature flags”' });
    await refusal.waitFor();
    const retry = refusal.getByRole('button', { name: 'Try again' });
    const again = page.waitForRequest((request) => request.url().endsWith(`/features/${other}`));
    await retry.click();
    await again;
    await page.unroute(`**/features/${other}`);
    // An event of another flag can make the page read again before the press.
    await eventually(async () => {
      if (await retry.isVisible()) await retry.click({ timeout: 1_000 });
      await page.getByRole('heading', { level: 1, name: other }).waitFor({ timeout: 2_000 });
    });
    await closeChecked(opened);
  });
});
