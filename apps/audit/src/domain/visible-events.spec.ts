import type { Caller } from '@bunting/contracts';
import { describe, expect, it } from '@jest/globals';
import { visibleEvents } from './visible-events.ts';

const visibleTo = (caller: Partial<Caller>) => visibleEvents({ id: 1, name: 'kim', grants: [], ...caller });

describe('The visibility of events', () => {
  it('shows an admin everything', () => {
    expect(visibleTo({ grants: [{ permission: 'ADMIN' }] })).toEqual({ ofNoProject: true, hiddenProjects: [] });
  });

  it('shows other callers all projects and nothing else, whatever their permissions', () => {
    const nothingBeyond = { ofNoProject: false, hiddenProjects: [] };
    expect(visibleTo({})).toEqual(nothingBeyond);
    expect(visibleTo({ grants: [{ permission: 'CREATE_SEGMENT' }] })).toEqual(nothingBeyond);
    expect(visibleTo({ grants: [{ permission: 'ADMIN', project: 'shop' }] })).toEqual(nothingBeyond);
    expect(visibleTo({ grants: [{ permission: 'UPDATE_FEATURE', project: 'shop' }] })).toEqual(nothingBeyond);
  });

  it('shows nothing of a project that is hidden', () => {
    expect(visibleTo({ hiddenProjects: ['vault'] })).toEqual({ ofNoProject: false, hiddenProjects: ['vault'] });
  });
});
