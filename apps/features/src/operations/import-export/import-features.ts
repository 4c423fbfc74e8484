import { type OperationRequest, implement, onBehalfOf } from '@bunting/bus';
import { type Caller, ImportFeatures, type ImportReport, maySee, noAccess, Refusal } from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { withCollaborator } from '../../domain/features/parts/collaborators.ts';
import { missingImportPermissions } from '../../domain/import/import-permissions.ts';
import { type Importer, fileReferences, planImport } from '../../domain/import/plan-import.ts';
import { protectedParts } from '../../domain/import/protected-parts.ts';
import { immediateEvents, splitImport } from '../../domain/import/split-import.ts';
import { activeProjectNotFound } from '../../domain/refusals.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';
import { authorise } from '../authorise.ts';
import { authorOf } from '../author.ts';
import { storeProposal, type StoredImportProposal } from './import-proposal.ts';
import { requireBelowLimits } from '../features/require-below-limits.ts';
import type { FeaturesContext } from '../context.ts';

/** The caller and the time, for the plan of an import. */
export const importerOf = (caller: Caller, now: Date): Importer => ({
  now: now.toISOString(),
  by: authorOf(caller),
  generateStrategyId: randomUUID,
  maySee: (project) => maySee(caller, project),
});

type ImportRequest = OperationRequest<typeof ImportFeatures>;

/** The result of an import's transaction. */
interface ImportResult {
  readonly report: ImportReport;
  readonly proposed?: StoredImportProposal;
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
  const importOnce = async (tx: Transaction, request: ImportRequest): Promise<ImportResult> => {
    const { body, caller, now } = request;
    const { project, environment, data } = body;
    authorise(caller, ImportFeatures.permission, { project });
    await tx.projects.lockShared({ project });
    await tx.importDestinations.lockImports();
    const referenced = fileReferences(data);
    // Features of other projects are read without locks, so that imports do not block edits of other projects.
    const ownFeatures = await tx.features.findWithParentsForUpdate(referenced.features, project);
    const features = [...ownFeatures, ...(await tx.features.findWithParents(referenced.features, project))];
    const found = await tx.importDestinations.find(project, referenced);
    if (found === undefined) throw activeProjectNotFound(project);

    const existing = new Map(features.map((feature) => [feature.name, feature]));
    const plan = planImport(data, { ...found, project, environment, features: existing }, importerOf(caller, now));
    const protection = protectedParts(caller, body, await tx.protection.protectedOf(project));
    const split = splitImport(plan.features, existing, protection);
    const events = immediateEvents(plan, split.immediate);
    const [missing] = missingImportPermissions(caller, events);
    if (missing !== undefined) throw noAccess([missing.permission], missing.environment);
    const changed = split.immediate.map(({ feature, isNew }) => ({
      isNew,
      feature: withCollaborator(feature, authorOf(caller)),
    }));
    const added = changed.filter(({ isNew }) => isNew).map(({ feature }) => feature);
    if (added.length > 0) {
      await requireBelowLimits(tx, {
        project,
        projectFeatureLimit: found.featureLimit,
        instanceFeatureLimit,
        adding: added.length,
      });
    }

    await tx.contextFields.addMissing(plan.contextFields);
    await tx.tags.addMissingTypes(plan.tagTypes);
    await tx.tags.addMissing(plan.tags);
    await tx.features.add(added);
    await tx.features.save(changed.filter(({ isNew }) => !isNew).map(({ feature }) => feature));
    tx.events.emit(events);
    const report = { ...plan.report, skipped: [...plan.report.skipped, ...split.skipped] };
    if (split.changes.length === 0 || protection.proposedIn === undefined) return { report };
    return { report, proposed: await storeProposal(tx, request, split.changes, protection.proposedIn) };
  };

  return implement(ImportFeatures, (request) => {
    const submit = ({ importId }: StoredImportProposal): Promise<number | undefined> => {
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
