import { implement } from '@bunting/bus';
import { EvaluateImpact, projectNotFound } from '@bunting/contracts';
import { parseChanges } from '@bunting/contracts/validation';
import { segmentIdsOf } from '../../domain/changes/subjects-of-changes.ts';
import { computeImpactOnUsers } from '../../domain/playground/impact/impact-on-users.ts';
import { affectedFeatures, maxFeaturesOfImpact } from '../../domain/playground/impact/affected-features.ts';
import { readContext } from '../../domain/playground/playground-contexts.ts';
import { featureNamesToRead } from '../changes/change-context-query.ts';
import type { FeaturesContext } from '../context.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import { requireEnvironments } from './read-playground-content.ts';
import { contentAfterProposal, segmentCandidatesIn } from './proposed-changes.ts';

export const evaluateImpactEndpoint = (context: FeaturesContext) =>
  implement(EvaluateImpact, async (request) => {
    const { body, caller, now } = request;
    const { project, environment, contexts = [] } = body;
    const changes = parseChanges(body.changes);
    const hidden = hiddenProjectsOf(caller);
    if (hidden.includes(project)) throw projectNotFound(project);
    const proposal = { project, environment, changes: changes.map((change, id) => ({ id, change, snapshot: null })) };
    const before = await context.readPlayground.ofFeatures([environment], {
      usingSegments: segmentIdsOf(changes),
      names: featureNamesToRead(changes),
      segments: segmentCandidatesIn(proposal),
      limit: maxFeaturesOfImpact + 1,
    });
    requireEnvironments(before, [environment], '/body/environment');
    const after = await contentAfterProposal(before, proposal, context, request);
    const names = affectedFeatures(before, changes, environment, hidden);
    return computeImpactOnUsers({ before, after }, environment, names, {
      examples: contexts.map((example) => readContext(example).fields),
      now,
    });
  });
