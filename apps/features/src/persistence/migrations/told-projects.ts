/**
 * What is told of a project beside its events: who created it, and a version that rises even when the id of a deleted project is taken
 * again.
 */
export const toldProjects = {
  name: '2026-11-26-told-projects',
  statements: ['alter table project add column created_by integer', 'create sequence project_version'],
};
