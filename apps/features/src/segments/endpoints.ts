import { type Endpoint, implement, onBehalfOf, reads, writes } from '@bunting/bus';
import {
  authorise,
  CreateSegment,
  DeleteSegment,
  GetSegment,
  ListProposedSegmentStrategies,
  ListSegments,
  ListSegmentsOfStrategy,
  ListSegmentSummaries,
  ListStrategiesOfSegment,
  SetStrategySegments,
  UpdateSegment,
  ValidateSegmentName,
} from '@bunting/contracts';
import { call } from '../calls.ts';
import { environmentsRequiringChangeRequest } from '../changes/protected-edit.ts';
import { type FeaturesContext, hiddenProjectsOf } from '../context.ts';
import { possibleReferencesIn } from '../projects/project-context-store.ts';
import { requireBelowLimit, segmentNameTaken, strategyNotFound } from '../refusals.ts';
import { saveDecision } from '../unit-of-work/save-decisions.ts';
import {
  authoriseSegment,
  deleteSegment,
  normalizeSegment,
  requestedContent,
  requireSegmentName,
  segmentCreated,
  setStrategySegments,
  updateSegment,
} from './segment.ts';

export function segmentEndpoints({
  segments,
  bus,
  transaction,
  allowsRegex,
  maxSegments,
}: FeaturesContext): readonly Endpoint[] {
  return [
    reads(ListSegmentsOfStrategy, ({ params, caller }) =>
      segments.ofStrategy(params.strategyId, hiddenProjectsOf(caller)),
    ),

    reads(ListSegments, ({ caller }) => segments.all(hiddenProjectsOf(caller))),

    reads(ListSegmentSummaries, ({ caller }) => segments.summaries(hiddenProjectsOf(caller))),

    /** The strategies and pending change requests that use a segment. Fails if the change requests service does not reply. */
    implement(ListStrategiesOfSegment, async (request) => {
      const { id: segment } = request.params;
      const { strategies, protectedPlaces } = await segments.usesOf(segment, hiddenProjectsOf(request.caller));
      const { changeRequestStrategies } = await call(
        bus,
        ListProposedSegmentStrategies,
        { body: { segment } },
        onBehalfOf(request),
      );
      const needsChangeRequest = protectedPlaces.some(
        ({ project, environment }) =>
          environmentsRequiringChangeRequest(request.caller, project, [environment]).length > 0,
      );
      return { strategies, changeRequestStrategies, needsChangeRequest };
    }),

    reads(GetSegment, ({ params, caller }) => segments.one(params.id, hiddenProjectsOf(caller))),

    implement(ValidateSegmentName, async ({ body }) => {
      requireSegmentName(body.name, '/body/name');
      if (await segments.isNameTaken(body.name)) throw segmentNameTaken();
      return null;
    }),

    writes(CreateSegment, transaction, async ({ segments, contextFields }, { body, caller, now }) => {
      const content = normalizeSegment(body, {
        projectContext: { allowsRegex, contextFields: await contextFields.referencedBy(body.constraints) },
      });
      authoriseSegment(caller, { atRoot: 'CREATE_SEGMENT', operation: CreateSegment }, content.project);
      requireBelowLimit('segment', await segments.lockAndCount(), maxSegments);
      const origin = { createdBy: caller.name, createdAt: now.toISOString() };
      const segment = await segments.add(content, origin, (added) => [segmentCreated(added)]);
      const { project, ...reply } = { ...segment, constraints: [...segment.constraints] };
      return project === null ? reply : { ...reply, project };
    }),

    writes(UpdateSegment, transaction, async ({ segments, contextFields }, { params, body, caller }) => {
      const { segment, referrers, idOfName } = await segments.getForUpdate(params.id, body.name);
      const content = requestedContent(body, segment);
      for (const project of new Set([segment.project, content.project])) {
        authoriseSegment(caller, { atRoot: 'UPDATE_SEGMENT', operation: UpdateSegment }, project);
      }
      const projectContext = { allowsRegex, contextFields: await contextFields.referencedBy(body.constraints) };
      const context = { referrers, idOfName, hidden: hiddenProjectsOf(caller), projectContext };
      const decision = updateSegment(segment, content, context);
      if (decision.segment === segment) return null;
      await segments.save(segment, decision.segment, decision.events);
      return null;
    }),

    writes(SetStrategySegments, transaction, async (tx, { body, caller }) => {
      const { projectId, strategyId, environmentId, segmentIds } = body;
      const owner = await tx.features.findRefOfStrategy(strategyId);
      // The project of the strategy decides, not the one that the body names.
      authorise(caller, SetStrategySegments.permission, { project: owner?.project, environment: environmentId });
      if (owner?.project !== projectId) throw strategyNotFound(strategyId);
      const { feature, projectContext } = await tx.features.getForUpdate(
        projectId,
        owner.name,
        possibleReferencesIn(segmentIds),
      );
      const ref = { environment: environmentId, strategyId };
      await saveDecision(tx, setStrategySegments(feature, ref, segmentIds, projectContext), caller);
      return body;
    }),

    writes(DeleteSegment, transaction, async ({ segments }, { params, caller }) => {
      const { segment, referrers } = await segments.getForUpdate(params.id);
      authoriseSegment(caller, { atRoot: 'DELETE_SEGMENT', operation: DeleteSegment }, segment.project);
      const deleted = deleteSegment(segment, { referrers, hidden: hiddenProjectsOf(caller) });
      await segments.remove(segment, [deleted]);
      return null;
    }),
  ];
}
