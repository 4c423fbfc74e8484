import { randomUUID } from 'node:crypto';
import {
  type Bus,
  type CallContext,
  type Endpoint,
  implement,
  JsonText,
  onBehalfOf,
  type OperationRequest,
  writes,
} from '@bunting/bus';
import {
  authorise,
  type ErrorDetail,
  type ExportedFeatures,
  ExportFeatures,
  ImportFeatures,
  type ImportReport,
  type ImportValidation,
  noAccess,
  ProposeImport,
  Refusal,
  ValidateImport,
} from '@bunting/contracts';
import { call } from '../calls.ts';
import { changeContextQuery, toChangeContext } from '../changes/endpoints.ts';
import { prepareProposal } from '../changes/prepare-proposal.ts';
import { type FeaturesContext, hiddenProjectsOf } from '../context.ts';
import { type AddedFeatures, requireBelowLimits } from '../features/endpoints.ts';
import { activeProjectNotFound, unknownEnvironment } from '../refusals.ts';
import { authorOf, saveChangedFeatures } from '../unit-of-work/save-decisions.ts';
import type { Transaction, UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import {
  decideImport,
  type ImportDecision,
  type ProposedEdits,
  requireProposable,
  requireProposalSize,
} from './decide-import.ts';
import type { ImportAuthorship, MissingPermission } from './import-context.ts';
import { featuresExported, fileReferences, requireExportFilter } from './import-file.ts';

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

/** A request to import or to validate an import: both have the same body. */
type ImportRequest = OperationRequest<typeof ImportFeatures> | OperationRequest<typeof ValidateImport>;

/** The caller as the author of what the import creates, with random ids for new strategies. */
function importAuthorshipOf({ caller, now }: ImportRequest): ImportAuthorship {
  return {
    caller,
    now: now.toISOString(),
    author: authorOf(caller),
    generateId: randomUUID,
  };
}

/** Refuses features that would exceed a limit, changes that exceed a change request, and those that the caller may not propose. */
async function requireLimitsAndProposable(
  tx: Pick<Transaction, 'projects'>,
  { body: { project }, caller }: ImportRequest,
  { added, proposed }: ImportDecision,
  limits: Pick<AddedFeatures, 'projectFeatureLimit' | 'instanceFeatureLimit'>,
): Promise<void> {
  const adding = added.length;
  if (adding > 0) await requireBelowLimits(tx, { project, ...limits, adding });
  if (proposed !== undefined) requireProposable(caller, project, proposed.changes);
}

/** The properties of a stored proposal that the reply of the import reports. */
interface ImportProposalSummary {
  readonly importId: string;
  readonly environment: string;
  readonly changes: number;
}

/** Prepares the changes as they will be when they are applied, and stores them for the change requests service. */
async function storeImportProposal(
  tx: Transaction,
  { body, caller, now }: OperationRequest<typeof ImportFeatures>,
  { environment, changes }: ProposedEdits,
): Promise<ImportProposalSummary> {
  const { project } = body;
  const stored = await tx.readChangeContext(changeContextQuery(project, changes), hiddenProjectsOf(caller));
  if (stored === undefined) throw activeProjectNotFound(project);
  const paths = new Map(body.data.features.map(({ name }, index) => [name, `/body/data/features/${index}`]));
  const checked = prepareProposal(
    changes,
    { earlier: [] },
    toChangeContext(stored, environment, now),
    (index) => paths.get(changes[index]?.feature ?? '') ?? '/body/data',
  );
  const features = new Set(changes.map(({ feature }) => feature)).size;
  const importId = randomUUID();
  const proposal = {
    project,
    environment,
    by: {
      id: caller.id,
      name: caller.name,
      ...(caller.username === undefined ? {} : { username: caller.username }),
    },
    changes: checked,
    title: `Import of ${features} ${features === 1 ? 'feature' : 'features'}`,
  };
  requireProposalSize(Buffer.byteLength(JSON.stringify(proposal)));
  await tx.importProposals.add(importId, proposal);
  return { importId, environment, changes: changes.length };
}

type ValidationItem = ImportValidation['errors'][number];

/**
 * The name of the feature, segment or context field in the file to which the path of an error points, as a list; empty if there is none.
 */
function affectedItemsAt(data: ExportedFeatures, path = ''): string[] {
  const [, list = '', index = ''] = /^\/body\/data\/(\w+)\/(\d+)/.exec(path) ?? [];
  const items = (data as Readonly<Record<string, unknown>>)[list];
  const item: unknown = Array.isArray(items) ? items[Number(index)] : undefined;
  if (typeof item !== 'object' || item === null) return [];
  const { featureName, feature, name } = item as Readonly<Record<string, unknown>>;
  const affected = featureName ?? feature ?? name;
  return typeof affected === 'string' ? [affected] : [];
}

function errorsOf(data: ExportedFeatures, { message, details }: Refusal): ValidationItem[] {
  const faults: readonly ErrorDetail[] = details.length > 0 ? details : [{ message }];
  return faults.map((fault) => ({ message: fault.message, affectedItems: affectedItemsAt(data, fault.path) }));
}

function warningsOf(skipped: readonly { readonly feature: string; readonly reason: string }[]): ValidationItem[] {
  return [...Map.groupBy(skipped, ({ reason }) => reason)].map(([message, features]) => ({
    message,
    affectedItems: features.map(({ feature }) => feature),
  }));
}

function permissionItems(missing: readonly MissingPermission[]): ValidationItem[] {
  if (missing.length === 0) return [];
  const affectedItems = missing.map(({ permission }) => permission);
  return [{ message: 'The import takes permissions that the caller does not have', affectedItems }];
}

function proposalItems(proposed: ProposedEdits | undefined): ValidationItem[] {
  if (proposed === undefined) return [];
  const { environment, changes } = proposed;
  const message = `What takes a change request in the environment ${environment} will be proposed in one, and sent to review`;
  return [{ message, affectedItems: [...new Set(changes.map(({ feature }) => feature))] }];
}

/** The result of an import's transaction. */
interface ImportResult {
  readonly report: ImportReport;
  readonly proposed?: ImportProposalSummary;
}

const maxSubmitTimeoutMs = 10_000;

async function importOnce(
  tx: Transaction,
  request: OperationRequest<typeof ImportFeatures>,
  instanceFeatureLimit: number | undefined,
): Promise<ImportResult> {
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
}

/**
 * Submits the stored proposal of an import to the change requests service. Returns the id of the change request; undefined if it was
 * submitted before.
 */
export type SubmitImportProposal = (importId: string, context: CallContext) => Promise<number | undefined>;

/** Submits stored proposals. This can be repeated after a crash at any point: one import creates one change request. */
export function submitImportProposal(bus: Bus, transaction: UnitOfWork): SubmitImportProposal {
  return async (importId, context) => {
    const { caller, traceparent } = context;
    const inTransaction = <T>(job: (tx: Transaction) => Promise<T>): Promise<T> => {
      const now = new Date();
      return transaction({ caller, traceparent, now, deadline: new Date(now.getTime() + context.timeoutMs) }, job);
    };
    const proposal = await inTransaction(({ importProposals }) => importProposals.find(importId));
    if (proposal === undefined) return undefined;
    const { id } = await call(bus, ProposeImport, { body: { importId, ...proposal } }, context);
    await inTransaction(({ importProposals }) => importProposals.remove(importId));
    return id;
  };
}
