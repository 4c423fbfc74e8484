import { beforeAll, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import { api, closeChecked, describeInBrowser, expectAccessible, openSignedIn } from '../support/browser.ts';

const project = `p-${randomUUID().slice(0, 8)}`;
const feature = `flag-${randomUUID().slice(0, 8)}`;
const base = `/api/admin/projects/${project}`;
function rollout(percentage: number) {
  return {
    name: 'flexibleRollout',
    parameters: { rollout: String(percentage), stickiness: 'default', groupId: feature },
    constraints: [],
  };
}

interface Identified {
  readonly id: number;
}

describeInBrowser('a change request', () => {
  let strategy: string;
  beforeAll(async () => {
    await api('POST', '/api/admin/projects', { id: project, name: 'Reviewed' });
    await api('POST', `${base}/features`, { name: feature });
    const added = await api('POST', `${base}/features/${feature}/environments/production/strategies`, rollout(10));
    strategy = (added as { readonly id: string }).id;
    await api('POST', `${base}/features/${feature}/environments/production/on`);
    await protect(true);
  });
  /** Whether changes in production need a change request. */
  const protect = (changeRequestsEnabled: boolean): Promise<unknown> =>
    api('PUT', `${base}/environments/production/change-requests/config`, {
      changeRequestsEnabled,
      requiredApprovals: 1,
    });
  const propose = async (percentage: number): Promise<number> => {
    const { id } = (await api('POST', `${base}/environments/production/change-requests`, [
      { action: 'updateStrategy', feature, payload: { id: strategy, ...rollout(percentage) } },
    ])) as Identified;
    return id;
  };

  it('says in words what it changes and for whom, is commented on, and goes from draft to review', async () => {
    const id = await propose(60);
    const opened = await openSignedIn(`/projects/${project}/change-requests/${id}`);
    const { page } = opened;
    const changes = page.getByRole('region', { name: feature, exact: true }).first();
    await changes.getByText('10 % of users.').waitFor();
    await changes.getByText('60 % of users.').waitFor();
    await page.getByText(/% gain it/).waitFor();
    await expectAccessible(opened);

    await page.getByRole('textbox', { name: 'Comment' }).fill('Please look <b>closely</b>');
    await page.getByRole('button', { name: 'Comment' }).click();
    await page.getByText('Please look <b>closely</b>').waitFor();

    await page.getByRole('button', { name: 'Send to review' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send to review' }).click();
    await page.getByText('It is in review.').waitFor();
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await closeChecked(opened);
  });

  it('is found in the list of open ones, and not among those that wait for its author', async () => {
    const opened = await openSignedIn('/change-requests');
    const { page } = opened;
    await page
      .getByRole('cell', { name: `${project} / production` })
      .first()
      .waitFor();
    await expectAccessible(opened);
    await page.getByRole('link', { name: 'Waits for me' }).click();
    await page.getByRole('heading', { name: 'No change request waits for you' }).waitFor();
    expect(new URL(page.url()).searchParams.get('view')).toBe('inbox');
    await closeChecked(opened);
  });

  it('says which newer edit it would overwrite', async () => {
    const id = await propose(70);
    await protect(false);
    await api('PUT', `${base}/features/${feature}/environments/production/strategies/${strategy}`, rollout(20));
    await protect(true);
    const opened = await openSignedIn(`/projects/${project}/change-requests/${id}`);
    const { page } = opened;
    await page
      .getByText(/was .*\b10\b.* when this was proposed and is .*\b20\b.* now; applying makes it .*\b70\b/)
      .first()
      .waitFor();
    await expectAccessible(opened);
    await closeChecked(opened);
  });

  it('says which other environments it affects, and needs their approvals', async () => {
    const body = [{ action: 'archiveFeature', feature }];
    const proposed = await api('POST', `${base}/environments/development/change-requests`, body);
    const { id } = proposed as Identified;
    const opened = await openSignedIn(`/projects/${project}/change-requests/${id}`);
    await opened.page.getByText('It also affects production.').waitFor();
    await closeChecked(opened);
    await api('DELETE', `${base}/change-requests/${id}`);
  });
});
