import { beforeAll, expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import { randomUUID } from 'node:crypto';
import {
  api,
  chooseFromMenu,
  closeChecked,
  describeInBrowser,
  expectAccessible,
  goTo,
  openMenu,
  type OpenedPage,
  openPage,
  openSignedIn,
  signIn,
  untilFocused,
} from '../support/browser.ts';

const project = 'default';
const flags = `/api/admin/projects/${project}/features`;

interface Strategy {
  readonly id: string;
}

function rollout(percentage: number, more: object = {}) {
  return {
    name: 'flexibleRollout',
    parameters: { rollout: String(percentage), stickiness: 'default', groupId: 'g' },
    ...more,
  };
}
/** The context field that constraints of these tests compare; other files may have made it. */
async function withRegion(): Promise<void> {
  const fields = (await api('GET', '/api/admin/context')) as { readonly name: string }[];
  if (!fields.some((field) => field.name === 'region')) await api('POST', '/api/admin/context', { name: 'region' });
}
const inNorway = { contextName: 'region', operator: 'IN', values: ['no'] };

async function aFlag(more: object = {}): Promise<string> {
  const name = `flag-${randomUUID().slice(0, 8)}`;
  await api('POST', flags, { name, ...more });
  return name;
}
async function addStrategy(name: string, environment: string, strategy: object): Promise<string> {
  return ((await api('POST', `${flags}/${name}/environments/${environment}/strategies`, strategy)) as Strategy).id;
}
async function openAsReader(path: string): Promise<OpenedPage> {
  const username = `reader-${randomUUID().slice(0, 8)}`;
  const { id } = (await api('POST', '/api/admin/user-admin', { username, rootRole: 3 })) as { readonly id: number };
  const token = await api('POST', `/api/admin/user-admin/${id}/token`, { description: 'console' });
  const opened = await openPage(path);
  await signIn(opened.page, (token as { readonly secret: string }).secret);
  return opened;
}
function pageOf(name: string): string {
  return `/projects/${project}/features/${name}`;
}

describeInBrowser('the page of a flag', () => {
  beforeAll(withRegion);

  it('offers no copy into an environment where its reader may add no strategy', async () => {
    const name = await aFlag();
    await addStrategy(name, 'production', rollout(25));
    const opened = await openAsReader(pageOf(name));
    const { page } = opened;
    const development = page.getByRole('region', { name: 'The flag in development' });
    await development.getByText('only in production').waitFor();
    expect(await development.getByRole('button', { name: 'Copy here' }).count()).toBe(0);
    const actions = page.getByRole('button', { name: 'Actions of the strategy' });
    const copy = await openMenu(actions.first(), 'Copy to development');
    expect(await copy.getAttribute('aria-disabled')).toBe('true');
    await closeChecked(opened);
  });

  it('shows environments side by side in words, marks what differs, and copies it across', async () => {
    const description = 'One page <img src=x onerror=alert(1)> [more](javascript:alert(1))\nمرحبا';
    const name = await aFlag({ description });
    await addStrategy(name, 'development', rollout(100));
    await addStrategy(name, 'production', rollout(25, { title: 'Norway first', constraints: [inNorway] }));
    await api('POST', `${flags}/${name}/environments/production/on`);
    const opened = await openSignedIn(pageOf(name));
    const { page } = opened;
    const development = page.getByRole('region', { name: 'The flag in development' });
    const production = page.getByRole('region', { name: 'The flag in production' });
    await production.getByRole('link', { name: '25 % of users where region is no.' }).waitFor();
    expect(await production.getByRole('switch', { name: 'Enabled in production' }).isChecked()).toBe(true);
    await development.getByText('not in production').waitFor();
    await page.getByText('<img src=x onerror=alert(1)>', { exact: false }).waitFor();
    await expectAccessible(opened);
    // The entries of a menu begin at one edge, with or without an icon.
    await openMenu(page.getByRole('button', { name: 'Actions', exact: true }), 'Archive');
    const edges = await page.getByRole('menuitem').evaluateAll((entries) =>
      entries.map((entry) => {
        const range = document.createRange();
        range.selectNodeContents(entry.lastChild ?? entry);
        return Math.round(range.getBoundingClientRect().left);
      }),
    );
    expect(new Set(edges).size).toBe(1);
    await page.keyboard.press('Escape');

    await development.getByRole('button', { name: 'Copy here' }).click();
    await development.getByRole('link', { name: '25 % of users where region is no.' }).waitFor();
    await closeChecked(opened);
  });

  it('is turned on by keyboard alone, and shows what others change without being loaded again', async () => {
    const name = await aFlag();
    const opened = await openSignedIn(pageOf(name));
    const { page } = opened;
    const toggle = page.getByRole('switch', { name: 'Enabled in development' });
    await toggle.focus();
    await page.keyboard.press('Space');
    await page.getByText('Turned on in development.').waitFor();
    await page.getByRole('link', { name: 'Everybody.' }).waitFor();

    await addStrategy(name, 'production', rollout(10));
    await page.getByRole('link', { name: '10 % of users.' }).waitFor();
    await closeChecked(opened);
  });

  it('is worked by keys and the palette, and says in one line who gets it in production and who changed that', async () => {
    const name = await aFlag();
    await addStrategy(name, 'production', rollout(25, { constraints: [inNorway] }));
    const opened = await openSignedIn(pageOf(name));
    const { page } = opened;
    await page.getByText(/^Off in production · changed just now by /).waitFor();
    const toggle = page.getByRole('switch', { name: 'Enabled in production' });
    // The page has its keys a moment after it is shown.
    await eventually(async () => {
      await page.keyboard.press('p');
      expect(await toggle.evaluate((one) => one === document.activeElement)).toBe(true);
    });
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill('turn on in prod');
    await page.getByRole('option', { name: 'Turn on in production' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText(/^On in production: 25\s% of users where region is no · changed just now by /).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await eventually(async () => {
      await page.keyboard.press('e');
      await page.getByRole('dialog').getByLabel('Description').waitFor({ timeout: 5_000 });
    });
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill('archive');
    await page.getByRole('option', { name: `Archive: ${name}` }).click();
    await page.getByRole('alertdialog', { name: `Archive ${name}?` }).waitFor();
    // A flag belongs to the list of flags, as the links above it say.
    await page.keyboard.press('Escape');
    const main = page.getByRole('navigation', { name: 'Main' });
    expect(await main.locator('[aria-current=page]').allInnerTexts()).toEqual(['Flags']);
    await closeChecked(opened);
  });

  it('has its actions under a key, which the list of keys names', async () => {
    const name = await aFlag();
    const opened = await openSignedIn(pageOf(name));
    const { page } = opened;
    const menu = page.getByRole('menu', { name: 'Actions' });
    await eventually(async () => {
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor({ timeout: 5_000 });
    });
    const keys = page.getByRole('dialog').getByRole('term').filter({ hasText: /^\.$/ });
    expect(await keys.locator('xpath=..').innerText()).toMatch(/Actions of the flag/);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('.');
    await menu.waitFor();
    await eventually(async () => expect(await page.locator(':focus').innerText()).toBe('Copy the flag'));
    await expectAccessible(opened);
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.getByRole('alertdialog', { name: `Archive ${name}?` }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    await eventually(async () => expect(await page.locator(':focus').innerText()).toBe('Actions'));
    await closeChecked(opened);
  });

  it('leads from the palette to the share of its rollout in production, or to a new one where there is none', async () => {
    const name = await aFlag();
    const opened = await openSignedIn(pageOf(name));
    const { page } = opened;
    const choose = async (): Promise<void> => {
      await page.getByRole('switch', { name: 'Enabled in production' }).waitFor();
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Search' }).fill('roll out to');
      await page.getByRole('option', { name: 'Roll out to … in production' }).click();
    };
    const share = page.getByRole('spinbutton', { name: 'Percent' });
    await choose();
    await page.getByRole('heading', { level: 1, name: 'New strategy in production' }).waitFor();
    await untilFocused(share);
    await page.keyboard.type('5');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: '5 % of users.' }).waitFor();
    // Another kind of strategy has no share; of two rollouts none is the one of the flag.
    await addStrategy(name, 'production', { name: 'userWithId', parameters: { userIds: 'mia' } });
    await page.getByRole('link', { name: /mia/ }).waitFor();
    await choose();
    await page.getByRole('heading', { level: 1, name: 'Strategy in production' }).waitFor();
    await untilFocused(share);
    await page.keyboard.type('25');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: '25 % of users.' }).waitFor();
    await addStrategy(name, 'production', rollout(50));
    await page.getByRole('link', { name: '50 % of users.' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill('in production');
    await page.getByRole('option', { name: 'Add a strategy in production' }).waitFor();
    expect(await page.getByRole('option', { name: 'Roll out to' }).count()).toBe(0);
    await page.keyboard.press('Escape');
    await closeChecked(opened);
  });

  it('leads who may not edit it in production to no share there', async () => {
    const name = await aFlag();
    await addStrategy(name, 'production', rollout(25));
    const opened = await openAsReader(pageOf(name));
    const { page } = opened;
    await page.getByRole('switch', { name: 'Enabled in production' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill('production');
    await page.getByRole('option', { name: 'Go to the switch of production' }).waitFor();
    expect(await page.getByRole('option', { name: 'Roll out to' }).count()).toBe(0);
    await closeChecked(opened);
  });

  it('saves the details that were changed, and keeps what another user has changed meanwhile', async () => {
    const name = await aFlag({ description: 'Before' });
    const opened = await openSignedIn(pageOf(name));
    const { page } = opened;
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Description').fill('After');
    await api('PATCH', `${flags}/${name}`, [{ op: 'replace', path: '/type', value: 'kill-switch' }]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await api('GET', `${flags}/${name}`)).toMatchObject({ description: 'After', type: 'kill-switch' });
    await page.getByText('After', { exact: true }).waitFor();
    await closeChecked(opened);
  });

  it('fits a narrow screen, with a name as long as one may be', async () => {
    const name = await aFlag();
    const long = `${name}-${'x'.repeat(99 - name.length)}`;
    await api('POST', flags, { name: long });
    const opened = await openSignedIn(pageOf(long), { width: 360, height: 740 });
    await opened.page.getByRole('heading', { level: 1, name: long }).waitFor();
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await opened.page.evaluate(overflow)).toBe(0);
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('is archived after a question, and revived', async () => {
    const name = await aFlag();
    const child = await aFlag();
    const dependencies = `${flags}/${child}/dependencies`;
    await api('POST', dependencies, { feature: name });
    const opened = await openSignedIn(pageOf(name));
    const { page } = opened;
    await chooseFromMenu(page.getByRole('button', { name: 'Actions', exact: true }), 'Archive');
    const question = page.getByRole('alertdialog');
    await question.getByText(`cannot be archived while these flags depend on it: ${child}`).waitFor();
    expect(await question.getByRole('button', { name: 'Archive' }).isDisabled()).toBe(true);
    await api('DELETE', dependencies);
    await question.getByText('depend on it', { exact: false }).waitFor({ state: 'detached' });
    await question.getByRole('button', { name: 'Archive' }).click();
    await page.getByText('This flag is archived').waitFor();
    await chooseFromMenu(page.getByRole('button', { name: 'Actions', exact: true }), 'Revive');
    await page.getByText('This flag is archived').waitFor({ state: 'detached' });
    await closeChecked(opened);
  });
});

describeInBrowser('the editor of a strategy', () => {
  let name: string;
  let id: string;
  beforeAll(async () => {
    await withRegion();
    name = await aFlag();
    id = await addStrategy(name, 'development', rollout(25, { title: 'Norway first', constraints: [inNorway] }));
    await api('POST', `${flags}/${name}/environments/development/on`);
  });
  const editorOf = (strategy = id): string => `${pageOf(name)}/environments/development/strategies/${strategy}`;

  it('says in words and shares of users what a change does before it is saved', async () => {
    const opened = await openSignedIn(editorOf());
    const { page } = opened;
    const impact = page.getByRole('region', { name: 'What this change does' });
    await impact.getByText('Nothing is changed yet.').waitFor();
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'Remove the constraint “region is no”' }).click();
    await page.getByRole('spinbutton', { name: 'Percent' }).fill('100');
    await impact.getByText('After this, the strategy is on for everybody.').waitFor();
    await impact.getByText('100 % gain it').waitFor();
    await impact.getByRole('textbox', { name: 'Example users' }).fill('userId=ann region=se');
    await impact.getByText(/^off →/).waitFor();
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('link', { name: 'Everybody.' }).waitFor();
    await closeChecked(opened);
  });

  it.each([3, 40])(
    'takes away a value that is not legal any more, of a context field with %i legal values',
    async (count) => {
      const contextName = `legal-${randomUUID().slice(0, 8)}`;
      const legalValues = Array.from({ length: count }, (_, nth) => ({ value: `value-${nth}` }));
      await api('POST', '/api/admin/context', { name: contextName, legalValues: [...legalValues, { value: 'gone' }] });
      const constraint = { contextName, operator: 'IN', values: ['value-1', 'gone'] };
      const strategy = await addStrategy(name, 'development', rollout(25, { constraints: [constraint] }));
      await api('DELETE', `/api/admin/context/${contextName}/legal-values/gone`);
      const opened = await openSignedIn(editorOf(strategy));
      const { page } = opened;
      if (count > 12) {
        await page.getByText('gone', { exact: true }).locator('..').getByText('not legal any more').waitFor();
        await expectAccessible(opened);
        await page.getByRole('button', { name: 'Remove gone' }).click();
        await page.getByRole('combobox', { name: 'Values' }).fill('value-39');
        await page.getByRole('option', { name: 'value-39' }).click();
      } else {
        await page.getByRole('checkbox', { name: 'gone (not legal any more)' }).waitFor();
        await expectAccessible(opened);
        await page.getByText('gone (not legal any more)').click();
        await page.getByText('value-2', { exact: true }).click();
      }
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('The strategy is saved.').waitFor();
      const stored = await api('GET', `${flags}/${name}/environments/development/strategies/${strategy}`);
      expect(stored).toMatchObject({ constraints: [{ values: ['value-1', count > 12 ? 'value-39' : 'value-2'] }] });
      await closeChecked(opened);
    },
  );

  it('offers the segments that the strategy may use, and none of another project', async () => {
    const [mine, other] = [`mine-${randomUUID().slice(0, 8)}`, `other-${randomUUID().slice(0, 8)}`];
    await api('POST', '/api/admin/projects', { id: other, name: other });
    await api('POST', '/api/admin/segments', { name: mine, constraints: [inNorway] });
    await api('POST', '/api/admin/segments', { name: other, project: other, constraints: [] });
    const opened = await openSignedIn(editorOf('new'));
    const { page } = opened;
    const box = page.getByRole('combobox', { name: 'Add a segment' });
    const option = page.getByRole('option', { name: mine });
    await box.fill(mine);
    await option.waitFor();
    await box.fill(other);
    await option.waitFor({ state: 'detached' });
    expect(await page.getByRole('option', { name: other }).count()).toBe(0);
    await box.fill(mine);
    await option.click();
    await page.getByRole('checkbox', { name: mine }).waitFor();
    // Constraints, which can be megabytes, are not loaded for names.
    expect([...opened.calls.keys()].map((call) => new URL(call.url()).pathname)).not.toContain('/api/admin/segments');
    await closeChecked(opened);
  });

  it('keeps the form and the JSON beside it in step, and the last valid strategy while the text is none', async () => {
    const opened = await openSignedIn(editorOf('new'));
    const { page } = opened;
    await page.getByRole('button', { name: 'Show JSON' }).click();
    const text = page.getByRole('textbox', { name: 'JSON' });
    await text.waitFor();
    await text.fill('{"name": "flexibleRollout",\n "parameters": {"rollout": 07}}');
    await page.getByText('The text is no JSON from line 2, column 28.', { exact: false }).waitFor();
    const letters = page.locator('[aria-hidden] [data-mark]');
    expect(await letters.allTextContents()).toEqual(['07']);
    expect(await text.getAttribute('aria-invalid')).toBe('true');
    await expectAccessible(opened);
    await text.fill('{"name":"flexibleRollout","parameters":{"rollout":"7"}}');
    await eventually(async () =>
      expect(await page.getByRole('spinbutton', { name: 'Percent' }).inputValue()).toBe('7'),
    );
    await page.getByText('The text is no JSON', { exact: false }).waitFor({ state: 'detached' });
    // The brackets at the cursor are marked; what is typed is undone.
    await text.press('Control+End');
    await eventually(async () => expect(await letters.allTextContents()).toEqual(['{', '}']));
    await page.keyboard.type('x');
    expect(await text.inputValue()).toMatch(/}}x$/);
    await page.keyboard.press('Control+z');
    await eventually(async () => expect(await text.inputValue()).toMatch(/}}$/));
    await page.getByRole('spinbutton', { name: 'Percent' }).fill('9');
    await eventually(async () => expect(await text.inputValue()).toContain('"rollout": "9"'));
    await expectAccessible(opened);
    // Thousands of lines are shown and edited without colours, which would make each key slow.
    const values = Array.from({ length: 2_000 }, (_, nth) => `user-${nth}`);
    const constraints = [{ contextName: 'userId', operator: 'IN', values }];
    await text.fill(JSON.stringify({ name: 'default', constraints }, undefined, 2));
    await page.getByText('2,000 values', { exact: false }).first().waitFor();
    expect(await page.locator('[aria-hidden] [data-kind]').count()).toBe(0);
    expect(await text.evaluate((area) => getComputedStyle(area).color)).not.toMatch(/, 0\)$/);
    await closeChecked(opened);
  });

  it('never overwrites details that another person has saved meanwhile: it combines them, and asks about the same one', async () => {
    const name = await aFlag();
    const opened = await openSignedIn(pageOf(name));
    const { page } = opened;
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const edit = page.getByRole('dialog', { name: 'Edit the details' });
    await edit.getByLabel('Description').fill('Mine');
    const theirs = [
      { op: 'replace', path: '/description', value: 'Theirs' },
      { op: 'replace', path: '/impressionData', value: true },
    ];
    await api('PATCH', `${flags}/${name}`, theirs);
    await edit.getByRole('button', { name: 'Save' }).click();
    const conflict = page.getByRole('dialog', { name: 'You both changed the same fields' });
    await conflict.getByText('It was: nothing').waitFor();
    await expectAccessible(opened);
    await conflict.getByRole('button', { name: 'Use these values' }).click();
    expect(await edit.getByRole('switch', { name: 'Impression data' }).isChecked()).toBe(true);
    expect(await api('GET', `${flags}/${name}`)).toMatchObject({ description: 'Theirs' });
    await edit.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect(await api('GET', `${flags}/${name}`)).toMatchObject({ description: 'Mine', impressionData: true });
    await closeChecked(opened);
  });

  it('combines edits of two people by field, and asks where both changed the same one', async () => {
    const strategy = await addStrategy(name, 'development', rollout(10, { title: 'Ten' }));
    const path = `${flags}/${name}/environments/development/strategies/${strategy}`;
    const opened = await openSignedIn(editorOf(strategy));
    const { page } = opened;
    const percent = page.getByRole('spinbutton', { name: 'Percent' });
    await percent.fill('20');
    await api('PATCH', path, [{ op: 'replace', path: '/title', value: 'Theirs' }]);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Both edits are combined here').waitFor();
    expect(await page.getByRole('textbox', { name: 'Title' }).inputValue()).toBe('Theirs');
    expect(await percent.inputValue()).toBe('20');

    await api('PATCH', path, [{ op: 'replace', path: '/parameters/rollout', value: '80' }]);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'You both changed the same fields' });
    await dialog.getByRole('radio', { name: /Theirs 80 %/ }).click({ force: true });
    await dialog.getByRole('button', { name: 'Use these values' }).click();
    expect(await percent.inputValue()).toBe('80');
    await page.getByRole('link', { name: 'Cancel' }).click();
    await closeChecked(opened);
  });

  it('says beside each constraint how many of the example users it matches by itself, before anything is changed', async () => {
    const inNorwayOrSweden = { contextName: 'region', operator: 'STR_STARTS_WITH', values: ['no', 'se'] };
    const constraints = [inNorway, inNorwayOrSweden];
    const strategy = await addStrategy(name, 'development', rollout(0, { constraints }));
    const opened = await openSignedIn(editorOf(strategy));
    const { page } = opened;
    const first = page.getByRole('listitem').filter({ has: page.getByRole('button', { name: /“region is no”/ }) });
    const second = page.getByRole('listitem').filter({ has: page.getByRole('button', { name: /“region .* with / }) });
    await first.waitFor();
    expect(await page.getByText('example user.').or(page.getByText('example users.')).count()).toBe(0);
    const examples = page.getByRole('textbox', { name: 'Example users' });
    await examples.fill('region=no\nuserId=ann region=se\nbob');
    await first.getByText('Matches 1 of your 3 example users.').waitFor();
    await second.getByText('Matches 2 of your 3 example users.').waitFor();
    await expectAccessible(opened);
    // A constraint without a value says nothing, and does not keep the others from it.
    await page.getByRole('button', { name: 'Add a constraint' }).click();
    await second.getByText('Negate', { exact: false }).click();
    await second.getByText('Matches 1 of your 3 example users.').waitFor();
    expect(await page.getByText(/^Matches \d of your/).count()).toBe(2);
    const values = page.getByRole('textbox', { name: 'Values' }).last();
    await values.fill('bob');
    await page.getByText('Matches 1 of your 3 example users.').nth(2).waitFor();
    await examples.fill('bob');
    await first.getByText('Does not match your example user.').waitFor();
    await second.getByText('Matches your example user.').waitFor();
    await examples.fill('');
    await page.getByText('your example user', { exact: false }).first().waitFor({ state: 'detached' });
    await closeChecked(opened);
  });

  it('offers the values that its reader has tried lately for the field, in the playground and for example users', async () => {
    const opened = await openPage('/playground');
    const { page } = opened;
    await signIn(page);
    const context = page.getByRole('combobox', { name: 'Context 1' });
    await context.fill('region=dk,fi');
    await context.blur();
    await goTo(page, editorOf('new'));
    await page.getByRole('textbox', { name: 'Example users' }).fill('userId=ann region=se\nbob');
    await page.getByRole('textbox', { name: 'Title' }).focus();
    await page.getByRole('button', { name: 'Add a constraint' }).click();
    const tried = page.getByRole('group', { name: 'Values you tried lately' }).getByRole('button');
    await tried.first().waitFor();
    expect(await tried.allInnerTexts()).toEqual(['bob', 'ann']);
    await tried.last().click();
    await tried.first().press('Enter');
    const values = page.getByRole('textbox', { name: 'Values' });
    expect(await values.inputValue()).toBe('ann\nbob');
    await expectAccessible(opened);
    await tried.first().press('Enter');
    expect(await values.inputValue()).toBe('ann');
    const field = page.getByRole('combobox', { name: 'Context field' });
    await field.fill('region');
    await page.getByRole('option', { name: 'region', exact: true }).click();
    await eventually(async () => expect(await tried.allInnerTexts()).toEqual(['se', 'fi', 'dk']));
    // They are this person's alone.
    const username = `tester-${randomUUID().slice(0, 8)}`;
    const { id: userId } = (await api('POST', '/api/admin/user-admin', { username, rootRole: 1 })) as {
      readonly id: number;
    };
    const token = await api('POST', `/api/admin/user-admin/${userId}/token`, { description: 'console' });
    await page.goto(new URL(editorOf('new'), page.url()).href);
    await signIn(page, (token as { readonly secret: string }).secret);
    await page.getByRole('button', { name: 'Add a constraint' }).click();
    await values.waitFor();
    expect(await tried.count()).toBe(0);
    await closeChecked(opened);
  });

  it('proposes a change instead of saving it where the environment is protected', async () => {
    const protectedProject = `p-${randomUUID().slice(0, 8)}`;
    const feature = `flag-${randomUUID().slice(0, 8)}`;
    await api('POST', '/api/admin/projects', { id: protectedProject, name: 'Protected' });
    await api('POST', `/api/admin/projects/${protectedProject}/features`, { name: feature });
    await api('PUT', `/api/admin/projects/${protectedProject}/environments/production/change-requests/config`, {
      changeRequestsEnabled: true,
      requiredApprovals: 1,
    });
    const path = `/projects/${protectedProject}/features/${feature}`;
    const opened = await openSignedIn(`${path}/environments/production/strategies/new`);
    const { page } = opened;
    await page.getByRole('spinbutton', { name: 'Percent' }).fill('5');
    const propose = page.getByRole('button', { name: 'Propose', exact: true });
    await page.getByRole('button', { name: 'Add a constraint' }).click();
    const values = page.getByRole('textbox', { name: 'Values' });
    await values.fill('x'.repeat(101));
    await propose.click();
    const refusal = page.locator('form').getByRole('alert');
    await refusal.filter({ hasText: 'of constraint 1 must be at most 100 characters long' }).waitFor();
    // There is one change, which needs no number.
    expect(await refusal.innerText()).not.toContain('item');
    await values.fill('ann');
    await propose.click();
    await page.getByText(/Added to (a new|your) draft .*for production/).waitFor();
    await page.getByRole('heading', { name: 'Proposed changes' }).waitFor();
    await closeChecked(opened);
  });
});
