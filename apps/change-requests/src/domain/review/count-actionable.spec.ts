import { describe, expect, it } from 'vitest';
import { countActionable } from './count-actionable.ts';
import { noRoles } from '../../reviews/request-roles.ts';
import { statesToApply, statesToReview } from '../../states/state-machine.ts';

const others = { environment: 'production', own: false, affectsAll: false, toReview: 2, toApply: 10 };
const own = { ...others, own: true };

describe('the requests that a caller can act on', () => {
  it.each([
    ['nothing without a role', others, {}, 0],
    ['those to review, for a reviewer', others, { reviewer: true }, 2],
    ['none of their own to review, for a reviewer', own, { reviewer: true, author: true }, 0],
    ['those to apply, for an applier, own or not', own, { applier: true, author: true }, 10],
    ['all, for an administrator who may review', own, { author: true, mayReviewAsAdmin: true }, 12],
    ['all, for a reviewer who may apply', others, { reviewer: true, applier: true }, 12],
  ])('are %s', (_rule, counted, roles, total) => {
    expect(countActionable([counted], () => ({ ...noRoles, ...roles }))).toBe(total);
  });

  it('are not those for which the permission is missing in an environment that they affect', () => {
    const missing = { approve: 'staging', apply: 'staging' };
    const roles = { ...noRoles, reviewer: true, applier: true, missing };
    expect(
      countActionable([others, { ...others, affectsAll: true }], ({ affectsAll }) =>
        affectsAll ? roles : { ...roles, missing: noRoles.missing },
      ),
    ).toBe(12);
  });

  it('are summed over environments, each with the roles that the caller has there', () => {
    const counts = [others, { ...others, environment: 'development' }];
    const rolesFor = ({ environment }: typeof others) => ({ ...noRoles, reviewer: environment === 'production' });
    expect(countActionable(counts, rolesFor)).toBe(2);
  });

  it('are in review, or approved or scheduled', () => {
    expect(statesToReview).toEqual(['In review']);
    expect(statesToApply).toEqual(['Approved', 'Scheduled']);
  });
});
