/** The maximum number of ids that a page covers. Pages of rare events may therefore be empty. */
export const maxIdsOfFeedPage = 20_000;
export const maxEventsOfFeedPage = 250;
const maxCharacters = 400_000;

/** An event with its JSON text. */
interface JsonEvent {
  readonly id: number;
  readonly json: string;
}

/**
 * Limits a page to the maximum number of characters, which a single event may exceed.
 * @param found the first matching events after an id, at most `maxEventsOfFeedPage`, of the next `maxIdsOfFeedPage` ids
 * @param head the last id of the log
 * @returns the events of the page, and the id after which the next page begins
 */
export const limitFeedPage = <E extends JsonEvent>(found: readonly E[], after: number, head: number) => {
  const events: E[] = [];
  let characters = 0;
  for (const each of found) {
    if (events.length > 0 && characters + each.json.length > maxCharacters) break;
    characters += each.json.length;
    events.push(each);
  }
  // Only a page that no other limit cut short has covered all of its ids.
  const isComplete = events.length === found.length && events.length < maxEventsOfFeedPage;
  const next = isComplete ? Math.max(after, Math.min(head, after + maxIdsOfFeedPage)) : (events.at(-1)?.id ?? after);
  return { events, next };
};
