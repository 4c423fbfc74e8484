import { implement } from '@bunting/bus';
import { CheckChanges, projectNotFound } from '@bunting/contracts';
import { prepareProposal } from '../../domain/changes/prepare-proposal.ts';
import { toChangeContext } from './to-change-context.ts';
import { changeContextQuery } from './change-context-query.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const checkChangesEndpoint = ({ readChangeContext }: FeaturesContext) =>
  implement(CheckChanges, async ({ body, caller, now }) => {
    const { project, environment, changes, earlier, order } = body;
    const stored = await readChangeContext(
      changeContextQuery(project, [...earlier, ...changes]),
      hiddenProjectsOf(caller),
    );
    if (stored === undefined) throw projectNotFound(project);
    return { changes: prepareProposal(changes, { earlier, order }, toChangeContext(stored, environment, now)) };
  });
