import { implement } from '@bunting/bus';
import { ValidateSegmentName } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { requireSegmentName } from '../../domain/segments/segment.ts';
import { segmentNameTaken } from '../../domain/refusals.ts';

export const validateSegmentNameEndpoint = ({ segments }: FeaturesContext) =>
  implement(ValidateSegmentName, async ({ body }) => {
    requireSegmentName(body.name, '/body/name');
    if (await segments.isNameTaken(body.name)) throw segmentNameTaken();
    return null;
  });
