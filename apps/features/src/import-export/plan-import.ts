import { environmentNotInProject, type ExportedFeatures, type ImportReport, type Tag } from '@bunting/contracts';
import type { Decision } from '../features/feature.ts';
import type { StoredContextField } from '../context-fields/context-field.ts';
import { tagCreated } from '../tags/tag.ts';
import type { StoredTagType } from '../tags/tag-type.ts';
import { hasEnvironment, type SegmentReference } from '../projects/project-context.ts';
import { newContextFields, newTags, newTagTypes } from './new-context-fields-and-tags.ts';
import type { ImportAuthorship } from './import-export-of-domain-import-authorship.ts';
import type { ImportDestinationState } from './import-destination-state.ts';
import { checkDependencies } from './check-dependencies.ts';
import { ImportErrors } from './import-errors.ts';
import type { ImportEvent, ImportEventType } from './import-permissions.ts';
import { planFeature } from './plan-feature.ts';
import { parseImportFile } from './parse-import-file.ts';

/** A feature that is new or that changes. */
export interface PlannedFeature extends Decision<ImportEventType> {
  readonly isNew: boolean;
}

/** The plan of an import, which is applied completely or not at all. */
export interface ImportPlan {
  readonly contextFields: readonly StoredContextField[];
  readonly tagTypes: readonly StoredTagType[];
  /** the tags that the catalogue of tags does not have yet */
  readonly tags: readonly Tag[];
  /** the features that are new or change */
  readonly features: readonly PlannedFeature[];
  /** all events in order, also those of the features */
  readonly events: readonly ImportEvent[];
  readonly report: ImportReport;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/**
 * Plans the import of features from an export. Refuses an incomplete file, and references to objects that exist neither in this instance
 * nor in the file, with all of its errors: a lost constraint or segment would enable a feature for more users. Unchanged objects emit no
 * events.
 */
export const planImport = (
  data: ExportedFeatures,
  destination: ImportDestinationState,
  authorship: ImportAuthorship,
): ImportPlan => {
  const { project, environment, projectContext, features, tagTypes } = destination;
  const errors = new ImportErrors();
  if (!hasEnvironment(projectContext, environment)) {
    errors.add(environmentNotInProject(environment, project).message, '/body/environment');
  }
  const content = parseImportFile(data, features, errors);
  const addedFields = newContextFields(content, projectContext.contextFields, errors);
  const addedTypes = newTagTypes(content, tagTypes, errors);
  const addedTags = newTags(content, destination.tags);
  const segmentsByName = new Map<string, SegmentReference>();
  for (const segment of projectContext.segments.values()) segmentsByName.set(segment.name, segment);

  const context = {
    ...authorship,
    destination,
    content,
    errors,
    segmentsByName,
    tagTypes: new Set([...tagTypes, ...content.tagTypes.keys()]),
    projectContext: {
      ...projectContext,
      contextFields: new Map([
        // An invalid context field is reported once, not as missing as well.
        ...[...content.contextFields.keys()].map((name) => [name, { legalValues: [] }] as const),
        ...addedFields.map(({ field }) => [field.name, field] as const),
        ...projectContext.contextFields,
      ]),
    },
    assignedIds: new Set<string>(),
  };
  const plans = [...content.entries.values()].map((entry) => planFeature(entry, context));
  checkDependencies(plans, context);
  errors.throwIfAny();

  const changed = plans.filter((plan) => plan.outcome !== 'unchanged');
  const events: ImportEvent[] = [
    ...addedFields.flatMap((decision) => decision.events),
    ...addedTypes.flatMap((decision) => decision.events),
    ...addedTags.map(tagCreated),
    ...changed.flatMap((plan) => plan.events),
  ];
  if (events.length > 0) events.push({ type: 'features-imported', project, environment });
  const countOutcome = (outcome: string): number => plans.filter((plan) => plan.outcome === outcome).length;
  return {
    contextFields: addedFields.map(({ field }) => field),
    tagTypes: addedTypes.map(({ type }) => type),
    tags: addedTags,
    features: changed.map((plan) => ({
      feature: plan.feature,
      events: plan.events,
      isNew: plan.outcome === 'created',
    })),
    events,
    report: {
      created: countOutcome('created'),
      updated: countOutcome('updated'),
      unchanged: countOutcome('unchanged'),
      strategies: sum(plans.map((plan) => plan.strategies)),
      tags: sum(plans.map((plan) => plan.tags)),
      tagTypes: addedTypes.length,
      contextFields: addedFields.length,
      dependencies: sum(plans.map((plan) => plan.dependencies)),
      skipped: [...content.skipped, ...plans.flatMap((plan) => plan.skipped)],
    },
  };
};
