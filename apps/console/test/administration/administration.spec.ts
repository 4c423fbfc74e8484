import { expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import {
  api,
  chooseFromMenu,
  closeChecked,
  describeInBrowser,
  expectAccessible,
  openPage,
  openSignedIn,
  signIn,
  untilFocused,
} from '../support/browser.ts';

function aName(prefix: string): string {
  return `${prefix}-${randomUUID().slice(0, 8)}`;
}

/** Opens the menu of a row by keyboard, and chooses an entry of it. */
async function chooseFor(page: Page, name: string, entry: string): Promise<void> {
  await chooseFromMenu(page.getByRole('button', { name: `Actions for ${name}`, exact: true }), entry);
}

const rootRoles = { Editor: 2, Viewer: 3 };

/** Opens a page as a new user with a root role. */
async function openSignedInAs(role: keyof typeof rootRoles, path: string) {
  const username = aName(role);
  const body = { name: username, username, rootRole: rootRoles[role] };
  const { id } = (await api('POST', '/api/admin/user-admin', body)) as { readonly id: number };
  const { secret: key } = (await api('POST', `/api/admin/user-admin/${id}/token`, { description: 'console' })) as {
    readonly secret: string;
  };
  const opened = await openPage(path);
  await signIn(opened.page, key);
  return { ...opened, key };
}

async function expectFocus(element: Locator): Promise<void> {
  expect(await element.evaluate((one) => document.activeElement === one)).toBe(true);
}

/** Presses the button of a question that names the thing. */
async function confirm(page: Page, title: string, button: string): Promise<void> {
  return page
    .getByRole('alertdialog', { name: title })
    .getByRole('button', { name: button, exact: true })
    .press('Enter');
}

describeInBrowser('administration', () => {
  it('lists its pages, and the palette finds them', async () => {
    const opened = await openSignedIn('/admin');
    const { page } = opened;
    await page.getByRole('heading', { name: 'Administration', level: 1 }).waitFor();
    await expectAccessible(opened);
    await page.keyboard.press('Control+k');
    await untilFocused(page.getByRole('dialog', { name: 'Search' }));
    await page.keyboard.type('flag types');
    await page.getByRole('option', { name: 'Flag types' }).click();
    await page.getByRole('heading', { name: 'Flag types', level: 1 }).waitFor();
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('creates, edits and deletes a tag type by keyboard alone, and merges what another person saves meanwhile', async () => {
    const name = aName('team');
    const bare = aName('bare');
    await api('POST', '/api/admin/tag-types', { name: bare });
    const opened = await openSignedIn('/admin/tags');
    const { page } = opened;
    await page.getByRole('button', { name: 'Create a tag type' }).press('Enter');
    const create = page.getByRole('dialog', { name: 'Create a tag type' });
    await untilFocused(create);
    await page.keyboard.type('two words');
    await page.keyboard.press('Enter');
    await create.getByText('Use letters, digits', { exact: false }).waitFor();
    await expectAccessible(opened);
    await create.getByRole('textbox', { name: 'Name' }).fill(name);
    await page.keyboard.press('Enter');
    await page.getByText(`The tag type ${name} is created.`).waitFor();

    await chooseFor(page, name, 'Edit');
    const edit = page.getByRole('dialog', { name: `Edit the tag type “${name}”` });
    await edit.getByRole('textbox', { name: 'Description' }).fill('Who answers for it');
    await api('PUT', `/api/admin/tag-types/${name}`, { color: '#ff0000' });
    await edit.getByRole('button', { name: 'Save' }).press('Enter');
    await edit.getByText('Both edits are combined here', { exact: false }).waitFor();
    expect(await edit.getByRole('textbox', { name: 'Colour' }).inputValue()).toBe('#ff0000');
    expect(await edit.getByRole('textbox', { name: 'Description' }).inputValue()).toBe('Who answers for it');
    await edit.getByRole('button', { name: 'Save' }).press('Enter');
    await page.getByText(`The tag type ${name} is saved.`).waitFor();
    expect(await api('GET', `/api/admin/tag-types/${name}`)).toMatchObject({
      tagType: { color: '#ff0000', description: 'Who answers for it' },
    });

    await api('POST', '/api/admin/tags', { type: name, value: 'web' });
    await chooseFor(page, name, 'Delete the type');
    const question = page.getByRole('alertdialog', { name: `Delete the tag type “${name}”` });
    await question.getByText('Its 1 tag and every use of them go with it', { exact: false }).waitFor();
    expect(await question.getByRole('button', { name: 'Delete the type' }).isDisabled()).toBe(true);
    await expectAccessible(opened);
    await untilFocused(question);
    await page.keyboard.type(name);
    await page.keyboard.press('Enter');
    await page.getByText(`The tag type ${name} is deleted.`).waitFor();
    // Without a tag there is none to look for.
    await chooseFor(page, bare, 'Delete the type');
    await page.getByText('Its 0 tags and every use of them go with it', { exact: false }).waitFor();
    expect([...opened.calls.values()]).not.toContain('400');
    await closeChecked(opened);
  });

  it('shows why an environment cannot be read for an edit, and edits it after a retry', async () => {
    const opened = await openSignedIn('/admin/environments');
    const { page } = opened;
    const address = '**/api/admin/environments/development';
    await page.route(address, (route) =>
      route.fulfill({ status: 403, json: { name: 'NoAccessError', message: 'Hidden.' } }),
    );
    await chooseFor(page, 'development', 'Edit');
    const edit = page.getByRole('dialog', { name: 'Edit the environment “development”' });
    await edit.getByText('Hidden.').waitFor();
    await page.unroute(address);
    await edit.getByRole('button', { name: 'Try again' }).press('Enter');
    await edit.getByRole('spinbutton', { name: 'Least approvals' }).waitFor();
    await closeChecked(opened);
  });

  it('puts environments in another order by keyboard, clones, deprecates and deletes one', async () => {
    const [name, clone] = [aName('env'), aName('clone')];
    await api('POST', '/api/admin/environments', { name, type: 'test' });
    const opened = await openSignedIn('/admin/environments');
    const { page } = opened;
    const order = async (): Promise<string[]> =>
      ((await api('GET', '/api/admin/environments')) as { environments: { name: string }[] }).environments.map(
        (one) => one.name,
      );
    expect((await order()).at(-1)).toBe(name);
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'Change the order' }).press('Enter');
    const dialog = page.getByRole('alertdialog', { name: 'Order of the environments' });
    await dialog.getByRole('button', { name: `Move ${name} up` }).press('Enter');
    await expectAccessible(opened);
    const [first = ''] = await order();
    const handle = dialog.getByRole('button', { name: `Move ${name} with the arrow keys` });
    await handle.press('Home');
    await dialog
      .getByRole('button', { name: `Move ${name} up` })
      .and(page.locator(':disabled'))
      .waitFor();
    // By the pointer, to the last row and back to the first one.
    const rows = dialog.getByRole('list', { name: 'Order of the environments' }).getByRole('listitem');
    await handle.hover();
    await page.mouse.down();
    await rows.last().hover({ force: true });
    expect(await rows.last().textContent()).toContain(name);
    await rows.first().hover({ force: true });
    await page.mouse.up();
    expect(await rows.first().textContent()).toContain(name);
    await rows.last().hover({ force: true });
    expect(await rows.first().textContent()).toContain(name);
    await dialog.getByRole('button', { name: `Move ${name} down` }).press('Enter');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    // The button is at its end, and the handle has the focus.
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await dialog.getByRole('button', { name: 'Save' }).press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('The order is saved.').waitFor();
    expect((await order()).slice(0, 2)).toEqual([name, first]);

    await chooseFor(page, name, 'Edit');
    const edit = page.getByRole('dialog', { name: `Edit the environment “${name}”` });
    await edit.getByRole('spinbutton', { name: 'Least approvals' }).fill('2');
    await api('PUT', `/api/admin/environments/update/${name}`, { type: 'preproduction' });
    await edit.getByRole('button', { name: 'Save' }).press('Enter');
    await edit.getByText('Both edits are combined here', { exact: false }).waitFor();
    await edit.getByRole('button', { name: 'Save' }).press('Enter');
    await page.getByText(`The environment ${name} is saved.`).waitFor();
    expect(await api('GET', `/api/admin/environments/${name}`)).toMatchObject({
      type: 'preproduction',
      requiredApprovals: 2,
    });

    await chooseFor(page, name, 'Clone');
    const cloning = page.getByRole('dialog', { name: `Clone the environment “${name}”` });
    await cloning.getByRole('textbox', { name: 'Name' }).fill(clone);
    await expectAccessible(opened);
    await cloning.getByRole('button', { name: 'Clone' }).press('Enter');
    await page.getByRole('rowheader', { name: clone }).waitFor();

    await chooseFor(page, name, 'Deprecate');
    await confirm(page, `Deprecate the environment “${name}”`, 'Deprecate');
    await page.getByRole('rowheader', { name: `${name} deprecated` }).waitFor();
    await api('POST', `/api/admin/environments/${clone}/off`);
    // Projects that other specs have made meanwhile got both.
    const { projects } = (await api('GET', '/api/admin/projects')) as { projects: { id: string }[] };
    for (const { id } of projects) {
      const { environments } = (await api('GET', `/api/admin/environments/project/${id}`)) as {
        environments: { name: string; visible: boolean }[];
      };
      for (const one of environments.filter((other) => other.visible && [name, clone].includes(other.name))) {
        await api('DELETE', `/api/admin/projects/${id}/environments/${one.name}`);
      }
    }
    await page.getByRole('link', { name: 'Segments' }).click();
    await page.getByRole('heading', { name: 'Segments', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Environments' }).click();
    await page.getByRole('row', { name: `${clone} deprecated` }).waitFor();
    for (const one of [clone, name]) {
      await chooseFor(page, one, 'Delete');
      const question = page.getByRole('alertdialog', { name: `Delete the environment “${one}”` });
      await question.getByText('0 projects use it, 0 flags are on there', { exact: false }).waitFor();
      await question.getByRole('textbox').fill(one);
      await page.keyboard.press('Enter');
      await page.getByText(`The environment ${one} is deleted.`).waitFor();
    }
    await chooseFor(page, 'production', 'Delete');
    const kept = page.getByRole('alertdialog', { name: 'Delete the environment “production”' });
    await kept.getByText('Take it out of', { exact: false }).waitFor();
    expect(await kept.getByRole('button', { name: 'Delete' }).count()).toBe(0);
    await closeChecked(opened);
  });

  it('creates a segment, shows what uses it, and merges what another person saves meanwhile', async () => {
    const [name, flag] = [aName('Segment'), aName('flag')];
    const opened = await openSignedIn('/admin/segments/new');
    const { page } = opened;
    await page.getByRole('textbox', { name: 'Name' }).fill(name);
    await page.getByText('Without a constraint, everybody is in the segment.').waitFor();
    await page.getByRole('button', { name: 'Add a constraint' }).press('Enter');
    let writes = 0;
    page.on('request', (request) => void (writes += request.method() === 'POST' ? 1 : 0));
    await page.getByRole('button', { name: 'Create', exact: true }).press('Enter');
    await page.getByText('Enter a value.', { exact: true }).waitFor();
    await expectFocus(page.getByRole('textbox', { name: 'Values' }));
    // It is no segment yet: who leaves now is asked.
    await page.getByRole('link', { name: 'Cancel' }).press('Enter');
    await page
      .getByRole('alertdialog', { name: 'Leave without saving?' })
      .getByRole('button', { name: 'Cancel' })
      .press('Enter');
    expect(writes).toBe(0);
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Add the values of a file' }).press('Enter');
    await (
      await chooser
    ).setFiles({ name: 'users.csv', mimeType: 'text/csv', buffer: Buffer.from('ann\nbob\r\nann\n') });
    await page.getByText('2 values of users.csv are in the list.').waitFor();
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'Create', exact: true }).press('Enter');
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    await page.getByText('No strategy that you can see uses it.').waitFor();
    const id = Number(new URL(page.url()).pathname.split('/').at(-1));
    const stored = (await api('GET', `/api/admin/segments/${id}`)) as { constraints: object[] };
    expect(stored.constraints).toMatchObject([{ contextName: 'userId', operator: 'IN', values: ['ann', 'bob'] }]);

    await api('POST', '/api/admin/projects/default/features', { name: flag });
    await api('POST', `/api/admin/projects/default/features/${flag}/environments/development/strategies`, {
      name: 'default',
      segments: [id],
    });
    await page.reload();
    await closeChecked(opened);

    const again = await openSignedIn(`/admin/segments/${id}`);
    await again.page.getByRole('link', { name: flag }).waitFor();
    await expectAccessible(again);
    await again.page.getByRole('textbox', { name: 'Description' }).fill('Mine');
    await api('PUT', `/api/admin/segments/${id}`, { name: `${name} 2`, constraints: stored.constraints });
    await again.page.getByRole('button', { name: 'Save' }).press('Enter');
    await again.page.getByText('Both edits are combined here', { exact: false }).waitFor();
    expect(await again.page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe(`${name} 2`);
    await api('PUT', `/api/admin/segments/${id}`, {
      name: `${name} 2`,
      constraints: stored.constraints,
      description: 'Theirs',
    });
    await again.page.getByRole('button', { name: 'Save' }).press('Enter');
    const conflict = again.page.getByRole('dialog', { name: 'You both changed the same fields' });
    // Going back decides nothing: saving again asks again, and does not overwrite the other edit.
    await conflict.getByRole('button', { name: 'Back to editing' }).press('Enter');
    await conflict.waitFor({ state: 'detached' });
    await again.page.getByRole('button', { name: 'Save' }).press('Enter');
    await conflict.getByRole('radio', { name: /Theirs/ }).press('Space');
    await conflict.getByRole('button', { name: 'Use these values' }).press('Enter');
    // Nothing is left to save.
    await again.page.getByText('Both edits are combined here', { exact: false }).waitFor({ state: 'detached' });
    expect(await again.page.getByRole('textbox', { name: 'Description' }).inputValue()).toBe('Theirs');
    expect(await again.page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await again.page.getByRole('button', { name: 'Delete the segment' }).press('Enter');
    await again.page.getByText('It is in use.', { exact: false }).waitFor();
    await closeChecked(again);
  });

  it('uploads the list of a segment, says whom it matches, and downloads it', async () => {
    const name = aName('Segment');
    const { id } = (await api('POST', '/api/admin/segments', { name, constraints: [] })) as { readonly id: number };
    const opened = await openSignedIn(`/admin/segments/${id}`);
    const { page } = opened;
    const choose = async (file: string, content: string): Promise<void> => {
      const chooser = page.waitForEvent('filechooser');
      await page.getByRole('button', { name: 'Choose a file of ids' }).press('Enter');
      await (await chooser).setFiles({ name: file, mimeType: 'text/plain', buffer: Buffer.from(content) });
    };
    await page.getByText('Without a constraint, everybody is in the segment.').waitFor();
    await choose('broken.ndjson', '"a"\n{"id":5}\n');
    await page.getByText('Line 2 of', { exact: false }).waitFor();
    await choose(
      'users.csv',
      `userId\n${'ann\n'.repeat(2)}${Array.from({ length: 10_000 }, (_, nth) => `u${nth}\n`).join('')}`,
    );
    await page
      .getByText('users.csv has 10,002 ids, 1 of them twice. It begins with ann, ann, u0', { exact: false })
      .waitFor();
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'Use it as the list' }).press('Enter');
    await page.getByText('whose userId is one of 10,001 ids', { exact: false }).waitFor();
    await page.getByText('To them, a segment with a longer list matches nobody', { exact: false }).waitFor();
    expect(await page.getByText('Without a constraint, everybody is in the segment.').count()).toBe(0);
    await choose('gone.txt', 'ann\nu0\nunknown\n');
    await page.getByRole('button', { name: 'Remove these ids' }).press('Enter');
    await page.getByText('0 added, 2 removed: the list has 9,999 ids.').waitFor();
    await expectAccessible(opened);
    const others = await openSignedIn('/admin/segments');
    await others.page.getByText('userId is in a list of 9,999 ids').waitFor();
    await closeChecked(others);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download the list' }).press('Enter');
    expect((await download).suggestedFilename()).toBe(`segment-${id}.ndjson`);
    await page.getByRole('button', { name: 'Match everybody again: remove the list' }).press('Enter');
    await page.getByText('It has no list of ids.', { exact: false }).waitFor();
    await closeChecked(opened);
  });

  it('proposes the list of a segment of a project with a protected environment in a change request', async () => {
    const project = `guarded-${randomUUID().slice(0, 8)}`;
    await api('POST', '/api/admin/projects', { id: project, name: project });
    await api('PUT', `/api/admin/projects/${project}/environments/production/change-requests/config`, {
      changeRequestsEnabled: true,
      requiredApprovals: 1,
    });
    const name = aName('Segment');
    const { id } = (await api('POST', '/api/admin/segments', { name, project, constraints: [] })) as {
      readonly id: number;
    };
    const opened = await openSignedIn(`/admin/segments/${id}`);
    const { page } = opened;
    await page.getByText('production is protected in the project', { exact: false }).waitFor();
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Choose a file of ids' }).press('Enter');
    await (await chooser).setFiles({ name: 'users.txt', mimeType: 'text/plain', buffer: Buffer.from('ann\nbob\n') });
    await page.getByRole('button', { name: 'Propose it as the list' }).press('Enter');
    await page.getByText('Added to a new draft for production.', { exact: false }).waitFor();
    // The notification stays while the focus is in it.
    await page.getByRole('link', { name: 'Open', exact: true }).focus();
    await page.getByText('It has no list of ids.', { exact: false }).waitFor();
    await expectAccessible(opened);
    await page.getByRole('link', { name: 'Open', exact: true }).click();
    await page.getByText(`Give the segment ${name} a list`, { exact: true }).waitFor();
    await page.getByText('2 ids of userId', { exact: false }).first().waitFor();
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('proposes to remove the list of a segment of a project with a protected environment', async () => {
    const project = `guarded-${randomUUID().slice(0, 8)}`;
    await api('POST', '/api/admin/projects', { id: project, name: project });
    const name = aName('Segment');
    const { id } = (await api('POST', '/api/admin/segments', { name, project, constraints: [] })) as {
      readonly id: number;
    };
    const administrator = await openSignedIn(`/admin/segments/${id}`);
    const chooser = administrator.page.waitForEvent('filechooser');
    await administrator.page.getByRole('button', { name: 'Choose a file of ids' }).press('Enter');
    await (await chooser).setFiles({ name: 'users.txt', mimeType: 'text/plain', buffer: Buffer.from('ann\nbob\n') });
    await administrator.page.getByRole('button', { name: 'Use it as the list' }).press('Enter');
    await administrator.page.getByText('one of 2 ids', { exact: false }).waitFor();
    await closeChecked(administrator);
    const protection = { changeRequestsEnabled: true, requiredApprovals: 1 };
    await api('PUT', `/api/admin/projects/${project}/environments/production/change-requests/config`, protection);
    const opened = await openSignedInAs('Editor', `/admin/segments/${id}`);
    const { page } = opened;
    await page.getByRole('button', { name: 'Propose to match everybody again: remove the list' }).press('Enter');
    await page.getByText('Added to a new draft for production.', { exact: false }).waitFor();
    await page.getByText('one of 2 ids', { exact: false }).waitFor();
    await page.getByRole('link', { name: 'Open', exact: true }).click();
    const sentence = `Remove the list of the segment ${name}: it no longer limits whom the segment matches`;
    await page.getByText(sentence, { exact: true }).waitFor();
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('proposes changes of a segment of a project with a protected environment in a change request', async () => {
    const project = `guarded-${randomUUID().slice(0, 8)}`;
    await api('POST', '/api/admin/projects', { id: project, name: project });
    await api('PUT', `/api/admin/projects/${project}/environments/production/change-requests/config`, {
      changeRequestsEnabled: true,
      requiredApprovals: 1,
    });
    const constraints = [{ contextName: 'userId', operator: 'IN', values: ['ann'] }];
    const name = aName('Segment');
    const { id } = (await api('POST', '/api/admin/segments', { name, project, constraints })) as {
      readonly id: number;
    };
    const opened = await openSignedIn(`/admin/segments/${id}`);
    const { page } = opened;
    await page.getByText('production is protected in the project', { exact: false }).waitFor();
    await page.getByRole('textbox', { name: 'Description' }).fill('Mine');
    await api('PUT', `/api/admin/segments/${id}`, { name: `${name} 2`, project, constraints });
    const propose = page.getByRole('button', { name: 'Propose in a change request' });
    const values = page.getByRole('textbox', { name: 'Values' });
    await values.fill('');
    for (const button of [propose, page.getByRole('button', { name: 'Save' })]) {
      await button.press('Enter');
      await page.getByText('Enter a value.', { exact: true }).waitFor();
      await expectFocus(values);
    }
    await values.fill('ann');
    await page.getByText('Enter a value.', { exact: true }).waitFor({ state: 'detached' });
    await propose.press('Enter');
    await page.getByRole('link', { name: 'Show the change request' }).waitFor();
    await expectAccessible(opened);
    const proposed = async (): Promise<readonly object[]> => {
      const requests = (await api('GET', `/api/admin/projects/${project}/change-requests`)) as readonly {
        readonly segments: readonly { readonly changes: readonly object[] }[];
      }[];
      return requests.flatMap(({ segments }) => segments.flatMap(({ changes }) => changes));
    };
    expect(await proposed()).toMatchObject([
      { action: 'updateSegment', payload: { name: `${name} 2`, description: 'Mine' } },
    ]);
    await page.getByRole('button', { name: 'Delete the segment' }).press('Enter');
    const question = page.getByRole('alertdialog', { name: `Delete the segment “${name} 2”` });
    await question.getByRole('button', { name: 'Propose in a change request' }).press('Enter');
    await page.getByText('is part of your change request.', { exact: false }).waitFor();
    expect(await proposed()).toMatchObject([{ action: 'deleteSegment' }]);
    expect(await api('GET', `/api/admin/segments/${id}`)).toMatchObject({ name: `${name} 2` });
    await closeChecked(opened);
  });

  it('proposes to change a segment of every project where it is protected, and offers nothing that is refused', async () => {
    const [name, flag] = [aName('Segment'), aName('flag')];
    const { id } = (await api('POST', '/api/admin/segments', { name, constraints: [] })) as { readonly id: number };
    const useIn = async (project: string): Promise<void> => {
      const base = `/api/admin/projects/${project}`;
      await api('POST', '/api/admin/projects', { id: project, name: project });
      await api('POST', `${base}/features`, { name: `${flag}-${project}` });
      const strategy = { name: 'default', segments: [id] };
      await api('POST', `${base}/features/${flag}-${project}/environments/production/strategies`, strategy);
      const protection = { changeRequestsEnabled: true, requiredApprovals: 1 };
      await api('PUT', `${base}/environments/production/change-requests/config`, protection);
    };
    const [one, other] = [aName('guarded'), aName('guarded')];
    const editor = await openSignedInAs('Editor', `/admin/segments/${id}`);
    const { page } = editor;
    const reload = async (): Promise<void> => {
      await page.reload();
      await signIn(page, editor.key);
    };
    const description = page.getByRole('textbox', { name: 'Description' });
    await description.fill('Direct');
    await page.getByRole('button', { name: 'Save' }).press('Enter');
    await page.getByText(`The segment ${name} is saved.`).waitFor();

    await useIn(one);
    await reload();
    await page.getByText('production is protected in the project', { exact: false }).waitFor();
    await description.fill('Proposed');
    await page.getByRole('button', { name: 'Save' }).press('Enter');
    await page.getByText(/^Added to change request \d+\.$/).waitFor();
    expect(await page.getByRole('button', { name: 'Choose a file of ids' }).count()).toBe(0);
    await expectAccessible(editor);
    expect(await api('GET', `/api/admin/segments/${id}`)).toMatchObject({ description: 'Direct' });
    expect(await api('GET', `/api/admin/projects/${one}/change-requests`, undefined, editor.key)).toMatchObject([
      { segments: [{ changes: [{ action: 'updateSegment', payload: { id, description: 'Proposed' } }] }] },
    ]);

    await useIn(other);
    await reload();
    await page.getByText('Protected environments use it', { exact: false }).waitFor();
    expect(await description.isDisabled()).toBe(true);
    for (const button of ['Save', 'Delete the segment', 'Choose a file of ids', 'Propose in a change request'])
      expect(await page.getByRole('button', { name: button }).count()).toBe(0);
    await expectAccessible(editor);
    await closeChecked(editor);
    // An administrator may skip change requests.
    const administrator = await openSignedIn(`/admin/segments/${id}`);
    await administrator.page.getByRole('textbox', { name: 'Description' }).fill('Of an administrator');
    await administrator.page.getByRole('button', { name: 'Save' }).press('Enter');
    await administrator.page.getByText(`The segment ${name} is saved.`).waitFor();
    await closeChecked(administrator);
  });

  it('proposes the edit of a segment whose project has been protected since its page was opened', async () => {
    const project = `guarded-${randomUUID().slice(0, 8)}`;
    await api('POST', '/api/admin/projects', { id: project, name: project });
    const body = { name: aName('Segment'), description: 'Before', project, constraints: [] };
    const { id } = (await api('POST', '/api/admin/segments', body)) as { readonly id: number };
    const opened = await openSignedIn(`/admin/segments/${id}`);
    const { page } = opened;
    await page.getByRole('textbox', { name: 'Description' }).fill('Mine');
    await api('PUT', `/api/admin/projects/${project}/environments/production/change-requests/config`, {
      changeRequestsEnabled: true,
      requiredApprovals: 1,
    });
    await page.getByRole('button', { name: 'Save' }).press('Enter');
    await page.getByText('Added to change request', { exact: false }).waitFor();
    expect(await api('GET', `/api/admin/segments/${id}`)).toMatchObject({ description: 'Before' });
    expect(await api('GET', `/api/admin/projects/${project}/change-requests`)).toMatchObject([
      { segments: [{ changes: [{ action: 'updateSegment', payload: { id, description: 'Mine' } }] }] },
    ]);
    await closeChecked(opened);
  });

  it('proposes the values that were chosen after a conflict with the edit of another person', async () => {
    const project = `guarded-${randomUUID().slice(0, 8)}`;
    await api('POST', '/api/admin/projects', { id: project, name: project });
    const body = { name: aName('Segment'), description: 'Before', project, constraints: [] };
    const { id } = (await api('POST', '/api/admin/segments', body)) as { readonly id: number };
    const opened = await openSignedInAs('Editor', `/admin/segments/${id}`);
    const { page } = opened;
    await page.getByRole('textbox', { name: 'Description' }).fill('Mine');
    await api('PUT', `/api/admin/segments/${id}`, { ...body, description: 'Theirs' });
    await api('PUT', `/api/admin/projects/${project}/environments/production/change-requests/config`, {
      changeRequestsEnabled: true,
      requiredApprovals: 1,
    });
    const save = page.getByRole('button', { name: 'Save' });
    await save.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Use these values' }).press('Enter');
    await page.getByText('Both edits are combined', { exact: false }).waitFor();
    await save.press('Enter');
    await page.getByText('Added to change request', { exact: false }).waitFor();
    expect(await page.getByText('Both edits are combined', { exact: false }).count()).toBe(0);
    expect(await page.getByRole('textbox', { name: 'Description' }).inputValue()).toBe('Theirs');
    // Others do not see the draft.
    expect(await api('GET', `/api/admin/projects/${project}/change-requests`, undefined, opened.key)).toMatchObject([
      { segments: [{ changes: [{ action: 'updateSegment', payload: { id, description: 'Mine' } }] }] },
    ]);
    await closeChecked(opened);
  });

  it('saves the first value again after another person has changed it', async () => {
    const body = { name: aName('Segment'), description: 'Before', project: null, constraints: [] };
    const { id } = (await api('POST', '/api/admin/segments', body)) as { readonly id: number };
    const opened = await openSignedIn(`/admin/segments/${id}`);
    const { page } = opened;
    const description = page.getByRole('textbox', { name: 'Description' });
    const save = page.getByRole('button', { name: 'Save' });
    await description.fill('Mine');
    await api('PUT', `/api/admin/segments/${id}`, { ...body, description: 'Theirs' });
    await save.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Use these values' }).press('Enter');
    await page.getByText('Both edits are combined', { exact: false }).waitFor();
    await description.fill('Before');
    expect(await save.isEnabled()).toBe(true);
    await save.press('Enter');
    await page.getByText(`The segment ${body.name} is saved.`).waitFor();
    expect(await api('GET', `/api/admin/segments/${id}`)).toMatchObject({ description: 'Before' });
    await closeChecked(opened);
  });

  it('shows the new name of a segment above its form', async () => {
    const body = { name: aName('Segment'), project: null, constraints: [] };
    const { id } = (await api('POST', '/api/admin/segments', body)) as { readonly id: number };
    const opened = await openSignedIn(`/admin/segments/${id}`);
    const { page } = opened;
    await page.getByRole('heading', { name: body.name }).waitFor();
    const renamed = aName('Renamed');
    await page.getByRole('textbox', { name: 'Name' }).fill(renamed);
    await page.getByRole('button', { name: 'Save' }).press('Enter');
    await page.getByRole('heading', { name: renamed }).waitFor();
    await closeChecked(opened);
  });

  it('creates a context field with legal values, shows its use, and deletes it', async () => {
    const name = aName('field');
    const opened = await openSignedIn('/admin/context');
    const { page } = opened;
    await page.getByRole('button', { name: 'Create a context field' }).press('Enter');
    const create = page.getByRole('dialog', { name: 'Create a context field' });
    await create.getByRole('textbox', { name: 'Name' }).fill(name);
    await create.getByRole('button', { name: 'Add a value' }).press('Enter');
    await create.getByRole('textbox', { name: 'Value' }).fill('eu');
    await create.getByRole('textbox', { name: 'What it stands for' }).fill('European Union');
    await expectAccessible(opened);
    await create.getByRole('button', { name: 'Create' }).press('Enter');
    // The row comes with the event of the creation, which may be before its reply.
    await create.waitFor({ state: 'detached' });
    await page.getByRole('row', { name: `${name} 1 value` }).waitFor();
    await chooseFor(page, name, 'Edit');
    const edit = page.getByRole('dialog', { name: `Edit the context field “${name}”` });
    await edit.getByText('No strategy that you can see compares it directly. Segments may.').waitFor();
    await edit.getByRole('switch').press('Space');
    await edit.getByRole('button', { name: 'Save' }).press('Enter');
    await page.getByRole('rowheader', { name: `${name} for stickiness` }).waitFor();
    expect(await api('GET', `/api/admin/context/${name}`)).toMatchObject({
      stickiness: true,
      legalValues: [{ value: 'eu', description: 'European Union' }],
    });
    const flag = aName('compares');
    await api('POST', '/api/admin/projects/default/features', { name: flag });
    await api('POST', `/api/admin/projects/default/features/${flag}/environments/development/strategies`, {
      name: 'default',
      constraints: [{ contextName: name, operator: 'IN', values: ['eu'] }],
    });
    await page.reload();
    await chooseFor(page, name, 'Delete');
    const question = page.getByRole('alertdialog', { name: `Delete the context field “${name}”` });
    await question.getByRole('link', { name: flag }).waitFor();
    expect(await question.getByRole('button', { name: 'Delete' }).count()).toBe(0);
    await expectAccessible(opened);
    await page.keyboard.press('Escape');
    await api('DELETE', `/api/admin/projects/default/features/${flag}`);
    await page.reload();
    await chooseFor(page, name, 'Delete');
    await page.getByText('It cannot be deleted while a default strategy', { exact: false }).waitFor();
    await confirm(page, `Delete the context field “${name}”`, 'Delete');
    await page.getByText(`The context field ${name} is deleted.`).waitFor();
    await closeChecked(opened);
  });

  it('creates a strategy type, deprecates it, offers it again and deletes it; sets the lifetime of a flag type', async () => {
    const name = aName('strategy');
    const opened = await openSignedIn('/admin/strategies', { width: 390, height: 844 });
    const { page } = opened;
    await page.getByRole('button', { name: 'Create a strategy type' }).press('Enter');
    const create = page.getByRole('dialog', { name: 'Create a strategy type' });
    await create.getByRole('textbox', { name: 'Name', exact: true }).fill(name);
    await create.getByRole('button', { name: 'Add a parameter' }).press('Enter');
    await create.getByRole('textbox', { name: 'Name', exact: true }).nth(1).fill('tenants');
    await expectAccessible(opened);
    await create.getByRole('button', { name: 'Create' }).press('Enter');
    await page.getByRole('rowheader', { name }).waitFor();
    await expectAccessible(opened);
    await chooseFor(page, name, 'Deprecate');
    await confirm(page, `Deprecate the strategy type “${name}”`, 'Deprecate');
    await page.getByText(`The strategy type ${name} is deprecated.`).waitFor();
    await chooseFor(page, name, 'Offer again');
    await confirm(page, `Offer the strategy type “${name}” again`, 'Offer again');
    await page.getByText(`The strategy type ${name} is offered again.`).waitFor();
    await chooseFor(page, name, 'Delete');
    await confirm(page, `Delete the strategy type “${name}”`, 'Delete');
    await page.getByText(`The strategy type ${name} is deleted.`).waitFor();
    await closeChecked(opened);

    const types = await openSignedIn('/admin/types');
    await chooseFor(types.page, 'Experiment', 'Set the lifetime');
    const dialog = types.page.getByRole('dialog', { name: 'How long flags of the type “Experiment” live' });
    await dialog.getByRole('spinbutton', { name: 'Days' }).fill('41');
    await types.page.keyboard.press('Enter');
    await types.page
      .getByRole('row', { name: /Experiment/ })
      .getByText('41 days')
      .waitFor();
    await closeChecked(types);
  });

  it('says which permission it takes, and offers nothing that a person may not do', async () => {
    const opened = await openSignedInAs('Viewer', '/admin/tags');
    const { page } = opened;
    await page
      .getByText('that takes the permission “Update tag types”, which an administrator can give you', { exact: false })
      .waitFor();
    expect(await page.getByRole('button', { name: /^Create|^Actions for/ }).count()).toBe(0);
    await expectAccessible(opened);
    await closeChecked(opened);
  });
});
