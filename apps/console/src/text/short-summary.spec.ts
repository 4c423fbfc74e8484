import { describe, expect, it } from 'vitest';
import { shortSummary } from './short-summary.ts';

describe('the summary of an event', () => {
  const added =
    '**ada** added strategy **flexibleRollout** to *[shop.pay](/x)* for the **production** environment in project *[Shop](/p)*';

  it('leaves out what the page is about', () => {
    expect(shortSummary(added, {})).toBe(
      '**ada** added strategy **flexibleRollout** to *shop.pay* for the **production** environment',
    );
    expect(shortSummary(added, { feature: 'shop.pay' })).toBe(
      '**ada** added strategy **flexibleRollout** for the **production** environment',
    );
    expect(shortSummary(added, { feature: 'shop.pay', environment: 'production' })).toBe(
      '**ada** added strategy **flexibleRollout**',
    );
    expect(shortSummary(added, { environment: 'production', projectName: 'The_shop' })).toBe(
      '**ada** added strategy **flexibleRollout** to *shop.pay* in project **The\\_shop**',
    );
    const enabled = '**ada** enabled *[shop.pay](/x)* for the **production** environment in project *[Shop](/p)*';
    expect(shortSummary(enabled, { feature: 'shop.pay', environment: 'production' })).toBe('**ada** enabled it');
  });

  it('keeps what only looks like it, and names with signs of Markdown', () => {
    expect(shortSummary(added, { feature: 'shopXpay', environment: 'prod' })).toContain('to *shop.pay* for the');
    expect(shortSummary('**ada** enabled *a\\_b*', { feature: 'a_b' })).toBe('**ada** enabled it');
  });
});
