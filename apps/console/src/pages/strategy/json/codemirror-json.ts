import { history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { keymap } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const colours = HighlightStyle.define([
  { tag: tags.string, color: 'var(--good)' },
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warning)' },
]);

/** The extensions of CodeMirror that make an editor one of JSON: its colours, indentation, and the keys that undo and redo. */
export const codemirrorJson = [history(), keymap.of([...historyKeymap]), json(), syntaxHighlighting(colours)];
