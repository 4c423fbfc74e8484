import { expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import { api, closeChecked, describeInBrowser, openSignedIn } from '../support/browser.ts';

/** A day in a time zone, as in `2026-01-31`. */
function dayIn(timeZone: string, instant: number): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(instant);
}

describeInBrowser('days and times', () => {
  it.each([
    ['Pacific/Kiritimati', 'en-GB'],
    ['America/Los_Angeles', 'en-US'],
  ])('are those of the reader in %s, and written as their browser writes them', async (timeZone, locale) => {
    const name = `day-${randomUUID().slice(0, 8)}`;
    await api('POST', '/api/admin/projects/default/features', { name });
    const today = dayIn(timeZone, Date.now());
    const flags = await openSignedIn(`/flags?q=${encodeURIComponent(`${name} created:>${today}`)}`, {
      timeZone,
      locale,
    });
    await flags.page.getByRole('link', { name }).waitFor();
    await flags.page.getByRole('link', { name }).click();
    const time = flags.page.getByRole('complementary').or(flags.page.getByRole('main')).locator('time[title]').first();
    const title = (await time.getAttribute('title')) ?? '';
    expect(title.includes('AM') || title.includes('PM')).toBe(locale === 'en-US');
    await closeChecked(flags);
  });
});
