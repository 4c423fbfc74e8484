import { idempotencyTables, outboxTables } from '@bunting/outbox';
import { applications } from './applications.ts';
import { appliedChangeRequests, identifiedRequests, protectedEnvironments } from './applied-changes.ts';
import { archivedFeatures } from './archived-features.ts';
import { deletedProjects } from './deleted-projects.ts';
import { deletedFeatures } from './deleted-features.ts';
import { editions } from './editions.ts';
import { everyProjectTold } from './every-project-told.ts';
import { featureLinks } from './feature-links.ts';
import { freshInstall } from './fresh-install.ts';
import { importProposals } from './import-proposals.ts';
import { productionTime } from './production-time.ts';
import { requiredApprovals } from './required-approvals.ts';
import { settings } from './settings.ts';
import { sunsetType } from './sunset-type.ts';
import { toldProjects } from './told-projects.ts';
import { tables } from './tables.ts';
import { usage } from './usage.ts';

/** The steps of the schema, in their order. */
export const steps = [
  tables,
  freshInstall,
  appliedChangeRequests,
  protectedEnvironments,
  usage,
  applications,
  settings,
  deletedFeatures,
  toldProjects,
  deletedProjects,
  idempotencyTables,
  archivedFeatures,
  editions,
  outboxTables,
  everyProjectTold,
  importProposals,
  requiredApprovals,
  sunsetType,
  featureLinks,
  productionTime,
  identifiedRequests,
];
