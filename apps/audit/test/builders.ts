import type { Caller, OutboxEvent } from '@bunting/contracts';
import type { LoggedEvent } from '../src/search/describe-event.ts';

export const mia: Caller = { id: 1, name: 'mia@example.com', grants: [{ permission: 'ADMIN' }] };

/** A caller who may only read. */
export const lee: Caller = { id: 2, name: 'lee@example.com', grants: [] };

/** A caller who may only read, and from whom these projects are hidden. */
export function callerWithHiddenProjects(...hiddenProjects: string[]): Caller {
  return {
    id: 3,
    name: 'kim',
    grants: [],
    hiddenProjects,
  };
}

/** An event of a producer: by default mia created the feature `banner` in the project `shop`. */
export function anEvent(overrides: Partial<OutboxEvent> = {}): OutboxEvent {
  return {
    type: 'feature-created',
    createdAt: '2026-11-21T08:00:00.000Z',
    createdBy: mia.name,
    createdByUserId: mia.id,
    project: 'shop',
    environment: null,
    featureName: 'banner',
    data: null,
    preData: null,
    tags: [],
    ...overrides,
  };
}

/** An event as the log stores it. */
export function aLoggedEvent(overrides: Partial<LoggedEvent> = {}): LoggedEvent {
  return {
    ...(anEvent() as Omit<LoggedEvent, 'id'>),
    id: 1,
    ...overrides,
  };
}
