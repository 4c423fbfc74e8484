import { expect, it } from '@jest/globals';
import { wordsOf } from './fold.ts';

it('words are what stands between marks and blanks, in any script, each once', () => {
  expect(wordsOf('dark-mode_v2.dark/größer 🚀шлюз')).toEqual(['dark', 'mode', 'v2', 'größer', '🚀шлюз']);
  expect(wordsOf('--, %\u001f')).toEqual([]);
});
