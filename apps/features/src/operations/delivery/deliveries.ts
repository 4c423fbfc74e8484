import type { Revision } from '@bunting/outbox';
import { hash } from 'node:crypto';
import { type Delivered, noSuchDeliveryEnvironment } from '../../domain/delivery.ts';
import type { ClientFeaturesReader } from '../../persistence/client-features-reader.ts';

/** What an application is given. */
export interface Delivery {
  readonly tag: string;
  readonly json: string;
}

/** Gives an application what is there now: made once, and then again only when something has changed. */
export type Deliveries = (wanted: Delivered) => Promise<Delivery>;

interface Kept {
  readonly revision: Revision;
  readonly making: Promise<Delivery>;
  made?: Delivery;
}

/** What is asked for, in the words of the answer. */
const queryOf = ({ environment, projects, namePrefix, tags, inlineSegments }: Delivered) => ({
  environment,
  inlineSegmentConstraints: inlineSegments,
  ...(projects === undefined ? {} : { project: projects }),
  ...(namePrefix === undefined ? {} : { namePrefix }),
  ...(tags === undefined ? {} : { tag: tags.map(({ type, value }) => [type, value]) }),
});

/**
 * What is kept is judged anew by the database each time it is asked for, so that it needs no news and no clock to be right. The
 * tag is that of the content: a change elsewhere leaves it as it is, and every replica gives the same.
 * @param mostCharacters how much is kept; what was not asked for the longest goes first
 */
export const deliveriesOf = (reader: ClientFeaturesReader, mostCharacters: number): Deliveries => {
  /** by what is asked for, the latest last */
  const kept = new Map<string, Kept>();
  let characters = 0;

  const forget = (key: string): void => {
    characters -= kept.get(key)?.made?.json.length ?? 0;
    kept.delete(key);
  };

  const make = async (
    wanted: Delivered,
    query: string,
    { position }: Revision,
    before: Delivery | undefined,
  ): Promise<Delivery> => {
    const queryHash = hash('sha256', query, 'hex').slice(0, 8);
    const known = before?.tag.slice(queryHash.length + 1);
    const found = await reader.all(wanted, known);
    if (found === undefined) throw noSuchDeliveryEnvironment(wanted.environment);
    if (before !== undefined && found.features === undefined) return before;
    const tag = `${queryHash}:${found.tag}`;
    const meta = JSON.stringify({ revisionId: position, etag: `"${tag}"`, queryHash });
    const segments = found.segments === undefined ? '' : `,"segments":${found.segments}`;
    return { tag, json: `{"version":2,"features":${found.features}${segments},"query":${query},"meta":${meta}}` };
  };

  return async (wanted) => {
    const revision = await reader.revision();
    const key = JSON.stringify(queryOf(wanted));
    const found = kept.get(key);
    if (found?.revision === revision) {
      kept.delete(key);
      kept.set(key, found);
      return found.making;
    }
    forget(key);
    const entry: Kept = { revision, making: make(wanted, key, revision, found?.made) };
    kept.set(key, entry);
    try {
      const made = await entry.making;
      if (kept.get(key) === entry) {
        entry.made = made;
        characters += made.json.length;
        for (const other of kept.keys()) {
          if (characters <= mostCharacters || other === key) break;
          forget(other);
        }
      }
      return made;
    } catch (error) {
      if (kept.get(key) === entry) kept.delete(key);
      throw error;
    }
  };
};
