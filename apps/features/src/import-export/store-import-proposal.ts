import type { OperationRequest } from '@bunting/bus';
import type { ImportFeatures } from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { prepareProposal } from '../changes/prepare-proposal.ts';
import type { ProposedEdits } from './decide-import.ts';
import { requireProposalSize } from './require-proposable.ts';
import { activeProjectNotFound } from '../refusals.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';
import { toChangeContext } from '../changes/to-change-context.ts';
import { changeContextQuery } from '../changes/change-context-query.ts';
import { hiddenProjectsOf } from '../visibility.ts';

/** The properties of a stored proposal that the reply of the import reports. */
export interface ImportProposalSummary {
  readonly importId: string;
  readonly environment: string;
  readonly changes: number;
}

/** Prepares the changes as they will be when they are applied, and stores them for the change requests service. */
export const storeImportProposal = async (
  tx: Transaction,
  { body, caller, now }: OperationRequest<typeof ImportFeatures>,
  { environment, changes }: ProposedEdits,
): Promise<ImportProposalSummary> => {
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
};
