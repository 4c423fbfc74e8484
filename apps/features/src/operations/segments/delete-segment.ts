import { implement } from '@bunting/bus';
import { DeleteSegment } from '@bunting/contracts';
import { deleteSegment } from '../../domain/segments/segment.ts';
import { authoriseSegment } from './authorise-segment.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const deleteSegmentEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DeleteSegment, (request) =>
    transaction(request, async ({ segments }) => {
      const { segment, referrers } = await segments.getForUpdate(request.params.id);
      authoriseSegment(request.caller, { atRoot: 'DELETE_SEGMENT', operation: DeleteSegment }, segment.project);
      const deleted = deleteSegment(segment, { referrers, hidden: hiddenProjectsOf(request.caller) });
      await segments.remove(segment, [deleted]);
      return null;
    }),
  );
