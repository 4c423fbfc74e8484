import { describe, expect, it } from 'vitest';
import { alternativesOf, countTypos, matchedRanges, splitWords } from './words.ts';

describe('the words of a name', () => {
  it.each([
    ['new-checkout', 'new checkout'],
    ['new_checkout', 'new checkout'],
    ['new.checkout', 'new checkout'],
    ['newCheckout', 'new Checkout'],
    ['newHTTPServer2Start', 'new HTTP Server2 Start'],
    ['NEW', 'NEW'],
    ['~!*', ''],
    ['simple:größer 100%', 'simple größer 100'],
  ])('%s is %s', (name, words) => {
    expect(splitWords(name).join(' ')).toBe(words);
  });
});

describe('typing errors', () => {
  it.each([
    ['checkout', 'checkout', 0],
    ['chekcout', 'checkout', 1],
    ['heckout', 'checkout', 1],
    ['checkouut', 'checkout', 1],
    ['chackout', 'checkout', 1],
    ['ckeckuot', 'checkout', 2],
    ['', 'ab', 2],
  ])('between %s and %s there are %i', (typed, word, count) => {
    expect(countTypos(typed, word).word).toBe(count);
  });

  it('are none in short words and in numbers, one from four letters, and two from eight', () => {
    const meant = (typed: string, ...known: readonly string[]) =>
      alternativesOf(typed, known, false).map(({ word }) => word);
    expect(meant('nwe', 'new')).toEqual([]);
    expect(meant('v2345', 'v2346')).toEqual([]);
    expect(meant('dakr', 'dark', 'lark')).toEqual(['dark']);
    expect(meant('paymnte', 'payment')).toEqual([]);
    expect(meant('ckeckuot', 'checkout', 'check')).toEqual(['checkout']);
  });

  it('are forgiven in the beginning of the last word only, and words with fewer come first', () => {
    const known = ['notification', 'notify', 'notice'];
    expect(alternativesOf('notifcat', known, true)).toEqual([{ word: 'notification', typos: 1 }]);
    expect(alternativesOf('notifcat', known, false)).toEqual([]);
    expect(alternativesOf('notif', known, true).map(({ word }) => word)).toEqual(['notify', 'notification', 'notice']);
  });
});

describe('the parts of a name that match', () => {
  it.each([
    ['new-checkout', ['checkout', 'new'], ['new', 'checkout']],
    ['newCheckoutFlow', ['chekcout'], ['Checkout']],
    ['newCheckoutFlow', ['new', 'che'], ['newChe']],
    ['new-checkout', ['nothing'], []],
    ['checkout-checkout', ['checkout', 'checkout'], ['checkout']],
  ])('of %s for %j are %j', (name, typed, parts) => {
    expect(matchedRanges(name, typed).map(({ start, end }) => name.slice(start, end))).toEqual(parts);
  });
});
