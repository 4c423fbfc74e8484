import { type Caller, type FeatureChange, maxChangesPerChangeRequest } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../test/refusal-of.ts';
import { partsRequiringChangeRequest, requireProposable, requireProposalSize } from './decide-import.ts';

const kim: Caller = { id: 3, name: 'kim', grants: [] };
const intoStaging = { project: 'shop', environment: 'staging' };

describe('an import', () => {
  it('is applied directly if no environment of the project is protected', () => {
    const parts = { environment: 'staging', settings: false, dependencies: false, proposedIn: undefined };
    expect(partsRequiringChangeRequest(kim, intoStaging, [])).toEqual(parts);
  });

  it('into a protected environment is proposed there', () => {
    const parts = { environment: 'staging', settings: true, dependencies: true, proposedIn: 'staging' };
    expect(partsRequiringChangeRequest(kim, intoStaging, ['staging', 'production'])).toEqual(parts);
  });

  it('proposes dependencies, which every environment shares, in another environment that is protected', () => {
    const parts = { environment: 'staging', settings: false, dependencies: true, proposedIn: 'production' };
    expect(partsRequiringChangeRequest(kim, intoStaging, ['production'])).toEqual(parts);
  });

  it('of a caller who may skip change requests is applied directly', () => {
    const skipper: Caller = { ...kim, grants: [{ permission: 'SKIP_CHANGE_REQUEST', project: 'shop' }] };
    expect(partsRequiringChangeRequest(skipper, intoStaging, ['staging'])).toMatchObject({
      settings: false,
      dependencies: false,
    });
  });
});

describe('the change request of an import', () => {
  const change: FeatureChange = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
  const tooMany = Array.from({ length: maxChangesPerChangeRequest + 1 }, () => change);
  const outsider: Caller = { ...kim, proposalDeniedProjects: ['shop'] };

  it('has no more changes than any other change request', () => {
    expect(refusalOf(() => requireProposable(kim, 'shop', tooMany)).kind).toBe('ExceedsLimitError');
    expect(() => requireProposable(kim, 'shop', tooMany.slice(1))).not.toThrow();
  });

  it('has at most 8 MB, which fits into one message of the bus', () => {
    const limit = 8 * 1024 * 1024;
    expect(() => requireProposalSize(limit)).not.toThrow();
    expect(refusalOf(() => requireProposalSize(limit + 1)).kind).toBe('ExceedsLimitError');
  });

  it('is refused if the caller may not propose changes to the project', () => {
    expect(refusalOf(() => requireProposable(outsider, 'shop', [change])).kind).toBe('NoAccessError');
  });
});
