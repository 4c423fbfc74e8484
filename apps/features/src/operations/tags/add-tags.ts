import type { Refusal, Tag } from '@bunting/contracts';
import type { Transaction } from '../../persistence/unit-of-work.ts';

/** Puts tags into the catalogue and tells of those that are new. A type that there is not is refused. */
export const addTags = async (
  { tags: repository, events }: Transaction,
  tags: readonly Tag[],
  unknownType: (type: string) => Refusal,
): Promise<void> => {
  if (tags.length === 0) return;
  const { added, unknownTypes } = await repository.addMissing(tags);
  const [unknown] = unknownTypes;
  if (unknown !== undefined) throw unknownType(unknown);
  events.record(added.map(({ type, value }) => ({ type: 'tag-created', data: { type, value } })));
};
