import { describe, expect, it } from '@jest/globals';
import { kept } from './kept.ts';

const known = (room: number) => kept<number[]>(room, ({ length }) => length);
const words = (length: number): number[] => Array.from({ length }, () => 0);

describe('What is remembered of searches', () => {
  it('goes when there is no room, what was used least recently first', () => {
    const remembered = known(800);
    remembered.set('a', words(200));
    remembered.set('b', words(200));
    remembered.set('c', words(200));
    remembered.get('a');
    remembered.set('b', words(201));
    remembered.set('d', words(200));
    expect(['a', 'b', 'c', 'd'].map((key) => remembered.get(key)?.length)).toEqual([200, 201, undefined, 200]);
  });

  it('is nothing that has more than all the room', () => {
    const remembered = known(100);
    remembered.set('a', words(101));
    expect(remembered.get('a')).toBeUndefined();
  });

  it('counts what matches nothing, so that inventing ever new texts fills no memory', () => {
    const remembered = known(10_000);
    for (let nth = 0; nth < 1_000; nth++) remembered.set(`${nth}${'x'.repeat(80)}`, words(0));
    expect(remembered.get(`${0}${'x'.repeat(80)}`)).toBeUndefined();
    expect(remembered.get(`${999}${'x'.repeat(80)}`)).toBeDefined();
  });

  it('makes room when it is forgotten', () => {
    const remembered = known(300);
    remembered.set('a', words(200));
    remembered.delete('a');
    remembered.set('b', words(200));
    expect(remembered.get('b')).toBeDefined();
  });
});
