import { implement } from '@bunting/bus';
import { UpdateSegment } from '@bunting/contracts';
import { requestedContent, updateSegment } from '../../domain/segments/segment.ts';
import { authoriseSegment } from './authorise-segment.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const updateSegmentEndpoint = ({ transaction, allowsRegex }: FeaturesContext) =>
  implement(UpdateSegment, (request) =>
    transaction(request, async ({ segments, contextFields }) => {
      const { params, body, caller } = request;
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
  );
