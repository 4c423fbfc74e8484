import { describe, expect, it } from 'vitest';
import { noon } from '../../test/builders.ts';
import { parseScheduledAt, requireFuture } from './commands.ts';

describe('the time of a schedule', () => {
  it('is stored in UTC', () => {
    expect(parseScheduledAt('2026-11-21T13:00:00+01:00')).toBe(noon);
  });

  it.each([
    [
      'that is missing',
      undefined,
      'The `/body/scheduledAt` property is required. It was not present on the data you sent.',
    ],
    [
      'that does not exist',
      '2026-02-30T25:00:00Z',
      'The `/body/scheduledAt` property must be a date and time that exists.',
    ],
  ])('is refused with its property: one %s', (_, text, message) => {
    expect(() => parseScheduledAt(text)).toThrow(message);
  });

  it.each([
    ['later than now', -1, undefined],
    ['now', 0, `The \`/body/scheduledAt\` property must be in the future. You provided "${noon}".`],
    ['earlier than now', 1, `The \`/body/scheduledAt\` property must be in the future. You provided "${noon}".`],
  ])('must be in the future: %s', (_, sinceMs, message) => {
    const check = () => requireFuture(noon, new Date(Date.parse(noon) + sinceMs));
    if (message === undefined) expect(check).not.toThrow();
    else expect(check).toThrow(message);
  });
});
