import { implement } from '@bunting/bus';
import { CreateSegment } from '@bunting/contracts';
import { requireBelowLimit } from '../../domain/refusals.ts';
import { segmentCreated, normalizeSegment } from '../../domain/segments/segment.ts';
import { fixedResourceLimits } from '../../domain/fixed-resource-limits.ts';
import { authoriseSegment } from './authorise-segment.ts';
import type { FeaturesContext } from '../context.ts';

export const createSegmentEndpoint = ({ transaction, allowsRegex }: FeaturesContext) =>
  implement(CreateSegment, (request) =>
    transaction(request, async ({ segments, contextFields }) => {
      const { body, caller, now } = request;
      const content = normalizeSegment(body, {
        projectContext: { allowsRegex, contextFields: await contextFields.referencedBy(body.constraints) },
      });
      authoriseSegment(caller, { atRoot: 'CREATE_SEGMENT', operation: CreateSegment }, content.project);
      requireBelowLimit('segment', await segments.lockAndCount(), fixedResourceLimits.segments);
      const origin = { createdBy: caller.name, createdAt: now.toISOString() };
      const segment = await segments.add(content, origin, (added) => [segmentCreated(added)]);
      const { project, ...reply } = { ...segment, constraints: [...segment.constraints] };
      return project === null ? reply : { ...reply, project };
    }),
  );
