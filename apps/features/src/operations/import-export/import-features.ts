import { type OperationRequest, implement, onBehalfOf } from '@bunting/bus';
import { authorise, ImportFeatures, type ImportReport, noAccess, Refusal } from '@bunting/contracts';
import { decideImport } from '../../domain/import-export/decide-import.ts';
import { fileReferences } from '../../domain/import-export/parse-import-file.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';
import { saveChangedFeatures } from '../save-decisions.ts';
import { importAuthorshipOf } from './import-authorship.ts';
import { storeImportProposal, type ImportProposalSummary } from './store-import-proposal.ts';
import { requireLimitsAndProposable } from './require-limits-and-proposable.ts';
import type { FeaturesContext } from '../context.ts';

/** The result of an import's transaction. */
interface ImportResult {
  readonly report: ImportReport;
  readonly proposed?: ImportProposalSummary;
}

const maxSubmitTimeoutMs = 10_000;

/**
 * Imports features from an export, all or none. Edits that require a change request are stored as a proposal in the same transaction. The
 * proposal is submitted after the commit, or by housekeeping if that fails.
 */
export const importFeaturesEndpoint = ({
  transaction,
  submitImportProposal,
  instanceFeatureLimit,
}: FeaturesContext) => {
  const importOnce = async (
    tx: Transaction,
    request: OperationRequest<typeof ImportFeatures>,
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

  return implement(ImportFeatures, (request) => {
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
      (tx) => importOnce(tx, request),
      async ({ report, proposed }): Promise<ImportReport> => {
        if (proposed === undefined) return report;
        const { environment, changes } = proposed;
        const id = await submit(proposed);
        return { ...report, changeRequest: { ...(id === undefined ? {} : { id }), environment, changes } };
      },
    );
  });
};
