import { implement } from '@bunting/bus';
import {
  type ErrorDetail,
  type ExportedFeatures,
  type FeatureChange,
  type ImportValidation,
  Refusal,
  ValidateImport,
} from '@bunting/contracts';
import { type MissingPermission, missingImportPermissions } from '../../domain/import/import-permissions.ts';
import { fileReferences, planImport } from '../../domain/import/plan-import.ts';
import { protectedParts, requireProposable } from '../../domain/import/protected-parts.ts';
import { immediateEvents, splitImport } from '../../domain/import/split-import.ts';
import { activeProjectNotFound } from '../../domain/refusals.ts';
import { authorise } from '../authorise.ts';
import { importerOf } from './import-features.ts';
import { requireBelowLimits } from '../features/require-below-limits.ts';
import type { FeaturesContext } from '../context.ts';

type ValidationItem = ImportValidation['errors'][number];

/** The name of the feature, segment or context field in the file that an error's path points to. */
const affectedBy = (data: ExportedFeatures, path = ''): string[] => {
  const [, list = '', index = ''] = /^\/body\/data\/(\w+)\/(\d+)/.exec(path) ?? [];
  const items = (data as Readonly<Record<string, unknown>>)[list];
  const item: unknown = Array.isArray(items) ? items[Number(index)] : undefined;
  if (typeof item !== 'object' || item === null) return [];
  const { featureName, feature, name } = item as Readonly<Record<string, unknown>>;
  const found = featureName ?? feature ?? name;
  return typeof found === 'string' ? [found] : [];
};

const errorsOf = (data: ExportedFeatures, { message, details }: Refusal): ValidationItem[] => {
  const faults: readonly ErrorDetail[] = details.length > 0 ? details : [{ message }];
  return faults.map((fault) => ({ message: fault.message, affectedItems: affectedBy(data, fault.path) }));
};

const warningsOf = (skipped: readonly { readonly feature: string; readonly reason: string }[]): ValidationItem[] =>
  [...Map.groupBy(skipped, ({ reason }) => reason)].map(([message, left]) => ({
    message,
    affectedItems: left.map(({ feature }) => feature),
  }));

const permissionItems = (missing: readonly MissingPermission[]): ValidationItem[] => {
  if (missing.length === 0) return [];
  const affectedItems = missing.map(({ permission }) => permission);
  return [{ message: 'The import takes permissions that the caller does not have', affectedItems }];
};

const proposalItems = (changes: readonly FeatureChange[], environment: string | undefined): ValidationItem[] => {
  if (environment === undefined || changes.length === 0) return [];
  const message = `What takes a change request in the environment ${environment} will be proposed in one, and sent to review`;
  return [{ message, affectedItems: [...new Set(changes.map(({ feature }) => feature))] }];
};

/** Plans an import without storing anything. */
export const validateImportEndpoint = ({ transaction, instanceFeatureLimit }: FeaturesContext) =>
  implement(ValidateImport, (request) =>
    transaction(request, async (tx): Promise<ImportValidation> => {
      const { body, caller, now } = request;
      const { project, environment, data } = body;
      authorise(caller, ValidateImport.permission, { project });
      const referenced = fileReferences(data);
      const features = await tx.features.findWithParents(referenced.features);
      const found = await tx.importDestinations.find(project, referenced);
      if (found === undefined) throw activeProjectNotFound(project);
      const existing = new Map(features.map((feature) => [feature.name, feature]));
      const protection = protectedParts(caller, body, await tx.protection.protectedOf(project));
      try {
        const plan = planImport(data, { ...found, project, environment, features: existing }, importerOf(caller, now));
        const split = splitImport(plan.features, existing, protection);
        requireProposable(caller, project, split.changes);
        const adding = plan.report.created;
        if (adding > 0)
          await requireBelowLimits(tx, {
            project,
            projectFeatureLimit: found.featureLimit,
            instanceFeatureLimit,
            adding,
          });
        return {
          errors: [],
          warnings: [
            ...warningsOf([...plan.report.skipped, ...split.skipped]),
            ...proposalItems(split.changes, protection.proposedIn),
          ],
          permissions: permissionItems(missingImportPermissions(caller, immediateEvents(plan, split.immediate))),
        };
      } catch (error) {
        if (!(error instanceof Refusal) || error.kind === 'ServiceUnavailable') throw error;
        return { errors: errorsOf(data, error), warnings: [], permissions: [] };
      }
    }),
  );
