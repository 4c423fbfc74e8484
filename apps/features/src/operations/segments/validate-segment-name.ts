import { implement } from '@bunting/bus';
import { invalid, refusal, ValidateSegmentName } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const validateSegmentNameEndpoint = ({ segments }: FeaturesContext) =>
  implement(ValidateSegmentName, async ({ body }) => {
    if (body.name.trim() === '') throw invalid('The `/body/name` property is not allowed to be empty.', '/body/name');
    if (await segments.isNameTaken(body.name)) throw refusal('NameExistsError', 'Segment name already exists');
    return null;
  });
