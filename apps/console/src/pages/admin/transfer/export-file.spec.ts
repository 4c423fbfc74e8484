import { describe, expect, it } from 'vitest';
import { exportedCounts, parseExport } from './export-file.ts';

const exported = { features: [{ name: 'a' }], featureStrategies: [], tagTypes: [], featureTags: [] };

describe('the text of an export', () => {
  it('is read, and what it has is counted', () => {
    const read = parseExport(JSON.stringify(exported));
    expect(read).toEqual({ kind: 'export', data: exported });
    expect(read.kind === 'export' && exportedCounts(read.data)).toEqual(['1 flag']);
  });

  it.each([
    ['{"features": [', /not JSON/],
    ['[]', /features/],
    ['null', /features/],
    ['{"features": []}', /featureStrategies, tagTypes/],
    ['{"features": {}, "featureStrategies": [], "tagTypes": []}', /features/],
    [`"${'x'.repeat(11_000_000)}"`, /npm run import/],
  ])('is refused with the reason: %.30s', (text, reason) => {
    expect(parseExport(text, 10_485_760)).toEqual({ kind: 'fault', message: expect.stringMatching(reason) as unknown });
  });
});
