import { implement } from '@bunting/bus';
import { CheckChanges } from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { checkChanges } from '../../domain/changes/check-changes.ts';
import { projectNotFound } from '../../domain/refusals.ts';
import { subjectsOf } from './change-subjects.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const checkChangesEndpoint = ({ readChangeContext }: FeaturesContext) =>
  implement(CheckChanges, async ({ body, caller, now }) => {
    const { project, environment, changes, earlier } = body;
    const found = await readChangeContext(subjectsOf(project, [...earlier, ...changes]), hiddenProjectsOf(caller));
    if (found === undefined) throw projectNotFound(project);
    const changeContext = { ...found, environment, now: now.toISOString(), generateStrategyId: randomUUID };
    return { changes: checkChanges(changes, earlier, changeContext) };
  });
