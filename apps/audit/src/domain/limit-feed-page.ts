/** The maximum number of ids that a page covers. Pages of rare events may therefore be empty. */
export const maxIdsOfFeedPage = 20_000;
export const maxEventsOfFeedPage = 250;
/** The maximum size of the events of a page, in UTF-16 code units of their JSON texts. */
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
  for (const event of found) {
    if (events.length > 0 && characters + event.json.length > maxCharacters) break;
    characters += event.json.length;
    events.push(event);
  }
  // A page covers all of its ids unless the number of events or of characters has limited it.
  const isComplete = events.length === found.length && events.length < maxEventsOfFeedPage;
  const next = isComplete ? Math.max(after, Math.min(head, after + maxIdsOfFeedPage)) : (events.at(-1)?.id ?? after);
  return { events, next };
};
