import { expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import { startHttpDestination } from '@bunting/testing/destinations';
import { randomUUID } from 'node:crypto';
import type { Locator } from 'playwright-core';
import {
  api,
  chooseFromMenu,
  chooseTyped,
  closeChecked,
  describeInBrowser,
  expectAccessible,
  openMenu,
  openPage,
  openSignedIn,
  signIn,
} from '../support/browser.ts';

async function chooseKind(dialog: Locator, kind: string): Promise<void> {
  await dialog.getByRole('button', { name: /Kind$/ }).press('Enter');
  await dialog
    .page()
    .getByRole('option', { name: new RegExp(`^${kind}`) })
    .first()
    .click();
}

/** Finds the events whose names begin with a text and that a dialog offers. */
async function offeredEvents(dialog: Locator, text: string): Promise<string[]> {
  const events = dialog.getByRole('combobox', { name: 'Events' });
  await events.fill(text);
  const options = dialog.page().getByRole('option');
  await options.first().waitFor();
  const offered = await options.allTextContents();
  await events.fill('');
  await events.press('Tab');
  return offered;
}

describeInBrowser('integrations', () => {
  it('are created with the fields of their kind, tried, seen at work, and deleted', async () => {
    const destination = await startHttpDestination();
    destination.respondWith((_request, response) => void response.writeHead(202).end('thank you'));
    const { url } = destination;
    const name = `deployments-${randomUUID().slice(0, 8)}`;
    const flag = `told-${randomUUID().slice(0, 8)}`;
    try {
      const opened = await openSignedIn('/admin/integrations');
      const { page } = opened;
      await page.getByRole('button', { name: 'Create an integration' }).first().press('Enter');
      const create = page.getByRole('dialog', { name: 'Create an integration' });
      await chooseKind(create, 'OpenTelemetry logs');
      expect(await offeredEvents(create, 'All')).toContain('All events');
      await chooseKind(create, 'Webhook');
      await create.getByLabel('Description').fill(name);
      await create.getByLabel('Webhook URL').fill('http://169.254.169.254/');
      await expectAccessible(opened);
      await create.getByRole('button', { name: 'Create' }).press('Enter');
      await create.getByText('must be an address of the internet').waitFor();
      await create.getByLabel('Webhook URL').fill(url);
      await create.getByRole('button', { name: 'Create' }).press('Enter');
      await page.getByRole('link', { name }).click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();

      await page.getByRole('button', { name: 'Send a test event' }).press('Enter');
      const test = page.getByRole('dialog', { name: 'Send a test event' });
      await test.getByRole('button', { name: 'Send' }).press('Enter');
      await test.getByText('The destination has accepted it: 202.').waitFor();
      expect(await test.getByLabel('Response').inputValue()).toBe('202\nthank you');
      await test.getByRole('button', { name: 'Close' }).last().press('Enter');

      await api('POST', '/api/admin/projects/default/features', { name: flag });
      await api('POST', `/api/admin/projects/default/features/${flag}/environments/development/on`);
      await page.getByRole('row').filter({ hasText: flag }).getByText('Delivered').waitFor();
      await expectAccessible(opened);
      await page.getByRole('row').filter({ hasText: flag }).getByRole('button').press('Enter');
      await eventually(() => expect(destination.requests.filter(({ body }) => body.includes(flag))).toHaveLength(2));

      await page.goBack();
      const { addons } = (await api('GET', '/api/admin/addons')) as { addons: { id: number; description: string }[] };
      const stored = addons.find(({ description }) => description === name);
      const address = `/api/admin/addons/${stored?.id}`;
      await chooseFromMenu(page.getByRole('button', { name: `Actions for ${name}`, exact: true }), 'Edit');
      const edit = page.getByRole('dialog', { name: `Edit the integration “${name}”` });
      await edit.getByLabel('Content-Type').fill('application/cloudevents+json');
      await edit.getByRole('switch', { name: 'Send events' }).press('Space');
      await api('PUT', address, { ...stored, events: ['feature-archived'] });
      await edit.getByRole('button', { name: 'Save' }).press('Enter');
      await edit.waitFor({ state: 'detached' });
      expect(await api('GET', address)).toMatchObject({
        enabled: false,
        events: ['feature-archived'],
        parameters: { contentType: 'application/cloudevents+json' },
      });
      await chooseFromMenu(page.getByRole('button', { name: `Actions for ${name}`, exact: true }), 'Delete');
      await page.getByRole('alertdialog').getByRole('button', { name: 'Delete', exact: true }).press('Enter');
      await page.getByRole('link', { name }).waitFor({ state: 'detached' });
      await closeChecked(opened);
    } finally {
      await destination.stop();
    }
  });

  it('refuse an editor all projects beside the field, where some are hidden from the editor', async () => {
    const hidden = `hidden-${randomUUID().slice(0, 8)}`;
    await api('POST', '/api/admin/projects', { id: hidden, name: hidden, mode: 'private' });
    const user = { username: `editor-${randomUUID().slice(0, 8)}`, rootRole: 2 };
    const { id } = (await api('POST', '/api/admin/user-admin', user)) as { readonly id: number };
    const token = await api('POST', `/api/admin/user-admin/${id}/token`, { description: 'console' });
    const opened = await openPage('/admin/integrations');
    const { page } = opened;
    await signIn(page, (token as { readonly secret: string }).secret);
    await page.getByRole('button', { name: 'Create an integration' }).first().press('Enter');
    const create = page.getByRole('dialog', { name: 'Create an integration' });
    await chooseKind(create, 'OpenTelemetry logs');
    expect(await offeredEvents(create, 'feature-a')).toContain('feature-archived');
    expect(await offeredEvents(create, '')).not.toContain('All events');
    await chooseKind(create, 'Webhook');
    await create.getByLabel('Description').fill(hidden);
    await create.getByLabel('Webhook URL').fill('https://1.1.1.1/');
    await create.getByRole('button', { name: 'Create' }).press('Enter');
    const projects = create.getByRole('combobox', { name: 'Projects' });
    await create.getByText('of all projects: list projects', { exact: false }).waitFor();
    await expectAccessible(opened);
    const described = await projects.evaluate((field) =>
      (field.getAttribute('aria-describedby') ?? '')
        .split(' ')
        .map((one) => document.getElementById(one)?.textContent)
        .join(),
    );
    expect(described).toContain('You may not direct the events of all projects');
    await chooseTyped(projects, 'default', page.getByRole('option', { name: 'Default' }).first());
    await create.getByRole('button', { name: 'Remove Default' }).waitFor();
    await create.getByRole('button', { name: 'Create' }).press('Enter');
    await page.getByRole('link', { name: hidden }).waitFor();
    // What an administrator has chosen may be what is refused to an editor.
    const ofUsers = `of users ${hidden}`;
    await api('POST', '/api/admin/addons', {
      provider: 'webhook',
      description: ofUsers,
      enabled: true,
      parameters: { url: 'https://1.1.1.1/' },
      events: ['user-created'],
    });
    await page.reload();
    await signIn(page, (token as { readonly secret: string }).secret);
    await openMenu(page.getByRole('button', { name: `Actions for ${ofUsers}` }), 'Delete');
    expect(await page.getByRole('menuitem', { name: 'Edit' }).count()).toBe(0);
    await page.keyboard.press('Escape');
    await closeChecked(opened);
  });
});
