import type { Refusal, Tag } from '@bunting/contracts';
import type { Transaction } from '../../persistence/unit-of-work.ts';

/** Adds tags to the catalogue and records events for new ones. Refuses a tag type that does not exist. */
export const addTags = async (
  { tags: repository, events }: Transaction,
  tags: readonly Tag[],
  unknownType: (type: string) => Refusal,
): Promise<void> => {
  if (tags.length === 0) return;
  const { added, unknownTypes } = await repository.addMissing(tags);
  const [unknown] = unknownTypes;
  if (unknown !== undefined) throw unknownType(unknown);
  events.emit(added.map(({ type, value }) => ({ type: 'tag-created', data: { type, value } })));
};
