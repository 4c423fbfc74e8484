import type { SchemaStep } from '@bunting/database';

/** How many approvals change requests need at least in an environment, whatever a project says. */
export const requiredApprovals: SchemaStep = {
  name: '2026-11-29-required-approvals',
  statements: [
    'alter table environment add column required_approvals integer check (required_approvals between 1 and 10)',
  ],
};
