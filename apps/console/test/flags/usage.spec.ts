import { randomUUID } from 'node:crypto';
import { eventually } from '@bunting/testing';
import { expect, it } from 'vitest';
import { api, closeChecked, describeInBrowser, expectAccessible, openSignedIn } from '../support/browser.ts';

const features = '/api/admin/projects/default/features';
const hourMs = 3_600_000;

describeInBrowser('the usage of a flag', () => {
  it.each([
    { locale: 'en-US', clock: /^\d{1,2}(:\d\d)? [AP]M$/u },
    { locale: 'en-GB', clock: /^\d\d:\d\d$/u },
  ])(
    'is shown by range, variant and application, with the changes of the flag, in $locale',
    async ({ locale, clock }) => {
      const [flag, app] = [`usage.${randomUUID().slice(0, 8)}`, `shop-${randomUUID().slice(0, 8)}`];
      await api('POST', features, { name: flag });
      await api('POST', `${features}/${flag}/environments/production/on`);
      const report = (hoursAgo: number, counts: object): Promise<unknown> => {
        const stop = Date.now() - hoursAgo * hourMs;
        const [from, to] = [stop - 60_000, stop].map((at) => new Date(at).toISOString());
        const bucket = { start: from, stop: to, toggles: { [flag]: counts } };
        return api('POST', '/api/client/metrics', { appName: app, instanceId: '1', environment: 'production', bucket });
      };
      await report(0, { yes: 3, no: 1, variants: { blue: 2, red: 1 } });
      await report(5, { yes: 10, no: 6, variants: { blue: 10 } });
      await report(30, { yes: 100, no: 0 });

      const opened = await openSignedIn(`/projects/default/features/${flag}`, { locale, timeZone: 'Europe/Oslo' });
      const { page } = opened;
      const usage = page.getByRole('region', { name: 'Usage' });
      const figure = usage.getByRole('figure').filter({ hasText: 'production' });
      const shows = (text: string): Promise<void> => figure.getByText(text, { exact: false }).waitFor();
      await shows('20 evaluations');
      const legend = figure.getByRole('list', { name: 'What the colours of production mean' });
      for (const part of ['blue 12', 'red 1', 'off 7']) await legend.getByText(part).waitFor();
      const labels = await figure.locator('[aria-hidden=true] > span').allTextContents();
      expect(labels.length).toBe(3);
      for (const label of labels) expect(label.replaceAll('\u202f', ' ')).toMatch(clock);
      const row = usage.getByRole('row', { name: new RegExp(app) });
      expect(await row.getByRole('cell').allTextContents()).toEqual([app, 'production', '20', '65 %']);

      // It was turned on in the newest of the 24 hours, and got its first strategy by that.
      await eventually(async () => expect(await figure.locator('line').count()).toBe(2));
      const share = await figure
        .locator('line')
        .first()
        .evaluate((line) => {
          const all = line.closest('svg')?.viewBox.baseVal.width ?? 0;
          return Number(line.getAttribute('x1')) / all;
        });
      expect(share).toBeGreaterThan(22 / 24);
      expect(share).toBeLessThanOrEqual(1);
      await figure
        .getByRole('list', { name: 'Changes in production' })
        .getByText('enabled it', { exact: false })
        .waitFor();
      await expectAccessible(opened);

      await usage.getByRole('button', { name: 'Hour', exact: true }).click();
      await shows('4 evaluations');
      for (const range of ['7 days', '30 days', '400 days']) {
        await usage.getByRole('button', { name: range }).click();
        await shows('120 evaluations');
        await eventually(async () => expect(await figure.locator('line').count()).toBe(2));
      }

      await page.getByRole('link', { name: 'Flags', exact: true }).first().click();
      // Others' environments have columns too: the usage is shown where there is room.
      await page.setViewportSize({ width: 4_000, height: 900 });
      await page.getByRole('combobox', { name: 'Filter flags' }).fill(flag);
      const sparkline = page
        .getByRole('row', { name: flag })
        .getByRole('img', { name: '120 evaluations in 7 days, 94 % on' });
      await sparkline.waitFor();
      await closeChecked(opened);
    },
  );
});
