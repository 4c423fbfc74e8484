import { Compartment } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import styles from './strategy.module.css';

interface JsonEditorProps {
  readonly label: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
}

const theme = EditorView.theme({
  '&': { backgroundColor: 'var(--surface)', color: 'var(--text)', fontSize: '13px' },
  '.cm-content': { caretColor: 'var(--text)', fontFamily: 'var(--font-mono)' },
  '.cm-gutters': { backgroundColor: 'var(--surface-subtle)', color: 'var(--text-muted)', border: 'none' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': {
    backgroundColor: 'var(--surface-selected) !important',
  },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--surface-hover)' },
  '&.cm-focused': { outline: '2px solid var(--focus)' },
});

/** An editor of JSON text. A `text` that differs from what the user has typed replaces it. */
export function JsonEditor({ label, text, onChange }: JsonEditorProps) {
  const holder = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latestOnChange = useRef(onChange);
  useEffect(() => {
    latestOnChange.current = onChange;
  });
  useEffect(() => {
    if (holder.current === null) return undefined;
    // In a shadow root CodeMirror uses constructed style sheets, which the content security policy allows.
    const root = holder.current.shadowRoot ?? holder.current.attachShadow({ mode: 'open' });
    const jsonExtensions = new Compartment();
    const editor = new EditorView({
      parent: root,
      root,
      extensions: [
        jsonExtensions.of([]),
        theme,
        EditorView.contentAttributes.of({ 'aria-label': label }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) latestOnChange.current(update.state.doc.toString());
        }),
      ],
    });
    view.current = editor;
    // Highlighting and undo are loaded after the editor is shown.
    void import('./codemirror-json.ts').then(({ codemirrorJson }) =>
      editor.dispatch({ effects: jsonExtensions.reconfigure(codemirrorJson) }),
    );
    return () => editor.destroy();
  }, [label]);
  useEffect(() => {
    const editor = view.current;
    if (editor === undefined || editor.state.doc.toString() === text) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
  }, [text]);
  return <div ref={holder} className={styles['editor']} />;
}
