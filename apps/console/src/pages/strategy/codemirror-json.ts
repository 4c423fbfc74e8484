import { history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { keymap } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const jsonHighlighting = HighlightStyle.define([
  { tag: tags.string, color: 'var(--good)' },
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warning)' },
]);

/** The extensions of CodeMirror for an editor of JSON: syntax highlighting, indentation, and the keys that undo and redo. */
export const codemirrorJson = [history(), keymap.of([...historyKeymap]), json(), syntaxHighlighting(jsonHighlighting)];
