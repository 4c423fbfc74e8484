import { eventually, startSlack } from '@bunting/testing';
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { api, closeChecked, describeInBrowser, expectAccessible, goTo, openPage } from '../support/browser.ts';

const { CONSOLE_TEST_URL: url = '', CONSOLE_TEST_SLACK_PORT: port = '' } = process.env;
const password = 'A long sentence of 8 words, nobody guesses';

describeInBrowser('a Slack account', () => {
  it('is linked by the person who has opened the link from Slack, shown in the profile, and unlinked', async () => {
    const slack = await startSlack({ port: Number(port) });
    const name = `slack-${randomUUID().slice(0, 8)}`;
    const { id: userId } = (await api('POST', '/api/admin/user-admin', {
      username: name,
      email: `${name}@example.org`,
      rootRole: 3,
    })) as {
      id: number;
    };
    await api('POST', `/api/admin/user-admin/${userId}/change-password`, { password });
    const { id } = (await api('POST', '/api/admin/addons', {
      provider: 'slack-app',
      description: name,
      enabled: true,
      parameters: { accessToken: slack.token, defaultChannels: 'flags', signingSecret: slack.signingSecret },
      events: ['change-request-sent-to-review'],
    })) as { id: number };
    slack.setRequestUrl(`${url}/api/integrations/slack/${id}/interactions`);
    await api('POST', '/api/admin/projects', { id: name, name });
    await api('POST', `/api/admin/projects/${name}/features`, { name });
    const requests = `/api/admin/projects/${name}/environments/development/change-requests`;
    await api('PUT', `${requests}/config`, { changeRequestsEnabled: true, requiredApprovals: 1 });
    const change = { action: 'updateEnabled', feature: name, payload: { enabled: true } };
    const proposed = (await api('POST', `${requests}?new=true`, change)) as { id: number };
    await api('PUT', `/api/admin/projects/${name}/change-requests/${proposed.id}/state`, { state: 'In review' });
    const message = await eventually(() => {
      const found = slack.messages.find(({ blocks }) => JSON.stringify(blocks).includes(name));
      if (found === undefined) throw new Error('Slack has no message yet.');
      return found;
    });
    await slack.press(message, 'approve', { id: 'U0ADA', name: 'ada.at.slack', email: `${name}@example.org` });
    const link = await eventually(() => {
      const found = /\/link-slack\?token=\S+/.exec(slack.answers.join('\n'))?.[0];
      if (found === undefined) throw new Error('Slack has shown no link yet.');
      return found;
    });

    const opened = await openPage(link);
    const { page } = opened;
    const form = page.getByRole('group', { name: 'Sign in' });
    await form.getByLabel('Email or username').fill(name);
    await form.getByLabel('Password', { exact: true }).fill(password);
    await form.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('ada.at.slack (U0ADA)').waitFor();
    await page.getByText('Link it only if it is your own account').waitFor();
    await expectAccessible(opened);
    await page.getByRole('button', { name: `Link ada.at.slack to ${name}` }).click();
    await page.getByRole('button', { name: 'Unlink' }).waitFor();
    await page.getByText('ada.at.slack (U0ADA)').waitFor();
    expect(page.url()).not.toContain('token');
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'Unlink' }).click();
    await page.getByText('Press a button in a message about a change request in Slack').waitFor();
    // The link is used up: no repetition of it helps.
    await goTo(page, link);
    await page.getByRole('heading', { name: 'This link does not work any more' }).waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await expectAccessible(opened);
    await closeChecked(opened);
    await api('DELETE', `/api/admin/addons/${id}`);
    await slack.stop();
  });
});
