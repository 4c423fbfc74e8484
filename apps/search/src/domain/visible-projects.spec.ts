import { expect, it } from '@jest/globals';
import type { Caller, Grant } from '@bunting/contracts';
import { visibleProjects } from './visible-projects.ts';

const caller = (...grants: readonly Grant[]): Caller => ({ id: 7, name: 'mia', grants: [...grants] });

it('who may do something everywhere sees every project', () => {
  expect(visibleProjects(caller({ permission: 'ADMIN' }))).toBeUndefined();
  expect(
    visibleProjects(caller({ permission: 'UPDATE_FEATURE', project: 'shop' }, { permission: 'CREATE_PROJECT' })),
  ).toBeUndefined();
});

it('who may do nothing but read sees every project', () => {
  expect(visibleProjects(caller())).toBeUndefined();
});

it('whose grants hold in some projects only sees those, each once', () => {
  const grants: Grant[] = [
    { permission: 'UPDATE_FEATURE', project: 'shop' },
    { permission: 'DELETE_FEATURE', project: 'shop' },
    { permission: 'UPDATE_FEATURE', project: 'bank', environment: 'production' },
  ];
  expect(visibleProjects(caller(...grants))).toEqual(['shop', 'bank']);
});

it('what an SDK may do opens no project', () => {
  expect(visibleProjects(caller({ permission: 'CLIENT' }))).toEqual([]);
});
