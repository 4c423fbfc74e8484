import type { JsonReader } from './json-reader.ts';

/**
 * Parses JSON whose features are too many to have their text and their tree in memory at once: each feature is parsed, and read, as soon as it is
 * there. By hand, since parsers of streams take ten times as long as `JSON.parse`: this one finds only where a feature begins and ends.
 */

const [quote, backslash, openList, closeList, openObject, closeObject] = ['"', '\\', '[', ']', '{', '}'].map((text) =>
  text.charCodeAt(0),
);
/** What precedes a list, within so many characters. */
const before = {
  features: /(?<!\\)"features"[ \t\n\r]*:[ \t\n\r]*$/,
  events: /(?<!\\)"events"[ \t\n\r]*:[ \t\n\r]*$/,
};
const tailLength = 64;
/** Of the members of the answer, and of those of an event. */
const [answerDepth, eventDepth] = [1, 3];

/** A feature that was read already, in the skeleton that is left when all are taken out. */
interface Placeholder {
  readonly feature: number;
}

function filled(list: unknown, features: readonly unknown[]): unknown {
  if (!Array.isArray(list)) return list;
  // Whatever is an object there was taken out, so that each is a placeholder.
  return list.map((item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item) ? features[(item as Placeholder).feature] : item,
  );
}

/**
 * @param readFeature takes the JSON of a feature, and returns what is put in its place in `features` of the answer, and of its events
 */
export function featureJson(readFeature: (json: string) => unknown): JsonReader {
  const features: unknown[] = [];
  /** the JSON without the features */
  let skeleton = '';
  /** the end of it: reading it from the skeleton would copy all of that each time */
  let tail = '';
  /** the JSON of the feature that is not complete yet */
  let feature = '';
  let depth = 0;
  /** the depth of the members of the list of features; 0 outside of one */
  let listDepth = 0;
  let isInEvents = false;
  let isInText = false;
  let isEscaped = false;

  const isInFeature = (): boolean => listDepth > 0 && depth > listDepth;

  /** Takes the next piece. @throws SyntaxError for a feature that is no JSON, and what `readFeature` throws */
  const feed = (piece: string): void => {
    /** what is before it has been taken */
    let from = 0;
    const take = (to: number): void => {
      const taken = piece.slice(from, to);
      from = to;
      if (isInFeature()) return void (feature += taken);
      skeleton += taken;
      tail = (taken.length < tailLength ? tail + taken : taken).slice(-tailLength);
    };
    const open = (at: number, isList: boolean): void => {
      if (listDepth === 0 || depth === listDepth) take(at);
      if (depth === answerDepth) isInEvents = isList && before.events.test(tail);
      const hasFeatures = depth === answerDepth || (depth === eventDepth && isInEvents);
      if (isList && listDepth === 0 && hasFeatures && before.features.test(tail)) listDepth = depth + 1;
      depth++;
    };
    const close = (at: number): void => {
      const isEndOfFeature = isInFeature() && depth === listDepth + 1;
      if (isEndOfFeature) take(at + 1);
      depth--;
      if (depth < listDepth) listDepth = 0;
      if (!isEndOfFeature) return;
      // A list is no feature: it is left to whoever reads the answer.
      skeleton += feature.startsWith('{') ? `{"feature":${features.push(readFeature(feature)) - 1}}` : feature;
      feature = '';
    };
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (isEscaped) isEscaped = false;
      else if (isInText) {
        if (code === quote) isInText = false;
        else if (code === backslash) isEscaped = true;
      } else if (code === quote) isInText = true;
      else if (code === openObject || code === openList) open(at, code === openList);
      else if (code === closeObject || code === closeList) close(at);
    }
    take(piece.length);
  };

  return {
    feed,
    /** The answer, once all pieces were fed. @throws SyntaxError where it is no complete JSON */
    end: (): unknown => {
      const answer: unknown = JSON.parse(skeleton + feature);
      if (typeof answer !== 'object' || answer === null || features.length === 0) return answer;
      const { features: list, events } = answer as { readonly features?: unknown; readonly events?: unknown };
      return {
        ...answer,
        ...(list === undefined ? {} : { features: filled(list, features) }),
        ...(Array.isArray(events)
          ? {
              events: events.map((event: { readonly features?: unknown } | null) =>
                event?.features === undefined ? event : { ...event, features: filled(event.features, features) },
              ),
            }
          : {}),
      };
    },
  };
}
