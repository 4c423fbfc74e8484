import {
  CreateContextFieldBody,
  environmentNotInProject,
  type ExportedFeatures,
  type ImportReport,
  maySee,
  type Tag,
  TagTypeBody,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import {
  type ContextFieldDecision,
  newContextField,
  type StoredContextField,
} from '../context-fields/context-field.ts';
import { dependencyFault } from '../dependencies/dependency.ts';
import type { Decision } from '../features/feature.ts';
import { hasEnvironment, type ProjectContext, type SegmentReference } from '../projects/project-context.ts';
import { shortName } from '../refusals.ts';
import { newTagType, type StoredTagType, tagCreated, type TagTypeDecision } from '../tags/tag.ts';
import type { ImportAuthorship, ImportDestinationState, ImportEvent, ImportEventType } from './import-context.ts';
import { type FileContent, ImportErrors, parseImportFile } from './import-file.ts';
import { type FeaturePlan, type PlanContext, planFeature } from './plan-feature.ts';

/** Checks the dependencies that features would have after the import, and collects the errors. */
function checkDependencies(plans: readonly FeaturePlan[], { destination, caller, errors }: PlanContext): void {
  const planned = new Map(plans.map(({ feature }) => [feature.name, feature]));
  const children = new Map<string, string[]>();
  for (const { feature } of plans) {
    for (const parent of feature.dependencies) {
      const siblings = children.get(parent.feature);
      if (siblings === undefined) children.set(parent.feature, [feature.name]);
      else siblings.push(feature.name);
    }
  }
  for (const { feature, entry } of plans) {
    const dependenciesInFile = entry.dependencies;
    if (dependenciesInFile === undefined) continue;
    const parents = new Set<string>();
    const otherChildren = (destination.children.get(feature.name) ?? []).filter((child) => !planned.has(child));
    for (const [index, { feature: name }] of dependenciesInFile.value.dependencies.entries()) {
      const path = `${dependenciesInFile.path}/dependencies/${index}/feature`;
      if (parents.has(name)) errors.add(`"${shortName(feature.name)}" depends on "${shortName(name)}" twice`, path);
      parents.add(name);
      const parent = planned.get(name) ?? destination.features.get(name);
      if (parent === undefined || parent.archivedAt !== null || !maySee(caller, parent.project)) {
        errors.addMissing(`Active feature "${shortName(name)}"`, path, feature.name);
        continue;
      }
      const context = { parent, children: [...otherChildren, ...(children.get(feature.name) ?? [])] };
      const fault = dependencyFault(feature, name, context);
      if (fault !== undefined) errors.add(fault.message.replace(/\.$/, ''), path);
    }
  }
}

/** The context fields that the file defines and this instance lacks, validated like those of requests. */
function newContextFields(
  { contextFields }: FileContent,
  known: ProjectContext['contextFields'],
  errors: ImportErrors,
): ContextFieldDecision<'context-field-created'>[] {
  return [...contextFields.values()].flatMap(({ value: { sortOrder = 0, ...field }, path }) => {
    if (known.has(field.name)) return [];
    return (
      errors.capture(() => {
        const body = parse(CreateContextFieldBody, field, path);
        // Sort orders in files may be fractions or negative, those in requests may not.
        return newContextField({ ...body, sortOrder: Math.trunc(sortOrder) }, path);
      }) ?? []
    );
  });
}

/** The tag types that the file defines and this instance lacks, validated like those of requests. */
function newTagTypes(
  { tagTypes }: FileContent,
  known: ReadonlySet<string>,
  errors: ImportErrors,
): TagTypeDecision<'tag-type-created'>[] {
  return [...tagTypes.values()].flatMap(({ value, path }) => {
    if (known.has(value.name)) return [];
    return errors.capture(() => newTagType(parse(TagTypeBody, value, path), path)) ?? [];
  });
}

/** The tags of the file that the catalogue of tags lacks, each once. @param known the tags of the file that it has */
function newTags({ entries }: FileContent, known: readonly Tag[]): Tag[] {
  const keyOf = ({ type, value }: Tag): string => JSON.stringify([type, value]);
  const knownKeys = new Set(known.map(keyOf));
  const added: Tag[] = [];
  for (const { tags } of entries.values()) {
    for (const { value } of tags) {
      if (knownKeys.has(keyOf(value))) continue;
      knownKeys.add(keyOf(value));
      added.push({ type: value.type, value: value.value });
    }
  }
  return added;
}

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

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/**
 * Plans the import of features from an export. Refuses an incomplete file, and references to objects that exist neither in this instance
 * nor in the file, with all of its errors: a lost constraint or segment would enable a feature for more users. Unchanged objects emit no
 * events.
 */
export function planImport(
  data: ExportedFeatures,
  destination: ImportDestinationState,
  authorship: ImportAuthorship,
): ImportPlan {
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
}
