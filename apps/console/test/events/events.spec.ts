import { beforeAll, expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import {
  api,
  closeChecked,
  describeInBrowser,
  expectAccessible,
  openPage,
  openSignedIn,
  signIn,
  untilFocused,
} from '../support/browser.ts';

function flags(project: string): string {
  return `/api/admin/projects/${project}/features`;
}
function rollout(percentage: number, more: object = {}) {
  return {
    name: 'flexibleRollout',
    parameters: { rollout: String(percentage), stickiness: 'default', groupId: 'g' },
    constraints: [],
    ...more,
  };
}

interface Strategy {
  readonly id: string;
  readonly title?: string;
  readonly parameters: { readonly rollout: string };
}

async function aProject(): Promise<string> {
  const id = `log-${randomUUID().slice(0, 8)}`;
  await api('POST', '/api/admin/projects', { id, name: id });
  return id;
}
async function aFlag(project: string, name = `flag-${randomUUID().slice(0, 8)}`): Promise<string> {
  await api('POST', flags(project), { name, type: 'release' });
  return name;
}
async function addStrategy(project: string, flag: string, environment: string, strategy: object): Promise<string> {
  return ((await api('POST', `${flags(project)}/${flag}/environments/${environment}/strategies`, strategy)) as Strategy)
    .id;
}
function changeStrategy(project: string, flag: string, environment: string, id: string, strategy: object) {
  return api('PUT', `${flags(project)}/${flag}/environments/${environment}/strategies/${id}`, strategy);
}
function strategiesOf(project: string, flag: string, environment: string): Promise<Strategy[]> {
  return api('GET', `${flags(project)}/${flag}/environments/${environment}/strategies`) as Promise<Strategy[]>;
}

function inFeed(page: Page, name: RegExp) {
  return page.getByRole('feed').getByRole('article', { name });
}

describeInBrowser('the event log', () => {
  let project: string;
  beforeAll(async () => {
    project = await aProject();
    for (let n = 0; n < 240; n += 30)
      await Promise.all(
        Array.from({ length: 30 }, (_one, i) => aFlag(project, `${project}.${String(n + i).padStart(3, '0')}`)),
      );
    // The oldest event but the project's own: it is read only when the list is scrolled to its end.
    await eventually(async () => {
      const { total } = (await api('GET', `/api/admin/search/events?project=IS:${project}`)) as { total: number };
      expect(total).toBeGreaterThanOrEqual(240);
    });
  });

  it('shows events by day as sentences, keeps only those on the screen in the document, and shows what comes', async () => {
    const opened = await openSignedIn(`/projects/${project}/events`);
    const { page } = opened;
    await page.getByText(/^24\d events$/).waitFor();
    await page.getByRole('heading', { name: /^Today, / }).waitFor();
    expect(await page.getByRole('article').count()).toBeLessThan(80);
    await expectAccessible(opened);

    await aFlag(project, `${project}.live`);
    await inFeed(page, new RegExp(`created.*${project}\\.live`)).waitFor();

    const region = page.getByRole('region', { name: `Events of ${project}` });
    await region.evaluate((list) => list.scrollTo({ top: list.scrollHeight }));
    await inFeed(page, new RegExp(`created project`)).waitFor();
    await aFlag(project, `${project}.later`);
    const newer = page.getByRole('button', { name: '1 new event' });
    await newer.waitFor();
    await inFeed(page, new RegExp(`created project`)).waitFor();
    await newer.click();
    await inFeed(page, new RegExp(`created.*${project}\\.later`)).waitFor();
    await closeChecked(opened);
  });

  it('keeps each row at its event while others come, also where the newest events fill no window of their own', async () => {
    const opened = await openSignedIn(`/projects/${project}/events`);
    const { page } = opened;
    const count = page.getByRole('status').getByText(/^\d+ events$/);
    const total = async (): Promise<number> => parseInt((await count.textContent()) ?? '', 10);
    await count.waitFor();
    // One event less than full windows have.
    for (let missing = (399 - (await total())) % 100; missing > 0; missing--) await aFlag(project);
    await eventually(async () => expect((await total()) % 100).toBe(99));
    const region = page.getByRole('region', { name: `Events of ${project}` });
    const row = page.locator('article[aria-posinset="99"]');
    await region.evaluate((list) => list.scrollTo({ top: 97 * 37 }));
    const next = page.locator('article[aria-posinset="101"]:not([aria-busy])');
    await next.waitFor();
    const name = (await row.getAttribute('aria-labelledby')) ?? '';
    expect(name).toMatch(/^event-\d+$/);
    for (const nth of ['first', 'second']) await aFlag(project, `${project}.${nth}-more`);
    await page.getByRole('button', { name: '2 new events' }).waitFor();
    expect(await row.getAttribute('aria-labelledby')).toBe(name);
    await page.getByRole('button', { name: '2 new events' }).click();
    await inFeed(page, new RegExp(`created.*${project}\\.second-more`)).waitFor();
    await region.evaluate((list) => list.scrollTo({ top: 99 * 37 }));
    await page.locator(`article[aria-posinset="101"][aria-labelledby="${name}"]`).waitFor();
    await closeChecked(opened);
  });

  it('filters by text that stands in the address, shows what an event changed, and links to it, by keyboard alone', async () => {
    const flag = await aFlag(project);
    const id = await addStrategy(project, flag, 'development', rollout(10));
    await changeStrategy(project, flag, 'development', id, rollout(40, { title: '<b>Forty</b>' }));
    const opened = await openSignedIn('/events');
    const { page } = opened;
    await page.getByRole('feed').waitFor();
    await page.keyboard.press('/');
    await untilFocused(page.locator('body'));
    await page.keyboard.type(`feature:${flag} type:feature-strategy-upd`);
    await page.getByRole('option', { name: 'type:feature-strategy-update' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByText('1 event', { exact: true }).waitFor();
    await page.waitForURL((url) => url.searchParams.get('q')?.startsWith(`feature:${flag}`) === true);
    await page.keyboard.type('colour:red');
    await page.getByText('colour:red: colour is not a filter key').waitFor();
    await page.keyboard.press('Control+Backspace');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    const changes = page.getByRole('region', { name: 'What changed' });
    await changes.getByRole('row', { name: 'parameters › rollout 10 40' }).waitFor();
    await changes.getByText('<b>Forty</b>').waitFor();
    await page.getByRole('button', { name: 'As JSON, with what was before' }).press('Enter');
    await page
      .getByRole('region', { name: /The event as JSON/ })
      .getByText('"rollout": "40"')
      .waitFor();
    await expectAccessible(opened);
    await page.getByRole('link', { name: 'Link to this event' }).press('Enter');
    await page.waitForURL((url) => /^id:\d+$/.test(url.searchParams.get('q') ?? ''));
    await changes.getByRole('row', { name: 'parameters › rollout 10 40' }).waitFor();
    await page.getByRole('link', { name: 'All events of this flag' }).press('Enter');
    await page.getByText('3 events', { exact: true }).waitFor();
    await closeChecked(opened);
  });

  it('says in words what it is filtered by, alternatives as one part, and takes a part away', async () => {
    const parts = `feature:${project}.000 type:feature-created type:feature-archived`;
    const opened = await openSignedIn(`/projects/${project}/events?q=${encodeURIComponent(parts)}`);
    const { page } = opened;
    await page.getByText('1 event', { exact: true }).waitFor();
    const chips = page.getByRole('list', { name: 'Parts of the filter' });
    expect(await chips.getByRole('listitem').allInnerTexts()).toEqual([
      `flag ${project}.000`,
      'type feature-created or feature-archived',
    ]);
    await expectAccessible(opened);
    await chips.getByRole('button', { name: 'Remove type feature-created or feature-archived' }).press('Enter');
    expect(await page.getByRole('combobox', { name: 'Filter events' }).inputValue()).toBe(`feature:${project}.000`);
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe(`Remove flag ${project}.000`);
    await closeChecked(opened);
  });

  it('says whether the log is intact, what that means, and compares it with an end that was noted earlier', async () => {
    const opened = await openSignedIn('/events');
    const { page } = opened;
    await page.getByText(/The newest .* events? intact/).waitFor();
    await page.getByRole('button', { name: 'Integrity' }).click();
    const dialog = page.getByRole('dialog', { name: 'Integrity of the event log' });
    await dialog.getByText(/events checked: each is what it was/).waitFor();
    await expectAccessible(opened);
    const head = await dialog.getByLabel('The end of the log', { exact: true }).textContent();
    const [id = '', hash = ''] = (head ?? '').split(':');
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    await dialog.getByLabel('An end that you noted earlier').fill(`${id}:${hash}`);
    await page.keyboard.press('Enter');
    await dialog.getByText(/events checked: each is what it was/).waitFor();
    await dialog
      .getByLabel('An end that you noted earlier')
      .fill(`${id}:${hash.replace(/^./, (c) => (c === '0' ? '1' : '0'))}`);
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').getByText(`Event ${id}:`).waitFor();
    await dialog.getByLabel('An end that you noted earlier').fill('none');
    await dialog.getByText('It is the number of an event').waitFor();
    await closeChecked(opened);
  });
});

describeInBrowser('undoing an event', () => {
  /** Opens the events of a flag of a type, and the dialog that undoes the newest. */
  const openUndo = async (flag: string, type: string) => {
    const opened = await openSignedIn(`/events?q=${encodeURIComponent(`feature:${flag} type:${type}`)}`);
    const { page } = opened;
    await page.getByRole('article').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('u');
    return { opened, page, dialog: page.getByRole('dialog', { name: 'Undo this event' }) };
  };

  it('shows what it will do and for whom, does it, and keeps what others changed in other fields', async () => {
    const project = await aProject();
    const flag = await aFlag(project);
    const id = await addStrategy(project, flag, 'development', rollout(10));
    await api('POST', `${flags(project)}/${flag}/environments/development/on`);
    await changeStrategy(project, flag, 'development', id, rollout(40));
    const { opened, page, dialog } = await openUndo(flag, 'feature-strategy-update');
    await dialog.getByText('Change a strategy in development.').waitFor();
    await dialog.getByRole('row', { name: 'parameters › rollout 40 10' }).waitFor();
    await dialog.getByRole('row', { name: /lose it/ }).waitFor();
    await expectAccessible(opened);
    // Another person edits another field: the preview was of something else, so it is shown again before it is done.
    await changeStrategy(project, flag, 'development', id, rollout(40, { title: 'Mine' }));
    await page.keyboard.press('Tab');
    await dialog.getByRole('button', { name: 'Undo', exact: true }).press('Enter');
    await dialog.getByText('It has changed while this was open.').waitFor();
    await dialog.getByRole('button', { name: 'Undo', exact: true }).press('Enter');
    await page.getByText('The event is undone.').waitFor();
    expect(await strategiesOf(project, flag, 'development')).toMatchObject([
      { title: 'Mine', parameters: { rollout: '10' } },
    ]);
    // It is the newest event now, and is undone as well.
    await page.getByText('3 events', { exact: true }).waitFor();
    await closeChecked(opened);
  });

  it('is offered only where the event can be undone, and to users who may do that', async () => {
    const project = await aProject();
    const flag = await aFlag(project);
    const username = `viewer-${project}`;
    const user = (await api('POST', '/api/admin/user-admin', { name: username, username, rootRole: 3 })) as {
      id: number;
    };
    const key = (await api('POST', `/api/admin/user-admin/${user.id}/token`, { description: 'log' })) as {
      secret: string;
    };
    const opened = await openPage(`/projects/${project}/events`);
    const { page } = opened;
    await signIn(page, key.secret);
    const created = inFeed(page, new RegExp(`created.*${flag}`));
    await created.getByRole('button', { name: /, event \d+$/ }).click();
    await created.getByRole('button', { name: 'As JSON, with what was before' }).waitFor();
    expect(await created.getByRole('button', { name: 'Undo this…' }).count()).toBe(0);
    for (const press of ['j', 'j', 'k', 'u']) await page.keyboard.press(press);
    const looked = page.getByRole('dialog', { name: 'Undo this event' });
    await looked.getByText('but not undo it', { exact: false }).waitFor();
    expect(await looked.getByRole('button', { name: 'Undo', exact: true }).count()).toBe(0);
    await closeChecked(opened);

    const own = await openSignedIn(`/projects/${project}/events`);
    const dialog = own.page.getByRole('dialog', { name: 'Undo this event' });
    await inFeed(own.page, /created project/).waitFor();
    // The event of the project cannot be undone; the one of the flag, above it, can.
    for (const press of ['j', 'j', 'u', 'k', 'u']) await own.page.keyboard.press(press);
    await dialog.getByText(flag).first().waitFor();
    await closeChecked(own);
  });

  it('is not offered for an event of a project that is deleted, about which nothing is asked', async () => {
    const project = await aProject();
    const flag = await aFlag(project);
    await api('DELETE', `/api/admin/projects/${project}/features/${flag}`);
    await api('DELETE', `/api/admin/projects/${project}`);
    const opened = await openSignedIn(`/events?q=${encodeURIComponent(`project:${project} type:feature-archived`)}`);
    const { page } = opened;
    const archived = inFeed(page, new RegExp(flag));
    await archived.getByRole('button', { name: /, event \d+$/ }).click();
    await archived.getByRole('link', { name: 'All events of this flag' }).waitFor();
    expect(await archived.getByRole('button', { name: 'Undo this…' }).count()).toBe(0);
    expect([...opened.calls].filter(([, outcome]) => outcome === '404').map(([request]) => request.url())).toEqual([]);
    await closeChecked(opened);
  });

  it('refuses where the same field was changed again, and names it', async () => {
    const project = await aProject();
    const flag = await aFlag(project);
    const id = await addStrategy(project, flag, 'development', rollout(10));
    await changeStrategy(project, flag, 'development', id, rollout(40));
    const { opened, page, dialog } = await openUndo(flag, 'feature-strategy-update');
    await dialog.getByRole('row', { name: 'parameters › rollout 40 10' }).waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await changeStrategy(project, flag, 'development', id, rollout(70));
    await page.getByText('2 events', { exact: true }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('u');
    await dialog.getByText('parameters › rollout: this event left 40, and now it is 70.').waitFor();
    await expectAccessible(opened);
    expect(await dialog.getByRole('button', { name: 'Undo', exact: true }).count()).toBe(0);
    expect(await strategiesOf(project, flag, 'development')).toMatchObject([{ parameters: { rollout: '70' } }]);
    await closeChecked(opened);
  });

  it('refuses to take back what was decided again since, and offers the newest decision only', async () => {
    const project = await aProject();
    const flag = await aFlag(project);
    await addStrategy(project, flag, 'development', rollout(10));
    const turn = (to: 'on' | 'off') => api('POST', `${flags(project)}/${flag}/environments/development/${to}`);
    for (const to of ['on', 'off', 'on'] as const) await turn(to);
    const { opened, page, dialog } = await openUndo(flag, 'feature-environment-enabled');
    await page.getByText('2 events', { exact: true }).waitFor();
    await dialog.getByText('Turn off in development').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.keyboard.press('j');
    await page.keyboard.press('u');
    await dialog.getByText('This was decided again by a later event.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Undo', exact: true }).count()).toBe(0);
    await closeChecked(opened);

    const created = await openUndo(flag, 'feature-created');
    await created.dialog.getByText('The flag is on in an environment').waitFor();
    await closeChecked(created.opened);
  });

  it('takes no step when the newest state cannot be read, or changes while the step is taken', async () => {
    const project = await aProject();
    const flag = await aFlag(project);
    const id = await addStrategy(project, flag, 'development', rollout(10));
    await changeStrategy(project, flag, 'development', id, rollout(40));
    const { opened, page, dialog } = await openUndo(flag, 'feature-strategy-update');
    await dialog.getByRole('row', { name: 'parameters › rollout 40 10' }).waitFor();
    let isHidden = true;
    await page.route('**/undo', (route) =>
      isHidden ? route.fulfill({ status: 403, json: { name: 'NoAccessError', message: 'Hidden.' } }) : route.fallback(),
    );
    await dialog.getByRole('button', { name: 'Undo', exact: true }).click();
    await dialog.getByText('Hidden.').first().waitFor();
    expect(await strategiesOf(project, flag, 'development')).toMatchObject([{ parameters: { rollout: '40' } }]);
    isHidden = false;
    // Another person edits after the last look, and before the step.
    await page.route(`**/strategies/${id}`, async (route) => {
      if (route.request().method() !== 'GET') await changeStrategy(project, flag, 'development', id, rollout(70));
      await route.continue();
    });
    await dialog.getByRole('button', { name: 'Undo', exact: true }).click();
    await dialog.getByText('parameters › rollout: this event left 40, and now it is 70.').waitFor();
    expect(await strategiesOf(project, flag, 'development')).toMatchObject([{ parameters: { rollout: '70' } }]);
    await closeChecked(opened);
  });

  it('creates a deleted segment again without a change request, which it does not take', async () => {
    const project = await aProject();
    const name = `segment-${project}`;
    const config = { changeRequestsEnabled: true, requiredApprovals: 1 };
    const { id } = (await api('POST', '/api/admin/segments', { name, project, constraints: [] })) as { id: number };
    await api('DELETE', `/api/admin/segments/${id}`);
    await api('PUT', `/api/admin/projects/${project}/environments/production/change-requests/config`, config);
    const opened = await openSignedIn(`/events?q=${encodeURIComponent(`type:segment-deleted ${name}`)}`);
    const { page } = opened;
    await page.getByRole('article').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('u');
    const dialog = page.getByRole('dialog', { name: 'Undo this event' });
    await dialog.getByText(`Create the segment ${name} again.`).waitFor();
    // Fields without a value are left out.
    await dialog.getByRole('row', { name: `name nothing ${name}` }).waitFor();
    expect(await dialog.getByRole('row', { name: /^constraints/ }).count()).toBe(0);
    await dialog.getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByText('The event is undone.').waitFor();
    const { segments } = (await api('GET', '/api/admin/segments')) as { segments: { name: string }[] };
    expect(segments.map((segment) => segment.name)).toContain(name);
    await closeChecked(opened);
  });

  it('calls the project to which a flag moves back by its name', async () => {
    const [from, to] = [await aProject(), await aProject()];
    await api('PUT', `/api/admin/projects/${from}`, { name: 'Where it was' });
    const flag = await aFlag(from);
    await api('POST', `${flags(from)}/${flag}/changeProject`, { newProjectId: to });
    const { opened, dialog } = await openUndo(flag, 'feature-project-change');
    await dialog.getByText('Move the flag back to the project Where it was.').waitFor();
    await closeChecked(opened);
  });

  it('becomes a change request where the environment is protected, also for what holds in every environment', async () => {
    const project = await aProject();
    const flag = await aFlag(project);
    const parent = await aFlag(project);
    await addStrategy(project, flag, 'production', rollout(10, { title: 'Only one' }));
    await api('POST', `${flags(project)}/${flag}/dependencies`, { feature: parent });
    const config = { changeRequestsEnabled: true, requiredApprovals: 1 };
    await api('PUT', `/api/admin/projects/${project}/environments/production/change-requests/config`, config);
    const { opened, page, dialog } = await openUndo(flag, 'feature-strategy-add');
    await dialog.getByText('production is protected').waitFor();
    await dialog.getByRole('button', { name: 'Propose in a change request' }).click();
    await dialog.getByText(/Added to change request \d+\./).waitFor();
    await expectAccessible(opened);
    expect(await strategiesOf(project, flag, 'production')).toHaveLength(1);
    await dialog.getByRole('link', { name: 'Show the change request' }).click();
    await page.getByText('Remove a strategy', { exact: true }).waitFor();
    await closeChecked(opened);

    const other = await openUndo(flag, 'feature-dependency-added');
    await other.dialog.getByText('Let it depend on no other flag.').waitFor();
    await other.dialog.getByRole('button', { name: 'Propose in a change request' }).click();
    await other.dialog.getByText(/Added to change request \d+\./).waitFor();
    const feature = (await api('GET', `${flags(project)}/${flag}`)) as { readonly dependencies: readonly object[] };
    expect(feature.dependencies).toHaveLength(1);
    await closeChecked(other.opened);
  });

  it('takes back tags, details, archiving, variants, switches, dependencies and segments', async () => {
    const project = await aProject();
    const flag = await aFlag(project);
    const parent = await aFlag(project);
    const path = `${flags(project)}/${flag}`;
    const segmentName = `segment-${flag}`;
    const segment = {
      name: segmentName,
      project,
      constraints: [{ contextName: 'userId', operator: 'IN', values: ['1'] }],
    };
    const { id: segmentId } = (await api('POST', '/api/admin/segments', segment)) as { id: number };
    await addStrategy(project, flag, 'development', rollout(100));
    await api('POST', `${path}/environments/development/on`);
    await api('POST', `/api/admin/features/${flag}/tags`, { type: 'simple', value: 'undo-me' });
    await api('PUT', path, { name: flag, type: 'release', description: 'Written by mistake' });
    await api('PUT', `${path}/variants`, [{ name: 'a', weight: 1000, weightType: 'variable', stickiness: 'default' }]);
    await api('POST', `${path}/dependencies`, { feature: parent, enabled: false });
    await api('DELETE', `${path}/dependencies`);
    await api('PUT', `/api/admin/segments/${segmentId}`, { ...segment, description: 'Changed' });
    await api('DELETE', path);

    const undo = async (search: string, sentence: RegExp): Promise<void> => {
      const opened = await openSignedIn(`/events?q=${encodeURIComponent(search)}`);
      const { page } = opened;
      await page.getByRole('article').first().waitFor();
      await page.keyboard.press('j');
      await page.keyboard.press('u');
      const dialog = page.getByRole('dialog', { name: 'Undo this event' });
      await dialog.getByText(sentence).waitFor();
      await dialog.getByRole('button', { name: 'Undo', exact: true }).click();
      await page.getByText('The event is undone.').waitFor();
      await closeChecked(opened);
    };
    await undo(`feature:${flag} type:feature-archived`, /Revive the flag/);
    await undo(`feature:${flag} type:feature-tagged`, /Remove the tag simple:undo-me/);
    await undo(`feature:${flag} type:feature-metadata-updated`, /Change the details/);
    await undo(`feature:${flag} type:feature-variants-updated`, /Remove all variants in development/);
    await undo(`feature:${flag} type:feature-dependencies-removed`, new RegExp(`Let it depend on ${parent}`));
    await undo(`type:segment-updated ${segmentName}`, new RegExp(`Change the segment ${segmentName}`));
    await api('POST', `${path}/environments/development/on`);
    await undo(`feature:${flag} type:feature-environment-enabled`, /Turn off in development/);

    const feature = (await api('GET', `${path}?variantEnvironments=true`)) as Record<string, unknown>;
    expect(feature).toMatchObject({
      description: null,
      tags: [],
      dependencies: [{ feature: parent, enabled: false }],
    });
    const environments = feature['environments'] as { name: string; enabled: boolean; variants: object[] }[];
    expect(environments.find(({ name }) => name === 'development')).toMatchObject({ enabled: false, variants: [] });
    const { segments } = (await api('GET', '/api/admin/segments')) as {
      segments: { id: number; description: unknown }[];
    };
    expect(segments.find(({ id }) => id === segmentId)?.description).toBeNull();
  });
});
