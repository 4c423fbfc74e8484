import type { SchemaStep } from '@bunting/database';

/** What became of applying change requests: the answer of the latest attempt, and of all that come after it was applied. */
export const appliedChangeRequests: SchemaStep = {
  name: '2026-11-22-applied-change-requests',
  statements: [
    `create table applied_change_request (
      id bigint primary key,
      attempt integer not null,
      result json
    )`,
  ],
};

/** Which request an answer is for: its id alone may be given again after the change requests service was restored. */
export const identifiedRequests: SchemaStep = {
  name: '2026-12-01-identified-requests',
  statements: ['alter table applied_change_request add column uid uuid, add column content text'],
};

/** Where edits take a change request, as the change requests service has said. */
export const protectedEnvironments: SchemaStep = {
  name: '2026-11-22-protected-environments',
  statements: [
    `create table protected_environment (
      project text not null,
      environment text not null,
      is_protected boolean not null,
      version bigint not null,
      primary key (project, environment)
    )`,
  ],
};
