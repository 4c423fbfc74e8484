import { implement } from '@bunting/bus';
import { CreateTag, minTagLength, refusal } from '@bunting/contracts';
import { invalidValue } from '../../domain/refusals.ts';
import type { FeaturesContext } from '../context.ts';

export const createTagEndpoint = ({ transaction }: FeaturesContext) =>
  implement(CreateTag, (request) =>
    transaction(request, async ({ tags, events }) => {
      const { body } = request;
      const tag = { type: body.type, value: body.value.trim() };
      if ([...tag.value].length < minTagLength)
        throw invalidValue(`NOT have fewer than ${minTagLength} characters`, '/body/value', body.value);
      const { added, unknownTypes } = await tags.addMissing([tag]);
      if (unknownTypes.length > 0) {
        throw invalidValue('name a tag type that exists', '/body/type', tag.type);
      }
      if (added.length === 0) {
        throw refusal('NameExistsError', `A tag of type ${tag.type} and value ${tag.value} already exists`);
      }
      events.emit([{ type: 'tag-created', data: tag }]);
      return { version: 1 as const, tag };
    }),
  );
