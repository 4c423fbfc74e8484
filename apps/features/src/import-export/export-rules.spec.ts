import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../test/refusal-of.ts';
import { featuresExported, requireExportFilter } from './import-file.ts';

const environment = 'production';

describe('an export', () => {
  it.each([{ features: ['checkout'] }, { features: [] }, { tag: 'pay' }, { project: 'shop' }])(
    'says by %j which features',
    (filter) => {
      expect(() => requireExportFilter({ environment, ...filter })).not.toThrow();
    },
  );

  it('is refused if it does not say which features', () => {
    expect(refusalOf(() => requireExportFilter({ environment })).details).toMatchObject([{ path: '/body/features' }]);
  });

  it('emits the names of the features, without their content', () => {
    expect(featuresExported({ environment, project: 'shop' }, ['cart', 'checkout'])).toEqual({
      type: 'features-exported',
      data: { environment, tag: null, project: 'shop', features: ['cart', 'checkout'] },
    });
  });
});
