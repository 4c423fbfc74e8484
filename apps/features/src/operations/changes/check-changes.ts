import { implement } from '@bunting/bus';
import { CheckChanges, projectNotFound } from '@bunting/contracts';
import { validateProposal } from '../../domain/changes/validate-proposal.ts';
import { changeContextOf } from './change-context.ts';
import { subjectsOf } from './change-subjects.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const checkChangesEndpoint = ({ readChangeContext }: FeaturesContext) =>
  implement(CheckChanges, async ({ body, caller, now }) => {
    const { project, environment, changes, earlier } = body;
    const found = await readChangeContext(subjectsOf(project, [...earlier, ...changes]), hiddenProjectsOf(caller));
    if (found === undefined) throw projectNotFound(project);
    return { changes: validateProposal(changes, earlier, changeContextOf(found, environment, now)) };
  });
