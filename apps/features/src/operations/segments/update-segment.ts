import { implement } from '@bunting/bus';
import { UpdateSegment } from '@bunting/contracts';
import { updateSegment } from '../../domain/constraints/segment.ts';
import { segmentNotFound } from '../../domain/refusals.ts';
import { authoriseSegment } from './authorise-segment.ts';
import { hiddenProjectsOf, findVisible } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const updateSegmentEndpoint = ({ transaction, allowsRegex }: FeaturesContext) =>
  implement(UpdateSegment, (request) =>
    transaction(request, async ({ segments, events }) => {
      const { params, body, caller } = request;
      const { segment, users, idOfName } = await segments.getForUpdate(params.id, body.name);
      if (findVisible(request, segment) === undefined) throw segmentNotFound(params.id);
      const project = body.project ?? null;
      authoriseSegment(caller, UpdateSegment.permission, segment.project);
      if (project !== segment.project) authoriseSegment(caller, UpdateSegment.permission, project);
      const { description = segment.description, name, constraints } = body;
      const decision = updateSegment(
        segment,
        { name, description, project, constraints },
        { users, idOfName, hidden: hiddenProjectsOf(caller) },
        allowsRegex,
      );
      if (decision.segment === null || decision.segment === segment) return null;
      await segments.save(segment, decision.segment);
      events.emit(decision.events);
      return null;
    }),
  );
