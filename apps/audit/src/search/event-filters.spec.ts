import type { Caller } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import type { LoggedEvent } from './describe-event.ts';
import { eventVisibilityOf, withoutHiddenProject } from '../domain/event-visibility.ts';

const visibleTo = (caller: Partial<Caller>) => eventVisibilityOf({ id: 1, name: 'kim', grants: [], ...caller });

describe('The visibility of events', () => {
  it('shows an admin the events of all projects and of none', () => {
    expect(visibleTo({ grants: [{ permission: 'ADMIN' }] })).toEqual({ ofNoProject: true, hiddenProjects: [] });
  });

  it('shows other callers all projects and nothing else, whatever their permissions', () => {
    const nothingBeyond = { ofNoProject: false, hiddenProjects: [] };
    expect(visibleTo({})).toEqual(nothingBeyond);
    expect(visibleTo({ grants: [{ permission: 'CREATE_SEGMENT' }] })).toEqual(nothingBeyond);
    expect(visibleTo({ grants: [{ permission: 'ADMIN', project: 'shop' }] })).toEqual(nothingBeyond);
    expect(visibleTo({ grants: [{ permission: 'UPDATE_FEATURE', project: 'shop' }] })).toEqual(nothingBeyond);
  });

  it('shows a segment that left a hidden project without what it was there', () => {
    const moved = {
      type: 'segment-updated',
      project: 'shop',
      data: { name: 'new', project: 'shop' },
      preData: { name: 'secret', project: 'vault' },
    } as unknown as LoggedEvent;
    const seen = withoutHiddenProject(moved, visibleTo({ hiddenProjects: ['vault'] }));
    expect(seen).toEqual({ ...moved, preData: null });
    expect(withoutHiddenProject(moved, visibleTo({ hiddenProjects: ['bank'] }))).toBe(moved);
  });

  it('shows nothing of a project that is hidden', () => {
    expect(visibleTo({ hiddenProjects: ['vault'] })).toEqual({ ofNoProject: false, hiddenProjects: ['vault'] });
  });
});
