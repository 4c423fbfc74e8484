import { type Endpoint, implement, JsonText, onBehalfOf, type OperationRequest, writes } from '@bunting/bus';
import {
  authorise,
  type ErrorDetail,
  type ExportedFeatures,
  ExportFeatures,
  ImportFeatures,
  type ImportReport,
  type ImportValidation,
  noAccess,
  Refusal,
  ValidateImport,
} from '@bunting/contracts';
import { decideImport, type ProposedEdits } from './decide-import.ts';
import { featuresExported, requireExportFilter } from './export-rules.ts';
import type { MissingPermission } from './import-permissions.ts';
import { fileReferences } from './parse-import-file.ts';
import { unknownEnvironment } from '../refusals.ts';
import type { FeaturesContext } from '../context.ts';
import { importAuthorshipOf } from './import-authorship.ts';
import { requireLimitsAndProposable } from './require-limits-and-proposable.ts';
import { type ImportProposalSummary, storeImportProposal } from './store-import-proposal.ts';
import { saveChangedFeatures } from '../unit-of-work/save-decisions.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';

export function importExportEndpoints({
  transaction,
  instanceFeatureLimit,
  submitImportProposal,
}: FeaturesContext): readonly Endpoint[] {
  return [
    /** Plans an import without storing anything. */
    writes(ValidateImport, transaction, async (tx, request) => {
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

    writes(ExportFeatures, transaction, async ({ readFeatureExport, recordEvents }, { body, caller }) => {
      requireExportFilter(body);
      const exported = await readFeatureExport(body, hiddenProjectsOf(caller));
      if (exported === undefined) throw unknownEnvironment(body.environment, '/body/environment');
      recordEvents([featuresExported(body, exported.names)]);
      return new JsonText(exported.json);
    }),

    /**
     * Imports features from an export, all or none. Edits that require a change request are stored as a proposal in the same transaction. The
     * proposal is submitted after the commit, or by housekeeping if that fails.
     */
    implement(ImportFeatures, (request) => {
      const submit = ({ importId }: ImportProposalSummary): Promise<number | undefined> => {
        const context = onBehalfOf(request);
        const timeoutMs = Math.min(maxSubmitTimeoutMs, context.timeoutMs);
        return submitImportProposal(importId, { ...context, timeoutMs }).catch((error: unknown) => {
          if (error instanceof Refusal) return undefined;
          throw error;
        });
      };
      return transaction.commitThenReply(
        request,
        (tx) => importOnce(tx, request, instanceFeatureLimit),
        async ({ report, proposed }): Promise<ImportReport> => {
          if (proposed === undefined) return report;
          const { environment, changes } = proposed;
          const id = await submit(proposed);
          return { ...report, changeRequest: { ...(id === undefined ? {} : { id }), environment, changes } };
        },
      );
    }),
  ];
}

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

/** The result of an import's transaction. */
interface ImportResult {
  readonly report: ImportReport;
  readonly proposed?: ImportProposalSummary;
}

const maxSubmitTimeoutMs = 10_000;

const importOnce = async (
  tx: Transaction,
  request: OperationRequest<typeof ImportFeatures>,
  instanceFeatureLimit: number | undefined,
): Promise<ImportResult> => {
  const { body, caller } = request;
  const { project, data } = body;
  authorise(caller, ImportFeatures.permission, { project });
  await tx.projects.lockShared({ project });
  await tx.importDestinations.lockImports();
  const references = fileReferences(data);
  // Features of other projects are read without locks, so that imports do not block edits of other projects.
  const ownFeatures = await tx.features.findWithParentsForUpdate(references.features, project);
  const features = [...ownFeatures, ...(await tx.features.findWithParents(references.features, project))];
  const destination = await tx.importDestinations.get(project, references);
  const protectedEnvironments = await tx.protectionCopy.protectedEnvironmentsOf(project);
  const decision = decideImport(body, { destination, features, protectedEnvironments }, importAuthorshipOf(request));
  const [missing] = decision.missingPermissions;
  if (missing !== undefined) throw noAccess([missing.permission], missing.environment);
  await requireLimitsAndProposable(tx, request, decision, {
    projectFeatureLimit: destination.featureLimit,
    instanceFeatureLimit,
  });

  // The last write takes all events: those of added and of changed features have one order, that of the file.
  await tx.contextFields.addMissing(decision.contextFields, []);
  await tx.tags.addMissingTypes(decision.tagTypes, []);
  await tx.tags.addMissing(decision.tags, () => []);
  await tx.features.add(decision.added, []);
  await saveChangedFeatures(tx, decision.changed, decision.events, caller);
  const { report, proposed } = decision;
  return proposed === undefined ? { report } : { report, proposed: await storeImportProposal(tx, request, proposed) };
};
