import { json } from '@codemirror/lang-json';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { tags } from '@lezer/highlight';

const colours = HighlightStyle.define([
  { tag: tags.string, color: 'var(--good)' },
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warning)' },
]);

/** JSON in the colours of the console. */
export const jsonLanguage = [json(), syntaxHighlighting(colours)];
