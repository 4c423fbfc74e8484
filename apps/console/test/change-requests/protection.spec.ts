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
  openPage,
  openSignedIn,
  pressSwitch,
  signIn,
  untilFocused,
} from '../support/browser.ts';

const tail = randomUUID().slice(0, 8);
const project = `guarded-${tail}`;
const [parent, child, other] = [`parent-${tail}`, `child-${tail}`, `other-${tail}`];
function feature(name: string): string {
  return `/projects/${project}/features/${name}`;
}

async function stored(name: string) {
  return (await api('GET', `/api/admin${feature(name)}`)) as {
    readonly archived: boolean;
    readonly dependencies: readonly object[];
  };
}

/** What has been proposed in the project, as `action feature`; the drafts of others are left out. */
async function proposed(key?: string): Promise<string[]> {
  const requests = (await api('GET', `/api/admin/projects/${project}/change-requests`, undefined, key)) as readonly {
    readonly features: readonly { readonly name: string; readonly changes: readonly { readonly action: string }[] }[];
  }[];
  return requests.flatMap(({ features }) =>
    features.flatMap(({ name, changes }) => changes.map(({ action }) => `${action} ${name}`)),
  );
}

describeInBrowser('a protected environment', () => {
  beforeAll(async () => {
    await api('POST', '/api/admin/projects', { id: project, name: project });
    for (const name of [parent, child, other]) {
      await api('POST', `/api/admin/projects/${project}/features`, { name });
    }
    await api('POST', `/api/admin${feature(child)}/dependencies`, { feature: parent });
    await api('PUT', `/api/admin/projects/${project}/environments/production/change-requests/config`, {
      changeRequestsEnabled: true,
      requiredApprovals: 1,
    });
  });

  it('lets users who may skip change requests archive a flag directly, says so, and offers to propose it instead', async () => {
    const opened = await openSignedIn(feature(other));
    const { page } = opened;
    const archive = async () => {
      await chooseFromMenu(page.getByRole('button', { name: 'Actions', exact: true }), 'Archive');
      const dialog = page.getByRole('alertdialog');
      await dialog.getByText('this applies directly, without approval', { exact: false }).waitFor();
      return dialog;
    };
    const first = await archive();
    await expectAccessible(opened);
    await first.getByRole('button', { name: 'Propose it instead' }).press('Enter');
    await page.getByText('Added to a new draft for production.').waitFor();
    expect(await proposed()).toEqual([`archiveFeature ${other}`]);
    expect((await stored(other)).archived).toBe(false);

    const second = await archive();
    await second.getByRole('button', { name: 'Archive', exact: true }).press('Enter');
    await page.getByText('This flag is archived').waitFor();
    expect(await api('GET', `/api/admin/archive/features/${project}`)).toMatchObject({ features: [{ name: other }] });
    await closeChecked(opened);
  });

  it('keeps a dependency until its removal is applied directly or by a change request', async () => {
    const opened = await openSignedIn(feature(child));
    const { page } = opened;
    const remove = page.getByRole('button', { name: 'Remove the dependency' });
    await remove.click();
    const dialog = page.getByRole('alertdialog', { name: 'Remove the dependency' });
    await dialog.getByRole('button', { name: 'Propose it instead' }).press('Enter');
    await page.getByText(/Added to your draft “Change request #\d+” for production/).waitFor();
    expect(await proposed()).toContain(`deleteDependency ${child}`);
    expect((await stored(child)).dependencies).toHaveLength(1);

    await remove.click();
    await dialog.getByRole('button', { name: 'Remove', exact: true }).press('Enter');
    await page.getByText('It depends on no other flag.').waitFor();
    expect((await stored(child)).dependencies).toEqual([]);
    await closeChecked(opened);
  });

  it('lets users who may skip change requests save a strategy directly', async () => {
    const opened = await openSignedIn(`${feature(parent)}/environments/production/strategies/new`);
    const { page } = opened;
    await page.getByRole('spinbutton', { name: 'Percent' }).fill('5');
    await page.getByText('can also do it directly, without approval', { exact: false }).waitFor();
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'Save directly' }).press('Enter');
    await page.getByRole('heading', { name: 'Environments' }).waitFor();
    expect(await api('GET', `/api/admin${feature(parent)}/environments/production/strategies`)).toMatchObject([
      { parameters: { rollout: '5' } },
    ]);
    await closeChecked(opened);
  });

  it('proposes the archiving of a flag by users who may not skip change requests', async () => {
    const { id } = (await api('POST', '/api/admin/user-admin', { username: `member-${tail}`, rootRole: 3 })) as {
      readonly id: number;
    };
    await api('PUT', `/api/admin/projects/${project}/users/${id}/roles`, { roles: [4] });
    const { secret } = (await api('POST', `/api/admin/user-admin/${id}/token`, { description: 'console' })) as {
      readonly secret: string;
    };
    const opened = await openPage(feature(child));
    const { page } = opened;
    await signIn(page, secret);
    await chooseFromMenu(page.getByRole('button', { name: 'Actions', exact: true }), 'Archive');
    const dialog = page.getByRole('alertdialog');
    await dialog.getByText('takes effect when that is approved and applied', { exact: false }).waitFor();
    expect(await dialog.getByRole('button', { name: 'Propose it instead' }).count()).toBe(0);
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Propose', exact: true }).press('Enter');
    await page.getByText('Added to a new draft for production.').waitFor();
    expect((await stored(child)).archived).toBe(false);
    // What no change request does is refused to them, and not offered.
    await openMenu(page.getByRole('button', { name: 'Actions', exact: true }), 'Archive');
    for (const entry of ['Copy the flag', 'Move to another project'])
      expect(await page.getByRole('menuitem', { name: entry }).getAttribute('aria-disabled')).toBe('true');
    await page.keyboard.press('Escape');
    await goTo(page, `/projects/${project}/environments`);
    expect(await page.getByRole('switch', { name: 'Use production in this project' }).isDisabled()).toBe(true);
    expect(await page.getByRole('switch', { name: 'Use development in this project' }).isDisabled()).toBe(false);
    await openMenu(page.getByRole('button', { name: 'Actions for production' }), 'Set approvals');
    expect(await page.getByRole('menuitem', { name: 'Stop using it' }).count()).toBe(0);
    await page.keyboard.press('Escape');
    await closeChecked(opened);
  });

  it('lets whoever may only propose propose an undo and what the palette does, and writes nothing of it', async () => {
    const flag = `proposed-${tail}`;
    const production = `/api/admin${feature(flag)}/environments/production`;
    await api('POST', `/api/admin/projects/${project}/features`, { name: flag });
    const strategy = { name: 'flexibleRollout', parameters: { rollout: '5', stickiness: 'default', groupId: flag } };
    const { id } = (await api('POST', `${production}/strategies`, strategy)) as { readonly id: string };
    const before = { ...strategy, parameters: { ...strategy.parameters, rollout: '60' } };
    await api('PUT', `${production}/strategies/${id}`, before);
    const user = (await api('POST', '/api/admin/user-admin', { username: `proposer-${tail}`, rootRole: 3 })) as {
      readonly id: number;
    };
    const { secret } = (await api('POST', `/api/admin/user-admin/${user.id}/token`, { description: 'console' })) as {
      readonly secret: string;
    };
    const writes: string[] = [];
    const openAs = async (path: string) => {
      const opened = await openPage(path);
      opened.page.on('request', (request) => {
        const { pathname } = new URL(request.url());
        if (request.method() !== 'GET' && pathname.startsWith('/api/admin/projects/'))
          writes.push(pathname.replace(/^.*\/environments\//, ''));
      });
      await signIn(opened.page, secret);
      return opened;
    };
    const own = async (): Promise<string[]> => (await proposed(secret)).filter((change) => change.endsWith(flag));

    const log = await openAs(`/events?q=feature:${flag}%20type:feature-strategy-update`);
    await log.page
      .getByRole('article')
      .getByRole('button', { name: /, event \d+$/ })
      .click();
    await log.page.getByRole('button', { name: 'Undo this…' }).click();
    const undo = log.page.getByRole('dialog', { name: 'Undo this event' });
    await undo.getByText('Nothing changes for any user: the flag is off in production.').waitFor();
    await expectAccessible(log);
    await undo.getByRole('button', { name: 'Propose in a change request' }).click();
    await undo.getByRole('link', { name: 'Show the change request' }).waitFor();
    expect(await own()).toEqual([`updateStrategy ${flag}`]);
    await closeChecked(log);

    const opened = await openAs(feature(flag));
    const { page } = opened;
    const choose = async (entry: string): Promise<void> => {
      await page.keyboard.press('Control+k');
      await untilFocused(page.getByRole('dialog', { name: 'Search' }));
      await page.keyboard.type(entry);
      await page.getByRole('option', { name: entry }).click();
    };
    await page.getByRole('switch', { name: 'Enabled in production' }).waitFor();
    await choose('Roll out to … in production');
    const share = page.getByRole('spinbutton', { name: 'Percent' });
    await share.fill('70');
    await share.press('Tab');
    await page.getByRole('button', { name: 'Propose', exact: true }).press('Enter');
    await page.getByText(/Added to your draft .* for production/).waitFor();
    await page.getByRole('switch', { name: 'Enabled in production' }).waitFor();
    await choose('Propose to turn on in production');
    await eventually(async () => expect(await own()).toContain(`updateEnabled ${flag}`));
    expect(await api('GET', production)).toMatchObject({ enabled: false, strategies: [before] });
    expect(new Set(writes)).toEqual(new Set(['production/change-requests']));
    await closeChecked(opened);
  });

  /** Opens an event of the log, and the dialog that undoes it, if that is offered. */
  const openUndo = async ({ page }: Pick<Awaited<ReturnType<typeof openSignedIn>>, 'page'>) => {
    await page
      .getByRole('article')
      .getByRole('button', { name: /, event \d+$/ })
      .first()
      .click();
    await page.getByRole('button', { name: 'Undo this…' }).click();
    return page.getByRole('dialog', { name: 'Undo this event' });
  };

  it('lets whoever may skip change requests choose to propose an undo or to do it directly', async () => {
    const flag = `undone-${tail}`;
    await api('POST', `/api/admin/projects/${project}/features`, { name: flag });
    const strategies = `/api/admin${feature(flag)}/environments/production/strategies`;
    await api('POST', strategies, { name: 'default' });
    const opened = await openSignedIn(`/events?q=feature:${flag}%20type:feature-strategy-add`);
    const dialog = await openUndo(opened);
    await dialog.getByText('can also do it directly, without approval', { exact: false }).waitFor();
    await dialog.getByRole('button', { name: 'Propose in a change request' }).waitFor();
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Undo directly' }).press('Enter');
    await opened.page.getByText('The event is undone.').waitFor();
    expect(await api('GET', strategies)).toEqual([]);
    expect((await proposed()).filter((change) => change.endsWith(flag))).toEqual([]);
    await closeChecked(opened);
  });

  it('protects the undo of an edit of a segment that it uses by now, like another edit', async () => {
    const [own, another] = [`open-${tail}`, `guarded-too-${tail}`];
    for (const id of [own, another]) await api('POST', '/api/admin/projects', { id, name: id });
    const segment = { name: `undone-segment-${tail}`, description: 'Before', constraints: [], project: own };
    const { id } = (await api('POST', '/api/admin/segments', segment)) as { readonly id: number };
    await api('PUT', `/api/admin/segments/${id}`, { ...segment, description: 'After' });
    await api('PUT', `/api/admin/segments/${id}`, { ...segment, description: 'After', project: null });
    const useIn = async (one: string): Promise<void> => {
      const base = `/api/admin/projects/${one}`;
      await api('POST', `${base}/features`, { name: `${segment.name}-${one}` });
      const strategy = { name: 'default', segments: [id] };
      await api('POST', `${base}/features/${segment.name}-${one}/environments/production/strategies`, strategy);
    };
    const log = `/events?q=type:segment-updated%20${segment.name}`;
    const administrator = await openSignedIn(log);
    const asked: string[] = [];
    administrator.page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const ofNoProject = await openUndo(administrator);
    await ofNoProject.getByRole('button', { name: 'Undo', exact: true }).waitFor();
    expect(asked.filter((path) => path.includes('/change-requests/'))).toEqual([]);
    await closeChecked(administrator);

    await useIn(project);
    const user = { username: `segment-editor-${tail}`, rootRole: 2 };
    const { id: userId } = (await api('POST', '/api/admin/user-admin', user)) as { readonly id: number };
    const token = await api('POST', `/api/admin/user-admin/${userId}/token`, { description: 'console' });
    const { secret } = token as { readonly secret: string };
    const editor = await openPage(log);
    const { page } = editor;
    await signIn(page, secret);
    const dialog = await openUndo(editor);
    await dialog.getByText('production is protected', { exact: false }).waitFor();
    await expectAccessible(editor);
    await dialog.getByRole('button', { name: 'Propose in a change request' }).press('Enter');
    await dialog.getByRole('link', { name: 'Show the change request' }).waitFor();
    expect(await api('GET', `/api/admin/segments/${id}`)).toMatchObject({ description: 'After' });
    expect(await api('GET', `/api/admin/projects/${project}/change-requests`, undefined, secret)).toMatchObject([
      { segments: [{ changes: [{ action: 'updateSegment', payload: { id, description: 'Before' } }] }] },
    ]);

    await useIn(another);
    const protection = { changeRequestsEnabled: true, requiredApprovals: 1 };
    await api('PUT', `/api/admin/projects/${another}/environments/production/change-requests/config`, protection);
    const known = page.waitForResponse((response) => response.url().endsWith('/edit-status'));
    await page.reload();
    await signIn(page, secret);
    await page
      .getByRole('article')
      .getByRole('button', { name: /, event \d+$/ })
      .click();
    await known;
    await page.getByRole('link', { name: 'Link to this event' }).waitFor();
    expect(await page.getByRole('button', { name: 'Undo this…' }).count()).toBe(0);
    await closeChecked(editor);
  });

  it('is respected by a page that was open before the protection', async () => {
    const own = `guarded-later-${tail}`;
    const flag = `later-${tail}`;
    await api('POST', '/api/admin/projects', { id: own, name: own });
    await api('POST', `/api/admin/projects/${own}/features`, { name: flag });
    const opened = await openSignedIn(`/projects/${own}/features/${flag}`);
    const { page } = opened;
    const toggle = page.getByRole('switch', { name: 'Enabled in production' });
    await toggle.waitFor();
    await api('PUT', `/api/admin/projects/${own}/environments/production/change-requests/config`, {
      changeRequestsEnabled: true,
      requiredApprovals: 1,
    });
    await pressSwitch(toggle);
    await page.getByText('Added to a new draft for production.').waitFor();
    expect(await api('GET', `/api/admin/projects/${own}/features/${flag}`)).toMatchObject({
      environments: expect.arrayContaining([
        expect.objectContaining({ name: 'production', enabled: false }),
      ]) as unknown,
    });
    await closeChecked(opened);
  });
});
