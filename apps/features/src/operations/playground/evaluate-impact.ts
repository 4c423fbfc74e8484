import { implement } from '@bunting/bus';
import { EvaluateImpact, isSegmentChange } from '@bunting/contracts';
import { parseChanges } from '@bunting/contracts/validation';
import { impactOf, maxFeaturesOfImpact } from '../../domain/impact-on-users.ts';
import { readContext } from '../../domain/playground.ts';
import { invalidProperty, projectNotFound } from '../../domain/refusals.ts';
import { inEnvironment } from '../../domain/strategies/strategy.ts';
import { featuresOf } from '../changes/change-subjects.ts';
import type { FeaturesContext } from '../context.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import { contentAfter, requireEnvironments, segmentsIn } from './playground-content.ts';

export const evaluateImpactEndpoint = (context: FeaturesContext) =>
  implement(EvaluateImpact, async (request) => {
    const { body, caller, now } = request;
    const { project, environment, contexts = [] } = body;
    const changes = parseChanges(body.changes);
    const hidden = hiddenProjectsOf(caller);
    if (hidden.includes(project)) throw projectNotFound(project);
    const proposal = { project, environment, changes: changes.map((change, id) => ({ id, change, snapshot: null })) };
    const usersOf = changes.filter(isSegmentChange).map(({ payload }) => payload.id);
    const before = await context.readPlayground.ofFeatures([environment], {
      usersOf,
      names: changes.flatMap(featuresOf),
      segments: segmentsIn(proposal),
      limit: maxFeaturesOfImpact + 1,
    });
    requireEnvironments(before, [environment], '/body/environment');
    const after = await contentAfter(before, proposal, context, request);
    const changed = new Set(changes.flatMap((change) => (isSegmentChange(change) ? [] : [change.feature])));
    const isConcerned = ({ name, project: of, environments }: (typeof before.features)[number]): boolean =>
      !hidden.includes(of) &&
      (changed.has(name) ||
        inEnvironment({ environments }, environment).strategies.some(({ segments }) =>
          segments.some((id) => usersOf.includes(id)),
        ));
    const names = before.features.filter(isConcerned).map(({ name }) => name);
    if (names.length > maxFeaturesOfImpact)
      throw invalidProperty(
        `The changes concern more than ${maxFeaturesOfImpact} features, the limit of one request`,
        '/body/changes',
      );
    return impactOf({ before, after }, environment, names, {
      examples: contexts.map((example) => readContext(example).fields),
      now,
    });
  });
