import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import path from 'node:path';
import { type Browser, type BrowserServer, chromium, type Page } from 'playwright-core';
import { apiOf } from '../../apps/all-in-one/test/support/clients.ts';
import { type HostedPlatform, startHostedPlatform } from '../../apps/all-in-one/test/support/hosted-platform.ts';
import { startChromium } from '../../apps/console/test/support/chromium.ts';
import { clientId, clientSecret, startOpenIdProvider } from '../../apps/gateway/test/openid-provider.ts';
import { serveUnleashUi } from './unleash-ui-server.ts';

/**
 * The built user interface of Unleash 6.4.1. Bunting neither ships nor depends on it:
 *
 *   npm pack unleash-server@6.4.1 && tar -xzf unleash-server-6.4.1.tgz package/frontend/build
 *   UNLEASH_UI_FOLDER=$PWD/package/frontend/build
 */
const folder = process.env['UNLEASH_UI_FOLDER'];
if (folder === undefined)
  console.log("UNLEASH_UI_FOLDER is not set: the tests of Unleash's own user interface are skipped.");

(folder === undefined ? describe.skip : describe)("Unleash's own user interface", () => {
  const password = 'Correct-horse-7';
  let platform: HostedPlatform;
  let ui: Awaited<ReturnType<typeof serveUnleashUi>>;
  let provider: Awaited<ReturnType<typeof startOpenIdProvider>>;
  let server: BrowserServer;
  let browser: Browser;

  beforeAll(async () => {
    ui = await serveUnleashUi(path.resolve(folder ?? ''));
    const settings = {
      LOG_LEVEL: 'silent',
      GATEWAY_PASSWORD_COST: '10',
      GATEWAY_PUBLIC_URL: ui.url,
      INTEGRATIONS_ALLOWED_HOSTS: '127.0.0.1',
      INTEGRATIONS_SECRET_KEY: 'k'.repeat(32),
    };
    platform = await startHostedPlatform({ ...settings, GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE: '0' });
    ui.useServer(platform.url);
    provider = await startOpenIdProvider(ui.url);
    const api = apiOf(platform.url, platform.token);
    const user = { username: 'ada', name: 'Ada', email: 'ada@example.org', rootRole: 1, password, sendEmail: false };
    const oidc = { enabled: true, discoverUrl: provider.issuer, clientId, secret: clientSecret, autoCreate: true };
    const responses = [
      await api('POST', '/api/admin/user-admin', user),
      await api('POST', '/api/admin/projects/default/features', { name: 'new-checkout', description: 'In two steps' }),
      await api('POST', '/api/admin/auth/oidc/settings', oidc),
    ];
    expect(responses.map(({ status, text }) => (status < 300 ? 'ok' : text))).toEqual(['ok', 'ok', 'ok']);
    server = await startChromium();
    browser = await chromium.connect(server.wsEndpoint());
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    await provider?.stop();
    await platform?.stop();
    await ui?.stop();
  });

  /** A page of a browser without cookies. It loads nothing from other hosts, and collects errors of scripts. */
  const openPage = async (address: string): Promise<{ readonly page: Page; readonly faults: string[] }> => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'en-GB' });
    await context.route(
      (url) => url.origin !== ui.url && url.origin !== provider.issuer,
      (route) => route.abort(),
    );
    const page = await context.newPage();
    const faults: string[] = [];
    page.on('pageerror', ({ message }) => void faults.push(message));
    page.setDefaultTimeout(30_000);
    await page.goto(`${ui.url}${address}`);
    return { page, faults };
  };

  /** Shows the flag in the list of its project and on its page, and the user who is signed in. */
  const expectFlags = async (page: Page, email: string): Promise<void> => {
    await page.goto(`${ui.url}/projects/default`);
    await page.getByRole('link', { name: 'new-checkout' }).first().click();
    await page.getByText('In two steps').first().waitFor();
    await page.getByRole('heading', { name: 'new-checkout' }).first().waitFor();
    await page.getByText('development').first().waitFor();
    await page.goto(`${ui.url}/profile`);
    await page.getByText(email).first().waitFor();
  };

  it('the user interface of Unleash signs in with a password, after a wrong one, and shows the flags', async () => {
    const { page, faults } = await openPage('/');
    const signIn = async (secret: string): Promise<void> => {
      await page.locator('#username').fill('ada');
      await page.locator('#password').fill(secret);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    };
    await signIn('wrong');
    await eventually(async () => expect(await page.locator('body').innerText()).toMatch(/invalid|wrong|incorrect/i));
    expect(new URL(page.url()).pathname).toBe('/login');
    await signIn(password);
    await page.getByText('Projects').first().waitFor();
    await expectFlags(page, 'ada@example.org');
    expect(faults).toEqual([]);
    await page.goto(`${ui.url}/logout`);
    await page.locator('#username').waitFor();
    await page.context().close();
  });

  it('the user interface of Unleash adds, edits and deletes an integration, and shows what was sent', async () => {
    const { page, faults } = await openPage('/');
    await page.locator('#username').fill('ada');
    await page.locator('#password').fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('Projects').first().waitFor();
    const api = apiOf(platform.url, platform.token);
    const stored = async () => (await api<{ addons: readonly object[] }>('GET', '/api/admin/addons')).body.addons;

    await page.goto(`${ui.url}/integrations/create/webhook`);
    await page.getByLabel('Webhook URL').fill('http://127.0.0.1:9/flags');
    await page.getByLabel('Authorization').fill('Bearer secret');
    await page.getByLabel('Description').fill('Tell the shop');
    await page.getByLabel('Events').click();
    await page.getByRole('option', { name: 'feature-created' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await eventually(async () =>
      expect(await stored()).toMatchObject([
        {
          provider: 'webhook',
          description: 'Tell the shop',
          events: ['feature-created'],
          parameters: { url: '*****', authorization: '*****' },
        },
      ]),
    );
    await api('POST', '/api/admin/projects/default/features', { name: 'told-of' });
    const [{ id }] = (await stored()) as [{ id: number }];
    const sent = () => api<{ integrationEvents: readonly object[] }>('GET', `/api/admin/addons/${id}/events`);
    await eventually(async () => expect((await sent()).body.integrationEvents).toMatchObject([{ state: 'failed' }]));

    await page.goto(`${ui.url}/integrations/edit/${id}`);
    await page.getByText('View events').click();
    await page.getByText('feature-created').first().waitFor();
    await page.goto(`${ui.url}/integrations/edit/${id}`);
    const description = page.getByLabel('Description');
    await eventually(async () => expect(await description.inputValue()).toBe('Tell the shop'));
    await description.fill('Tell the shop twice');
    await page.getByRole('button', { name: 'Update', exact: true }).click();
    await eventually(async () => expect(await stored()).toMatchObject([{ description: 'Tell the shop twice' }]));

    await page.goto(`${ui.url}/integrations/edit/${id}`);
    await page.getByRole('button', { name: 'Delete integration' }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /delete|yes/i })
      .click();
    await eventually(async () => expect(await stored()).toEqual([]));
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it('the user interface of Unleash signs in through an OpenID provider, and shows the flags', async () => {
    provider.signsIn('bea', { email: 'bea@example.org', email_verified: true, name: 'Bea' });
    const { page, faults } = await openPage('/');
    await page.getByRole('link', { name: 'Sign in with OpenID Connect' }).click();
    await page.getByText('Projects').first().waitFor();
    await expectFlags(page, 'bea@example.org');
    expect(faults).toEqual([]);
    await page.context().close();
  });
});
