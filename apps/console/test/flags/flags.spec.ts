import { beforeAll, expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import {
  api,
  chooseFromMenu,
  closeChecked,
  describeInBrowser,
  expectAccessible,
  openPage,
  goTo,
  openSignedIn,
  signIn,
  untilFocused,
} from '../support/browser.ts';

interface Found {
  readonly features: { name: string; stale: boolean; environments: { name: string; enabled: boolean }[] }[];
}

async function find(text: string): Promise<Found['features']> {
  return ((await api('GET', `/api/admin/search/features?query=${text}&limit=1000`)) as Found).features;
}

function create(project: string, name: string, more: object = {}): Promise<unknown> {
  return api('POST', `/api/admin/projects/${project}/features`, { name, type: 'release', ...more });
}

describeInBrowser('the list of flags', () => {
  beforeAll(async () => {
    await api('POST', '/api/admin/projects', { id: 'listed', name: 'Listed' });
    for (let n = 0; n < 300; n += 30) {
      await Promise.all(
        Array.from({ length: 30 }, (_one, i) => create('listed', `listed.${String(n + i).padStart(3, '0')}`)),
      );
    }
    const tags = [{ type: 'simple', value: 'listed' }];
    await create('default', 'other.kill', { type: 'kill-switch', tags });
    await create('default', `other.${'x'.repeat(90)}`, {
      description: '<img src=x onerror="document.title=1"> \u05e9\u05dc\u05d5\u05dd javascript:alert(1)',
    });
    await eventually(async () => expect(await find('listed.')).toHaveLength(300));
  });

  it('shows hundreds of flags without pages, and keeps only the rows on the screen in the document', async () => {
    const opened = await openSignedIn('/projects/listed/flags');
    const { page } = opened;
    await page.getByText('300 flags').waitFor();
    const table = page.getByRole('table', { name: 'Flags of listed' });
    expect(await table.getAttribute('aria-rowcount')).toBe('301');
    expect(await table.getByRole('rowheader').count()).toBeLessThan(80);
    await expectAccessible(opened);
    await page.getByRole('region', { name: 'Flags of listed' }).evaluate((list) => list.scrollTo({ top: 250 * 36 }));
    await table.getByRole('link', { name: 'listed.250' }).waitFor();
    expect(await table.getByRole('link', { name: 'listed.001' }).count()).toBe(0);
    await closeChecked(opened);
  });

  it('keeps the rows that stay on the screen while it scrolls, with their focus, and adds those that come only', async () => {
    const opened = await openSignedIn('/projects/listed/flags');
    const { page } = opened;
    const list = page.getByRole('region', { name: 'Flags of listed' });
    const scrollTo = async (row: number): Promise<void> => {
      await list.evaluate((one, top) => one.scrollTo({ top }), row * 36);
      await page.getByRole('link', { name: `listed.${String(row + 5).padStart(3, '0')}`, exact: true }).waitFor();
      // Frames in which the list draws what has come.
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    };
    await scrollTo(100);
    await page.getByRole('checkbox', { name: 'Select listed.110' }).focus();
    const added = await list.evaluateHandle((one) => {
      const names: string[] = [];
      new MutationObserver((records) => {
        for (const { addedNodes } of records)
          for (const node of addedNodes)
            if (node instanceof HTMLElement && node.getAttribute('role') === 'row') names.push(node.innerText);
      }).observe(one, { childList: true, subtree: true });
      return names;
    });
    await scrollTo(103);
    expect((await added.jsonValue()).length).toBeLessThanOrEqual(3);
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Select listed.110');
    await closeChecked(opened);
  });

  it('shows the tags for which there is room whole, on one line, and the others on hover', async () => {
    const name = 'tagged.twice';
    const tags = ['first', 'second'].map((value) => ({ type: 'simple', value: `${value}-${'m'.repeat(9)}` }));
    await create('default', name, { tags });
    await eventually(async () => expect(await find(name)).toHaveLength(1));
    const opened = await openSignedIn(`/flags?q=${name}`, { width: 2200, height: 800 });
    const cell = opened.page.getByRole('row').filter({ hasText: name }).locator('[class*=_tags_]');
    await cell.getByText(`first-${'m'.repeat(9)}`).waitFor();
    expect(await cell.evaluate((one) => one.clientHeight - (one.firstElementChild?.clientHeight ?? 0))).toBe(0);
    expect(await cell.getAttribute('title')).toBe(tags.map(({ value }) => `simple:${value}`).join(', '));
    await closeChecked(opened);
  });

  it('filters while the user types, completes the filter, says what is wrong with it and keeps it in the address', async () => {
    const opened = await openSignedIn('/flags');
    const { page } = opened;
    const bar = page.getByRole('combobox', { name: 'Filter flags' });
    await page.getByRole('table', { name: 'Flags' }).waitFor();
    await page.keyboard.press('/');
    await untilFocused(page.locator('body'));
    await page.keyboard.type('ty');
    await page.getByRole('option', { name: 'type:', exact: true }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await eventually(async () => expect(await bar.inputValue()).toBe('type:'));
    await page.keyboard.type('kill');
    await page.getByRole('option', { name: 'type:kill-switch' }).waitFor();
    // The rows of the earlier filter are paler until those of this one are there.
    await page.waitForURL((url) => url.searchParams.get('q') === 'type:kill');
    await page.locator('[role=region][aria-busy=true]').waitFor({ state: 'detached' });
    await expectAccessible(opened);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Tab');
    await eventually(async () => expect(await bar.inputValue()).toBe('type:kill-switch '));
    await page.keyboard.type('tag:simple:listed colour:red');
    await page.getByText('colour:red: colour is not a filter key').waitFor();
    await page.getByText('1 flag', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'other.kill' }).waitFor();
    await page.waitForURL((url) => url.searchParams.get('q') === 'type:kill-switch tag:simple:listed colour:red');
    await page.getByRole('button', { name: 'Clear the filter' }).click();
    await page.waitForURL((url) => !url.searchParams.has('q'));
    await bar.fill('listed.001');
    await page.getByRole('link', { name: 'listed.001' }).waitFor();
    await bar.fill('no-such-flag');
    await page.getByRole('heading', { name: 'No flag matches' }).waitFor();
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('is filtered by choices, and keeps a filter and its order under a name for the person', async () => {
    const opened = await openSignedIn('/flags?q=listed&sort=name%20desc');
    const { page } = opened;
    const bar = page.getByRole('combobox', { name: 'Filter flags' });
    await page.getByRole('table', { name: 'Flags' }).waitFor();
    await chooseFromMenu(page.getByRole('button', { name: 'Filter', exact: true }), 'Type');
    await eventually(async () => expect(await bar.inputValue()).toBe('listed type:'));
    // What is being completed is no fault yet.
    await page.getByRole('option', { name: /^type:release/ }).waitFor();
    expect(await bar.getAttribute('aria-invalid')).toBe('false');
    await page.getByRole('option', { name: /^type:release/ }).click();
    await eventually(async () => expect(await bar.inputValue()).toBe('listed type:release '));
    await chooseFromMenu(page.getByRole('button', { name: 'Views', exact: true }), 'Save this view…');
    const dialog = page.getByRole('dialog', { name: 'Save this view' });
    await dialog.getByLabel('Name').fill('Releases, last first');
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Save' }).press('Enter');
    await page.getByRole('button', { name: 'Releases, last first' }).waitFor();
    await page.goto(new URL('/flags', page.url()).href);
    await page.getByRole('table', { name: 'Flags' }).waitFor();
    await chooseFromMenu(page.getByRole('button', { name: 'Views', exact: true }), 'Releases, last first');
    await page.waitForURL((url) => url.searchParams.get('q') === 'listed type:release');
    expect(new URL(page.url()).searchParams.get('sort')).toBe('name desc');
    await chooseFromMenu(
      page.getByRole('button', { name: 'Releases, last first' }),
      'Remove the view “Releases, last first”',
    );
    await page.getByRole('button', { name: 'Views', exact: true }).waitFor();
    await closeChecked(opened);
  });

  it('shows in words what it is filtered by, each of which a press takes out of the text', async () => {
    const opened = await openSignedIn('/projects/listed/flags?q=listed.00%20production:off');
    const { page } = opened;
    const bar = page.getByRole('combobox', { name: 'Filter flags' });
    const table = page.getByRole('table', { name: 'Flags of listed' });
    const parts = page.getByRole('list', { name: 'Parts of the filter' }).getByRole('listitem');
    await page.getByText('production: off', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'listed.009' }).waitFor();
    // A text that is searched is no part, and the list stays where it is while parts come and go.
    expect(await parts.allTextContents()).toEqual(['production: off']);
    const top = async () => (await table.boundingBox())?.y;
    const untilOn = (label: string) =>
      eventually(async () => expect(await page.locator(':focus').getAttribute('aria-label')).toBe(label));
    const before = await top();
    await bar.focus();
    await page.keyboard.press('End');
    await page.keyboard.type(' type:release state:active');
    await eventually(async () =>
      expect(await parts.allTextContents()).toEqual(['production: off', 'type release', 'active']),
    );
    expect(await top()).toBe(before);
    await page.keyboard.press('Escape');
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'Remove type release' }).click();
    await eventually(async () => expect(await bar.inputValue()).toBe('listed.00 production:off state:active'));
    // By keyboard: the focus goes to the next part, to the one before the last, and at the end to the text.
    await page.getByRole('button', { name: 'Remove production: off' }).focus();
    await page.keyboard.press('Enter');
    await untilOn('Remove active');
    await page.keyboard.press('Enter');
    await untilFocused(bar);
    await page.waitForURL((url) => url.searchParams.get('q') === 'listed.00');
    expect(await parts.count()).toBe(0);
    await bar.fill('production:off type:release');
    await page.getByRole('button', { name: 'Remove type release' }).focus();
    await page.keyboard.press('Space');
    await untilOn('Remove production: off');
    expect(await top()).toBe(before);
    await closeChecked(opened);
  });

  it('drops responses to an earlier filter that come late', async () => {
    const opened = await openSignedIn('/flags');
    const { page } = opened;
    await page.getByRole('table', { name: 'Flags' }).waitFor();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route(/search\/features\?.*query=listed/, async (route) => {
      await held;
      await route.continue().catch(() => undefined);
    });
    const bar = page.getByRole('combobox', { name: 'Filter flags' });
    const searched = page.waitForRequest(/search\/features\?.*query=listed/);
    await bar.fill('listed');
    await searched;
    await bar.fill('other.kill');
    await page.getByText('1 flag', { exact: true }).waitFor();
    release();
    await page.getByRole('link', { name: 'other.kill' }).waitFor();
    expect(await page.getByRole('rowheader').count()).toBe(1);
    await closeChecked(opened);
  });

  it('turns a flag on in its row, and shows names and descriptions as text', async () => {
    const opened = await openSignedIn('/flags?q=other');
    const { page } = opened;
    const toggle = page.getByRole('switch', { name: 'other.kill in development' });
    expect(await toggle.getAttribute('aria-checked')).toBe('false');
    await toggle.click();
    await page.getByText('other.kill is on in development.').waitFor();
    await eventually(async () => expect(await toggle.getAttribute('aria-checked')).toBe('true'));
    const [flag] = await find('other.kill');
    expect(flag?.environments.find(({ name }) => name === 'development')?.enabled).toBe(true);
    await page.getByRole('button', { name: 'Favourite other.kill' }).click();
    await page.getByRole('button', { name: 'Favourite other.kill', pressed: true }).waitFor();
    await page.getByRole('combobox', { name: 'Filter flags' }).fill('other favourite:true');
    await page.getByText('1 flag', { exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Filter flags' }).fill('other seen:<7d');
    await page.getByRole('heading', { name: 'No flag matches' }).waitFor();
    expect(await page.title()).toBe('Flags · Bunting');
    await closeChecked(opened);
  });

  it('finds flags by misspelt words in any order, those that only resemble them below', async () => {
    await create('default', 'similar-checkout-banner');
    await create('default', 'similarCheckuotBanner');
    const opened = await openSignedIn('/flags');
    const { page } = opened;
    const names = () => page.getByRole('rowheader').allTextContents();
    const bar = page.getByRole('combobox', { name: 'Filter flags' });
    await bar.fill('banner checkout similar');
    await page.getByText('2 flags', { exact: true }).waitFor();
    await eventually(async () => expect(await names()).toEqual(['similar-checkout-banner', 'similarCheckuotBanner']));
    const rows = await page.getByRole('row').allTextContents();
    expect(rows.findIndex((row) => row === 'Similar')).toBe(rows.findIndex((row) => row.includes('checkout')) + 1);
    const exact = page.getByRole('link', { name: 'similar-checkout-banner' });
    expect(await exact.locator('mark').allTextContents()).toEqual(['similar', 'checkout', 'banner']);
    await expectAccessible(opened);
    await bar.fill('"checkout-ban"');
    await page.getByText('1 flag', { exact: true }).waitFor();
    await closeChecked(opened);
  });

  it('selects all flags that contain the words, none that is only similar to them, in any order of the list', async () => {
    await create('default', 'retire-basket-v1');
    await create('default', 'basket.to.retire-v1');
    await create('default', 'retire-baskte-v1');
    await eventually(async () => expect(await find('retire')).toHaveLength(3));
    const opened = await openSignedIn('/flags');
    const { page } = opened;
    await page.getByRole('combobox', { name: 'Filter flags' }).fill('v1 retrie-basket');
    await page.getByRole('row', { name: 'Similar', exact: true }).waitFor();
    expect(await page.getByRole('checkbox', { name: 'Select all that match' }).isDisabled()).toBe(true);
    await page.getByRole('combobox', { name: 'Filter flags' }).fill('v1 retire basket');
    await page.getByText('3 flags', { exact: true }).waitFor();
    await page.getByRole('checkbox', { name: 'Select all that match' }).click();
    await page.getByText('2 flags selected').waitFor();
    expect(await page.getByRole('checkbox', { name: 'Select all that match' }).isChecked()).toBe(true);
    expect(await page.getByRole('checkbox', { name: 'Select retire-baskte-v1' }).isChecked()).toBe(false);
    await page.getByRole('button', { name: 'Name' }).click();
    await page.getByText('3 flags', { exact: true }).waitFor();
    const similar = page.getByRole('rowheader').filter({ hasText: /similar$/ });
    await eventually(async () => expect(await similar.allTextContents()).toEqual(['retire-baskte-v1similar']));
    await page.getByRole('checkbox', { name: 'Select retire-basket-v1' }).click();
    await page.getByRole('button', { name: 'Select all 2 flags that match' }).click();
    await page.getByText('2 flags selected').waitFor();
    await expectAccessible(opened);
    await chooseFromMenu(page.getByRole('button', { name: 'More actions' }), 'Archive…');
    const dialog = page.getByRole('dialog', { name: 'Archive' });
    await dialog.getByText('2 flags in 1 project will change:').waitFor();
    await dialog.getByRole('button', { name: 'Archive 2 flags' }).click();
    await page.getByText('2 flags changed.').waitFor();
    await eventually(async () => expect((await find('retire')).map(({ name }) => name)).toEqual(['retire-baskte-v1']));
    await closeChecked(opened);
  });

  it('says how many flags have a value, of those that the words of the filter find', async () => {
    await api('POST', '/api/admin/projects', { id: 'counted', name: 'Counted' });
    await create('counted', 'counted.one', { type: 'experiment' });
    await create('counted', 'counted.two', { type: 'experiment' });
    await create('counted', 'counted.three', { type: 'operational' });
    const opened = await openSignedIn('/projects/counted/flags');
    const { page } = opened;
    await page.getByRole('combobox', { name: 'Filter flags' }).fill('counted type:');
    await page.getByRole('option', { name: 'type:experiment 2' }).waitFor();
    await page.getByRole('option', { name: 'type:operational 1' }).waitFor();
    expect(await page.getByRole('option').first().textContent()).toBe('type:experiment2');
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('says whom a flag reaches, where it is protected and where a change waits, and filters and sorts by it', async () => {
    await api('POST', '/api/admin/projects', { id: 'reach', name: 'Reach' });
    const beta = (await api('POST', '/api/admin/segments', { name: 'beta-testers', constraints: [] })) as {
      id: number;
    };
    const strategies = {
      'reach.all': { name: 'flexibleRollout', parameters: { rollout: '100' } },
      'reach.quarter': { name: 'flexibleRollout', parameters: { rollout: '25' } },
      'reach.beta': { name: 'flexibleRollout', parameters: { rollout: '100' }, segments: [beta.id] },
    };
    await create('reach', 'reach.off');
    for (const [name, strategy] of Object.entries(strategies)) {
      await create('reach', name);
      const environment = `/api/admin/projects/reach/features/${name}/environments/production`;
      await api('POST', `${environment}/strategies`, strategy);
      await api('POST', `${environment}/on`);
    }
    const config = { changeRequestsEnabled: true, requiredApprovals: 1 };
    await api('PUT', '/api/admin/projects/reach/environments/production/change-requests/config', config);
    await api('POST', '/api/admin/projects/reach/environments/production/change-requests', {
      feature: 'reach.quarter',
      action: 'updateEnabled',
      payload: { enabled: false },
    });
    const opened = await openSignedIn('/projects/reach/flags?sort=reach:production%20desc');
    const { page } = opened;
    const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
    const wordsOf = (name: string) =>
      row(name)
        .getByTitle(/^production is /)
        .textContent();
    await row('reach.off').waitFor();
    expect(await Promise.all(['off', 'all', 'quarter', 'beta'].map((name) => wordsOf(`reach.${name}`)))).toEqual([
      'off',
      '100 %',
      '25 %',
      'beta-testers',
    ]);
    expect((await page.getByRole('rowheader').allTextContents()).at(0)).toBe('reach.all');
    expect((await page.getByRole('rowheader').allTextContents()).at(-1)).toBe('reach.off');
    await row('reach.off').getByRole('img', { name: 'protected' }).waitFor();
    await row('reach.quarter').getByRole('img', { name: 'a change waits' }).waitFor();
    expect(await page.getByRole('img', { name: 'a change waits' }).count()).toBe(1);
    await expectAccessible(opened);
    await page.getByRole('combobox', { name: 'Filter flags' }).fill('production:partial');
    await page.getByText('2 flags', { exact: true }).waitFor();
    // Both hold for what two environments find.
    await api('POST', '/api/admin/projects/reach/features/reach.beta/environments/development/on');
    await page.getByRole('combobox', { name: 'Filter flags' }).fill('production:partial development:off');
    await page.getByText('1 flag', { exact: true }).waitFor();
    await row('reach.quarter').waitFor();
    await closeChecked(opened);
  });

  it('cuts no words of whom flags reach beside a mark in a window of 1280 pixels, and has a shorter form for many environments', async () => {
    const names = ['development', 'production', 'wide-1', 'wide-2', 'wide-3'];
    for (const name of names.slice(2)) await api('POST', '/api/admin/environments', { name, type: 'test' });
    const rule = { contextName: 'userId', operator: 'IN', values: ['7'] };
    for (const [id, environments] of [
      ['words', names.slice(0, 3)],
      ['many-words', names],
    ] as const) {
      await api('POST', '/api/admin/projects', { id, name: id, environments });
      await create(id, `${id}.flag`);
      const production = `/api/admin/projects/${id}/features/${id}.flag/environments/production`;
      await api('POST', `${production}/strategies`, {
        name: 'flexibleRollout',
        parameters: { rollout: '50' },
        constraints: [rule],
      });
      await api('POST', `${production}/on`);
      await api('PUT', `/api/admin/projects/${id}/environments/production/change-requests/config`, {
        changeRequestsEnabled: true,
        requiredApprovals: 1,
      });
    }
    const opened = await openSignedIn('/projects/words/flags');
    const { page } = opened;
    const words = page.getByTitle(/^production is /);
    const areCut = () => words.evaluateAll((all) => all.some((one) => one.scrollWidth > one.clientWidth));
    await words.getByText('50 % of 1 rule').waitFor();
    await page.getByRole('img', { name: 'protected' }).waitFor();
    expect(await areCut()).toBe(false);

    await goTo(page, '/projects/many-words/flags');
    await words.getByText('≤ 50 %').waitFor();
    expect(await words.getAttribute('title')).toBe('production is on: 50 % of 1 rule');
    expect(await areCut()).toBe(false);
    await closeChecked(opened);
  });

  it('proposes a change request where the environment is protected', async () => {
    await api('POST', '/api/admin/projects', { id: 'guarded', name: 'Guarded' });
    await create('guarded', 'guarded.flag');
    const config = { changeRequestsEnabled: true, requiredApprovals: 1 };
    await api('PUT', '/api/admin/projects/guarded/environments/production/change-requests/config', config);
    const opened = await openSignedIn('/projects/guarded/flags');
    await opened.page.getByRole('switch', { name: 'guarded.flag in production' }).click();
    const question = opened.page.getByRole('alertdialog', { name: 'Turn on in production?' });
    await question.getByText('production is protected', { exact: false }).waitFor();
    await question.getByRole('button', { name: 'Propose' }).click();
    await opened.page.getByText(/Added to (a new|your) draft .*for production/).waitFor();
    const [flag] = await find('guarded.flag');
    expect(flag?.environments.find(({ name }) => name === 'production')?.enabled).toBe(false);
    await closeChecked(opened);
  });

  it('stays signed in, and keeps the selection, when a refusal of before the sign-in is late', async () => {
    const opened = await openSignedIn('/projects/listed');
    const { page } = opened;
    const [refused, loaded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const refusal = {
      status: 401,
      json: { id: 'x', name: 'AuthenticationRequired', message: 'Sign in.', details: [] },
    };
    let [hasEnded, isLate] = [true, true];
    await page.route('**/api/admin/search/features?*', (route) =>
      hasEnded ? route.fulfill(refusal) : route.continue(),
    );
    await page.route('**/api/admin/environments', async (route) => {
      const isRefused = isLate;
      isLate = false;
      await (isRefused ? refused : loaded).promise;
      await (isRefused ? route.fulfill(refusal) : route.continue());
    });
    const tabs = page.getByRole('navigation', { name: 'The project' });
    await tabs.getByRole('link', { name: 'Flags', exact: true }).click();
    await page.getByRole('group', { name: 'Sign in' }).waitFor();
    hasEnded = false;
    await signIn(page);
    await page.getByText('300 flags').waitFor();
    const sentAgain = page.waitForRequest('**/api/admin/environments');
    refused.resolve();
    await sentAgain;
    for (const key of ['j', 'x']) await page.keyboard.press(key);
    await page.getByText('1 flag selected').waitFor();
    loaded.resolve();
    await page.getByRole('switch', { name: 'listed.002 in production' }).waitFor();
    expect(await page.getByText('1 flag selected').count()).toBe(1);
    expect(await page.getByRole('dialog').count()).toBe(0);
    await closeChecked(opened);
  });

  it('shows its columns together, and none before it knows the environments', async () => {
    const opened = await openPage('/projects/listed/flags?q=%22listed.29%22');
    const { page } = opened;
    const held = Promise.withResolvers<void>();
    await page.route('**/api/admin/environments', async (route) => {
      await held.promise;
      await route.continue();
    });
    await signIn(page);
    await page.getByText('10 flags').waitFor();
    expect(await page.getByRole('columnheader').count()).toBe(0);
    held.resolve();
    await page.getByRole('columnheader', { name: 'production' }).waitFor();
    await closeChecked(opened);
  });

  it('selects by keyboard, by range and all that match, and shows what would change and what became of it', async () => {
    const opened = await openSignedIn('/projects/listed/flags?q=%22listed.29%22');
    const { page } = opened;
    await page.getByText('10 flags').waitFor();
    for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
    await page.getByText('2 flags selected').waitFor();
    await page.getByRole('checkbox', { name: 'Select listed.292' }).click();
    await page.getByRole('checkbox', { name: 'Select listed.295' }).click({ modifiers: ['Shift'] });
    await page.getByText('6 flags selected').waitFor();
    await page.getByRole('button', { name: 'Select all 10 flags that match' }).click();
    await page.getByText('10 flags selected').waitFor();
    await page.getByRole('checkbox', { name: 'Select listed.290' }).click();
    await page.getByText('9 flags selected').waitFor();
    await expectAccessible(opened);
    await chooseFromMenu(page.getByRole('button', { name: 'More actions' }), 'Mark as stale…');
    const dialog = page.getByRole('dialog', { name: 'Mark as stale' });
    await dialog.getByText('9 flags in 1 project will change:').waitFor();
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Mark 9 flags' }).click();
    const results = page.getByRole('dialog', { name: 'Result' });
    await results.getByText('9 flags changed.').waitFor();
    await results.getByRole('button', { name: 'Close' }).last().click();
    await eventually(async () => expect((await find('listed.29')).filter(({ stale }) => stale)).toHaveLength(9));
    await closeChecked(opened);
  });

  it('selects by a key also before it is known which projects there are', async () => {
    const opened = await openSignedIn('/events');
    const { page } = opened;
    let answer: (() => void) | undefined;
    const isPressed = new Promise<void>((resolve) => (answer = resolve));
    await page.route(/\/api\/admin\/projects(\?.*)?$/, async (route) => {
      await isPressed;
      await route.continue();
    });
    await page.goto(new URL('/projects/listed/flags?q=%22listed.29%22', page.url()).href);
    await page.getByText('10 flags').waitFor();
    for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
    await page.getByText('2 flags selected').waitFor();
    answer?.();
    await page.getByRole('checkbox', { name: 'Select listed.290' }).waitFor();
    await page.getByText('2 flags selected').waitFor();
    await closeChecked(opened);
  });

  it('creates a flag, and shows beside the field why a name is refused', async () => {
    const opened = await openSignedIn('/flags?q=created');
    const { page } = opened;
    await page.getByRole('heading', { name: 'No flag matches' }).waitFor();
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: 'Create a flag' });
    await dialog.getByLabel('Name').fill('not a name');
    await page.keyboard.press('Enter');
    await dialog.getByText(/the name is a part of addresses/).waitFor();
    await expectAccessible(opened);
    await dialog.getByLabel('Name').fill('created.here');
    await page.keyboard.press('Enter');
    await page.getByText('created.here is created.').waitFor();
    await page.getByRole('heading', { name: 'created.here', level: 1 }).waitFor();
    await closeChecked(opened);
  });

  it('draws how often flags were evaluated in the last days, in one request for all rows, until a person hides it', async () => {
    const now = Date.now();
    await api('POST', '/api/client/metrics', {
      appName: 'till',
      environment: 'production',
      bucket: { start: now - 60_000, stop: now, toggles: { 'listed.007': { yes: 3, no: 1 } } },
    });
    const opened = await openSignedIn('/projects');
    const { page } = opened;
    const asked: string[][] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/client-metrics/features/recent'))
        asked.push((request.postDataJSON() as { features: string[] }).features);
    });
    await page.getByRole('link', { name: 'Listed', exact: true }).click();
    await page.getByRole('navigation', { name: 'The project' }).getByRole('link', { name: 'Flags' }).click();
    const row = page.getByRole('row').filter({ hasText: 'listed.007' });
    await row.getByRole('img', { name: '4 evaluations in 7 days, 75 % on' }).waitFor();
    expect(asked.filter((names) => names.includes('listed.007')).map((names) => names.length)).toEqual([100]);
    // Nothing is drawn where nothing was asked for.
    expect(await page.getByRole('img', { name: /evaluations? in 7 days/ }).count()).toBe(1);
    await expectAccessible(opened);
    await page.keyboard.press('u');
    await row.getByRole('img', { name: /evaluations in 7 days/ }).waitFor({ state: 'detached' });
    await closeChecked(opened);
  });
});
