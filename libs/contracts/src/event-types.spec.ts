import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { eventTypes } from './event-types.ts';

describe('the event types', () => {
  it('are 146, each once', () => {
    expect(eventTypes).toHaveLength(146);
    expect(new Set(eventTypes).size).toBe(146);
  });

  it('are the list of the interface, letter for letter and in its order', () => {
    // The digest was taken from the list in the interface, one type a line, and not from this code.
    const digest = createHash('sha256').update(eventTypes.join('\n')).digest('hex');
    expect(digest).toBe('76dad4c6d8d748388d1156f4e6142928e72cfd7b7f55849eb8a106ab6146f980');
  });
});
