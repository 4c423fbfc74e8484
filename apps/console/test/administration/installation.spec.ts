import { eventually } from '@bunting/testing';
import { beforeAll, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { api, closeChecked, describeInBrowser, expectAccessible, openPage, openSignedIn } from '../support/browser.ts';

const { CONSOLE_TEST_URL: url = '' } = process.env;

/** A file that a person chooses. */
function fileOf(content: unknown) {
  return { name: 'file.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(content)) };
}

async function send(target: string, secret: string, body: unknown): Promise<void> {
  const response = await fetch(`${url}${target}`, {
    method: 'POST',
    headers: { authorization: secret, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${target}: ${response.status} ${await response.text()}`);
}

/** An application that reports from an instance with an SDK, and asks for a flag that does not exist. */
async function reportAs(secret: string, instanceId: string, sdkVersion: string): Promise<void> {
  const now = new Date().toISOString();
  const client = { appName: 'till', instanceId, sdkVersion };
  await send('/api/client/register', secret, {
    ...client,
    strategies: ['default', 'byTide'],
    started: now,
    interval: 1,
  });
  const toggles = {
    'install.used': { yes: 3, no: 1 },
    'install.removed': { yes: 0, no: 4 },
    'install.over': { yes: 0, no: 2 },
  };
  await send('/api/client/metrics', secret, { ...client, bucket: { start: now, stop: now, toggles } });
}

describeInBrowser('the installation in the console', () => {
  const project = 'default';
  let secret: string;
  beforeAll(async () => {
    for (const name of ['install.used', 'install.over'])
      await api('POST', `/api/admin/projects/${project}/features`, { name, type: 'release' });
    await api('DELETE', `/api/admin/projects/${project}/features/install.over`);
    ({ secret } = (await api('POST', '/api/admin/api-tokens', {
      tokenName: 'till',
      type: 'client',
      environment: 'development',
      projects: [project],
    })) as { secret: string });
    await reportAs(secret, 'desk-1', 'unleash-client-node:6.1.0');
    await reportAs(secret, 'desk-2', 'unleash-client-node:5.0.0');
    await eventually(async () => {
      const { issues } = (
        (await api('GET', '/api/admin/metrics/applications/till/overview')) as {
          environments: { issues: { missingFeatures: string[]; outdatedSdks: string[] } }[];
        }
      ).environments[0] ?? { issues: { missingFeatures: [], outdatedSdks: [] } };
      expect([issues.missingFeatures.length, issues.outdatedSdks.length]).toEqual([2, 1]);
    });
  });

  it('shows applications with their SDKs and instances, what they use, and what they ask for that does not exist', async () => {
    const opened = await openSignedIn('/admin/applications');
    const { page } = opened;
    await page.getByRole('link', { name: 'till', exact: true }).waitFor();
    const list = page.getByRole('table', { name: 'Applications' });
    await list.getByText('unleash-client-node:5.0.0 outdated').waitFor();
    await list.getByText('unleash-client-node:6.1.0', { exact: true }).waitFor();
    await list.getByRole('button', { name: 'Instances' }).press('Enter');
    await list.locator('[aria-sort=descending]', { hasText: 'Instances' }).waitFor();
    await page.waitForURL((url) => url.searchParams.get('sort') === 'Instances');
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'All SDKs' }).press('Enter');
    await page.getByRole('option', { name: 'No instance now' }).click();
    await page.getByRole('link', { name: 'till', exact: true }).waitFor({ state: 'detached' });
    await page.goto(new URL('/admin/applications?sdks=outdated', page.url()).href);
    await page.getByRole('link', { name: 'till', exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Project' }).fill('Default');
    await page.getByRole('option', { name: /Default/ }).click();
    await page.getByText('1 SDK of this project is outdated', { exact: false }).waitFor();
    await page.getByText('unleash-client-node 5.0.0 outdated').waitFor();
    await expectAccessible(opened);
    await page.getByRole('link', { name: 'till', exact: true }).press('Enter');
    await page.getByText('1 flag that it asks for in development does not exist:').waitFor();
    await page.getByText('byTide').waitFor();
    // Not the one that has reported first or last, as if it were all.
    for (const sdk of ['unleash-client-node:5.0.0', 'unleash-client-node:6.1.0'])
      await page.getByRole('definition').getByText(sdk).waitFor();
    await page.getByRole('row', { name: /desk-2 development unleash-client-node:5\.0\.0/ }).waitFor();
    await page.getByRole('row', { name: /install\.removed.*does not exist/ }).waitFor();
    // An archived flag does exist.
    await page.getByText('1 flag that it asks for in development is archived:').waitFor();
    await page.getByRole('row', { name: /install\.over Default archived/ }).waitFor();
    await page.getByRole('link', { name: 'install.used' }).waitFor();
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'Describe' }).click();
    const describe = page.getByRole('dialog', { name: 'Describe “till”' });
    await describe.getByLabel('Description').fill('<b>At the desk</b>');
    await describe.getByLabel('Address of its page').fill('javascript:alert(1)');
    await describe.getByRole('button', { name: 'Save' }).click();
    await describe.waitFor({ state: 'detached' });
    await page.getByText('<b>At the desk</b>').waitFor();
    // An address that is no web page is no link.
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0);
    await page.getByRole('link', { name: 'Applications' }).first().click();
    await page.getByRole('link', { name: 'Unknown flags' }).click();
    await page.getByRole('row', { name: /install\.removed.*till/ }).waitFor();
    await closeChecked(opened);
  });

  it('says of an application that there is not that there is none, and offers no repetition', async () => {
    const opened = await openSignedIn('/admin/applications/nowhere');
    const { page } = opened;
    await page.getByRole('heading', { name: 'There is no such application' }).waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('says how to start an edge, and lists the edges that report with those behind them, also on a narrow screen', async () => {
    const opened = await openSignedIn('/admin/applications?view=edges', { width: 390, height: 844, dark: true });
    const { page } = opened;
    await page.getByRole('heading', { name: 'No edge has reported within a day' }).waitFor();
    await page.getByText(`UPSTREAM_URL=${url}`, { exact: false }).waitFor();
    await expectAccessible(opened);
    const behind = { identifier: 'two', appName: '<b>till</b>', edgeVersion: '19.15.1', region: null };
    await send('/api/client/metrics/edge', secret, {
      identifier: 'one',
      appName: 'harbour',
      edgeVersion: '0.1.0',
      region: 'eu-north-1',
      staleMs: 180_000,
      connectedStreamingClients: 1_200,
      requestsSinceLastReport: { '/api/client/features': { requests200: 1, requests304: 6 } },
      errorsSinceLastReport: { upstream: 3, responses: 0 },
      latencyUpstream: { features: { avg: 12.4, count: 9, p99: 40 } },
      edgeApiKeyRevisionIds: [
        { environment: 'development', projects: ['*'], revisionId: 0 },
        { environment: 'development', projects: ['no-such-project'], revisionId: 3 },
      ],
      connectedEdges: [behind],
    });
    await page.reload();
    const row = page.getByRole('row').filter({ hasText: 'harbour' }).first();
    for (const text of ['Stale for 3 minutes', '1,200 streams', '7 requests', '12 ms', '3 errors', 'eu-north-1'])
      await row.getByText(text, { exact: false }).waitFor();
    await row.getByText(/development: 0, here [1-9]/).waitFor();
    await row.getByText('development (no-such-project): 3, here unknown').waitFor();
    await page.getByText('behind harbour').waitFor();
    await page.getByText('<b>till</b>').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('imports an export after a check, and says what was imported', async () => {
    const exported = {
      features: [{ name: 'moved.here', type: 'release' }],
      featureStrategies: [{ name: 'default', featureName: 'moved.here', segments: [7] }],
      segments: [{ id: 7, name: 'nowhere' }],
      tagTypes: [],
    };
    const opened = await openSignedIn('/admin/transfer?environment=development');
    const { page } = opened;
    await page.getByLabel('Or its text').fill('{"features": [');
    await page.getByText('This is not JSON', { exact: false }).waitFor();
    await page.getByLabel('File').setInputFiles(fileOf(exported));
    await page.getByText('It has 1 flag, 1 strategy, 1 segment.').waitFor();
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('1 segment that the flags use do not exist here').waitFor();
    await page.getByText('nowhere').first().waitFor();
    await expectAccessible(opened);
    await page.getByLabel('Or its text').fill(
      JSON.stringify({
        ...exported,
        featureStrategies: [{ name: 'default', featureName: 'moved.here' }],
        segments: [],
      }),
    );
    await page.getByRole('button', { name: 'Check' }).press('Enter');
    await page.getByText('Nothing keeps it from being imported.').waitFor();
    await page.getByRole('button', { name: 'Import 1 flag into default' }).press('Enter');
    await page.getByRole('heading', { name: 'It is imported' }).waitFor();
    await expectAccessible(opened);
    expect(await api('GET', '/api/admin/projects/default/features/moved.here')).toMatchObject({ name: 'moved.here' });
    await closeChecked(opened);
  });

  it('creates the segments that an export only names from the list of Unleash, with the fields that they compare', async () => {
    const [name, field, flag] = [
      `import-${randomUUID()}`,
      `field-${randomUUID().slice(0, 8)}`,
      `moved-${randomUUID()}`,
    ];
    const exported = {
      features: [{ name: flag, type: 'release' }],
      featureStrategies: [{ name: 'default', featureName: flag, segments: [7] }],
      contextFields: [{ name: field, stickiness: true }],
      segments: [{ id: 7, name }],
      tagTypes: [],
    };
    const constraints = [{ contextName: field, operator: 'IN', values: ['a'] }];
    const opened = await openSignedIn('/admin/transfer?environment=development', { width: 390, height: 844 });
    const { page } = opened;
    await page.getByLabel('Or its text').fill(JSON.stringify(exported));
    await page.getByRole('button', { name: 'Check' }).click();
    // An export would make segments that match everybody.
    await page.getByLabel('File of the segments').setInputFiles(fileOf(exported));
    await page.getByText('This file has segments without constraints', { exact: false }).waitFor();
    expect(await page.getByRole('button', { name: 'Create the segments' }).isDisabled()).toBe(true);
    const others = [{ id: 1, name: `other-${name}`, constraints }];
    const answer = { segments: [...others, { id: 9, name, project: 'theirs', constraints }] };
    await page.getByLabel('File of the segments').setInputFiles(fileOf(answer));
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'Create 1 segment' }).click();
    await page.getByText('Nothing keeps it from being imported.').waitFor();
    await page.getByRole('button', { name: 'Import 1 flag into default' }).click();
    await page.getByRole('heading', { name: 'It is imported' }).waitFor();
    const { segments } = (await api('GET', '/api/admin/segments')) as { segments: { name: string }[] };
    expect(segments.filter((segment) => segment.name.endsWith(name))).toMatchObject([
      { name, project: 'default', constraints },
    ]);
    expect(await api('GET', `/api/admin/context/${field}`)).toMatchObject({ stickiness: true });
    await closeChecked(opened);
  });

  it('imports into a protected environment by a change request, and exports a file', async () => {
    const id = 'guarded-import';
    await api('POST', '/api/admin/projects', { id, name: 'Guarded import' });
    await api('PUT', `/api/admin/projects/${id}/environments/production/change-requests/config`, {
      changeRequestsEnabled: true,
      requiredApprovals: 1,
    });
    const user = (await api('POST', '/api/admin/user-admin', { username: 'importer', rootRole: 3 })) as { id: number };
    await api('PUT', `/api/admin/projects/${id}/users/${user.id}/roles`, { roles: [4] });
    const { secret } = (await api('POST', `/api/admin/user-admin/${user.id}/token`, { description: 'x' })) as {
      secret: string;
    };
    const opened = await openPage(`/admin/transfer?project=${id}&environment=production`);
    await opened.page.getByRole('button', { name: 'Use an API key instead' }).click();
    await opened.page.getByLabel('API key').fill(secret);
    await opened.page.keyboard.press('Enter');
    const { page } = opened;
    const exported = {
      features: [{ name: 'imported.flag', type: 'release' }],
      featureStrategies: [{ name: 'default', featureName: 'imported.flag' }],
      featureEnvironments: [{ featureName: 'imported.flag', environment: 'production', enabled: true }],
      tagTypes: [],
    };
    await page.getByText('Changes in production need approval.', { exact: false }).waitFor();
    await page.getByLabel('Or its text').fill(JSON.stringify(exported));
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByRole('button', { name: 'Import 1 flag into Guarded import' }).click();
    await page.getByText('wait for approval in a change request', { exact: false }).waitFor();
    await page.getByRole('link', { name: 'Open it' }).click();
    await page.waitForURL(new RegExp(`/projects/${id}/change-requests/\\d+$`));
    await closeChecked(opened);
    const again = await openSignedIn(`/admin/transfer?project=${id}&environment=production`);
    const download = again.page.waitForEvent('download');
    await again.page.getByRole('button', { name: 'Export', exact: true }).click();
    const saved = await download;
    expect(saved.suggestedFilename()).toMatch(/^flags-guarded-import-production-\d{4}-\d\d-\d\d\.json$/);
    const content = JSON.parse(readFileSync(await saved.path(), 'utf8')) as { features: { name: string }[] };
    expect(content.features.map(({ name }) => name)).toEqual(['imported.flag']);
    await closeChecked(again);
  });

  it('shows version, health, statistics, limits and the event log, and builds the search index again', async () => {
    const opened = await openSignedIn('/admin/instance');
    const { page } = opened;
    await page.getByText('Ready: every service answers').waitFor();
    await page.getByRole('heading', { name: 'Every message was applied' }).waitFor();
    await page.getByRole('row', { name: /Active flags \d+/ }).waitFor();
    await page.getByRole('button', { name: 'Build it again' }).press('Enter');
    const question = page.getByRole('alertdialog', { name: 'Build the search index again?' });
    await question.getByRole('button', { name: 'Build it again' }).press('Enter');
    await page.getByText(/Built with [\d,]+ flags? or segments?|Built with [\d,]+ flags and segments/).waitFor();
    await expectAccessible(opened);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save as CSV' }).click();
    expect(readFileSync(await (await download).path(), 'utf8')).toContain('featureToggles');
    await closeChecked(opened);
  });
});
