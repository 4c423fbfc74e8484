import { implement } from '@bunting/bus';
import { CreateSegment } from '@bunting/contracts';
import { tooMany } from '../../domain/refusals.ts';
import { segmentCreated, validatedSegment } from '../../domain/segment.ts';
import { limits } from '../../domain/surroundings.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { authorise } from '../authorise.ts';

export const createSegmentEndpoint = (work: UnitOfWork) =>
  implement(CreateSegment, (asked) =>
    work(asked, async ({ segments, events }) => {
      const { body, caller, now } = asked;
      const content = validatedSegment(body);
      const { project } = content;
      // A segment for every project is nobody's alone: no right within a project is enough for it.
      if (project === null) authorise(caller, 'CREATE_SEGMENT', {});
      else authorise(caller, CreateSegment.permission, { project });
      if ((await segments.count()) >= limits.segments) throw tooMany('segment', limits.segments);
      const segment = await segments.add(content, { createdBy: caller.name, createdAt: now.toISOString() });
      events.record([segmentCreated(segment)]);
      return { ...segment, constraints: [...segment.constraints] };
    }),
  );
