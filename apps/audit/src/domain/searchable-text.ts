import { foldForSearch, type OutboxEvent } from '@bunting/contracts';

/** Separates two parts of a searchable text. Folded text never contains it, so a search cannot match across two parts. */
const separator = '\u001f';

const collect = (value: unknown, parts: Set<string>): void => {
  if (value === null || value === undefined) return;
  if (Array.isArray(value)) {
    for (const element of value) collect(element, parts);
  } else if (typeof value === 'object') {
    for (const [key, member] of Object.entries(value)) {
      parts.add(foldForSearch(key));
      collect(member, parts);
    }
  } else {
    parts.add(foldForSearch(String(value)));
  }
};

/** Separates the creator of an event from its data in the indexed text. No folded text contains it. */
export const creatorSeparator = '\u001e';

/**
 * The text that searches match, beside the event's type: the creator, and then, without duplicates, every key and value of the data before
 * and after and every tag. Values are plain text, without the escapes of JSON.
 */
export const searchableText = ({ createdBy, data, preData, tags }: OutboxEvent): string => {
  const parts = new Set<string>();
  collect(data, parts);
  collect(preData, parts);
  for (const tag of tags) parts.add(foldForSearch(`${tag.type}:${tag.value}`));
  return `${foldForSearch(createdBy)}${creatorSeparator}${[...parts].join(separator)}`;
};
