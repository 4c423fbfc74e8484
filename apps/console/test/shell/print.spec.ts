import { eventually } from '@bunting/testing';
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import { api, closeChecked, describeInBrowser, openSignedIn } from '../support/browser.ts';

const flag = `print.${randomUUID().slice(0, 8)}`;
const base = '/api/admin/projects/default';

describeInBrowser('what is printed', () => {
  let request: number;
  beforeAll(async () => {
    await api('POST', `${base}/features`, { name: flag });
    const change = { action: 'updateEnabled', feature: flag, payload: { enabled: true } };
    const { id } = (await api('POST', `${base}/environments/development/change-requests`, [change])) as {
      readonly id: number;
    };
    request = id;
  });

  it.each([
    ['a flag', () => `/projects/default/features/${flag}`],
    ['a change request', () => `/projects/default/change-requests/${request}`],
    ['the event log', () => `/events?q=${encodeURIComponent(`feature:${flag}`)}`],
  ])('has dates with their zone for how long ago something was: of %s', async (_, pathOf) => {
    const opened = await openSignedIn(pathOf(), { timeZone: 'Asia/Kolkata' });
    const { page } = opened;
    const times = page.getByRole('main').locator('time');
    await times.first().waitFor();
    const printed = () =>
      times.evaluateAll((all) =>
        all.map((time) => [getComputedStyle(time).fontSize, getComputedStyle(time, '::after').content] as const),
      );
    await page.emulateMedia({ media: 'print' });
    // Parts of the page come later.
    await eventually(async () => {
      await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
      for (const [sizeOfOther, content] of await printed()) {
        expect(sizeOfOther).toBe('0px');
        expect(content).toMatch(/\d{4}.*GMT\+5:30/);
      }
    });
    await page.emulateMedia({ media: 'screen' });
    expect(new Set((await printed()).map(([, content]) => content))).toEqual(new Set(['none']));
    await closeChecked(opened);
  });
});
