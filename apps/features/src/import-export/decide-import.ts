import type { FeatureChange, ImportFeaturesBody, ImportReport } from '@bunting/contracts';
import type { Feature } from '../features/feature.ts';
import type { ImportAuthorship } from './import-export-of-domain-import-authorship.ts';
import type { ImportDestinationState } from './import-destination-state.ts';
import { type ImportEvent, type MissingPermission, missingImportPermissions } from './import-permissions.ts';
import { type ImportPlan, planImport } from './plan-import.ts';
import { partsRequiringChangeRequest } from './parts-requiring-change-request.ts';
import { immediateEvents, splitImport } from './split-import.ts';

/** The stored objects that an import refers to. */
export interface StoredForImport {
  readonly destination: Omit<ImportDestinationState, 'project' | 'environment' | 'features'>;
  /** the features that the file names, and the parents of their dependencies, in any project */
  readonly features: readonly Feature[];
  /** the protected environments of the project */
  readonly protectedEnvironments: readonly string[];
}

/** The edits of an import that require a change request. */
export interface ProposedEdits {
  readonly environment: string;
  readonly changes: readonly FeatureChange[];
}

/** What an import stores directly, what it proposes, and the permissions that the caller lacks for the former. */
export interface ImportDecision extends Pick<ImportPlan, 'contextFields' | 'tagTypes' | 'tags'> {
  readonly added: readonly Feature[];
  readonly changed: readonly Feature[];
  readonly events: readonly ImportEvent[];
  /** undefined if nothing requires a change request */
  readonly proposed: ProposedEdits | undefined;
  readonly missingPermissions: readonly MissingPermission[];
  readonly report: ImportReport;
}

/** Decides on an import. Limits of features and of change requests are checked separately. @throws Refusal as `planImport`. */
export const decideImport = (
  { project, environment, data }: ImportFeaturesBody,
  { destination, features, protectedEnvironments }: StoredForImport,
  authorship: ImportAuthorship,
): ImportDecision => {
  const { caller } = authorship;
  const existing = new Map(features.map((feature) => [feature.name, feature]));
  const plan = planImport(data, { ...destination, project, environment, features: existing }, authorship);
  const protection = partsRequiringChangeRequest(caller, { project, environment }, protectedEnvironments);
  const { immediate, changes } = splitImport(plan.features, existing, protection);
  const events = immediateEvents(plan, immediate);
  const { proposedIn } = protection;
  return {
    contextFields: plan.contextFields,
    tagTypes: plan.tagTypes,
    tags: plan.tags,
    added: immediate.filter(({ isNew }) => isNew).map(({ feature }) => feature),
    changed: immediate.filter(({ isNew }) => !isNew).map(({ feature }) => feature),
    events,
    proposed: proposedIn === undefined || changes.length === 0 ? undefined : { environment: proposedIn, changes },
    missingPermissions: missingImportPermissions(caller, events),
    report: plan.report,
  };
};
