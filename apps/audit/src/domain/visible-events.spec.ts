import type { Caller } from '@bunting/contracts';
import { describe, expect, it } from '@jest/globals';
import { visibleEvents } from './visible-events.ts';

const visibleTo = (...grants: Caller['grants']) => visibleEvents({ id: 1, name: 'kim', grants });

describe('Who may see which events', () => {
  it('shows an admin everything', () => {
    expect(visibleTo({ permission: 'ADMIN' })).toBe('all');
  });

  it('shows everything to whose grant holds everywhere, whatever else is granted in a project', () => {
    expect(visibleTo({ permission: 'CREATE_PROJECT' }, { permission: 'UPDATE_FEATURE', project: 'shop' })).toBe('all');
  });

  it('shows every project, and nothing beyond, to who may only read', () => {
    expect(visibleTo()).toBe('of-any-project');
  });

  it('shows every project, and nothing beyond, to whose grant holds in one environment of all projects', () => {
    expect(visibleTo({ permission: 'UPDATE_FEATURE_STRATEGY', environment: 'development' })).toBe('of-any-project');
  });

  it('shows only their projects to whose grants all hold in projects, an admin of one among them', () => {
    expect(
      visibleTo(
        { permission: 'ADMIN', project: 'shop' },
        { permission: 'UPDATE_FEATURE', project: 'shop' },
        { permission: 'UPDATE_FEATURE_STRATEGY', project: 'bank', environment: 'production' },
      ),
    ).toEqual({ projects: ['shop', 'bank'] });
  });

  it('shows nothing to an SDK', () => {
    expect(visibleTo({ permission: 'CLIENT' }, { permission: 'FRONTEND', project: 'shop' })).toEqual({ projects: [] });
  });
});
