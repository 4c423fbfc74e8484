import { expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import { randomUUID } from 'node:crypto';
import { api, closeChecked, describeInBrowser, expectAccessible, openSignedIn } from '../support/browser.ts';

interface Identified {
  readonly id: number;
}

async function aPerson(name: string) {
  const username = `person-${randomUUID().slice(0, 8)}`;
  const { id } = (await api('POST', '/api/admin/user-admin', { name, username, rootRole: 1 })) as Identified;
  const token = await api('POST', `/api/admin/user-admin/${id}/token`, { description: 'people' });
  return { id, username, key: (token as { readonly secret: string }).secret };
}

describeInBrowser('a person who has done something', () => {
  it('is shown by name everywhere, with the username on hover', async () => {
    const [author, reader] = [await aPerson('Paula Fox'), await aPerson('Rea Stone')];
    const [project, flag] = [`people-${randomUUID().slice(0, 8)}`, `people.${randomUUID().slice(0, 8)}`];
    const base = `/api/admin/projects/${project}`;
    await api('POST', '/api/admin/projects', { id: project, name: 'People' });
    await api('POST', `${base}/features`, { name: flag }, reader.key);
    await api('POST', `${base}/features/${flag}/environments/production/on`, undefined, author.key);
    const protection = { changeRequestsEnabled: true, requiredApprovals: 1 };
    await api('PUT', `${base}/environments/development/change-requests/config`, protection);
    const change = { action: 'updateEnabled', feature: flag, payload: { enabled: true } };
    const requests = `${base}/environments/development/change-requests`;
    const { id } = (await api('POST', requests, [change], author.key)) as Identified;
    await api('PUT', `${base}/change-requests/${id}/state`, { state: 'In review' }, author.key);
    await api('POST', `${base}/change-requests/${id}/comments`, { text: 'Shall we?' }, author.key);

    const opened = await openSignedIn('/profile', { key: reader.key });
    const { page } = opened;
    const main = page.getByRole('main');
    const go = (path: string) => page.goto(new URL(path, page.url()).href);
    const isNamed = async (within = main): Promise<void> => {
      await within.getByTitle(author.username).first().waitFor();
      expect(await within.getByTitle(author.username).first().textContent()).toBe('Paula Fox');
      await eventually(async () => expect(await within.innerText()).not.toContain(author.username));
    };

    await go(`/events?q=feature:${flag}`);
    await isNamed(main.getByRole('feed').getByRole('article', { name: /^Paula Fox enabled/ }));
    await main.getByRole('button', { name: /enabled/ }).click();
    await main.getByText(`Paula Fox (${author.username})`).waitFor();
    await expectAccessible(opened);
    await go(`/projects/${project}/features/${flag}`);
    await isNamed(main.getByRole('region', { name: 'Proposed changes' }));
    await isNamed(main.getByRole('region', { name: 'History' }));
    await expectAccessible(opened);
    await go(`/projects/${project}/change-requests/${id}`);
    await main.getByText('Created by Paula Fox').waitFor();
    await main.getByText('Comment by Paula Fox').waitFor();
    await isNamed(main.getByRole('region', { name: 'Timeline' }));
    await go('/change-requests');
    await isNamed(main.getByRole('row', { name: /People development/ }));
    await go('/inbox');
    await isNamed(main.getByRole('listitem').filter({ hasText: flag }).first());
    await closeChecked(opened);
  });
});
