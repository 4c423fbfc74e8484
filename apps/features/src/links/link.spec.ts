import { describe, expect, it } from 'vitest';
import { aFeature } from '../../test/builders.ts';
import { addLink, removeLink, updateLink } from './link.ts';

describe('a link of a feature', () => {
  it('has an http or https URL, by default https', () => {
    const urlOf = (url: string) => addLink(aFeature(), { url }, 'id').feature.links[0]?.url;
    expect(urlOf('tickets.example:8443/a b?q=1')).toBe('https://tickets.example:8443/a%20b?q=1');
    expect(urlOf(' http://intranet/x ')).toBe('http://intranet/x');
  });

  it.each([
    'javascript:alert(1)',
    'ftp://a.example',
    'mailto:a@b.example',
    'https://mia:secret@a.example',
    'https://',
    ' ',
  ])('refuses %j and names the property', (url) => {
    expect(() => addLink(aFeature(), { url }, 'id')).toThrow(/`\/body\/url`/);
  });

  it('is one of ten at most per feature', () => {
    const links = Array.from({ length: 10 }, (_, nth) => ({ id: `${nth}`, url: 'https://a.example/', title: null }));
    expect(() => addLink(aFeature({ links }), { url: 'a.example' }, 'id')).toThrow('Too many links');
    const { feature } = updateLink(aFeature({ links }), '9', { url: 'b.example', title: ' B ' });
    expect(feature.links.at(-1)).toEqual({ id: '9', url: 'https://b.example/', title: 'B' });
  });

  it('is not found by an unknown id', () => {
    for (const attempt of [
      () => updateLink(aFeature(), 'x', { url: 'a.example' }),
      () => removeLink(aFeature(), 'x'),
    ]) {
      expect(attempt).toThrow(expect.objectContaining({ kind: 'NotFoundError' }));
    }
  });
});
