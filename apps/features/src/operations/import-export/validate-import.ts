import { implement } from '@bunting/bus';
import {
  authorise,
  type ErrorDetail,
  type ExportedFeatures,
  type ImportValidation,
  Refusal,
  ValidateImport,
} from '@bunting/contracts';
import { decideImport, type ProposedEdits } from '../../domain/import-export/decide-import.ts';
import type { MissingPermission } from '../../domain/import-export/import-permissions.ts';
import { fileReferences } from '../../domain/import-export/parse-import-file.ts';
import { importAuthorshipOf } from './import-authorship.ts';
import { requireLimitsAndProposable } from './require-limits-and-proposable.ts';
import type { FeaturesContext } from '../context.ts';

type ValidationItem = ImportValidation['errors'][number];

/**
 * The name of the feature, segment or context field in the file to which the path of an error points, as a list; empty if there is none.
 */
const affectedItemsAt = (data: ExportedFeatures, path = ''): string[] => {
  const [, list = '', index = ''] = /^\/body\/data\/(\w+)\/(\d+)/.exec(path) ?? [];
  const items = (data as Readonly<Record<string, unknown>>)[list];
  const item: unknown = Array.isArray(items) ? items[Number(index)] : undefined;
  if (typeof item !== 'object' || item === null) return [];
  const { featureName, feature, name } = item as Readonly<Record<string, unknown>>;
  const affected = featureName ?? feature ?? name;
  return typeof affected === 'string' ? [affected] : [];
};

const errorsOf = (data: ExportedFeatures, { message, details }: Refusal): ValidationItem[] => {
  const faults: readonly ErrorDetail[] = details.length > 0 ? details : [{ message }];
  return faults.map((fault) => ({ message: fault.message, affectedItems: affectedItemsAt(data, fault.path) }));
};

const warningsOf = (skipped: readonly { readonly feature: string; readonly reason: string }[]): ValidationItem[] =>
  [...Map.groupBy(skipped, ({ reason }) => reason)].map(([message, features]) => ({
    message,
    affectedItems: features.map(({ feature }) => feature),
  }));

const permissionItems = (missing: readonly MissingPermission[]): ValidationItem[] => {
  if (missing.length === 0) return [];
  const affectedItems = missing.map(({ permission }) => permission);
  return [{ message: 'The import takes permissions that the caller does not have', affectedItems }];
};

const proposalItems = (proposed: ProposedEdits | undefined): ValidationItem[] => {
  if (proposed === undefined) return [];
  const { environment, changes } = proposed;
  const message = `What takes a change request in the environment ${environment} will be proposed in one, and sent to review`;
  return [{ message, affectedItems: [...new Set(changes.map(({ feature }) => feature))] }];
};

/** Plans an import without storing anything. */
export const validateImportEndpoint = ({ transaction, instanceFeatureLimit }: FeaturesContext) =>
  implement(ValidateImport, (request) =>
    transaction(request, async (tx): Promise<ImportValidation> => {
      const { body, caller } = request;
      const { project, data } = body;
      authorise(caller, ValidateImport.permission, { project });
      const references = fileReferences(data);
      const features = await tx.features.findWithParents(references.features);
      const destination = await tx.importDestinations.get(project, references);
      const protectedEnvironments = await tx.protectionCopy.protectedEnvironmentsOf(project);
      try {
        const decision = decideImport(
          body,
          { destination, features, protectedEnvironments },
          importAuthorshipOf(request),
        );
        await requireLimitsAndProposable(tx, request, decision, {
          projectFeatureLimit: destination.featureLimit,
          instanceFeatureLimit,
        });
        return {
          errors: [],
          warnings: [...warningsOf(decision.report.skipped), ...proposalItems(decision.proposed)],
          permissions: permissionItems(decision.missingPermissions),
        };
      } catch (error) {
        if (!(error instanceof Refusal) || error.kind === 'ServiceUnavailable') throw error;
        return { errors: errorsOf(data, error), warnings: [], permissions: [] };
      }
    }),
  );
